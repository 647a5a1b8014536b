"""Served: stores in databases of a server, what is done to them, and all that they hold, in a form to be compared."""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import psycopg
from old_talks import NOW, turns

from scrubjay import Memory, NewMemory
from scrubjay.config.loader import load_settings
from scrubjay.embeddings.hash_embedder import HashEmbedder
from scrubjay.errors import StoreError
from scrubjay.storage.postgres.store import PostgresStore

TENANT: Final = "default"
SESSIONS: Final = 4
FILES: Final = 5
ASKED: Final = ("kayak stern", "harbour mooring", "ferry to island 2", "jay flies", "part 1")
Work = Callable[[Memory], object]


def opened(url: str, scratch: Path, *, user: str = "ann", tenant: str = TENANT) -> Memory:
    """Open a store as a user does, whatever the settings of this machine; its second model is filled in by `embed`."""
    environ = {"SCRUBJAY_CONFIG": "", "XDG_CONFIG_HOME": str(scratch / "none")}
    environ["SCRUBJAY_SYNC_LOOK_SECONDS"] = "60"
    settings = replace(load_settings(environ=environ), cache_dir=scratch / "cache")
    models = [HashEmbedder(16), HashEmbedder(8, name="second")]
    return Memory.open(url, user=user, tenant=tenant, settings=settings, embedders=models)


def written(notes: Path, change: int) -> None:
    """Write the files of a folder as they are after a change: some are new, some changed, one is gone."""
    shutil.rmtree(notes, ignore_errors=True)
    notes.mkdir()
    for name in range(FILES + change):
        if name == change:
            continue
        said = change if name % 2 else 0
        parts = [f"# Part {n}\n\nSaid at {said}: jay {name * 7 + n} flies.\n" for n in range(2 + said)]
        (notes / f"{name}.md").write_text("\n".join(parts), "utf-8")


def lived(memory: Memory, notes: Path) -> None:
    """Make what every work begins with."""
    written(notes, 0)
    memory.sync(notes)
    memory.add_many(NewMemory(f"Kayak {n} leaks at the stern.", tags=["boat"]) for n in range(6))
    memory.add_many(turns(SESSIONS))
    ids = sorted(one.id for one in records(memory))
    memory.link(ids[0], ids[1])


def records(memory: Memory) -> list[Any]:
    with memory.workspace.store.reader(memory.workspace.scope) as reader:
        return list(reader.get(reader.ids_with_prefix("", 100_000)).values())


def answers(memory: Memory) -> list[list[tuple[str, str]]]:
    """Return what a store answers."""
    return [[(hit.id, hit.snippet) for hit in memory.search(asked, now=NOW).results] for asked in ASKED]


def held(url: str, tenant: str = TENANT) -> dict[str, list[str]]:
    """Return all that a tenant holds, but for times, the names of nights, and that an addition was repeated."""
    with closing(PostgresStore(url)) as store, store.tenant_reader(tenant) as whole:
        pieces = [one for piece in whole.memories() for one in piece]
        found: dict[str, list[str]] = {
            "memories": [
                f"{one.record.id} {one.record.tier} {one.record.status} {one.record.title} {one.record.content} "
                f"{one.record.tags} {sorted(one.terms.counts.items())} {sorted(one.vectors)} {one.record.place}"
                for one in pieces
            ],
            "edges": [
                f"{e.src} {e.kind} {e.dst} {e.key} {e.rule}" for piece in whole.all_edges() for e in piece
            ],
            "events": [
                f"{e.memory} {e.op} {e.other} {e.before}"
                for piece in whole.all_events()
                for e in piece
                if e.op != "added"
            ],
            "concepts": [f"{one.id} {one.key} {one.name} {one.aliases}" for one in whole.concepts()],
            "documents": [
                f"{source.root} {path} {one.content_hash}"
                for source in whole.sources()
                for path, one in whole.documents(source.id).items()
            ],
            "models": [f"{one.model.name} {one.state}" for one in whole.models()],
            "tombstones": [mark for piece in whole.tombstones() for mark in piece],
            "unfinished": [run.state for run in whole.runs(1000) if run.state == "running"],
        }
    return {part: sorted(rows) for part, rows in found.items()}


