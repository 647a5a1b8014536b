"""Small memories in several voices: a person's chat, an agent's log, notes; and what is known of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from observations import observation, passage, turn

from scrubjay.consolidation.digest import verbatim_sentences
from scrubjay.consolidation.facts import Gist, PromotedMemory, compute_gist, parse_gist, serialize_gist
from scrubjay.embeddings.hash_embedder import HashEmbedder
from scrubjay.models.graph import Entity
from scrubjay.models.records import EventTime, Record

CONCEPTS = {
    "con_pg": Entity("con_pg", "user:ada", "PostgreSQL", ("Postgres",)),
    "con_al": Entity("con_al", "user:ada", "Alembic"),
    "con_ga": Entity("con_ga", "user:ada", "greenhouse"),
    "con_hid": Entity("con_hid", "user:ada", "Project Nightfall"),
}


def semantic(text: str, number: int = 0, *, days: float = 30, **fields: Any) -> Record:
    """A fact that is known."""
    return observation(text, number, days=days, **{"tier": "semantic", "session": f"s{number}", **fields})


def digest(text: str, number: int, *, days: float, **fields: Any) -> Record:
    """The digest of one session."""
    return observation(
        text, number, days=days, **{"tier": "crystal", "origin": "derived", "session": f"s{number}", **fields}
    )


def deployments(sessions: int = 3) -> list[Record]:
    """Sessions in which an agent deploys, each in its own words, between other work."""
    asked = (
        "Please deploy the billing service to staging.",
        "can you deploy billing to staging again? the tests pass",
        "Billing has to go to staging, deploy it please",
        "deploy the billing branch to staging once more",
    )
    records = []
    for number in range(sessions):
        session, days = f"d{number}", 60 - 10 * number
        records += [
            turn(asked[number % 4], 10 * number, session=session, days=days, turn=0),
            turn(
                f"On it.\n```bash\n$ git pull\n$ docker build -t billing:{number} .\n```\nNow the push.",
                10 * number + 1, role="assistant", session=session, days=days, turn=1,
            ),
            observation(
                f"$ docker push registry.local/billing:{number}\ndigest: sha256:00{number}",
                10 * number + 2, days=days, session=session, turn=2, origin="tool",
            ),
            turn(
                f"Pushed. I looked around with `ls -la`, then ran "
                f"`kubectl rollout restart deploy/billing-{number}` and it is up.",
                10 * number + 3, role="assistant", session=session, days=days, turn=3,
            ),
        ]  # fmt: skip
    return records


def journal(
    sessions: int = 6, *, every: int = 12, start: int = 100
) -> tuple[list[Record], dict[str, list[str]]]:
    """Digests of sessions, of which two of three are about PostgreSQL, and what they refer to."""
    about = (
        "user: We moved the ledger to Postgres, and Alembic stumbled over revision {n}a.\nassistant: It holds.",
        "user: Postgres ran out of connections at {n}0 clients, so the ledger got a pool of {n}5.",
        "user: In the greenhouse the tomatoes of bed {n} got blight, and the vents stay open at night.",
    )
    records, references = [], {}
    for number in range(sessions):
        text = about[number % 3].format(n=number + 1)
        records.append(digest(text, 500 + number, days=start - every * number))
        named = [("Postgres", "con_pg"), ("Alembic", "con_al"), ("greenhouse", "con_ga")]
        references[records[-1].id] = [concept for name, concept in named if name in text]
    return records, references


def rows(records: Sequence[Record]) -> dict[str, NDArray[np.float32]]:
    """A direction for each record."""
    vectors = HashEmbedder().embed([record.content for record in records])
    return {
        record.id: vector[0] if vector.ndim > 1 else vector
        for record, vector in zip(records, vectors, strict=True)
    }


def voices() -> list[Record]:
    """Everything at once: what people say twice, what they change, what agents do, notes of days."""
    return [
        turn("By the way, our release server's port is 8443.", 1, session="a", days=50),
        turn("Our release server's port is 8443.", 2, session="b", days=40),
        turn("I'm allergic to peanuts.", 3, session="a", days=50),
        turn("I am allergic to peanuts", 4, session="c", days=30),
        turn("Our API has a timeout of 30 seconds.", 5, session="a", days=50),
        turn("Our API has a timeout of 30 seconds.", 6, session="b", days=40),
        turn("Our API has a timeout of 90 seconds.", 7, session="c", days=30),
        turn("Our release server's port is 8443.", 8, role="assistant", session="e", days=20),
        passage("Backups of the ledger run at 03:00 on Oslo.", "2026-01-03.md", 20, days=35),
        passage("- Backups of the ledger run at 03:00 on Oslo", "2026-01-09.md", 21, days=29),
        passage("Is the ledger backed up? Call Mara about it.", "2026-01-09.md", 22, days=29),
        *deployments(),
    ]


def with_gists(records: Iterable[Record]) -> list[tuple[Record, Gist]]:
    """Records without their texts, each with its gist as it comes back from where it is kept."""
    return [
        (replace(record, content=""), parse_gist(serialize_gist(compute_gist(record)))) for record in records
    ]


def reader_of(records: Sequence[Record]) -> Callable[[Collection[str]], list[Record]]:
    """What gives records by their ids."""
    return lambda ids: [record for record in records if record.id in ids]


def words(text: str) -> set[str]:
    """The words of a text, folded."""
    return {
        word.strip(".,;:!?·()[]\"'`*").casefold()
        for line in verbatim_sentences(text) or [text]
        for word in line.split()
    } | {word.strip(".,;:!?·()[]\"'`*").casefold() for word in text.split()}


def check_promoted(promoted: PromotedMemory, records: Iterable[Record]) -> None:
    """Check every promoted memory: it is no wider than its sources, and its shares come to 1."""
    by_id = {record.id: record for record in records}
    of = [by_id[memory] for memory, _ in promoted.evidence]
    assert {record.key for record in of} == {promoted.key}
    for field in ("project", "agent", "session"):
        values = {getattr(record, field) for record in of}
        assert getattr(promoted, field) == (values.pop() if len(values) == 1 else None)
    assert abs(sum(share for _, share in promoted.evidence) - 1) < 1e-9
    assert all(0 < share <= 1 for _, share in promoted.evidence)
    assert 0.7 <= promoted.confidence <= 1
    assert isinstance(promoted.event, EventTime | None)
