"""concepts, categories."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from textwrap import shorten

import click

from scrubjay.cli.main import Call, Group
from scrubjay.cli.output import (
    BOLD,
    DIM,
    format_count,
    indent,
    paint,
    table,
    write,
    write_error,
)
from scrubjay.errors import InputError
from scrubjay.models.views import CategorySummary, DictionaryReport, EntityPage, EntitySummary
from scrubjay.text.display import single_line, strip_control

DEFAULT_LIMIT = 20
"""Concepts in a list."""
MAX_REJECTED = 20
"""Invalid lines of a dictionary, and conflicting names, that are listed."""


@click.group(
    "concepts",
    cls=Group,
    default="list",
    otherwise="show",
    subcommand_metavar="[COMMAND | NAME]",
)
def concepts() -> None:
    """List the concepts that memories mention, show one, or edit the dictionary.

    Lists without a command; `scrubjay concepts NAME` shows one. NAME is a name, an alias or an id.
    """


@concepts.command("list")
@click.argument("query", default="", metavar="[PART]")
@click.option(
    "-n",
    "--limit",
    metavar="N",
    type=click.IntRange(1),
    default=DEFAULT_LIMIT,
    show_default=True,
    help="Maximum number of concepts.",
)
def list_concepts(call: Call, query: str, limit: int) -> None:
    """List concepts, most mentioned first; with PART only those with it in a name."""
    with call.open(cold=True) as memory:
        found = memory.concepts.list(query=query)
        empty = not found and not memory.status().memories
    shown = found[:limit]
    if call.print_json({"concepts": shown, "total": len(found)}):
        return
    rows = [
        (each.name, format_count(each.memories, "memory"), each.kind, each.id, ", ".join(each.aliases))
        for each in shown
    ]
    for text in table(rows) if rows else []:
        write(text)
    if len(found) > limit:
        write_error(f"{limit:,} of {len(found):,} concepts; use -n {len(found)} to show all.")
    if empty:
        write("The store is empty.\nhint: scrubjay sync DIR")
    elif not found:
        write(f"No concept has {single_line(query)!r} in a name." if query else "There are no concepts yet.")
        write_error("hint: scrubjay concepts add NAME")


@concepts.command("show")
@click.argument("name", metavar="NAME|ID")
def show_concept(call: Call, name: str) -> None:
    """Show a concept with its relations and some memories that mention it."""
    with call.open(cold=True) as memory:
        page = memory.concepts.show(name)
    if not call.print_json(page):
        print_concept(page)


@concepts.command("add")
@click.argument("name", required=False)
@click.option("--alias", "aliases", metavar="ALIAS", multiple=True, help="Alias; repeatable.")
@click.option(
    "--file",
    type=click.Path(path_type=Path),
    help="Add many from this file: one per line, as name, alias, alias.",
)
@click.option("--public", is_flag=True, help="Make it visible to every user of the store.")
@click.option("--group", help="Make it visible to this group, one of yours in the settings.")
def add_concept(
    call: Call, name: str | None, aliases: tuple[str, ...], file: Path | None, public: bool, group: str | None
) -> None:
    """Add a concept, or aliases to an existing one; memories that mention it are linked at once.

    Invalid lines of the file are reported and skipped.
    """
    if (name is None) == (file is None) or (file is not None and aliases):
        raise InputError("Give a name and its aliases, or --file.", hint="scrubjay concepts add --help")
    visibility = "public" if public else "group" if group else "user"
    with call.open(cold=True) as memory:
        if file is not None:
            done = memory.concepts.add_file(file, visibility=visibility, group=group)
        else:
            done = memory.concepts.add(name or "", aliases, visibility=visibility, group=group)
    if not call.print_json(done):
        print_added(done)


@concepts.command("merge")
@click.argument("name", metavar="NAME|ID")
@click.argument("into", metavar="INTO|ID")
def merge_concepts(call: Call, name: str, into: str) -> None:
    """Merge NAME into INTO: its names become aliases of INTO, and its memories refer to INTO."""
    with call.open(cold=True) as memory:
        concept = memory.concepts.merge(name, into)
    _print_change(
        call, concept, f"{name} is merged into {concept.name}: {format_count(concept.memories, 'memory')}."
    )


@concepts.command("rename")
@click.argument("name", metavar="NAME|ID")
@click.argument("to", metavar="TO")
def rename_concept(call: Call, name: str, to: str) -> None:
    """Rename a concept to TO; the old name becomes an alias."""
    with call.open(cold=True) as memory:
        concept = memory.concepts.rename(name, to)
    _print_change(
        call, concept, f"{name} is renamed to {concept.name}: {format_count(concept.memories, 'memory')}."
    )


@concepts.command("remove")
@click.argument("name", metavar="NAME|ID")
def remove_concept(call: Call, name: str) -> None:
    """Remove a concept from the dictionary; it is not detected again, and its memories stay."""
    with call.open(cold=True) as memory:
        gone = memory.concepts.remove(name)
    referred = f"{format_count(gone.memories, 'memory')} mentioned it"
    _print_change(call, gone, f"{gone.name} removed; {referred}. `scrubjay concepts add` restores it.")


def _print_change(call: Call, concept: EntitySummary, sentence: str) -> None:
    if not call.print_json(concept):
        write(single_line(sentence))


def print_concept(page: EntityPage) -> None:
    known = page.concept
    write(paint(single_line(known.name), BOLD))
    marks = [known.kind, format_count(known.memories, "memory"), known.id]
    write(paint(single_line(" · ".join(marks)), DIM))
    if known.aliases:
        write(single_line(f"also {', '.join(known.aliases)}"))
    if page.related:
        write("\nrelated")
        rows = [
            (f"  {near.association:.2f}", near.name, format_count(near.support, "memory"))
            for near in page.related
        ]
        for text in table(rows):
            write(f"  {text}")
    if page.memories:
        write("\nmemories")
    for place in page.memories:
        write(f"  {single_line(place.phrase)}")
        write(
            "    "
            + paint(single_line(" · ".join(part for part in (place.citation, place.date) if part)), DIM)
        )


def print_added(done: DictionaryReport) -> None:
    write(
        f"{format_count(done.added, 'concept')} added, {done.changed:,} changed, "
        f"{format_count(done.linked, 'memory')} linked."
    )
    for name, why in done.refused[:MAX_REJECTED]:
        write_error(single_line(f"{name}: {why}; skipped."))
    for clash in done.clashes[:MAX_REJECTED]:
        write_error(single_line(clash))
    left = max(len(done.refused) - MAX_REJECTED, 0) + max(len(done.clashes) - MAX_REJECTED, 0)
    if left:
        write_error(f"… and {left:,} more; use --json to list all.")
    if done.clashes:
        write_error("hint: scrubjay concepts merge NAME INTO merges duplicates.")


MAX_PHRASE = 80
"""Characters of a category's abstract in a tree."""


