"""Reading: what words, vectors and filters must answer, and in which order."""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from typing import Any

import pytest

from scrubjay.errors import ModelMismatchError, NotFoundError
from scrubjay.memory.edges import STORED
from scrubjay.memory.records import When, Where
from scrubjay.memory.scope import Scope
from scrubjay.store.base import Head, Store
from scrubjay.store.changes import PutMemory, PutModel, PutSource
from scrubjay.store.score import K1, B
from scrubjay.testing.store_answers import EVERY
from scrubjay.testing.store_samples import (
    SMALL,
    codes,
    con,
    embedded,
    group,
    memory,
    put_document,
    sample_id,
    source,
    vector,
    write,
)
from scrubjay.text.tokens import Terms

MINE = "user:ann"
F = SMALL.fingerprint


LESSON: dict[str, Any] = {"project": "p", "agent": "claude-code", "session": "s", "turn": 3}


def _fill(store: Store, ann: Scope) -> None:
    """Write five memories and a document that every filter tells apart."""
    lesson = memory(
        "jay lesson", MINE, name="lesson", tier="lesson", tags=("a", "b"), recorded_at=2_000, **LESSON
    )
    old = memory("jay old", MINE, name="old", status="archived", tags=("a",), recorded_at=3_000)
    gone = memory("jay gone", MINE, name="gone", status="superseded", recorded_at=4_000)
    plain = memory("jay plain", "group:dev", name="plain", recorded_at=5_000, agent="codex", session="s")
    write(store, ann, PutSource(source("notes", MINE)), PutSource(source("work", MINE)))
    write(store, ann, *(PutMemory(m) for m in (lesson, old, gone, plain)))
    write(
        store,
        ann,
        put_document(
            "notes", "deep/jay.md", ["jay passage"], MINE, tags=("a",), project="p", recorded_at=6_000
        ),
    )
    write(store, ann, put_document("work", "deep.md", ["jay work"], MINE, project="p x", recorded_at=7_000))


def _put_counted(store: Store, ann: Scope, counted: Sequence[Terms]) -> None:
    """Write one memory for each of these terms, named ``m0`` and so on."""
    made = [memory(f"m{i}", MINE, name=f"m{i}", counted=own) for i, own in enumerate(counted)]
    write(store, ann, *(PutMemory(one) for one in made))


FILTERS: tuple[tuple[Where, set[str]], ...] = (
    (Where(), {"lesson", "plain", "deep/jay.md:jay passage", "deep.md:jay work"}),
    (EVERY, {"lesson", "old", "gone", "plain", "deep/jay.md:jay passage", "deep.md:jay work"}),
    (Where(statuses=()), set()),
    (Where(statuses=("archived",)), {"old"}),
    (Where(tiers=("lesson",)), {"lesson"}),
    (Where(tiers=("lesson", "crystal", "no such tier")), {"lesson"}),
    (Where(tags=("a",)), {"lesson", "deep/jay.md:jay passage"}),
    (Where(tags=("a", "b")), {"lesson"}),
    (Where(tags=("b", "missing")), set()),
    (Where(sources=("notes",)), {"deep/jay.md:jay passage"}),
    (Where(sources=("notes", "work", "none")), {"deep/jay.md:jay passage", "deep.md:jay work"}),
    (Where(path="deep"), {"deep/jay.md:jay passage"}),
    (Where(path="deep/"), {"deep/jay.md:jay passage"}),
    (Where(path="deep.md"), {"deep.md:jay work"}),
    (Where(path="*.md"), {"deep/jay.md:jay passage", "deep.md:jay work"}),
    (Where(path="d??p.md"), {"deep.md:jay work"}),
    (Where(path="de%"), set()),
    (Where(since=5_000), {"plain", "deep/jay.md:jay passage", "deep.md:jay work"}),
    (Where(until=5_000), {"lesson"}),
    (Where(since=5_000, until=5_001), {"plain"}),
    (Where(projects=("p",)), {"lesson", "deep/jay.md:jay passage"}),
    (Where(projects=("p x", "none")), {"deep.md:jay work"}),
    (Where(projects=("", "P", "p%", "None")), set()),
    (Where(projects=(None,)), {"plain"}),
    (Where(projects=("p", None)), {"lesson", "deep/jay.md:jay passage", "plain"}),
    (Where(projects=(None, "none"), tiers=("lesson",)), set()),
    (Where(projects=("p",), apart_from="s"), {"deep/jay.md:jay passage"}),
    (Where(apart_from="s"), {"deep/jay.md:jay passage", "deep.md:jay work"}),
    (Where(apart_from="none"), {"lesson", "plain", "deep/jay.md:jay passage", "deep.md:jay work"}),
    (Where(agents=("codex",)), {"plain"}),
    (Where(agents=("codex", "claude-code")), {"plain", "lesson"}),
    (Where(sessions=("s",)), {"plain", "lesson"}),
    (Where(sessions=("t", "S")), set()),
    (Where(sessions=("s",), projects=("p",), agents=("claude-code",)), {"lesson"}),
    (Where(sessions=("s",), projects=("p x",)), set()),
    (Where(tags=("a",), path="deep", tiers=("observation",)), {"deep/jay.md:jay passage"}),
    (Where(statuses=("no such status",)), set()),
)


