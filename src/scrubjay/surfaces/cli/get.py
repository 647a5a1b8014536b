"""get: ids, or a path and lines -> whole memories."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import click

from scrubjay.errors import InputError, NotFoundError
from scrubjay.memory.reports import Fetched
from scrubjay.memory.tiers import PREFIX, UNTRUSTED
from scrubjay.memory.webs import Link
from scrubjay.surfaces.cli.command import Call, command
from scrubjay.surfaces.cli.output import (
    BOLD,
    DIM,
    clean,
    colourful,
    indent,
    line,
    paint,
    tell,
    write,
    write_json,
)
from scrubjay.verbs import shape


@command("get")
@click.argument("what", nargs=-1, required=True, metavar="ID...|PATH")
@click.option("--lines", metavar="A-B", help="With PATH: only the passages on these lines.")
@click.option(
    "--neighbours",
    metavar="N",
    type=click.IntRange(0, 50),
    default=0,
    help="Passages around each, on either side.",
)
@click.option(
    "--limit", metavar="N", type=click.IntRange(1), default=20_000, show_default=True, help="Most characters."
)
@click.option(
    "--offset", metavar="N", type=click.IntRange(0), default=0, help="Characters to pass over first."
)
@click.option("--evidence", is_flag=True, help="With each derived memory what it was taken from.")
@click.option("--links", is_flag=True, help="With each memory what it is joined with.")
def get(call: Call, what: tuple[str, ...], lines: str | None, links: bool, **options: Any) -> None:
    """Show memories whole, by id (its first letters do), or a synced file's passages by path.

    What is not there is named on standard error; the exit code is 2 when nothing is left to show.
    """
    by_id = all(each.startswith(tuple(PREFIX.values())) for each in what)
    if not by_id and len(what) > 1:
        raise InputError(
            "get takes ids, or one path; these are both or several paths.", hint="one call for each"
        )
    if by_id and lines:
        raise InputError("--lines goes with a path, not with ids.", hint="scrubjay get PATH --lines A-B")
    if by_id:
        options |= {"ids": what}
    else:
        options |= {"path": what[0], "lines": span(lines) if lines else None}
    with call.open(cold=True) as memory:
        found = memory.get(**options)
        joined = {kept.id: memory.links(kept.id) for kept in found.records} if links else {}
    missing = f"Not there, or not yours to see: {', '.join(map(line, found.unknown))}."
    if not found.records and found.unknown:
        raise NotFoundError(missing, hint="scrubjay search QUESTION shows ids and paths")
    if call.json:
        shaped = shape.fetched(found)
        for each in shaped["memories"] if links else ():
            each["links"] = shape.plain(joined[each["id"]])
        write_json(shaped)
        return
    show(found, joined)
    if found.unknown:
        tell(missing)
    if found.next_offset is not None:
        tell(f"There is more: --offset {found.next_offset}")


def span(text: str) -> tuple[int, int]:
    """Return first and last line.

    >>> span("3-9"), span("4")
    ((3, 9), (4, 4))

    Raises:
        InputError: The text names no lines.
    """
    first, mark, last = text.partition("-")
    if not first.isdecimal() or (mark and not last.isdecimal()):
        raise InputError(f"--lines {text!r} cannot be read.", hint="write it as 10-24 or 10")
    return int(first), int(last) if mark else int(first)


def show(found: Fetched, joined: Mapping[str, tuple[Link, ...]]) -> None:
    """Print memories, each under its citation, date and id, and over what it is joined with."""
    on = colourful(sys.stdout)
    for number, kept in enumerate(found.records):
        shaped = shape.record(kept, found.paths.get(kept.id))
        marks = [kept.tier, *([shaped["date"]] if shaped["date"] else []), *(f"#{tag}" for tag in kept.tags)]
        marks += [UNTRUSTED] if kept.origin == UNTRUSTED else []
        marks += [kept.status] if kept.status != "active" else []
        # The id first: a title alone on its line could look like an error or a hint of ours.
        titled = f"{kept.id}  {line(kept.title)}".rstrip()
        write(("\n" if number else "") + paint(titled, BOLD, on=on))
        write(line(shaped["citation"]))
        write(paint(line(" · ".join(marks)), DIM, on=on))
        write(indent(clean(kept.content).strip("\n")))
        for one, rule in zip(found.evidence.get(kept.id, ()), found.rules.get(kept.id, ()), strict=True):
            by = f" ({rule})" if rule else ""
            write(line(f"from {one.id} {shape.record(one, None)['date']}{by}: {one.content}")[:200])
        for link in joined.get(kept.id, ()):
            arrow = "->" if link.direction == "to" else "<-"
            write(line(f"{arrow} {link.kind} {link.weight:.2f} {link.id} {link.phrase}"))
