"""What a night read from a text it reads no second time, and nothing that it draws differs for that."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

from hypothesis import given
from hypothesis import settings as how
from hypothesis import strategies as st

from scrubjay import Memory
from scrubjay.config.loader import load_settings
from scrubjay.config.settings import FactSettings
from scrubjay.embeddings.hash_embedder import HashEmbedder
from scrubjay.models.lifecycle import CachedExtraction, NewMemory
from scrubjay.models.records import STATUSES, Record, RecordFilter, Scope
from scrubjay.storage.changes import PutExtractions
from scrubjay.storage.sqlite.store import SQLiteStore

NOW = "2026-03-01T12:00:00Z"
SECRET = b"a key of thirty-two bytes, fixed."
FILLER = "There are many things that one could say about it here, and it is a good idea to take your time. "
SAID = (
    "Our release server's port is 8443.",
    "By the way, our release server's port is 8443.",
    "Our release server's port is 9000.",
    "I'm allergic to peanuts.",
    "PostgreSQL needs a larger disk for the ledger.",
)
ASKED = "Please deploy the billing service to staging again."
DONE = "```bash\n$ git pull\n$ docker build -t billing .\n$ docker push registry/billing\n```"
TALKS = 6


def talk(number: int) -> list[NewMemory]:
    """A conversation: what a person says, what they ask for, and what an agent does then."""
    texts = (("user", FILLER + SAID[number % len(SAID)]), ("user", ASKED), ("assistant", FILLER + DONE))
    return [
        NewMemory(
            text,
            session=f"s{number}",
            role=role,
            origin="owner" if role == "user" else "agent",
            turn=turn,
            date=f"2026-01-{3 * number + 1:02}T10:0{turn}:00Z",
        )
        for turn, (role, text) in enumerate(texts)
    ]


@contextmanager
def opened() -> Iterator[Memory]:
    """A memory that learns no statements by itself, so that the night has something to draw."""
    with tempfile.TemporaryDirectory() as place:
        with closing(SQLiteStore(Path(place) / "m.db", SECRET)) as store:
            store.secret(Scope("default", "ann"))
        environ = {"SCRUBJAY_CONFIG": "", "XDG_CONFIG_HOME": str(Path(place) / "none")}
        settings = replace(
            load_settings(environ=environ), cache_dir=Path(place) / "cache", facts=FactSettings(("changes",))
        )
        embedders = [HashEmbedder(64)]
        with Memory.open(Path(place) / "m.db", user="ann", settings=settings, embedders=embedders) as memory:
            yield memory


def observed(memory: Memory) -> list[Record]:
    with memory.workspace.store.reader(memory.workspace.scope) as reader:
        return reader.page("", 1_000, RecordFilter(tiers=("observation",), statuses=STATUSES))


def readings(memory: Memory) -> dict[str, CachedExtraction]:
    with memory.workspace.store.reader(memory.workspace.scope) as reader:
        return reader.extractions([record.id for record in observed(memory)])


def unread(memory: Memory) -> None:
    """Let the next night read everything."""
    blank = tuple(replace(one, mark="", data=b"") for one in readings(memory).values())
    memory.workspace.store.write(memory.workspace.scope, [PutExtractions(blank)])


def held(memory: Memory) -> list[object]:
    """Everything that is stored, without the time of the clock and the names of runs."""
    with memory.workspace.store.reader(memory.workspace.scope) as reader:
        found = reader.get(reader.ids_with_prefix("", 100_000))
        edges = reader.edges(sorted(found), ["derived_from", "supersedes"])
    records = [replace(one, recorded_at=0, updated_at=0) for _, one in sorted(found.items())]
    return [records, sorted((edge.src, edge.kind, edge.dst, round(edge.weight, 9)) for edge in edges)]


def lived(memory: Memory, history: list[tuple[str, int]], *, forgetful: bool) -> list[object]:
    """Return what is held after a history; with ``forgetful``, every night reads everything anew."""
    for what, number in [*history, ("night", 0)]:
        match what:
            case "talk":
                memory.add_many(talk(number))
            case "night":
                if forgetful:
                    unread(memory)
                memory.consolidate(now=NOW)
            case "undo":
                with memory.workspace.store.reader(memory.workspace.scope) as reader:
                    last = reader.runs(1)
                for run in last:
                    memory.undo(run.id)
            case _:
                own = [one.id for one in observed(memory) if one.session == f"s{number}"]
                if own:
                    {"forget": memory.forget, "archive": memory.archive}[what](own[0])
    return held(memory)


steps = st.one_of(
    st.tuples(st.just("talk"), st.integers(0, TALKS - 1)),
    st.tuples(st.sampled_from(("night", "undo")), st.just(0)),
    st.tuples(st.sampled_from(("forget", "archive")), st.integers(0, TALKS - 1)),
)


@how(max_examples=6, deadline=None, derandomize=True)
@given(st.lists(steps, min_size=6, max_size=14))
def test_what_was_read_before_and_what_is_read_anew_come_to_the_same(history: list[tuple[str, int]]) -> None:
    """Whatever arrives when, is forgotten, put away or taken back: the last night leaves the same."""
    with opened() as memory, opened() as other:
        assert lived(memory, history, forgetful=False) == lived(other, history, forgetful=True)


@how(max_examples=4, deadline=None, derandomize=True)
@given(st.permutations(range(TALKS)), st.sets(st.integers(0, TALKS - 1), min_size=1))
def test_talks_that_arrive_late_count_as_if_they_had_been_there(order: list[int], nights: set[int]) -> None:
    """Nights that were taken back leave what they read, and one night over everything draws the same as without."""
    history = [("talk", number) for number in range(TALKS)]
    late: list[tuple[str, int]] = []
    for place, number in enumerate(order):
        late += [("talk", number), *([("night", 0), ("undo", 0)] if place in nights else [])]
    with opened() as memory, opened() as other:
        whole = lived(memory, history, forgetful=False)
        assert lived(other, late, forgetful=False) == whole
        tiers = {record.tier for record in whole[0]}  # type: ignore[attr-defined]
        assert {"semantic", "procedural", "crystal"} <= tiers


def test_a_night_reads_no_text_that_was_read_before() -> None:
    """What is kept is believed as long as it is of this text and these rules."""
    with opened() as memory:
        for number in (0, 5):  # both say the same
            memory.add_many(talk(number))
        assert memory.consolidate(now=NOW, dry_run=True).promoted
        assert readings(memory) == {}
        with memory.workspace.store.reader(memory.workspace.scope) as reader:
            assert reader.runs() == []
        done = memory.consolidate(now=NOW)
        drawn = {one.tier for one in done.promoted}
        assert {"semantic", "procedural"} <= drawn
        assert set(readings(memory)) == {record.id for record in observed(memory)}
        before = readings(memory)
        memory.undo(str(done.run))
        assert readings(memory) == before
        empty = tuple(replace(one, data=b"") for one in before.values())
        memory.workspace.store.write(memory.workspace.scope, [PutExtractions(empty)])
        assert {"semantic", "procedural"}.isdisjoint(
            one.tier for one in memory.consolidate(now=NOW, dry_run=True).promoted
        )
        unread(memory)
        again = memory.consolidate(now=NOW)
        assert [one.id for one in again.promoted] == [one.id for one in done.promoted]
        assert readings(memory) == before
        assert memory.consolidate(now=NOW).run is None


def test_a_reading_goes_with_the_memory_that_is_forgotten() -> None:
    with opened() as memory:
        turns = [one.id for number in (0, 5) for one in memory.add_many(talk(number))]
        memory.consolidate(now=NOW)
        memory.forget(turns[0])
        assert set(readings(memory)) == set(turns) - {turns[0]}
