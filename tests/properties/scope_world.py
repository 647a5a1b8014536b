"""Worlds: what several principals write into one store, in any order, through the facade.

`seen` returns the writes of a history that one principal may see. A world made of these alone is the twin that
every read of that principal is compared with.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from scrubjay import Memory
from scrubjay.config.settings import Settings
from scrubjay.embeddings.hash_embedder import HashEmbedder
from scrubjay.errors import ScrubjayError
from scrubjay.models.graph import Category, Edge
from scrubjay.models.ids import category_id
from scrubjay.models.lifecycle import CachedExtraction, ConsolidationRun, Event, LifecycleChange, NewMemory
from scrubjay.models.records import STATUSES, Scope
from scrubjay.services.models import ModelRegistry, caller_catalog
from scrubjay.services.workspace import Workspace
from scrubjay.storage.changes import (
    Change,
    PutCategory,
    PutEdges,
    PutEvents,
    PutExtractions,
    PutLifecycle,
    PutRun,
)
from scrubjay.storage.interface import Store

ANN = Scope("t", "ann", ("dev",))
BOB = Scope("t", "bob", ("dev", "ops"))
CLEO = Scope("t", "cleo:dev", ())
DAN = Scope("t", "dan", ("ops",))
"""Reads and never writes."""
EVE = Scope("other", "ann", ("dev",))
"""A namesake in another tenant."""
ZOE = Scope("t", "zoe", ())
"""Was there first: what a tenant's first write registers for all (models, versions) is hers."""
FAY = Scope("t", "fay", ())
"""Edits the dictionary. An edit holds for every row its writer sees, so it is told by one who sees what all see."""
WRITERS = (ANN, BOB, CLEO, EVE)
READERS = (ANN, BOB, CLEO, DAN)
PLACES = ("user", "group:ops", "group:dev", "public")
LONG_AGO = 1_700_000_000
"""Seconds; file times are long past, so that nothing counts as written just now."""
MANY = 8
"""Memories of one text that are added at once: with two texts enough for topics to be found."""
SLOW = "slow"
"""Name of the model that is backfilled."""


@dataclass(frozen=True)
class Step:
    """One write.

    Attributes:
        who: Who writes.
        kind: ``add``, ``many``, ``note``, ``unlink``, ``talk``, ``common``, ``forget``, ``concept``, ``edit``,
            ``category``, ``link``, ``live``, ``read``, ``change``, ``leave``, ``embed``, ``rebuild``.
        visibility: Who may see it: one of ``PLACES``.
        texts: What it says.
        marks: Small numbers that choose: a file, a session, an earlier step.
        options: More fields of an addition.
    """

    who: Scope
    kind: str
    visibility: str = "user"
    texts: tuple[str, ...] = ()
    marks: tuple[int, int] = (0, 0)
    options: tuple[tuple[str, Any], ...] = ()

    @property
    def key(self) -> str:
        """Visibility key of what it writes."""
        return f"user:{self.who.user}" if self.visibility == "user" else self.visibility


def seen(steps: Sequence[Step], reader: Scope) -> dict[int, Step]:
    """Return the steps that a principal may see, by their number; upkeep is everybody's."""
    upkeep = ("embed", "rebuild", "leave")
    found = {}
    for number, step in enumerate(steps):
        if step.who.tenant != reader.tenant:
            continue
        key = _target(steps, number).key if step.kind == "forget" else step.key
        if step.kind in upkeep or key in reader.keys:
            found[number] = step
    return found


def _target(steps: Sequence[Step], number: int) -> Step:
    """Return the step whose memories a ``forget`` removes: an earlier one of what its writer may see, or itself."""
    step = steps[number]
    earlier = [s for s in steps[:number] if s.kind in ("add", "note") and _sees(step.who, s)]
    return earlier[-1 - step.marks[0] % len(earlier)] if earlier else step


def _sees(who: Scope, step: Step) -> bool:
    return step.who.tenant == who.tenant and step.key in who.keys