class ReadingContract:
    """Searches of one scope."""

    def test_words_are_scored_by_bm25(self, store: Store, ann: Scope) -> None:
        """The formula by hand: three memories of 4, 2 and 3 words, "jay" in two of them."""
        counted = (Terms({"jay": 2, "nut": 1}, 4), Terms({"jay": 1}, 2), Terms({"nut": 1}, 3))
        _put_counted(store, ann, counted)
        idf = math.log(1 + (3 - 2 + 0.5) / (2 + 0.5))
        first = idf * 2 * (K1 + 1) / (2 + K1 * (1 - B + B * 4 / 3))
        second = idf * 1 * (K1 + 1) / (1 + K1 * (1 - B + B * 2 / 3))
        with store.reader(ann) as reader:
            found = reader.words([group("jay")], Where())
            hits = [(hit.id, hit.score) for hit in found.top(10)]
            assert hits == [(sample_id("m0"), round(first, 6)), (sample_id("m1"), round(second, 6))]
            assert found.of([sample_id("m2"), sample_id("unknown")]) == [0.0, None]
            assert (found.memories, found.covered, found.frequencies) == (3, 3, (2,))
            mean = (first + second) / 3
            assert found.mean == pytest.approx(mean, abs=1e-9)
            spread = math.sqrt(((first - mean) ** 2 + (second - mean) ** 2 + mean**2) / 3)
            assert found.deviation == pytest.approx(spread, abs=1e-9)

    def test_a_group_counts_its_best_form_and_the_union_of_its_forms(self, store: Store, ann: Scope) -> None:
        """Tf is the largest of the forms', df the number of memories with any of them."""
        counted = (Terms({"run": 3, "running": 1}, 5), Terms({"running": 3}, 5), Terms({"walk": 1}, 5))
        _put_counted(store, ann, counted)
        with store.reader(ann) as reader:
            both = reader.words([group("walks", "run", "running")], Where())
            first, second = both.of([sample_id("m0"), sample_id("m1")])
            assert first == second
            assert both.frequencies == (2,)
            assert reader.frequencies([group("running", "run"), group("walk"), group("fly")]) == [2, 1, 0]

    def test_a_quarter_of_a_words_weight_is_for_its_exact_form(self, store: Store, ann: Scope) -> None:
        """By hand: the first form earns with a df and tf of its own what no other form can earn."""
        counted = (Terms({"run": 2}, 5), Terms({"running": 1, "run": 2}, 5), Terms({"walk": 1}, 5))
        _put_counted(store, ann, counted)
        both, own = (math.log(1 + (3 - df + 0.5) / (df + 0.5)) for df in (2, 1))
        twice, once = (tf * (K1 + 1) / (tf + K1) for tf in (2, 1))
        with store.reader(ann) as reader:
            found = reader.words([group("running", "run")], Where())
            hits = [(hit.id, hit.score) for hit in found.top(10)]
        exact = 0.75 * both * twice + 0.25 * own * once
        assert hits == [(sample_id("m1"), round(exact, 6)), (sample_id("m0"), round(0.75 * both * twice, 6))]
        assert found.parts([sample_id("m1")])[0] == pytest.approx((exact,), abs=1e-9)

    def test_the_parts_of_a_score_add_up_to_it(self, store: Store, ann: Scope) -> None:
        """In the groups' order, zero where a group does not match, zeros for an unknown memory."""
        _fill(store, ann)
        groups = [group("jay"), group("nothing"), group("lesson")]
        with store.reader(ann) as reader:
            found = reader.words(groups, Where())
            (own, unknown) = found.parts([sample_id("lesson", "lesson"), sample_id("unknown")])
            assert sum(own) == pytest.approx(found.of([sample_id("lesson", "lesson")])[0], abs=1e-6)
            assert own[0] > 0
            assert own[1] == 0.0
            assert own[2] > 0
            assert unknown == (0.0, 0.0, 0.0)

    def test_a_term_counts_no_more_than_255_times(self, store: Store, ann: Scope) -> None:
        """A bound that all stores share: beyond it a word has long earned all it can."""
        counted = (Terms({"jay": 255}, 9_000), Terms({"jay": 70_000}, 9_000))
        _put_counted(store, ann, counted)
        with store.reader(ann) as reader:
            scores = reader.words([group("jay")], Where()).of([sample_id("m0"), sample_id("m1")])
        assert scores[0] == scores[1]

    def test_equal_scores_go_to_the_smaller_id(self, store: Store, ann: Scope) -> None:
        """Also across tiers and segments, and when the limit cuts a tie."""
        tiers = ("observation", "crystal", "semantic")
        names = [(f"twin {i} {tier}", tier) for i in range(12) for tier in tiers]
        for name, tier in names:
            write(
                store,
                ann,
                PutMemory(memory("same words", MINE, name=name, tier=tier, counted=Terms({"same": 1}, 2))),
            )
        ids = sorted(sample_id(name, tier) for name, tier in names)
        with store.reader(ann) as reader:
            for limit in (1, 5, 35, 36, 99):
                assert [hit.id for hit in reader.words([group("same")], Where()).top(limit)] == ids[:limit]
            assert reader.words([group("same")], Where()).top(0) == []

    def test_vectors_are_scored_by_the_best_window(self, store: Store, ann: Scope) -> None:
        """A cosine within the error of whole numbers; a memory without vectors is no hit and has no score."""
        far = codes([-vector("q"), vector("q"), vector("else")])
        write(store, ann, PutModel(SMALL))
        write(store, ann, PutMemory(memory("one", MINE, name="one", vectors={F: far})))
        write(store, ann, PutMemory(memory("two", MINE, name="two", vectors={F: embedded("p")})))
        write(store, ann, PutMemory(memory("three", MINE, name="three")))
        with store.reader(ann) as reader:
            found = reader.nearest(F, vector("q"), Where())
            top = found.top(10)
            assert [hit.id for hit in top] == [sample_id("one"), sample_id("two")]
            assert top[0].score == pytest.approx(1.0, abs=0.02)
            assert top[1].score == pytest.approx(float(vector("q") @ vector("p")), abs=0.02)
            one, three, unknown = found.of([sample_id("one"), sample_id("three"), sample_id("unknown")])
            assert (one, three, unknown) == (top[0].score, None, None)
            assert found.covered == 2
            assert found.mean == pytest.approx((top[0].score + top[1].score) / 2, abs=1e-6)
            assert found.deviation == pytest.approx(abs(top[0].score - top[1].score) / 2, abs=1e-6)

    def test_a_query_that_does_not_fit_its_model_is_refused(self, store: Store, ann: Scope) -> None:
        """Wrong length, or a model that nobody registered."""
        write(store, ann, PutModel(SMALL))
        with store.reader(ann) as reader:
            with pytest.raises(ModelMismatchError):
                reader.nearest(F, vector("q", 9), Where())
            with pytest.raises(NotFoundError):
                reader.nearest("no such model", vector("q"), Where())

    def test_a_blank_vector_scores_zero(self, store: Store, ann: Scope) -> None:
        """A zero row has scale 0; so has a zero query."""
        write(store, ann, PutModel(SMALL))
        write(store, ann, PutMemory(memory("n", MINE, name="n", vectors={F: codes([vector("p") * 0])})))
        with store.reader(ann) as reader:
            for query in (vector("q"), vector("q") * 0):
                found = reader.nearest(F, query, Where())
                assert [(hit.id, hit.score) for hit in found.top(3)] == [(sample_id("n"), 0.0)]

    @pytest.mark.parametrize(("where", "names"), FILTERS)
    def test_filters_choose_among_hits_and_change_no_statistic(
        self, store: Store, ann: Scope, where: Where, names: set[str]
    ) -> None:
        """The scores, N, df, mean and deviation are those of the search without a filter."""
        _fill(store, ann)
        write(store, ann, PutModel(SMALL))
        vectors = {F: embedded("v")}
        tags = ("a", "b")
        again = memory(
            "jay lesson",
            MINE,
            name="lesson",
            tier="lesson",
            tags=tags,
            recorded_at=2_000,
            vectors=vectors,
            **LESSON,
        )
        write(store, ann, PutMemory(again))
        tiers = {"lesson": "lesson"}
        wanted = {sample_id(name, tiers.get(name, "observation")) for name in names}
        with store.reader(ann) as reader:
            free, kept = reader.words([group("jay")], EVERY), reader.words([group("jay")], where)
            assert {hit.id for hit in kept.top(99)} == wanted
            scores = {hit.id: hit.score for hit in free.top(99)}
            assert all(scores[hit.id] == hit.score for hit in kept.top(99))
            assert (kept.mean, kept.deviation, kept.covered, kept.memories, kept.frequencies) == (
                free.mean, free.deviation, free.covered, free.memories, free.frequencies,
            )  # fmt: skip
            assert kept.of(list(scores)) == list(scores.values())
            near = reader.nearest(F, vector("v"), where)
            wide = reader.nearest(F, vector("v"), EVERY)
            assert {hit.id for hit in near.top(9)} == wanted & {sample_id("lesson", "lesson")}
            assert (near.mean, near.deviation, near.covered) == (wide.mean, wide.deviation, wide.covered)

    def test_dates_filter_by_the_event_where_there_is_one(self, store: Store, ann: Scope) -> None:
        """Else by when it was recorded; ``since`` is inclusive and ``until`` is not."""
        from scrubjay.memory.records import When

        told = memory("jay then", MINE, name="then", event=When(-50, -50), recorded_at=9_000)
        write(store, ann, PutMemory(told), PutMemory(memory("jay now", MINE, name="now", recorded_at=9_000)))
        with store.reader(ann) as reader:
            for where, name in ((Where(until=-49), "then"), (Where(since=9_000), "now")):
                assert [hit.id for hit in reader.words([group("jay")], where).top(5)] == [sample_id(name)]
            assert reader.words([group("jay")], Where(until=-50)).top(5) == []

    def test_an_empty_scope_answers_with_nothing(self, store: Store, ann: Scope) -> None:
        """Before its tenant's first write, too."""
        with store.reader(ann) as reader:
            found = reader.words([group("jay")], Where())
            assert (found.top(5), found.mean, found.deviation, found.covered, found.memories) == (
                [],
                0.0,
                0.0,
                0,
                0,
            )
            assert found.of([sample_id("x")]) == [None]
            assert reader.words([], Where()).top(5) == []
            assert (reader.sources(), reader.documents("s"), reader.passages("s", "p")) == ([], {}, [])
            assert (reader.get([sample_id("x")]), reader.complete(""), reader.languages()) == ({}, [], ())
            assert (reader.similar_terms("jay"), reader.models(), reader.versions()) == ([], [], None)
            assert (reader.counts().memories, reader.counts().documents, reader.counts().sources) == (0, 0, 0)
            assert (reader.concepts(), reader.categories(), reader.projects()) == ([], [], {})
            assert (reader.page("", 9), reader.turns("s", 0, 9), reader.last_turn("s")) == ([], [], None)
            assert (reader.edges([sample_id("x")], STORED), reader.follows([sample_id("x")])) == ([], [])
            assert (reader.degrees("links"), reader.meetings(con("x"), 9)) == ({}, ({}, 0))
            assert (reader.forgotten(["x"]), reader.waiting("f", 5), reader.cached("f", ["x"])) == (
                set(),
                [],
                {},
            )

    def test_ids_are_completed_in_order(self, store: Store, ann: Scope) -> None:
        """Any beginning, up to a limit; what is no beginning of an id completes to nothing."""
        _fill(store, ann)
        with store.reader(ann) as reader:
            every = reader.complete("", 99)
            assert every == sorted(every)
            assert len(every) == 6
            for whole in every:
                for cut in range(len(whole) + 1):
                    assert reader.complete(whole[:cut], 99) == [i for i in every if i.startswith(whole[:cut])]
            assert reader.complete("", 2) == every[:2]
            assert reader.complete("", 0) == []
            for none in ("OBS_", "obs_zz", every[0] + "0", "%", "obs_%", "x"):
                assert reader.complete(none) == []

    def test_heads_tell_title_length_speaker_and_life(self, store: Store, ann: Scope) -> None:
        """Of the visible ones of these ids."""
        spoken = memory(
            "a b c", MINE, name="s", title="Talk", session="x", turn=0, role="user", event=When(7, 9)
        )
        sure = memory(
            "d",
            MINE,
            name="d",
            tier="lesson",
            title="D",
            last_used=5,
            pinned=True,
            strength=0.5,
            confidence=0.25,
            project="jay",
        )
        write(store, ann, PutMemory(spoken), PutMemory(sure))
        with store.reader(ann) as reader:
            ids = [sample_id("d", "lesson"), sample_id("s"), sample_id("d"), sample_id("none"), "no id"]
            assert reader.heads(ids) == {
                ids[0]: Head("D", 1, False, None, sure.record.recorded_at, 5, True, 0.5, 0.25, project="jay"),
                ids[1]: Head("Talk", 3, True, "user", 7, session="x"),
            }
            assert reader.heads([]) == {}

    def test_adjacent_turns_are_those_before_and_after(self, store: Store, ann: Scope, bob: Scope) -> None:
        """Of the same session, visible, in order; several at one turn by id; none for what is no turn."""
        turns = (("s", 0), ("s", 1), ("s", 2), ("s", 4), ("t", 1), (None, 1), ("s", None))
        for number, (session, turn) in enumerate(turns):
            write(store, ann, PutMemory(memory("x", MINE, name=f"n{number}", session=session, turn=turn)))
        twin = memory("x", MINE, name="twin", tier="crystal", session="s", turn=2)
        write(store, ann, PutMemory(twin))
        write(store, bob, PutMemory(memory("x", "user:bob", name="bobs", session="s", turn=3)))
        ids = [sample_id(f"n{number}") for number in range(len(turns))]
        with store.reader(ann) as reader:
            assert reader.adjacent([*ids, "no id", sample_id("bobs"), sample_id("n0", "lesson")]) == {
                ids[0]: (ids[1],),
                ids[1]: (ids[0], twin.record.id, ids[2]),
                ids[2]: (ids[1],),
            }
            assert reader.adjacent([]) == {}

    def test_passages_of_sources_are_counted(self, store: Store, ann: Scope) -> None:
        """All documents of each, unknown sources none."""
        _fill(store, ann)
        with store.reader(ann) as reader:
            held = [reader.held(names) for names in ([], ["notes"], ["notes", "work"], ["none"])]
        assert held == [0, 1, 2, 0]

    def test_mistyped_words_find_visible_terms(self, store: Store, ann: Scope) -> None:
        """Best first, without the word itself, no more than asked for."""
        texts = ("consolidate memories", "consolidated notes", "unrelated")
        write(store, ann, *(PutMemory(memory(text, MINE)) for text in texts))
        with store.reader(ann) as reader:
            found = reader.similar_terms("consolidatte", 9)
            assert found[0][0] == "consolidate"
            assert found == sorted(found, key=lambda pair: (-pair[1], pair[0]))
            assert len(reader.similar_terms("consolidatte", 1)) == 1
            assert "consolidate" not in [term for term, _ in reader.similar_terms("consolidate", 9)]
            assert reader.similar_terms("zzzzqqq") == []

    def test_languages_are_those_of_the_memories(self, store: Store, ann: Scope) -> None:
        """Sorted, each once, and no longer named when the last memory of it has gone."""
        from scrubjay.store.changes import Forget

        written = [memory("eins", MINE, language="de"), memory("zwei", MINE, language="de")]
        written += [memory("one", MINE, language="en"), memory("un", MINE, language="fr")]
        write(store, ann, *(PutMemory(m) for m in written))
        with store.reader(ann) as reader:
            assert reader.languages() == ("de", "en", "fr")
        write(store, ann, Forget((written[-1].record.id,)))
        with store.reader(ann) as reader:
            assert reader.languages() == ("de", "en")

    def test_counts_are_of_every_status(self, store: Store, ann: Scope) -> None:
        """By tier, by status, with the documents and sources."""
        _fill(store, ann)
        with store.reader(ann) as reader:
            counts = reader.counts()
        assert counts.memories == 6
        assert dict(counts.tiers) == {"lesson": 1, "observation": 5}
        assert dict(counts.statuses) == {"active": 4, "archived": 1, "superseded": 1}
        assert (counts.documents, counts.sources) == (2, 2)

    def test_a_view_does_not_change_while_others_write(self, store: Store, ann: Scope) -> None:
        """Writes of this thread and of another succeed while it is open, and the next view sees them."""
        write(store, ann, PutMemory(memory("jay first", MINE, name="first")))
        other = threading.Thread(target=write, args=(store, ann, PutMemory(memory("jay third", MINE))))
        with store.reader(ann) as reader:
            before = reader.complete("", 99)
            write(store, ann, PutMemory(memory("jay second", MINE)))
            other.start()
            other.join()
            found = reader.words([group("jay")], Where())
            assert (reader.complete("", 99), found.memories, len(found.top(9))) == (before, 1, 1)
            assert reader.counts().memories == 1
        with store.reader(ann) as reader:
            assert reader.words([group("jay")], Where()).memories == 3

    def test_views_may_be_nested(self, store: Store, ann: Scope, bob: Scope) -> None:
        """One for each scope, and an error in one is the caller's own."""
        write(store, ann, PutMemory(memory("jay", MINE)))
        with store.reader(ann) as mine:
            with store.reader(bob) as theirs:
                assert theirs.counts().memories == 0
            assert mine.counts().memories == 1
        with pytest.raises(FileNotFoundError), store.reader(ann):
            raise FileNotFoundError("a file of the caller's")
        with store.reader(ann) as reader:
            assert reader.counts().memories == 1
