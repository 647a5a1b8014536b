"""categories: the topics and places that memories stand in, as a tree."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from textwrap import shorten

import click

from scrubjay.errors import InputError
from scrubjay.memory.webs import Shelf
from scrubjay.surfaces.cli.command import Call, Command, Group
from scrubjay.surfaces.cli.output import (
    BOLD,
    DIM,
    clean,
    colourful,
    counted,
    indent,
    line,
    paint,
    write,
    write_json,
)
from scrubjay.verbs import shape

PHRASE = 80
"""Characters of what a category holds, in a tree."""


@click.group("categories", cls=Group, invoke_without_command=True)
@click.pass_context
def categories(ctx: click.Context) -> None:
    """List the topics and places that memories stand in, or show one.

    Without a command it lists all. A category is named by its name, a path of names, or its id.
    """
    if ctx.invoked_subcommand is None:
        show_tree(ctx.obj, None, None)


@categories.command("list", cls=Command)
@click.option("--topics", is_flag=True, help="Only those found in what memories say.")
@click.option("--paths", is_flag=True, help="Only folders and headings.")
@click.option("--depth", metavar="N", type=click.IntRange(1), help="Levels from the top.")
def list_(call: Call, topics: bool, paths: bool, depth: int | None) -> None:
    """List the categories as a tree, the largest first."""
    if topics and paths:
        raise InputError("--topics and --paths leave nothing.", hint="leave both out for all")
    show_tree(call, "topic" if topics else "path" if paths else None, depth)


@categories.command("show", cls=Command)
@click.argument("name", metavar="NAME|ID")
def show(call: Call, name: str) -> None:
    """Show a category with those below it and some of its memories."""
    with call.open(cold=True) as memory:
        page = memory.categories.show(name)
    if call.json:
        write_json(shape.plain(page))
        return
    on = colourful(sys.stdout)
    shelf = page.category
    write(paint(line(shelf.name), BOLD, on=on))
    write(paint(line(f"{shelf.kind} · {counted(shelf.memories, 'memory')} · {shelf.id}"), DIM, on=on))
    if shelf.overview or shelf.abstract:
        write(indent(clean(shelf.overview or shelf.abstract).strip()))
    if page.below:
        write()
        tree(page.below, shelf.depth)
    if page.memories:
        write("\nmemories")
    for place in page.memories:
        write(f"  {line(place.phrase)}")
        write(
            "    "
            + paint(line(" · ".join(part for part in (place.citation, place.date) if part)), DIM, on=on)
        )


def show_tree(call: Call, kind: str | None, depth: int | None) -> None:
    """Print the categories, each moved in by its depth."""
    with call.open(cold=True) as memory:
        found = memory.categories.list(kind=kind, depth=depth)
        empty = not found and not memory.status().memories
    if call.json:
        write_json({"categories": shape.plain(found)})
        return
    tree(found, 0)
    if empty:
        write("Nothing is stored.\nhint: scrubjay sync DIR")
    elif not found:
        write("There are no categories yet; they come with more memories.")


def tree(shelves: Sequence[Shelf], top: int) -> None:
    """Print categories as a tree whose uppermost ones have this depth."""
    on = colourful(sys.stdout)
    for shelf in shelves:
        about = line(shelf.abstract).removeprefix(f"{line(shelf.name)}: ")
        size = paint(f"({shelf.memories:,})  {shorten(about, PHRASE, placeholder='…')}".rstrip(), DIM, on=on)
        write(f"{'  ' * (shelf.depth - top)}{line(shelf.name)} {size}")
