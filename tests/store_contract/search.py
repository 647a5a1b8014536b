"""Search: what words, vectors and filters must answer, and models with their late vectors."""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from scrubjay.errors import InputError, ModelMismatchError, NotFoundError
from scrubjay.models.graph import STORED_EDGE_KINDS
from scrubjay.models.ids import text_hash
from scrubjay.models.records import EventTime, RecordFilter, Scope
from scrubjay.storage.changes import (
    DropMemory,
    DropModel,
    Forget,
    PutDocument,
    PutMemory,
    PutModel,
    PutSource,
    PutVectors,
    QuantizedVectors,
)
from scrubjay.storage.interface import Coverage, ModelState, RankingMetadata, Store
from scrubjay.storage.scoring import K1, B
from scrubjay.text.tokenizer import Terms
from store_contract.answers import EVERY_STATUS, plain_vectors
from store_contract.samples import (
    ANN_KEY,
    FINGERPRINT,
    OTHER_MODEL,
    SMALL_MODEL,
    TOKEN_MODEL,
    put_sample_document,
    quantized_windows,
    sample_codes,
    sample_concept_id,
    sample_document,
    sample_id,
    sample_memory,
    sample_place,
    sample_source,
    sample_vector,
    sample_windows,
    term_group,
    write_changes,
)

LESSON_FIELDS: dict[str, Any] = {"project": "p", "agent": "claude-code", "session": "s", "turn": 3}


def _put_samples(store: Store, ann: Scope) -> None:
    """Write five memories and a document that every filter tells apart."""
    lesson = sample_memory(
        "jay lesson",
        ANN_KEY,
        name="lesson",
        tier="lesson",
        tags=("a", "b"),
        recorded_at=2_000,
        **LESSON_FIELDS,
    )
    old = sample_memory("jay old", ANN_KEY, name="old", status="archived", tags=("a",), recorded_at=3_000)
    gone = sample_memory("jay gone", ANN_KEY, name="gone", status="superseded", recorded_at=4_000)
    plain = sample_memory(
        "jay plain", "group:dev", name="plain", recorded_at=5_000, agent="codex", session="s"
    )
    write_changes(
        store, ann, PutSource(sample_source("notes", ANN_KEY)), PutSource(sample_source("work", ANN_KEY))
    )
    write_changes(store, ann, *(PutMemory(m) for m in (lesson, old, gone, plain)))
    write_changes(
        store,
        ann,
        put_sample_document(
            "notes", "deep/jay.md", ["jay passage"], ANN_KEY, tags=("a",), project="p", recorded_at=6_000
        ),
    )
    write_changes(
        store,
        ann,
        put_sample_document("work", "deep.md", ["jay work"], ANN_KEY, project="p x", recorded_at=7_000),
    )


def _put_counted(store: Store, ann: Scope, counted: Sequence[Terms]) -> None:
    """Write one memory for each of these terms, named ``m0`` and so on."""
    made = [sample_memory(f"m{i}", ANN_KEY, name=f"m{i}", counted=own) for i, own in enumerate(counted)]
    write_changes(store, ann, *(PutMemory(one) for one in made))


FILTERS: tuple[tuple[RecordFilter, set[str]], ...] = (
    (RecordFilter(), {"lesson", "plain", "deep/jay.md:jay passage", "deep.md:jay work"}),
    (EVERY_STATUS, {"lesson", "old", "gone", "plain", "deep/jay.md:jay passage", "deep.md:jay work"}),
    (RecordFilter(statuses=()), set()),
    (RecordFilter(statuses=("archived",)), {"old"}),
    (RecordFilter(tiers=("lesson",)), {"lesson"}),
    (RecordFilter(tiers=("lesson", "crystal", "no such tier")), {"lesson"}),
    (RecordFilter(tags=("a",)), {"lesson", "deep/jay.md:jay passage"}),
    (RecordFilter(tags=("a", "b")), {"lesson"}),
    (RecordFilter(tags=("b", "missing")), set()),
    (RecordFilter(sources=("notes",)), {"deep/jay.md:jay passage"}),
    (RecordFilter(sources=("notes", "work", "none")), {"deep/jay.md:jay passage", "deep.md:jay work"}),
    (RecordFilter(path="deep"), {"deep/jay.md:jay passage"}),
    (RecordFilter(path="deep/"), {"deep/jay.md:jay passage"}),
    (RecordFilter(path="deep.md"), {"deep.md:jay work"}),
    (RecordFilter(path="*.md"), {"deep/jay.md:jay passage", "deep.md:jay work"}),
    (RecordFilter(path="d??p.md"), {"deep.md:jay work"}),
    (RecordFilter(path="de%"), set()),
    (RecordFilter(since=5_000), {"plain", "deep/jay.md:jay passage", "deep.md:jay work"}),
    (RecordFilter(until=5_000), {"lesson"}),
    (RecordFilter(since=5_000, until=5_001), {"plain"}),
    (RecordFilter(projects=("p",)), {"lesson", "deep/jay.md:jay passage"}),
    (RecordFilter(projects=("p x", "none")), {"deep.md:jay work"}),
    (RecordFilter(projects=("", "P", "p%", "None")), set()),
    (RecordFilter(projects=(None,)), {"plain"}),
    (RecordFilter(projects=("p", None)), {"lesson", "deep/jay.md:jay passage", "plain"}),
    (RecordFilter(projects=(None, "none"), tiers=("lesson",)), set()),
    (RecordFilter(projects=("p",), apart_from="s"), {"deep/jay.md:jay passage"}),
    (RecordFilter(apart_from="s"), {"deep/jay.md:jay passage", "deep.md:jay work"}),
    (RecordFilter(apart_from="none"), {"lesson", "plain", "deep/jay.md:jay passage", "deep.md:jay work"}),
    (RecordFilter(agents=("codex",)), {"plain"}),
    (RecordFilter(agents=("codex", "claude-code")), {"plain", "lesson"}),
    (RecordFilter(sessions=("s",)), {"plain", "lesson"}),
    (RecordFilter(sessions=("t", "S")), set()),
    (RecordFilter(sessions=("s",), projects=("p",), agents=("claude-code",)), {"lesson"}),
    (RecordFilter(sessions=("s",), projects=("p x",)), set()),
    (RecordFilter(tags=("a",), path="deep", tiers=("observation",)), {"deep/jay.md:jay passage"}),
    (RecordFilter(statuses=("no such status",)), set()),
)