@click.group("categories", cls=Group, default="list")
def categories() -> None:
    """List the topics and folders that memories belong to, or show one.

    Lists all without a command. A category is given by name, path of names or id.
    """


@categories.command("list")
@click.option("--topics", is_flag=True, help="Only topics derived from content.")
@click.option("--paths", is_flag=True, help="Only folders and headings.")
@click.option("--depth", metavar="N", type=click.IntRange(1), help="Maximum depth.")
def list_categories(call: Call, topics: bool, paths: bool, depth: int | None) -> None:
    """List the categories as a tree, the largest first."""
    if topics and paths:
        raise InputError("--topics and --paths exclude each other.", hint="omit both to list all")
    kind = "topic" if topics else "path" if paths else None
    with call.open(cold=True) as memory:
        found = memory.categories.list(kind=kind, depth=depth)
        empty = not found and not memory.status().memories
    if call.print_json({"categories": found}):
        return
    print_tree(found, 0)
    if empty:
        write("The store is empty.\nhint: scrubjay sync DIR")
    elif not found:
        write("There are no categories yet; they appear once there are more memories.")


@categories.command("show")
@click.argument("name", metavar="NAME|ID")
def show_category(call: Call, name: str) -> None:
    """Show a category, its subcategories and some of its memories."""
    with call.open(cold=True) as memory:
        page = memory.categories.show(name)
    if call.print_json(page):
        return
    shelf = page.category
    write(paint(single_line(shelf.name), BOLD))
    write(paint(single_line(f"{shelf.kind} · {format_count(shelf.memories, 'memory')} · {shelf.id}"), DIM))
    if shelf.overview or shelf.abstract:
        write(indent(strip_control(shelf.overview or shelf.abstract).strip()))
    if page.below:
        write()
        print_tree(page.below, shelf.depth)
    if page.memories:
        write("\nmemories")
    for place in page.memories:
        write(f"  {single_line(place.phrase)}")
        write(
            "    "
            + paint(single_line(" · ".join(part for part in (place.citation, place.date) if part)), DIM)
        )


def print_tree(shelves: Sequence[CategorySummary], top: int) -> None:
    for shelf in shelves:
        about = single_line(shelf.abstract).removeprefix(f"{single_line(shelf.name)}: ")
        size = paint(f"({shelf.memories:,})  {shorten(about, MAX_PHRASE, placeholder='…')}".rstrip(), DIM)
        write(f"{'  ' * (shelf.depth - top)}{single_line(shelf.name)} {size}")