@dataclass
class World:
    """One store and the folders that are synced into it.

    Attributes:
        store: Where all write.
        root: Folder of the principals' folders, emptied first.
        settings: Settings of nobody's machine.
        outcomes: Number of a step to what it answered its writer.
        ids: Number of a step to the memories it wrote.
    """

    store: Store
    root: Path
    settings: Settings
    outcomes: dict[int, Any] = field(default_factory=dict)
    ids: dict[int, list[str]] = field(default_factory=dict)
    _open: dict[Scope, Memory] = field(default_factory=dict)
    _steps: Sequence[Step] = ()

    def live(self, steps: Sequence[Step], done: dict[int, Step] | None = None) -> World:
        """Do these steps of a history (all of them by default), in order."""
        shutil.rmtree(self.root, ignore_errors=True)
        self._steps = steps
        common = self.root / "common"
        common.mkdir(parents=True)
        for name in ("one", "two"):
            _write(common / f"{name}.md", f"# Common {name}\n\nThe Common harbour of {name} [[one]].\n", 0)
        (self.root / "empty").mkdir()
        self.memory(ZOE).sync(self.root / "empty")
        for number, step in (dict(enumerate(steps)) if done is None else done).items():
            try:
                answer = getattr(self, f"_{step.kind}")(number, step, self.memory(step.who))
            except ScrubjayError as error:
                answer = error
            self.outcomes[number] = answer
        return self

    def memory(self, who: Scope) -> Memory:
        """Return the facade of one principal; all share the store."""
        if who not in self._open:
            models = caller_catalog([HashEmbedder(32), HashEmbedder(16, name=SLOW)])
            if (
                who != ZOE
            ):  # Zoe's store has the model; a sync by anybody else embeds nothing, `embed` is a step of its own
                models = replace(models, default=())
            lineup = ModelRegistry(self.store, who, models, cold=False)
            self._open[who] = Memory(Workspace(self.store, who, lineup, self.settings))
        return self._open[who]

    def every_id(self, tenants: Sequence[Scope] = (*WRITERS, ZOE)) -> list[str]:
        """Return the ids of all memories of all principals."""
        found: set[str] = set()
        for who in tenants:
            with self.store.reader(who) as reader:
                found.update(reader.ids_with_prefix("", 100_000))
        return sorted(found)

    def files(self) -> list[Path]:
        """Return the files of all principals."""
        return sorted(path for path in self.root.rglob("*.*") if path.is_file())

    def folder(self, who: Scope, kind: str) -> Path:
        """Return the folder of one principal's notes or talks."""
        return self.root / who.tenant / who.user.replace(":", "-") / kind

    def _add(self, number: int, step: Step, memory: Memory) -> object:
        kind, _, group = step.visibility.partition(":")
        text = f"{' '.join(step.texts)} ({step.visibility})"
        added = memory.add(text, visibility=kind, group=group or None, **dict(step.options))
        self.ids[number] = [added.id]
        return added

    def _many(self, number: int, step: Step, memory: Memory) -> object:
        kind, _, group = step.visibility.partition(":")
        new = [
            NewMemory(f"{text} It is number {n}. ({step.visibility})", visibility=kind, group=group or None)
            for n in range(MANY)
            for text in step.texts
        ]
        added = memory.add_many(new)
        self.ids[number] = [one.id for one in added]
        return added

    def _note(self, number: int, step: Step, memory: Memory) -> object:
        self._notes(step.who)
        file = self._file(step)
        tags = dict(step.options).get("tags", ())
        front = f"---\nvisibility: {step.visibility}\ntags: [{', '.join(tags)}]\n---\n"
        sections = [
            f"# Page {i} {file.stem}\n\n{text} ({step.visibility})\n" for i, text in enumerate(step.texts)
        ]
        _write(file, front + "\n".join(sections), number)
        summary = memory.sync(self.folder(step.who, "notes"), share=True)
        fetched = memory.get(path=file)
        self.ids[number] = [record.id for record in fetched.records]
        return summary

    def _file(self, step: Step) -> Path:
        names = ("plan.md", "harbour.md", "Blue Jay.md")
        # Of two pages of one name the first by path is meant: what fewer see comes first.
        folder = self.folder(step.who, "notes") / f"{PLACES.index(step.visibility)}"
        return folder / names[step.marks[0] % len(names)]

    def _notes(self, who: Scope) -> Path:
        """Return the folder of a principal's notes; an empty one among them keeps it from being empty."""
        folder = self.folder(who, "notes")
        _write(folder / "keep.md", "", 0)
        return folder

    def _unlink(self, number: int, step: Step, memory: Memory) -> object:
        folder = self._notes(step.who)
        self._file(step).unlink(missing_ok=True)
        return memory.sync(folder)

    def _talk(self, number: int, step: Step, memory: Memory) -> object:
        folder = self.folder(step.who, "talks")
        folder.mkdir(parents=True, exist_ok=True)
        session = f"s{step.marks[0] % 2}"
        file = folder / f"{session}.jsonl"
        lines = [
            {
                "role": ("user", "assistant")[i % 2],
                "content": text,
                "session": session,
                "cwd": "/none/orchard",
            }
            for i, text in enumerate(step.texts)
        ]
        before = file.read_text() if file.exists() else ""
        _write(file, before + "".join(json.dumps(line) + "\n" for line in lines), number)
        return memory.sync(folder)

    def _common(self, number: int, step: Step, memory: Memory) -> object:
        return memory.sync(self.root / "common")

    def _forget(self, number: int, step: Step, memory: Memory) -> object:
        target = _target(self._steps, number)
        found = [ids for n, ids in self.ids.items() if self._steps[n] is target]
        return memory.forget(found[0][: 1 + step.marks[1] % 2] if found else [])

    def _concept(self, number: int, step: Step, memory: Memory) -> object:
        name, *aliases = step.texts
        kind, _, group = step.visibility.partition(":")
        return memory.concepts.add(name, aliases, visibility=kind, group=group or None)

    def _edit(self, number: int, step: Step, memory: Memory) -> object:
        name, other = step.texts
        if step.marks[0] % 3 == 0:
            return memory.concepts.remove(name)
        return (
            memory.concepts.rename(name, other)
            if step.marks[0] % 3 == 1
            else memory.concepts.merge(name, other)
        )

    def _category(self, number: int, step: Step, memory: Memory) -> None:
        name = step.texts[0]
        identity = category_id(self.store.secret(step.who), (step.key, "topic", "", name))
        edges = [Edge(one, "belongs", identity, step.key, origin="given") for one in self._some(step)]
        row = Category(identity, step.key, "topic", name, None, abstract=name, overview=name)
        self._put(step, PutCategory(row), PutEdges(tuple(edges)))

    def _link(self, number: int, step: Step, memory: Memory) -> None:
        ids = self._some(step)
        if step.visibility == "user":
            memory.link(ids[0] if ids else "", ids[-1] if ids else "", "derived_from", 0.5)
            return
        edges = [
            Edge(one, "links", other, step.key, 0.5, number, origin="given")
            for one in ids
            for other in ids
            if one != other
        ]
        self._put(step, PutEdges(tuple(edges)))

    def _live(self, number: int, step: Step, memory: Memory) -> None:
        ids = self._some(step)
        with self.store.reader(step.who) as reader:
            own = [one for one, record in reader.get(ids).items() if record.key == step.key]
        other = next((one for chosen in self._chosen(step)[-1:] for one in self.ids.get(chosen, [])), None)
        life = LifecycleChange(STATUSES[number % 3], strength=0.5, last_used=number)
        run = ConsolidationRun(f"run_{number:010x}", step.key, "done", "1", number, None, {"lived": len(own)})
        told = [Event(one, "superseded", number, step.key, run.id, other) for one in own]
        read = tuple(CachedExtraction(one, f"{number}", b"read") for one in own)
        self._put(
            step,
            PutLifecycle(dict.fromkeys(own, life)),
            PutEvents(tuple(told)),
            PutRun(run),
            PutExtractions(read),
        )

    def _read(self, number: int, step: Step, memory: Memory) -> object:
        ids = self._some(step)
        return memory.get(ids) if ids else None

    def _change(self, number: int, step: Step, memory: Memory) -> object:
        with self.store.reader(step.who) as reader:
            held = reader.get(self._some(step))
        own = [one for one, record in held.items() if record.key == step.key and record.place is None]
        return memory.update(own[0], step.texts[0], tags=["red"]) if own else None

    def _chosen(self, step: Step) -> list[int]:
        """Return two earlier steps that the writer sees."""
        earlier = [n for n, s in enumerate(self._steps) if s.kind in ("add", "note") and _sees(step.who, s)]
        return [earlier[mark % len(earlier)] for mark in step.marks] if earlier else []

    def _some(self, step: Step) -> list[str]:
        """Return their memories."""
        chosen = dict.fromkeys(self._chosen(step))
        return [one for number in chosen for one in self.ids.get(number, [])]

    def _put(self, step: Step, *changes: Change) -> None:
        self.store.write(step.who, changes)

    def _leave(self, number: int, step: Step, memory: Memory) -> object:
        folder = self.folder(step.who, "notes")
        shutil.rmtree(folder, ignore_errors=True)  # else whatever is synced next brings all of it back
        return memory.remove_source(str(folder))

    def _embed(self, number: int, step: Step, memory: Memory) -> object:
        return memory.embed()

    def _rebuild(self, number: int, step: Step, memory: Memory) -> object:
        done = memory.rebuild()
        for (
            who
        ) in WRITERS:  # only owners connect their notes again; else others would see who has synced since
            if who.tenant == step.who.tenant:
                self.memory(who).enrich()
        return done


def _write(file: Path, text: str, number: int) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, "utf-8")
    second = LONG_AGO + 10 * number
    os.utime(file, (second, second))
