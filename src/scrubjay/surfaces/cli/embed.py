"""embed, rebuild: work on the index that changes no memory."""

from __future__ import annotations

import click

from scrubjay.surfaces.cli.command import Call, command
from scrubjay.surfaces.cli.output import counted, duration, write, write_json
from scrubjay.surfaces.cli.progress import shown
from scrubjay.surfaces.cli.sync import summarise, waits
from scrubjay.verbs import shape


@command("embed")
@click.option(
    "--seconds", metavar="SECONDS", type=click.FloatRange(0, min_open=True), help="Stop after this time."
)
def embed(call: Call, seconds: float | None) -> None:
    """Embed what waits for the larger models.

    Stopped at any moment, it goes on there the next time.
    """
    with call.open() as memory, shown(quiet=call.json) as (report, pace):
        done = memory.embed(seconds=seconds, progress=report)
    if call.json:
        write_json(shape.plain(done))
        return
    write(
        f"{counted(done.embedded, 'passage')} embedded in {duration(done.seconds)}, {done.waiting:,} waiting"
    )
    waits(done.waiting, pace.rate)


@command("rebuild")
@click.option(
    "--large/--no-large",
    default=None,
    help="Instead, make or take away what a large tenant on PostgreSQL is searched by; as the owner of the tables.",
)
def rebuild(call: Call, large: bool | None) -> None:
    """Make the index anew from what is stored, beside the old one, then switch.

    Additions, pins and what was forgotten stay as they are. Searches go on meanwhile.
    """
    if large is not None:
        _large(call, make=large)
        return
    with call.open() as memory, shown(quiet=call.json) as (report, _):
        done = memory.rebuild(progress=report)
    if call.json:
        write_json(shape.plain(done))
    else:
        summarise(done)


def _large(call: Call, *, make: bool) -> None:
    if not make:
        with call.open() as memory:
            memory.reduce()
        write_json({"reduced": True}) if call.json else write("taken away; searches read all again")
        return
    with call.open() as memory, shown(quiet=call.json) as (report, _):
        done = memory.enlarge(progress=report)
    if call.json:
        write_json(shape.plain(done))
        return
    write(f"{counted(done.words, 'memory')} sorted by their words in {duration(done.seconds)}")
    write(
        f"vectors: an index for {', '.join(done.models)}" if done.models else f"vectors: none; {done.without}"
    )
