"""Works: what a process does to a store until it is killed, and what must hold of the store then.

Each is made of three parts: `prepare` makes what there is before, `run` works on and tells each step when it is
done, `check` is told the last step that was heard and raises if something is lost, half there, or there twice.
A round goes on from what the last one left.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from itertools import count, pairwise
from pathlib import Path
from typing import Any, Final

from old_talks import NOW, turns

from scrubjay import Memory, NewMemory
from scrubjay.api.auth import Principal
from scrubjay.config.loader import load_settings
from scrubjay.consolidation import runner
from scrubjay.embeddings.hash_embedder import HashEmbedder
from scrubjay.models.records import Record, Scope
from scrubjay.server.proxy.formats import MemoryOptions, Utterance
from scrubjay.server.proxy.turn_queue import TurnQueue
from scrubjay.services import imports
from scrubjay.storage.changes import PutMemory
from scrubjay.storage.sqlite.store import SQLiteStore
from scrubjay.transfer import importer
from store_contract.answers import all_answers
from store_contract.history import StoreHistory
from store_contract.samples import sample_memory as sample
from store_contract.sqlite_check import disagreements

SYNCED: Final = 6
"""Files of the folder that is synced."""
FORGOTTEN: Final = 40
SESSIONS: Final = 12
FEW: Final = 4
"""Groups or lines of one transaction, so that a small night or import has many."""
Tell = Callable[[int], None]


@dataclass
class Round:
    """One round of a work.

    Attributes:
        folder: Where its store lies.
        seed: What its choices are made of; no two rounds have the same.
        known: What rounds before found out, for those after.
    """

    folder: Path
    seed: int
    known: dict[str, Any] = field(default_factory=dict)

    @property
    def path(self) -> Path:
        return self.folder / "memory.db"

    def opened(self, *more: HashEmbedder) -> Memory:
        """Open the store as a user does, whatever the settings of this machine."""
        environ = {"SCRUBJAY_CONFIG": "", "XDG_CONFIG_HOME": str(self.folder / "none")}
        environ["SCRUBJAY_SYNC_LOOK_SECONDS"] = "60"
        settings = replace(load_settings(environ=environ), cache_dir=self.folder / "cache")
        return Memory.open(self.path, user="ann", settings=settings, embedders=[HashEmbedder(16), *more])

    def records(self) -> list[Record]:
        """Return everything that the store holds."""
        with self.opened() as memory, memory.workspace.store.reader(memory.workspace.scope) as reader:
            return list(reader.get(reader.ids_with_prefix("", 100_000)).values())

    def sound(self) -> None:
        found = disagreements(self.path)
        assert not found, found


def whole(found: Iterable[object], *allowed: Iterable[object]) -> None:
    """Demand that what is there is one of the states that may be."""
    held = sorted(map(str, found))
    states = [sorted(map(str, state)) for state in allowed]
    assert held in states, f"held {held[:9]}..., may be {[state[:9] for state in states]}"


def nothing(_: Round) -> None:
    """Begin with an empty folder."""


# --- adding ------------------------------------------------------------------------------------------------


def _texts(seed: int, step: int) -> list[str]:
    """Return what one step adds: one memory, or three at once."""
    return [f"The mooring {seed} {step} {n} costs {n} euros." for n in range(3 if step % 3 == 0 else 1)]


def add(round: Round, tell: Tell) -> None:
    with round.opened() as memory:
        for step in range(1, 10_000):
            memory.add_many([NewMemory(text) for text in _texts(round.seed, step)])
            tell(step)


def added(round: Round, told: int) -> None:
    before = round.known.setdefault("held", set())
    now = before.union(*(_texts(round.seed, step) for step in range(1, told + 1)))
    found = {one.content for one in round.records()}
    whole(found, now, now.union(_texts(round.seed, told + 1)))
    round.known["held"] = found
    round.sound()


# --- syncing -----------------------------------------------------------------------------------------------


def _text(seed: int, step: int, name: int) -> str:
    """Return what a file says after a step: each step changes every second file."""
    last = step if (step + name) % 2 == 0 else step - 1
    parts = [
        f"# Part {n}\n\nSaid in {seed} at {last}: jay {name * 7 + n} flies.\n" for n in range(1 + last % 3)
    ]
    return "\n".join(parts)


def sync(round: Round, tell: Tell) -> None:
    notes = round.folder / "notes"
    notes.mkdir(exist_ok=True)
    with round.opened() as memory:
        for step in range(1, 10_000):
            for name in range(SYNCED):
                draft = notes / f"{name}.draft"
                draft.write_text(_text(round.seed, step, name), "utf-8")
                draft.replace(notes / f"{name}.md")
            memory.sync(notes)
            tell(step)


def synced(round: Round, told: int) -> None:
    with round.opened() as memory, memory.workspace.store.reader(memory.workspace.scope) as reader:
        found = {}
        for source in reader.sources():
            for path in reader.documents(source.id):
                found[path] = "".join(one.content for one in reader.passages(source.id, path))
    before = round.known.get("held", {})
    for name in range(SYNCED):
        path = f"{name}.md"
        now = _text(round.seed, told, name) if told else before.get(path)
        assert found.get(path) in (now, _text(round.seed, told + 1, name)), f"{path} after step {told}"
    round.sound()
    notes = round.folder / "notes"
    if notes.exists() and list(notes.glob("*.md")):
        with round.opened() as memory:
            memory.sync(notes)
    with round.opened() as memory, memory.workspace.store.reader(memory.workspace.scope) as reader:
        for source in reader.sources():
            for path in reader.documents(source.id):
                found[path] = "".join(one.content for one in reader.passages(source.id, path))
                assert found[path] == (notes / path).read_text("utf-8")
    round.known["held"] = found
    round.sound()


# --- forgetting --------------------------------------------------------------------------------------------


def _secret(number: int) -> str:
    return f"zygomaticus{number:04}x"


def remembered(round: Round) -> None:
    with round.opened() as memory:
        memory.add_many(NewMemory(f"The muscle {_secret(n)} smiles.") for n in range(FORGOTTEN))


def forget(round: Round, tell: Tell) -> None:
    with round.opened() as memory:
        with memory.workspace.store.reader(memory.workspace.scope) as reader:
            held = sorted(reader.get(reader.ids_with_prefix("", 1_000)).values(), key=lambda one: one.content)
        for step, one in enumerate(held, 1):
            memory.forget(one.id)
            tell(step)


def forgotten(round: Round, told: int) -> None:
    before = round.known.setdefault("held", [f"The muscle {_secret(n)} smiles." for n in range(FORGOTTEN)])
    files = [file for file in round.folder.rglob("memory.db*") if file.is_file()]
    bytes_of = {
        file.name: file.read_bytes() for file in files
    }  # before anybody opens, and so mends, the store
    for text in before[:told]:
        secret = text.split()[2].encode()
        assert [name for name, held in bytes_of.items() if secret in held] == [], f"{secret!r} is still there"
    found = sorted(one.content for one in round.records())
    whole(found, before[told:], before[told + 1 :])
    round.known["held"] = found
    round.sound()
    if len(found) < FORGOTTEN // 2:
        with round.opened() as memory:
            fresh = [f"The muscle {_secret(round.seed * FORGOTTEN + n)} smiles." for n in range(FORGOTTEN)]
            memory.add_many(map(NewMemory, fresh))
        round.known["held"] = sorted([*found, *fresh])


# --- rebuilding, embedding, and making the store -----------------------------------------------------------


def lived(round: Round) -> None:
    notes = round.folder / "notes"
    notes.mkdir()
    for name in range(4):
        (notes / f"{name}.md").write_text(_text(0, 2, name), "utf-8")
    with round.opened() as memory:
        memory.sync(notes)
        memory.add_many(NewMemory(f"Kayak {n} leaks at the stern.", tags=["boat"]) for n in range(12))


def rebuild(round: Round, tell: Tell) -> None:
    with round.opened() as memory:
        for step in range(1, 10_000):
            memory.rebuild()
            tell(step)


def _answers(round: Round) -> list[object]:
    with round.opened() as memory:
        asked = [
            [hit.id for hit in memory.search(text).results] for text in ("kayak stern", "jay flies", "part 1")
        ]
    return [sorted((one.id, one.content) for one in round.records()), asked]


def rebuilt(round: Round, told: int) -> None:
    """What a killed rebuild left of the generation that does not answer, the next one takes away."""
    found = _answers(round)
    assert round.known.setdefault("answers", found) == found
    with round.opened() as memory:
        memory.rebuild()
    assert _answers(round) == found
    round.sound()


def embed(round: Round, tell: Tell) -> None:
    """Fill a second model in, and drop it again: as often as there is time for."""
    second = HashEmbedder(8, name="second")
    for step in range(1, 10_000):
        with round.opened(second) as memory:
            if len(memory.models()) == 1:
                memory.add_model("second")
            memory.embed()
            assert [(model.name, model.waiting) for model in memory.models()] == [("hash", 0), ("second", 0)]
            tell(step)
            memory.drop_model("second")


def make(round: Round, tell: Tell) -> None:
    """Make a new store, with all its tables, over and over."""
    for step in range(1, 10_000):
        for left in round.folder.glob("memory.db*"):
            left.unlink()
        SQLiteStore(round.path).close()
        tell(step)


def made(round: Round, told: int) -> None:
    store = SQLiteStore(round.path)
    store.write(Scope("t", "ann"), [PutMemory(sample("jay", "user:ann"))])
    store.close()
    round.sound()


# --- everything that a store can be asked to do --------------------------------------------------------------


BEGUN = "begun"
"""File that says whose store lies there."""


def live(round: Round, tell: Tell) -> None:
    for left in round.folder.glob("memory.db*"):
        left.unlink()
    (round.folder / BEGUN).write_text(str(round.seed))
    store = SQLiteStore(round.path, b"history")
    for step, (scope, changes) in enumerate(StoreHistory(round.seed, "t").steps(10_000), 1):
        store.write(scope, changes, durable=step % 2 == 0)
        tell(step)


def relived(round: Round, told: int) -> None:
    begun = round.folder / BEGUN
    # Killed before it had cleared away the store of the round before, or before it had one of its own.
    if not begun.exists() or begun.read_text() != str(round.seed) or not round.path.exists():
        assert told == 0
        return
    history = StoreHistory(round.seed, "t")
    assert len(list(history.steps(told))) == told
    store = SQLiteStore(round.path, b"history")

    def same() -> bool:
        questions = [history.question() for _ in range(2)]
        return all(
            all_answers(store, scope, questions) == all_answers(history.reference, scope, questions)
            for scope in history.users
        )

    if not same():
        list(history.steps(1))  # committed, and killed before it could tell
        assert same(), f"step {told}"
    store.close()
    round.sound()


# --- nights and imports --------------------------------------------------------------------------------------


def talked(round: Round) -> None:
    with round.opened() as memory:
        memory.add_many(turns(SESSIONS))


def night(round: Round, tell: Tell) -> None:
    runner.GROUP_BATCH = FEW  # type: ignore[misc]
    with round.opened() as memory:
        memory.consolidate(now=NOW, progress=lambda progress: tell(progress.done))


def slept(round: Round, told: int) -> None:
    found: dict[str, tuple[set[str], list[str]]] = defaultdict(lambda: (set(), []))
    for one in round.records():
        if one.tier == "observation":
            found[str(one.session)][0].add(one.status)
        elif one.tier == "crystal":
            found[str(one.session)][1].append(one.id)
    states = [(sorted(statuses), len(digests)) for statuses, digests in found.values()]
    assert all(state in ((["active"], 0), (["active"], 1)) for state in states), states
    done = sum(digests for _, digests in states)
    assert done >= round.known.get("done", 0) + told
    round.known["done"] = done
    round.sound()
    if done == SESSIONS:  # the night is over: begin again
        for left in round.folder.glob("memory.db*"):
            left.unlink() if left.is_file() else None
        talked(round)
        round.known["done"] = 0


def exported(round: Round) -> None:
    lived(round)
    with round.opened() as memory:
        ids = sorted(one.id for one in round.records())
        for one, other in pairwise(ids):
            memory.link(one, other)
        memory.export(round.folder / "all.jsonl")
    round.known["rows"] = _rows(round)
    for left in round.folder.glob("memory.db*"):
        left.unlink()


def _rows(round: Round) -> int:
    with round.opened() as memory:
        return memory.status().memories


def bring(round: Round, tell: Tell) -> None:
    importer.MEMORY_BATCH = importer.ROW_BATCH = imports.BATCH_ITEMS = FEW  # type: ignore[misc]
    with round.opened() as memory:
        store = memory.workspace.store
        write, steps = store.write, count(1)

        def told(*given: Any, **options: Any) -> None:
            write(*given, **options)
            tell(next(steps))

        store.write = told  # type: ignore[method-assign]
        memory.import_(round.folder / "all.jsonl")


def brought(round: Round, told: int) -> None:
    if not round.path.exists():
        assert told == 0
        return
    held = len(round.records())
    assert round.known.get("held", 0) <= held <= round.known["rows"]
    round.sound()
    round.known["held"] = held
    if round.seed % 4 == 0 or held == round.known["rows"]:
        with round.opened() as memory:
            memory.import_(round.folder / "all.jsonl")
            again = memory.import_(round.folder / "all.jsonl")
            assert (again.added, again.edges, again.events, again.documents) == (0, 0, 0, 0)
        assert _rows(round) == round.known["rows"]
        round.sound()
        round.known["held"] = 0
        for left in round.folder.glob("memory.db*"):
            left.unlink()


# --- the proxy's queue -----------------------------------------------------------------------------------------


def _spool(round: Round) -> TurnQueue:
    def damaged(what: str, where: str) -> None:
        raise AssertionError(f"{what}: {where}")

    return TurnQueue(str(round.folder), "store", 1 << 30, damaged)


def queue(round: Round, tell: Tell) -> None:
    spool, who = _spool(round), Principal("default", "ann")
    for step in range(1, 10_000):
        turns = [
            Utterance(role, f"{role} {round.seed} {step}", step * 2 + n)
            for n, role in enumerate(("user", "assistant"))
        ]
        spool.put(who, MemoryOptions(True, True, "", None, "proxy"), f"s{round.seed}", turns)
        tell(step)
        if step % 5 == 0:
            spool.remove(spool.oldest(2))


def queued(round: Round, told: int) -> None:
    spool = _spool(round)
    found = [str(one.fields["content"]) for one in spool.oldest(100_000)] if spool.path.exists() else []
    wanted = [f"{role} {round.seed} {step}" for step in range(1, told + 2) for role in ("user", "assistant")]
    gone = wanted[: 2 * ((told + 1) // 5)]  # taken out two at a time
    assert len(found) == len(set(found)), "a turn waits twice"
    assert set(found) <= set(wanted)
    lost = [text for text in wanted[: 2 * told] if text not in found and text not in gone]
    assert lost == []
    spool.remove(spool.oldest(100_000))
    spool.close()


@dataclass(frozen=True)
class Work:
    """One kind of work.

    Attributes:
        prepare: Makes what there is before the first round.
        run: Works until it is killed.
        check: Raises unless all is well after a kill.
        share: Of a hundred kills, how many are of this work.
        steps: Most steps that are waited for before the kill.
        seconds: Most time that is waited instead.
    """

    prepare: Callable[[Round], None]
    run: Callable[[Round, Tell], None]
    check: Callable[[Round, int], None]
    share: int
    steps: int
    seconds: float


WORKS: Final = {
    "add": Work(nothing, add, added, 20, 8, 0.1),
    "sync": Work(nothing, sync, synced, 14, 4, 0.2),
    "forget": Work(remembered, forget, forgotten, 14, 6, 0.1),
    "make": Work(nothing, make, made, 12, 3, 0.1),
    "queue": Work(nothing, queue, queued, 10, 12, 0.03),
    "live": Work(nothing, live, relived, 9, 12, 0.1),
    "rebuild": Work(lived, rebuild, rebuilt, 8, 2, 0.15),
    "embed": Work(lived, embed, rebuilt, 5, 2, 0.1),
    "import": Work(exported, bring, brought, 4, 6, 0.3),
    "night": Work(talked, night, slept, 4, 2, 0.4),
}


def warm(folder: Path) -> None:
    """Do a step of each work, so that all it needs is loaded."""

    class Enough(Exception):
        pass

    def enough(_: int) -> None:
        raise Enough

    for name, work in WORKS.items():
        round = Round(folder / name, 0)
        round.folder.mkdir()
        work.prepare(round)
        try:
            work.run(round, enough)
        except Enough:
            continue