class SearchContract:
    """Searches of one scope."""

    def test_words_are_scored_by_bm25(self, store: Store, ann: Scope) -> None:
        """The formula by hand: three memories of 4, 2 and 3 words, "jay" in two of them."""
        counted = (Terms({"jay": 2, "nut": 1}, 4), Terms({"jay": 1}, 2), Terms({"nut": 1}, 3))
        _put_counted(store, ann, counted)
        idf = math.log(1 + (3 - 2 + 0.5) / (2 + 0.5))
        first = idf * 2 * (K1 + 1) / (2 + K1 * (1 - B + B * 4 / 3))
        second = idf * 1 * (K1 + 1) / (1 + K1 * (1 - B + B * 2 / 3))
        with store.reader(ann) as reader:
            found = reader.words([term_group("jay")], RecordFilter())
            hits = [(hit.id, hit.score) for hit in found.top(10)]
            assert hits == [(sample_id("m0"), round(first, 6)), (sample_id("m1"), round(second, 6))]
            assert found.by_id([sample_id("m2"), sample_id("unknown")]) == [0.0, None]
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
            both = reader.words([term_group("walks", "run", "running")], RecordFilter())
            first, second = both.by_id([sample_id("m0"), sample_id("m1")])
            assert first == second
            assert both.frequencies == (2,)
            assert reader.frequencies(
                [term_group("running", "run"), term_group("walk"), term_group("fly")]
            ) == [2, 1, 0]

    def test_a_quarter_of_a_words_weight_is_for_its_exact_form(self, store: Store, ann: Scope) -> None:
        """By hand: the first form earns with a df and tf of its own what no other form can earn."""
        counted = (Terms({"run": 2}, 5), Terms({"running": 1, "run": 2}, 5), Terms({"walk": 1}, 5))
        _put_counted(store, ann, counted)
        both, own = (math.log(1 + (3 - df + 0.5) / (df + 0.5)) for df in (2, 1))
        twice, once = (tf * (K1 + 1) / (tf + K1) for tf in (2, 1))
        with store.reader(ann) as reader:
            found = reader.words([term_group("running", "run")], RecordFilter())
            hits = [(hit.id, hit.score) for hit in found.top(10)]
        exact = 0.75 * both * twice + 0.25 * own * once
        assert hits == [(sample_id("m1"), round(exact, 6)), (sample_id("m0"), round(0.75 * both * twice, 6))]
        assert found.group_scores([sample_id("m1")])[0] == pytest.approx((exact,), abs=1e-9)

    def test_the_parts_of_a_score_add_up_to_it(self, store: Store, ann: Scope) -> None:
        """In the groups' order, zero where a group does not match, zeros for an unknown memory."""
        _put_samples(store, ann)
        groups = [term_group("jay"), term_group("nothing"), term_group("lesson")]
        with store.reader(ann) as reader:
            found = reader.words(groups, RecordFilter())
            (own, unknown) = found.group_scores([sample_id("lesson", "lesson"), sample_id("unknown")])
            assert sum(own) == pytest.approx(found.by_id([sample_id("lesson", "lesson")])[0], abs=1e-6)
            assert own[0] > 0
            assert own[1] == 0.0
            assert own[2] > 0
            assert unknown == (0.0, 0.0, 0.0)

    def test_a_term_counts_no_more_than_255_times(self, store: Store, ann: Scope) -> None:
        """A bound that all stores share: beyond it a word has long earned all it can."""
        counted = (Terms({"jay": 255}, 9_000), Terms({"jay": 70_000}, 9_000))
        _put_counted(store, ann, counted)
        with store.reader(ann) as reader:
            scores = reader.words([term_group("jay")], RecordFilter()).by_id(
                [sample_id("m0"), sample_id("m1")]
            )
        assert scores[0] == scores[1]

    def test_equal_scores_go_to_the_smaller_id(self, store: Store, ann: Scope) -> None:
        """Also across tiers and segments, and when the limit cuts a tie."""
        tiers = ("observation", "crystal", "semantic")
        names = [(f"twin {i} {tier}", tier) for i in range(12) for tier in tiers]
        for name, tier in names:
            write_changes(
                store,
                ann,
                PutMemory(
                    sample_memory("same words", ANN_KEY, name=name, tier=tier, counted=Terms({"same": 1}, 2))
                ),
            )
        ids = sorted(sample_id(name, tier) for name, tier in names)
        with store.reader(ann) as reader:
            for limit in (1, 5, 35, 36, 99):
                assert [
                    hit.id for hit in reader.words([term_group("same")], RecordFilter()).top(limit)
                ] == ids[:limit]
            assert reader.words([term_group("same")], RecordFilter()).top(0) == []

    def test_vectors_are_scored_by_the_best_window(self, store: Store, ann: Scope) -> None:
        """A cosine within the error of whole numbers; a memory without vectors is no hit and has no score."""
        far = quantized_windows([-sample_vector("q"), sample_vector("q"), sample_vector("else")])
        write_changes(store, ann, PutModel(SMALL_MODEL))
        write_changes(
            store, ann, PutMemory(sample_memory("one", ANN_KEY, name="one", vectors={FINGERPRINT: far}))
        )
        write_changes(
            store,
            ann,
            PutMemory(sample_memory("two", ANN_KEY, name="two", vectors={FINGERPRINT: sample_windows("p")})),
        )
        write_changes(store, ann, PutMemory(sample_memory("three", ANN_KEY, name="three")))
        with store.reader(ann) as reader:
            found = reader.nearest(FINGERPRINT, sample_vector("q"), RecordFilter())
            top = found.top(10)
            assert [hit.id for hit in top] == [sample_id("one"), sample_id("two")]
            assert top[0].score == pytest.approx(1.0, abs=0.02)
            assert top[1].score == pytest.approx(float(sample_vector("q") @ sample_vector("p")), abs=0.02)
            one, three, unknown = found.by_id([sample_id("one"), sample_id("three"), sample_id("unknown")])
            assert (one, three, unknown) == (top[0].score, None, None)
            assert found.covered == 2
            assert found.mean == pytest.approx((top[0].score + top[1].score) / 2, abs=1e-6)
            assert found.deviation == pytest.approx(abs(top[0].score - top[1].score) / 2, abs=1e-6)

    def test_a_query_that_does_not_fit_its_model_is_refused(self, store: Store, ann: Scope) -> None:
        """Wrong length, or a model that nobody registered."""
        write_changes(store, ann, PutModel(SMALL_MODEL))
        with store.reader(ann) as reader:
            with pytest.raises(ModelMismatchError):
                reader.nearest(FINGERPRINT, sample_vector("q", 9), RecordFilter())
            with pytest.raises(NotFoundError):
                reader.nearest("no such model", sample_vector("q"), RecordFilter())

    def test_a_blank_vector_scores_zero(self, store: Store, ann: Scope) -> None:
        """A zero row has scale 0; so has a zero query."""
        write_changes(store, ann, PutModel(SMALL_MODEL))
        write_changes(
            store,
            ann,
            PutMemory(
                sample_memory(
                    "n", ANN_KEY, name="n", vectors={FINGERPRINT: quantized_windows([sample_vector("p") * 0])}
                )
            ),
        )
        with store.reader(ann) as reader:
            for query in (sample_vector("q"), sample_vector("q") * 0):
                found = reader.nearest(FINGERPRINT, query, RecordFilter())
                assert [(hit.id, hit.score) for hit in found.top(3)] == [(sample_id("n"), 0.0)]

    @pytest.mark.parametrize(("where", "names"), FILTERS)
    def test_filters_choose_among_hits_and_change_no_statistic(
        self, store: Store, ann: Scope, where: RecordFilter, names: set[str]
    ) -> None:
        """The scores, N, df, mean and deviation are those of the search without a filter."""
        _put_samples(store, ann)
        write_changes(store, ann, PutModel(SMALL_MODEL))
        vectors = {FINGERPRINT: sample_windows("v")}
        tags = ("a", "b")
        again = sample_memory(
            "jay lesson",
            ANN_KEY,
            name="lesson",
            tier="lesson",
            tags=tags,
            recorded_at=2_000,
            vectors=vectors,
            **LESSON_FIELDS,
        )
        write_changes(store, ann, PutMemory(again))
        tiers = {"lesson": "lesson"}
        wanted = {sample_id(name, tiers.get(name, "observation")) for name in names}
        with store.reader(ann) as reader:
            free, kept = (
                reader.words([term_group("jay")], EVERY_STATUS),
                reader.words([term_group("jay")], where),
            )
            assert {hit.id for hit in kept.top(99)} == wanted
            scores = {hit.id: hit.score for hit in free.top(99)}
            assert all(scores[hit.id] == hit.score for hit in kept.top(99))
            assert (kept.mean, kept.deviation, kept.covered, kept.memories, kept.frequencies) == (
                free.mean, free.deviation, free.covered, free.memories, free.frequencies,
            )  # fmt: skip
            assert kept.by_id(list(scores)) == list(scores.values())
            near = reader.nearest(FINGERPRINT, sample_vector("v"), where)
            wide = reader.nearest(FINGERPRINT, sample_vector("v"), EVERY_STATUS)
            assert {hit.id for hit in near.top(9)} == wanted & {sample_id("lesson", "lesson")}
            assert (near.mean, near.deviation, near.covered) == (wide.mean, wide.deviation, wide.covered)

    @pytest.mark.parametrize("field", ["tags", "projects", "agents", "sessions"])
    def test_half_a_character_in_a_filter_is_the_callers_mistake(
        self, store: Store, ann: Scope, field: str
    ) -> None:
        _put_samples(store, ann)
        filters: dict[str, Any] = {field: ("half \ud83d",)}
        with pytest.raises(InputError, match="unpaired surrogate"), store.reader(ann) as reader:
            reader.words([term_group("jay")], RecordFilter(**filters))

    def test_dates_filter_by_the_event_where_there_is_one(self, store: Store, ann: Scope) -> None:
        """Else by when it was recorded; ``since`` is inclusive and ``until`` is not."""
        from scrubjay.models.records import EventTime

        told = sample_memory("jay then", ANN_KEY, name="then", event=EventTime(-50, -50), recorded_at=9_000)
        write_changes(
            store,
            ann,
            PutMemory(told),
            PutMemory(sample_memory("jay now", ANN_KEY, name="now", recorded_at=9_000)),
        )
        with store.reader(ann) as reader:
            for where, name in ((RecordFilter(until=-49), "then"), (RecordFilter(since=9_000), "now")):
                assert [hit.id for hit in reader.words([term_group("jay")], where).top(5)] == [
                    sample_id(name)
                ]
            assert reader.words([term_group("jay")], RecordFilter(until=-50)).top(5) == []

    def test_an_empty_scope_answers_with_nothing(self, store: Store, ann: Scope) -> None:
        """Before its tenant's first write, too."""
        with store.reader(ann) as reader:
            found = reader.words([term_group("jay")], RecordFilter())
            assert (found.top(5), found.mean, found.deviation, found.covered, found.memories) == (
                [],
                0.0,
                0.0,
                0,
                0,
            )
            assert found.by_id([sample_id("x")]) == [None]
            assert reader.words([], RecordFilter()).top(5) == []
            assert (reader.sources(), reader.documents("s"), reader.passages("s", "p")) == ([], {}, [])
            assert (reader.get([sample_id("x")]), reader.ids_with_prefix(""), reader.languages()) == (
                {},
                [],
                (),
            )
            assert (reader.similar_terms("jay"), reader.models(), reader.versions()) == ([], [], None)
            assert (reader.counts().memories, reader.counts().documents, reader.counts().sources) == (0, 0, 0)
            assert (reader.concepts(), reader.categories(), reader.projects()) == ([], [], {})
            assert (reader.page("", 9), reader.turns("s", 0, 9), reader.last_turn("s")) == ([], [], None)
            assert (reader.edges([sample_id("x")], STORED_EDGE_KINDS), reader.follows([sample_id("x")])) == (
                [],
                [],
            )
            assert (reader.degrees("links"), reader.cooccurrences(sample_concept_id("x"), 9)) == ({}, ({}, 0))
            assert (
                reader.forgotten_hashes(["x"]),
                reader.pending("f", 5),
                reader.cached_texts("f", ["x"]),
            ) == (
                set(),
                [],
                {},
            )

    def test_ids_are_completed_in_order(self, store: Store, ann: Scope) -> None:
        """Any beginning, up to a limit; what is no beginning of an id completes to nothing."""
        _put_samples(store, ann)
        with store.reader(ann) as reader:
            every = reader.ids_with_prefix("", 99)
            assert every == sorted(every)
            assert len(every) == 6
            for whole in every:
                for cut in range(len(whole) + 1):
                    assert reader.ids_with_prefix(whole[:cut], 99) == [
                        i for i in every if i.startswith(whole[:cut])
                    ]
                for cut in (5, 6, 7, 16):  # a short id is six digits of it or more, whatever its tier
                    short = whole.split("_")[1][:cut]
                    same = [i for i in every if i.split("_")[1].startswith(short)]
                    assert reader.ids_with_prefix(short, 99) == (same if cut > 5 else [])
            assert reader.ids_with_prefix("", 2) == every[:2]
            assert reader.ids_with_prefix("", 0) == []
            for none in ("OBS_", "obs_zz", every[0] + "0", "%", "obs_%", "x"):
                assert reader.ids_with_prefix(none) == []

    def test_projects_are_those_of_visible_memories(self, store: Store, ann: Scope, bob: Scope) -> None:
        own = [("a", "owl"), ("b", "owl"), ("c", None), ("d", "jay")]
        memories = [sample_memory(text, ANN_KEY, name=text, project=project) for text, project in own]
        theirs = sample_memory("e", "user:bob", name="e", project="secret")
        write_changes(store, ann, *map(PutMemory, memories))
        write_changes(store, bob, PutMemory(theirs))
        for who, known in ((ann, ["jay", "owl"]), (bob, ["secret"])):
            with store.reader(who) as reader:
                assert reader.project_names() == known

    def test_heads_tell_title_length_speaker_and_life(self, store: Store, ann: Scope) -> None:
        """Of the visible ones of these ids."""
        spoken = sample_memory(
            "a b c", ANN_KEY, name="s", title="Talk", session="x", turn=0, role="user", event=EventTime(7, 9)
        )
        sure = sample_memory(
            "d",
            ANN_KEY,
            name="d",
            tier="lesson",
            title="D",
            last_used=5,
            pinned=True,
            strength=0.5,
            confidence=0.25,
            project="jay",
        )
        write_changes(store, ann, PutMemory(spoken), PutMemory(sure))
        with store.reader(ann) as reader:
            ids = [sample_id("d", "lesson"), sample_id("s"), sample_id("d"), sample_id("none"), "no id"]
            assert reader.ranking_metadata(ids) == {
                ids[0]: RankingMetadata(
                    "D", 1, False, None, sure.record.recorded_at, 5, True, 0.5, 0.25, project="jay"
                ),
                ids[1]: RankingMetadata("Talk", 3, True, "user", 7, session="x"),
            }
            assert reader.ranking_metadata([]) == {}

    def test_adjacent_turns_are_those_before_and_after(self, store: Store, ann: Scope, bob: Scope) -> None:
        """Of the same session, visible, in order; several at one turn by id; none for what is no turn."""
        turns = (("s", 0), ("s", 1), ("s", 2), ("s", 4), ("t", 1), (None, 1), ("s", None))
        for number, (session, turn) in enumerate(turns):
            write_changes(
                store,
                ann,
                PutMemory(sample_memory("x", ANN_KEY, name=f"n{number}", session=session, turn=turn)),
            )
        twin = sample_memory("x", ANN_KEY, name="twin", tier="crystal", session="s", turn=2)
        write_changes(store, ann, PutMemory(twin))
        write_changes(store, bob, PutMemory(sample_memory("x", "user:bob", name="bobs", session="s", turn=3)))
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
        _put_samples(store, ann)
        with store.reader(ann) as reader:
            held = [reader.count_passages(names) for names in ([], ["notes"], ["notes", "work"], ["none"])]
        assert held == [0, 1, 2, 0]

    def test_mistyped_words_find_visible_terms(self, store: Store, ann: Scope) -> None:
        """Best first, without the word itself, no more than asked for."""
        texts = ("consolidate memories", "consolidated notes", "unrelated")
        write_changes(store, ann, *(PutMemory(sample_memory(text, ANN_KEY)) for text in texts))
        with store.reader(ann) as reader:
            found = reader.similar_terms("consolidatte", 9)
            assert found[0][0] == "consolidate"
            assert found == sorted(found, key=lambda pair: (-pair[1], pair[0]))
            assert len(reader.similar_terms("consolidatte", 1)) == 1
            assert "consolidate" not in [term for term, _ in reader.similar_terms("consolidate", 9)]
            assert reader.similar_terms("zzzzqqq") == []

    def test_languages_are_those_of_the_memories(self, store: Store, ann: Scope) -> None:
        """Sorted, each once, and no longer named when the last memory of it has gone."""
        from scrubjay.storage.changes import Forget

        written = [
            sample_memory("eins", ANN_KEY, language="de"),
            sample_memory("zwei", ANN_KEY, language="de"),
        ]
        written += [sample_memory("one", ANN_KEY, language="en"), sample_memory("un", ANN_KEY, language="fr")]
        write_changes(store, ann, *(PutMemory(m) for m in written))
        with store.reader(ann) as reader:
            assert reader.languages() == ("de", "en", "fr")
        write_changes(store, ann, Forget((written[-1].record.id,)))
        with store.reader(ann) as reader:
            assert reader.languages() == ("de", "en")

    def test_counts_are_of_every_status(self, store: Store, ann: Scope) -> None:
        """By tier, by status, with the documents and sources."""
        _put_samples(store, ann)
        with store.reader(ann) as reader:
            counts = reader.counts()
        assert counts.memories == 6
        assert dict(counts.tiers) == {"lesson": 1, "observation": 5}
        assert dict(counts.statuses) == {"active": 4, "archived": 1, "superseded": 1}
        assert (counts.documents, counts.sources) == (2, 2)

    def test_a_view_does_not_change_while_others_write(self, store: Store, ann: Scope) -> None:
        """Writes of this thread and of another succeed while it is open, and the next view sees them."""
        write_changes(store, ann, PutMemory(sample_memory("jay first", ANN_KEY, name="first")))
        other = threading.Thread(
            target=write_changes, args=(store, ann, PutMemory(sample_memory("jay third", ANN_KEY)))
        )
        with store.reader(ann) as reader:
            before = reader.ids_with_prefix("", 99)
            write_changes(store, ann, PutMemory(sample_memory("jay second", ANN_KEY)))
            other.start()
            other.join()
            found = reader.words([term_group("jay")], RecordFilter())
            assert (reader.ids_with_prefix("", 99), found.memories, len(found.top(9))) == (before, 1, 1)
            assert reader.counts().memories == 1
        with store.reader(ann) as reader:
            assert reader.words([term_group("jay")], RecordFilter()).memories == 3

    def test_views_may_be_nested(self, store: Store, ann: Scope, bob: Scope) -> None:
        """One for each scope, and an error in one is the caller's own."""
        write_changes(store, ann, PutMemory(sample_memory("jay", ANN_KEY)))
        with store.reader(ann) as mine:
            with store.reader(bob) as theirs:
                assert theirs.counts().memories == 0
            assert mine.counts().memories == 1
        with pytest.raises(FileNotFoundError), store.reader(ann):
            raise FileNotFoundError("a file of the caller's")
        with store.reader(ann) as reader:
            assert reader.counts().memories == 1