ORPHANS: Final = {
    "passages without a document": "SELECT m.num FROM memory m WHERE m.document IS NOT NULL AND NOT EXISTS "
    "(SELECT FROM document d WHERE d.tenant = m.tenant AND d.id = m.document)",
    "documents without their source": "SELECT d.id FROM document d WHERE NOT EXISTS "
    "(SELECT FROM source s WHERE s.tenant = d.tenant AND s.id = d.source)",
    "words without their name": "SELECT m.num FROM memory m, unnest(m.terms) t WHERE NOT EXISTS "
    "(SELECT FROM term t2 WHERE t2.tenant = m.tenant AND t2.id = t)",
    "rows of a generation that does not answer": "SELECT m.num FROM memory m JOIN tenant t ON t.id = m.tenant "
    "WHERE m.generation <> t.generation",
    "edges of no memory": "SELECT e.src FROM edge e WHERE NOT EXISTS "
    "(SELECT FROM memory m WHERE m.tenant = e.tenant AND m.hash = e.src)",
    "events of no memory": "SELECT e.seq FROM event e WHERE NOT EXISTS "
    "(SELECT FROM memory m WHERE m.tenant = e.tenant AND m.hash = e.memory)",
    "locks of nobody": "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND pid NOT IN "
    "(SELECT pid FROM pg_stat_activity)",
}


def sound(url: str) -> None:
    """Demand that nothing hangs in the air."""
    with psycopg.connect(url, autocommit=True, options="-c search_path=scrubjay") as db:
        found = {what: len(db.execute(asked).fetchall()) for what, asked in ORPHANS.items()}
    assert not any(found.values()), found


@dataclass(frozen=True)
class Databases:
    """Databases of one server, each begun as another one is.

    Attributes:
        url: Of the server's own database.
        notes: The folder that their stores are in step with.
        begun: Name of the database that `lived` was done to.
    """

    url: str
    scratch: Path
    notes: Path
    begun: str

    @classmethod
    def make(cls, url: str, scratch: Path) -> Databases:
        made = cls(url, scratch, scratch / "notes", f"begun_{uuid.uuid4().hex}")
        made._create(made.begun, "template1")
        with opened(made.of(made.begun), scratch) as memory:
            lived(memory, made.notes)
        return made

    def of(self, name: str) -> str:
        return self.url.replace("/postgres?", f"/{name}?")

    def fresh(self) -> str:
        """Return the URL of one more, as it was begun."""
        name = f"fault_{uuid.uuid4().hex}"
        self._create(name, self.begun)
        return self.of(name)

    def _create(self, name: str, template: str) -> None:
        with psycopg.connect(self.url, autocommit=True) as db:
            db.execute(f"CREATE DATABASE {name} TEMPLATE {template}")

    def drop(self, url: str) -> None:
        name = url.partition("@/")[2].partition("?")[0]
        with psycopg.connect(self.url, autocommit=True) as db:
            db.execute(f"DROP DATABASE {name} WITH (FORCE)")


def works(notes: Path) -> dict[str, Work]:
    """Return what is done to a store, each by its name; done twice, each comes to the same as done once."""

    def sync(memory: Memory) -> None:
        written(notes, 1)
        memory.sync(notes)

    def forget(memory: Memory) -> None:
        wanted = [one.id for one in records(memory) if "Kayak 3" in one.content]
        if wanted:
            memory.forget(wanted)

    def archive(memory: Memory) -> None:
        memory.archive([one.id for one in records(memory) if "Kayak 4" in one.content])

    return {
        "add": lambda memory: memory.add_many(
            [NewMemory(f"The mooring of Anna Berg costs {n} euros.") for n in range(3)]
        ),
        "sync": sync,
        "forget": forget,
        "archive": archive,
        "embed": lambda memory: memory.embed(),
        "night": lambda memory: memory.consolidate(now=NOW),
        "rebuild": lambda memory: memory.rebuild(),
        "link": lambda memory: memory.link(
            *(one.id for one in sorted(records(memory), key=lambda one: one.content)[:2]), kind="links"
        ),
    }


def refusal(work: Callable[[], object]) -> str | None:
    """Return what is said when the server is not to be had, None where the work is done; nothing else may go wrong."""
    try:
        work()
    except StoreError as error:
        said, hint = str(error), error.hint
    else:
        return None
    assert hint, said
    return said
