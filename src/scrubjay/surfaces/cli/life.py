"""archive, restore, feedback, history: what becomes of memories in use."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from scrubjay.errors import NotFoundError
from scrubjay.memory.dates import moment
from scrubjay.memory.histories import Changed
from scrubjay.surfaces.cli.command import Call, command
from scrubjay.surfaces.cli.output import clean, counted, line, tell, write, write_json
from scrubjay.verbs import shape

if TYPE_CHECKING:
    from scrubjay.engine import Memory
    from scrubjay.memory.events import Event

SAID = {
    "added": "was added",
    "archived": "was archived",
    "changed": "was changed",
    "contradicted": "was contradicted",
    "derived": "was made",
    "pinned": "was pinned",
    "read": "was read by a language model",
    "reinforced": "was said again",
    "restored": "was restored",
    "superseded": "was superseded",
    "unpinned": "was unpinned",
    "used": "was used",
    "useful": "was called useful",
    "wrong": "was called wrong",
}
"""Op of an event to what a person reads."""


@command("archive")
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
def archive(call: Call, ids: tuple[str, ...]) -> None:
    """Take memories out of default answers. They stay whole; `scrubjay restore` brings them back.

    A passage of a file stays archived while its text stays the same.
    """
    _change(call, lambda memory: memory.archive(ids), "archived")


@command("restore")
@click.argument("ids", nargs=-1, metavar="ID...")
@click.option(
    "--archived-by-consolidation", is_flag=True, help="All that consolidation archived, in any run."
)
def restore(call: Call, ids: tuple[str, ...], archived_by_consolidation: bool) -> None:
    """Make archived or superseded memories active again."""
    if bool(ids) == archived_by_consolidation:
        raise click.UsageError(
            "Name memories, or --archived-by-consolidation for all that consolidation archived."
        )
    if archived_by_consolidation:
        _change(call, lambda memory: memory.restore_consolidated(), "restored")
    else:
        _change(call, lambda memory: memory.restore(ids), "restored")


@command("feedback")
@click.argument("verdict", type=click.Choice(["used", "useful", "wrong"]))
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
def feedback(call: Call, verdict: str, ids: tuple[str, ...]) -> None:
    """Say that memories were used, useful or wrong; what is wrong ranks lower, within bounds."""
    _change(call, lambda memory: memory.feedback(ids, verdict), f"remembered as {verdict}")


def _change(call: Call, change: Callable[[Memory], Changed], word: str) -> None:
    with call.open(cold=True) as memory:
        done = change(memory)
    missing = f"Not there, not yours, or several begin so: {', '.join(map(line, done.unknown))}."
    if done.unknown and not done.ids and not done.unchanged:
        raise NotFoundError(missing, hint="scrubjay search QUESTION shows ids")
    if call.json:
        write_json(shape.plain(done))
        return
    write(f"{counted(len(done.ids), 'memory')} {word}.")
    if done.unchanged:
        write(f"{counted(len(done.unchanged), 'memory')} already so.")
    if done.unknown:
        tell(missing)


@command("history")
@click.argument("memory", metavar="ID")
def history(call: Call, memory: str) -> None:
    """Show what happened to a memory: when it changed, what it rests on, what took its place."""
    with call.open(cold=True) as opened:
        found = opened.history(memory)
    if call.json:
        shaped: dict[str, Any] = shape.plain(found)
        shaped["memory"] = shape.record(found.memory, None)
        for event in shaped["events"]:
            event["at"] = moment(event["at"]).isoformat()
        write_json(shaped)
        return
    kept = found.memory
    write(
        f"{kept.id}  {kept.tier}, {kept.status}, strength {kept.strength:.2f}, confidence {kept.confidence:.2f}"
    )
    write(line(clean(kept.content))[:200])
    write(f"{_at(kept.recorded_at)}  recorded")
    for event in found.events:
        write(_told(event, kept.owner))
    if found.evidence:
        told = (
            f"{one} ({line(rule)})" if rule else one
            for one, rule in zip(found.evidence, found.rules, strict=True)
        )
        write(f"evidence: {', '.join(told)}")
    for name in ("derived", "supersedes", "superseded_by", "contradicts"):
        ids = getattr(found, name)
        if ids:
            write(f"{name.replace('_', ' ')}: {', '.join(ids)}")


def _told(event: Event, owner: str) -> str:
    by = ""
    if event.other:
        by = f", before: {event.other}" if event.op == "changed" else f" by {event.other}"
    run = f" in {event.run}" if event.run else ""
    who = f", done by {clean(event.actor)}" if event.actor and event.actor != owner else ""
    of = f" from {counted(event.count, 'memory')}" if event.count else ""
    return f"{_at(event.at)}  {SAID[event.op]}{by}{of}{run}{who}"


def _at(micros: int) -> str:
    return f"{moment(micros):%Y-%m-%d %H:%M:%SZ}"