def _late_vectors(name: str, text: str, windows: int = 1) -> PutVectors:
    return PutVectors(FINGERPRINT, {sample_id(name): (text_hash(text), sample_windows(text, windows))})


class ModelsContract:
    """Models beside each other, and vectors that come after their memories."""

    def test_models_are_registered_changed_and_dropped(self, store: Store, ann: Scope, bob: Scope) -> None:
        """By name; one of the same fingerprint changes its state alone."""
        write_changes(store, ann, PutModel(SMALL_MODEL), PutModel(OTHER_MODEL, "adding"))
        with store.reader(bob) as reader:
            assert reader.models() == [ModelState(OTHER_MODEL, "adding"), ModelState(SMALL_MODEL, "active")]
        write_changes(store, ann, PutModel(OTHER_MODEL), DropModel(FINGERPRINT), DropModel("no such model"))
        with store.reader(bob) as reader:
            assert reader.models() == [ModelState(OTHER_MODEL, "active")]

    def test_models_of_one_name_are_told_apart(self, store: Store, ann: Scope) -> None:
        """By anything that changes their vectors; in the order of their fingerprints."""
        revised = replace(SMALL_MODEL, revision="2")
        write_changes(store, ann, PutModel(SMALL_MODEL), PutModel(revised))
        with store.reader(ann) as reader:
            found = [state.model for state in reader.models()]
        assert found == sorted((SMALL_MODEL, revised), key=lambda model: model.fingerprint)

    def test_the_newest_that_wait_come_first_where_that_is_asked(self, store: Store, ann: Scope) -> None:
        """By when they became true: their validity, else their event, else when they were recorded."""
        times: dict[str, dict[str, Any]] = {
            "old": {"recorded_at": 10},
            "valid": {"recorded_at": 10, "valid_from": 40},
            "event": {"recorded_at": 10, "event": EventTime(30, 31, "second", "UTC")},
            "recorded": {"recorded_at": 20},
            "before": {"recorded_at": 50, "valid_from": 5},
        }
        puts = (PutMemory(sample_memory(name, ANN_KEY, name=name, **said)) for name, said in times.items())
        write_changes(store, ann, PutModel(SMALL_MODEL), *puts)
        order = ["valid", "event", "recorded", "old", "before"]
        with store.reader(ann) as reader:
            for fingerprint in (FINGERPRINT, "not registered"):
                found = reader.pending(fingerprint, 99, newest=True)
                assert [waiting.record.content for waiting in found] == order
                found = reader.pending(fingerprint, 2, newest=True)
                assert [waiting.record.content for waiting in found] == order[:2]

    def test_every_memory_waits_for_a_new_model(self, store: Store, ann: Scope) -> None:
        """Those there are and those that come, by their ids' hashes, until their vectors come."""
        names = [f"m{number}" for number in range(6)]
        write_changes(store, ann, *(PutMemory(sample_memory(name, ANN_KEY, name=name)) for name in names[:3]))
        write_changes(store, ann, PutModel(SMALL_MODEL))
        write_changes(
            store,
            ann,
            *(PutMemory(sample_memory(name, ANN_KEY, name=name, tier="lesson")) for name in names[3:]),
        )
        order = sorted(names, key=lambda name: sample_id(name).partition("_")[2])
        with store.reader(ann) as reader:
            assert [waiting.record.content for waiting in reader.pending(FINGERPRINT, 99)] == order
            assert [waiting.record.content for waiting in reader.pending(FINGERPRINT, 2)] == order[:2]
            assert reader.coverage(FINGERPRINT) == Coverage(0, 6)
            assert reader.coverage("not registered") == Coverage(0, 6)
            assert reader.oldest_pending("not registered") is None
            assert [waiting.record.content for waiting in reader.pending("not registered", 4)] == order[:4]
        write_changes(store, ann, _late_vectors("m1", "m1"), _late_vectors("m2", "m2", 3))
        with store.reader(ann) as reader:
            left = [name for name in order if name not in ("m1", "m2")]
            assert [waiting.record.content for waiting in reader.pending(FINGERPRINT, 99)] == left
            assert reader.coverage(FINGERPRINT) == Coverage(2, 4)
            written = [each.record.updated_at for each in reader.pending(FINGERPRINT, 9)]
            assert (reader.oldest_pending(FINGERPRINT), len(written)) == (min(written), 4)
            hits = reader.nearest(FINGERPRINT, sample_vector("m1"), RecordFilter()).top(9)
            assert {hit.id for hit in hits} == {sample_id("m1"), sample_id("m2")}
            assert hits[0].id == sample_id("m1")

    def test_windows_are_counted_without_reading_them(self, store: Store, ann: Scope, bob: Scope) -> None:
        """Those of the scope, of one model; what was removed may still count."""
        own = {FINGERPRINT: sample_windows("m", 3), OTHER_MODEL.fingerprint: sample_windows("m", 1, 12)}
        write_changes(store, ann, PutModel(SMALL_MODEL), PutModel(OTHER_MODEL))
        write_changes(
            store,
            ann,
            PutMemory(sample_memory("m", ANN_KEY, vectors=own)),
            PutMemory(sample_memory("n", ANN_KEY)),
        )
        write_changes(store, bob, PutMemory(sample_memory("b", "user:bob", name="b", vectors=own)))
        with store.reader(ann) as reader:
            assert (
                reader.windows(FINGERPRINT),
                reader.windows(OTHER_MODEL.fingerprint),
                reader.windows("none"),
            ) == (3, 1, 0)
        write_changes(store, bob, Forget((sample_id("b"),)))
        with store.reader(bob) as reader:
            assert reader.windows(FINGERPRINT) >= reader.coverage(FINGERPRINT).covered

    def test_a_waiting_passage_brings_the_text_before_it(self, store: Store, ann: Scope) -> None:
        """Of the same document and section only."""
        write_changes(store, ann, PutModel(SMALL_MODEL), PutSource(sample_source("notes", ANN_KEY)))
        sections = (("one", ("A",)), ("two", ("A",)), ("three", ("A", "B")), ("four", ("A", "B")))
        fresh = tuple(
            sample_memory(text, ANN_KEY, name=text, heading_path=path, place=sample_place("notes", "a.md", i))
            for i, (text, path) in enumerate(sections)
        )
        write_changes(
            store,
            ann,
            PutDocument(sample_document("notes", "a.md"), fresh),
            PutMemory(sample_memory("alone", ANN_KEY)),
        )
        write_changes(store, ann, put_sample_document("notes", "b.md", ["five"], ANN_KEY))
        with store.reader(ann) as reader:
            before = {waiting.record.content: waiting.before for waiting in reader.pending(FINGERPRINT, 99)}
        assert before == {"one": "", "two": "one", "three": "", "four": "three", "five": "", "alone": ""}

    def test_late_vectors_of_a_changed_or_gone_memory_are_passed_over(self, store: Store, ann: Scope) -> None:
        """They belong to a text that is no more; it goes on waiting."""
        write_changes(store, ann, PutModel(SMALL_MODEL), PutMemory(sample_memory("old", ANN_KEY, name="m")))
        write_changes(
            store,
            ann,
            PutMemory(sample_memory("new", ANN_KEY, name="m")),
            PutMemory(sample_memory("bye", ANN_KEY, name="bye")),
        )
        write_changes(store, ann, Forget((sample_id("bye"),)))
        write_changes(
            store, ann, _late_vectors("m", "old"), _late_vectors("bye", "bye"), _late_vectors("never", "was")
        )
        with store.reader(ann) as reader:
            assert reader.coverage(FINGERPRINT) == Coverage(0, 1)
        write_changes(store, ann, _late_vectors("m", "new"))
        with store.reader(ann) as reader:
            assert reader.coverage(FINGERPRINT) == Coverage(1, 0)

    def test_vectors_that_are_there_already_stay(self, store: Store, ann: Scope) -> None:
        """Two processes may embed the same memory; the second comes too late."""
        write_changes(store, ann, PutModel(SMALL_MODEL), PutMemory(sample_memory("m", ANN_KEY, name="m")))
        write_changes(store, ann, _late_vectors("m", "m"))
        write_changes(
            store, ann, PutVectors(FINGERPRINT, {sample_id("m"): (text_hash("m"), sample_windows("else"))})
        )
        with store.reader(ann) as reader:
            hits = reader.nearest(FINGERPRINT, sample_vector("m"), RecordFilter()).top(9)
            assert [hit.id for hit in hits] == [sample_id("m")]
            assert hits[0].score > 0.98

    @pytest.mark.parametrize(
        "wrong",
        [
            sample_windows("x", 1, 9),
            sample_windows("x", 2, 7),
            QuantizedVectors(np.zeros((0, 8), np.int8), np.zeros(0, np.float32)),
            QuantizedVectors(np.zeros((2, 8), np.int8), np.zeros(1, np.float32)),
            QuantizedVectors(np.zeros(8, np.int8), np.zeros(1, np.float32)),
        ],
        ids=["longer", "shorter", "no window", "scales differ", "no rows"],
    )
    def test_vectors_that_do_not_fit_are_refused(
        self, store: Store, ann: Scope, wrong: QuantizedVectors
    ) -> None:
        """At the memory, late and in the cache; nothing of the write is stored."""
        write_changes(store, ann, PutModel(SMALL_MODEL), PutMemory(sample_memory("m", ANN_KEY, name="m")))
        for bad in (
            PutMemory(sample_memory("x", ANN_KEY, vectors={FINGERPRINT: wrong})),
            PutVectors(FINGERPRINT, {sample_id("m"): (text_hash("m"), wrong)}),
            PutVectors(FINGERPRINT, {sample_id("m"): (text_hash("m"), sample_windows("m"))}, {"text": wrong}),
        ):
            with pytest.raises(ModelMismatchError):
                write_changes(store, ann, PutMemory(sample_memory("goes too", ANN_KEY)), bad)
        with store.reader(ann) as reader:
            assert reader.coverage(FINGERPRINT) == Coverage(0, 1)
            assert reader.cached_texts(FINGERPRINT, ["text"]) == {}

    def test_vectors_of_an_unknown_model_are_refused(self, store: Store, ann: Scope) -> None:
        """A model is registered first."""
        for bad in (
            PutMemory(sample_memory("x", ANN_KEY, vectors={FINGERPRINT: sample_windows("x")})),
            PutVectors(FINGERPRINT, {}, {}),
        ):
            with pytest.raises(NotFoundError):
                write_changes(store, ann, PutMemory(sample_memory("goes too", ANN_KEY)), bad)
        with store.reader(ann) as reader:
            assert reader.counts().memories == 0

    def test_a_dropped_model_takes_its_vectors_along(self, store: Store, ann: Scope) -> None:
        """And its cache; registered again, everything waits for it. The others keep theirs."""
        both = {FINGERPRINT: sample_windows("m"), OTHER_MODEL.fingerprint: sample_windows("m", 1, 12)}
        write_changes(store, ann, PutModel(SMALL_MODEL), PutModel(OTHER_MODEL))
        write_changes(store, ann, PutMemory(sample_memory("m", ANN_KEY, name="m", vectors=both)))
        write_changes(store, ann, PutVectors(FINGERPRINT, {}, {"text": sample_windows("t")}))
        with store.reader(ann) as reader:
            assert len(reader.nearest(FINGERPRINT, sample_vector("m"), RecordFilter()).top(9)) == 1
        write_changes(store, ann, DropModel(FINGERPRINT))
        with store.reader(ann) as reader:
            with pytest.raises(NotFoundError):
                reader.nearest(FINGERPRINT, sample_vector("m"), RecordFilter())
            assert (
                len(reader.nearest(OTHER_MODEL.fingerprint, sample_vector("m", 12), RecordFilter()).top(9))
                == 1
            )
        write_changes(store, ann, PutModel(SMALL_MODEL))
        with store.reader(ann) as reader:
            assert reader.nearest(FINGERPRINT, sample_vector("m"), RecordFilter()).top(9) == []
            assert (reader.coverage(FINGERPRINT), reader.cached_texts(FINGERPRINT, ["text"])) == (
                Coverage(0, 1),
                {},
            )
            assert reader.coverage(OTHER_MODEL.fingerprint) == Coverage(1, 0)

    def test_embedded_texts_are_cached(self, store: Store, ann: Scope) -> None:
        """By the hash of the text and the model, with every window."""
        write_changes(store, ann, PutModel(SMALL_MODEL), PutModel(OTHER_MODEL))
        write_changes(
            store,
            ann,
            PutVectors(FINGERPRINT, {}, {"one": sample_windows("one", 3), "two": sample_windows("two")}),
        )
        write_changes(store, ann, PutVectors(FINGERPRINT, {}, {"two": sample_windows("two again")}))
        with store.reader(ann) as reader:
            found = reader.cached_texts(FINGERPRINT, ["one", "two", "three"])
            assert {name: plain_vectors(kept) for name, kept in found.items()} == {
                "one": plain_vectors(sample_windows("one", 3)),
                "two": plain_vectors(sample_windows("two again")),
            }
            assert reader.cached_texts(OTHER_MODEL.fingerprint, ["one"]) == {}
            assert reader.cached_texts("no such model", ["one"]) == {}

    def test_windows_of_memories_are_read_back(self, store: Store, ann: Scope, bob: Scope) -> None:
        """As they were written, of one model, of what is seen; those without are left out."""
        write_changes(
            store,
            ann,
            PutModel(SMALL_MODEL),
            PutModel(OTHER_MODEL),
            PutMemory(sample_memory("n", ANN_KEY, name="n")),
        )
        both = {FINGERPRINT: sample_windows("m", 3), OTHER_MODEL.fingerprint: sample_windows("m", 1, 12)}
        write_changes(
            store, ann, PutMemory(sample_memory("m", ANN_KEY, name="m", status="archived", vectors=both))
        )
        write_changes(store, ann, _late_vectors("n", "n", 2))
        write_changes(
            store,
            bob,
            PutMemory(sample_memory("b", "user:bob", name="b", vectors={FINGERPRINT: sample_windows("b")})),
        )
        ids = [sample_id(name) for name in ("m", "n", "b", "none")]
        with store.reader(ann) as reader:
            found = reader.vectors(FINGERPRINT, [*ids, "no id", sample_id("m", "lesson")])
            wanted = {
                ids[0]: plain_vectors(sample_windows("m", 3)),
                ids[1]: plain_vectors(sample_windows("n", 2)),
            }
            assert {one: plain_vectors(kept) for one, kept in found.items()} == wanted
            assert list(reader.vectors(OTHER_MODEL.fingerprint, ids)) == ids[:1]
            assert reader.vectors(FINGERPRINT, []) == {}
            with pytest.raises(NotFoundError):
                reader.vectors("no such model", ids)

    def test_token_codes_are_read_back_from_any_place(self, store: Store, ann: Scope, bob: Scope) -> None:
        """Those that came with the memory and late ones, of many memories; removed and replaced ones are not."""
        name = TOKEN_MODEL.fingerprint
        write_changes(store, ann, PutModel(TOKEN_MODEL), PutModel(SMALL_MODEL))
        texts = {sample_id(f"m{number}"): (f"m{number}", number % 60 + 1) for number in range(400)}
        for early in (True, False):
            some = {one: text for at, (one, text) in enumerate(texts.items()) if (at % 3 > 0) == early}
            memories = [
                sample_memory(
                    text, ANN_KEY, name=text, vectors={name: sample_codes(text, rows)} if early else {}
                )
                for text, rows in some.values()
            ]
            write_changes(store, ann, *map(PutMemory, memories))
        for part in range(9):  # so many that what a backfill appends is joined
            late = {
                one: (text_hash(text), sample_codes(text, rows))
                for at, (one, (text, rows)) in enumerate(texts.items())
                if at % 3 == 0 and at // 3 % 9 == part
            }
            write_changes(store, ann, PutVectors(name, late))
        stranger = sample_memory("b", "user:bob", name="b", vectors={name: sample_codes("b")})
        write_changes(store, bob, PutMemory(stranger))
        gone = (sample_id("m7"), sample_id("m8"))
        again = sample_memory("new", ANN_KEY, name="m9", vectors={name: sample_codes("new", 3)})
        write_changes(store, ann, Forget(gone[:1]), DropMemory(gone[1:]), PutMemory(again))
        texts[again.record.id] = ("new", 3)
        with store.reader(ann) as reader:
            assert reader.coverage(name) == Coverage(398, 0)
            asked = [*list(texts)[::-7], *gone, again.record.id, stranger.record.id, "no id"]
            found = {one: plain_vectors(codes) for one, codes in reader.vectors(name, asked).items()}
            wanted = dict.fromkeys(one for one in asked if one in texts and one not in gone)
            assert list(found) == list(wanted)
            assert found == {one: plain_vectors(sample_codes(*texts[one])) for one in wanted}

    def test_token_codes_have_no_nearest_and_one_width(self, store: Store, ann: Scope) -> None:
        """A late-interaction model is asked by `vectors` alone; codes of another width or with scales are refused."""
        name = TOKEN_MODEL.fingerprint
        own = {name: sample_codes("m", 2), FINGERPRINT: sample_windows("m")}
        write_changes(store, ann, PutModel(TOKEN_MODEL), PutModel(SMALL_MODEL))
        write_changes(store, ann, PutMemory(sample_memory("m", ANN_KEY, name="m", vectors=own)))
        query = sample_vector("m", TOKEN_MODEL.dimensions)
        with store.reader(ann) as reader:
            with pytest.raises(ModelMismatchError, match="tokens makes codes of tokens"):
                reader.nearest(name, query, RecordFilter())
            with pytest.raises(ModelMismatchError, match="tokens makes codes of tokens"):
                reader.nearest_batch(name, query[None], 3, 0.0)
            assert len(reader.nearest(FINGERPRINT, sample_vector("m"), RecordFilter()).top(3)) == 1
            assert reader.windows(name) >= 1
        scaled = QuantizedVectors(own[name].data, np.full(2, 0.5, np.float32))
        for bad in (sample_windows("m", 1, TOKEN_MODEL.dimensions), scaled):
            with pytest.raises(ModelMismatchError, match=r"8 bytes without.*Nothing was written\."):
                write_changes(store, ann, PutVectors(name, {sample_id("m"): (text_hash("m"), bad)}))
        write_changes(store, ann, DropModel(name))
        with store.reader(ann) as reader, pytest.raises(NotFoundError):
            reader.vectors(name, [sample_id("m")])

    def test_what_is_alike_is_what_is_nearest(self, store: Store, ann: Scope, bob: Scope) -> None:
        """For each query its own answer: active memories above the floor, ties by id, no stranger's."""
        write_changes(store, ann, PutModel(SMALL_MODEL), PutMemory(sample_memory("waits", ANN_KEY)))
        for i in range(30):
            vectors, status = (
                {FINGERPRINT: sample_windows(f"v{i % 5}", 1 + i % 2)},
                "archived" if i % 7 == 0 else "active",
            )
            write_changes(
                store,
                ann,
                PutMemory(sample_memory(f"m{i}", ANN_KEY, name=f"m{i}", vectors=vectors, status=status)),
            )
        write_changes(
            store,
            bob,
            PutMemory(sample_memory("b", "user:bob", name="b", vectors={FINGERPRINT: sample_windows("v1")})),
        )
        rows = [sample_vector(f"v{i}") for i in range(6)]
        queries = np.stack([*rows, rows[0], rows[0] * 0])
        with store.reader(ann) as reader:
            for limit, floor in ((99, -1.0), (99, 0.3), (4, 0.3), (1, 0.0), (0, 0.0), (9, 0.98), (9, 1.1)):
                found = reader.nearest_batch(FINGERPRINT, queries, limit, floor)
                tops = [reader.nearest(FINGERPRINT, query, RecordFilter()).top(limit) for query in queries]
                assert found == [[hit for hit in hits if hit.score >= floor] for hits in tops]
            assert len(found) == len(queries)
            edge = reader.nearest(FINGERPRINT, rows[1], RecordFilter()).top(1)[0]
            assert reader.nearest_batch(FINGERPRINT, queries[1:2], 1, edge.score) == [[edge]]
            assert reader.nearest_batch(FINGERPRINT, queries[:0], 9, 0.0) == []
            for where in (RecordFilter(statuses=("archived",)), RecordFilter(tiers=("lesson",))):
                tops = [reader.nearest(FINGERPRINT, query, where).top(4) for query in queries]
                assert reader.nearest_batch(FINGERPRINT, queries, 4, -1.0, where) == tops

    def test_queries_that_do_not_fit_their_model_are_refused(self, store: Store, ann: Scope) -> None:
        """Also where there are none of them, or one without its row."""
        write_changes(store, ann, PutModel(SMALL_MODEL))
        with store.reader(ann) as reader:
            for wrong in (np.zeros((2, 9), np.float32), np.zeros((0, 7), np.float32), sample_vector("x")):
                with pytest.raises(ModelMismatchError):
                    reader.nearest_batch(FINGERPRINT, wrong, 9, 0.0)
            with pytest.raises(NotFoundError):
                reader.nearest_batch("no such model", np.zeros((1, 8), np.float32), 9, 0.0)
