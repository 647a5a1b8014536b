"""concepts: what memories call things, listed, shown, and edited."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from scrubjay.errors import InputError
from scrubjay.memory.webs import ConceptPage, Known, Learned
from scrubjay.surfaces.cli.command import Call, Command, Group
from scrubjay.surfaces.cli.output import (
    BOLD,
    DIM,
    colourful,
    counted,
    line,
    paint,
    table,
    tell,
    write,
    write_json,
)
from scrubjay.verbs import shape

LIMIT = 20
"""Concepts of one list."""
TOLD = 20
"""Lines of a dictionary that could not be taken, and names that clash, which are told one by one."""


@click.group(
    "concepts",
    cls=Group,
    invoke_without_command=True,
    otherwise="show",
    subcommand_metavar="[COMMAND | NAME]",
)
@click.pass_context
def concepts(ctx: click.Context) -> None:
    """List the concepts that memories refer to, show one, or edit the dictionary.

    Without a command it lists; `scrubjay concepts NAME` shows one. A concept is named by its name, an alias, or its id.
    """
    if ctx.invoked_subcommand is None:
        show_list(ctx.obj, "", LIMIT)


@concepts.command("list", cls=Command)
@click.argument("query", default="", metavar="[PART]")
@click.option(
    "-n",
    "--limit",
    metavar="N",
    type=click.IntRange(1),
    default=LIMIT,
    show_default=True,
    help="Most concepts.",
)
def list_(call: Call, query: str, limit: int) -> None:
    """List concepts, the most often referred to first; with PART those that have it in a name."""
    show_list(call, query, limit)


@concepts.command("show", cls=Command)
@click.argument("name", metavar="NAME|ID")
def show(call: Call, name: str) -> None:
    """Show a concept with its relations and some memories that refer to it."""
    with call.open(cold=True) as memory:
        page = memory.concepts.show(name)
    if call.json:
        write_json(shape.plain(page))
    else:
        show_page(page)


@concepts.command("add", cls=Command)
@click.argument("name", required=False)
@click.option("--alias", "aliases", metavar="ALIAS", multiple=True, help="Another name for it; repeatable.")
@click.option(
    "--file",
    type=click.Path(path_type=Path),
    help="Take many from this file instead: one a line, as name, alias, alias.",
)
@click.option("--public", is_flag=True, help="Let every user of the store know it.")
@click.option("--group", help="Let this group, one of yours in the settings, know it.")
def add(
    call: Call, name: str | None, aliases: tuple[str, ...], file: Path | None, public: bool, group: str | None
) -> None:
    """Add a concept, or aliases to one that is there; memories that name it are linked at once.

    A line of the file that cannot be taken is named and the rest goes on.
    """
    if (name is None) == (file is None) or (file is not None and aliases):
        raise InputError(
            "concepts add takes a name and its aliases, or --file.", hint="scrubjay concepts add --help"
        )
    visibility = "public" if public else "group" if group else "user"
    with call.open(cold=True) as memory:
        if file is not None:
            done = memory.concepts.add_file(file, visibility=visibility, group=group)
        else:
            done = memory.concepts.add(name or "", aliases, visibility=visibility, group=group)
    if call.json:
        write_json(shape.plain(done))
    else:
        summarise(done)


@concepts.command("merge", cls=Command)
@click.argument("name", metavar="NAME|ID")
@click.argument("into", metavar="INTO|ID")
def merge(call: Call, name: str, into: str) -> None:
    """Make NAME part of INTO: its names become aliases, and its memories refer to INTO."""
    with call.open(cold=True) as memory:
        kept = memory.concepts.merge(name, into)
    _done(call, kept, f"{name} is now part of {kept.name}: {counted(kept.memories, 'memory')}.")


@concepts.command("rename", cls=Command)
@click.argument("name", metavar="NAME|ID")
@click.argument("to", metavar="TO")
def rename(call: Call, name: str, to: str) -> None:
    """Call a concept TO; the old name still means it."""
    with call.open(cold=True) as memory:
        kept = memory.concepts.rename(name, to)
    _done(call, kept, f"{name} is now called {kept.name}: {counted(kept.memories, 'memory')}.")


@concepts.command("remove", cls=Command)
@click.argument("name", metavar="NAME|ID")
def remove(call: Call, name: str) -> None:
    """Take a concept out of the dictionary; it is not found again, and its memories stay."""
    with call.open(cold=True) as memory:
        gone = memory.concepts.remove(name)
    referred = f"{counted(gone.memories, 'memory')} referred to it"
    _done(call, gone, f"{gone.name} is taken out; {referred}. `scrubjay concepts add` brings it back.")


def _done(call: Call, concept: Known, sentence: str) -> None:
    if call.json:
        write_json(shape.plain(concept))
    else:
        write(line(sentence))


def show_list(call: Call, query: str, limit: int) -> None:
    """Print concepts, a line each."""
    with call.open(cold=True) as memory:
        found = memory.concepts.list(query=query)
        empty = not found and not memory.status().memories
    shown = found[:limit]
    if call.json:
        write_json({"concepts": shape.plain(shown), "total": len(found)})
        return
    rows = [
        (each.name, counted(each.memories, "memory"), each.kind, each.id, ", ".join(each.aliases))
        for each in shown
    ]
    for text in table(rows) if rows else []:
        write(text)
    if len(found) > limit:
        tell(f"{limit:,} of {len(found):,} concepts; -n {len(found)} shows all.")
    if empty:
        write("Nothing is stored.\nhint: scrubjay sync DIR")
    elif not found:
        write(f"No concept has {line(query)!r} in a name." if query else "No concept is known.")
        tell("hint: scrubjay concepts add NAME")


def show_page(page: ConceptPage) -> None:
    """Print a concept, its relations, its memories."""
    on = colourful(sys.stdout)
    known = page.concept
    write(paint(line(known.name), BOLD, on=on))
    marks = [known.kind, counted(known.memories, "memory"), known.id]
    write(paint(line(" · ".join(marks)), DIM, on=on))
    if known.aliases:
        write(line(f"also {', '.join(known.aliases)}"))
    if page.related:
        write("\nrelated")
        rows = [
            (f"  {near.association:.2f}", near.name, counted(near.support, "memory")) for near in page.related
        ]
        for text in table(rows):
            write(f"  {text}")
    if page.memories:
        write("\nmemories")
    for place in page.memories:
        write(f"  {line(place.phrase)}")
        write(
            "    "
            + paint(line(" · ".join(part for part in (place.citation, place.date) if part)), DIM, on=on)
        )


def summarise(done: Learned) -> None:
    """Print what adding did, and what was not taken."""
    write(
        f"{counted(done.added, 'concept')} added, {done.changed:,} changed, "
        f"{counted(done.linked, 'memory')} linked."
    )
    for name, why in done.refused[:TOLD]:
        tell(line(f"{name}: {why}; not taken."))
    for clash in done.clashes[:TOLD]:
        tell(line(clash))
    left = max(len(done.refused) - TOLD, 0) + max(len(done.clashes) - TOLD, 0)
    if left:
        tell(f"… and {left:,} more; --json tells all.")
    if done.clashes:
        tell("hint: scrubjay concepts merge NAME INTO makes two that are the same one.")
