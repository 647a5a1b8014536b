"""Commands on memories, concepts and categories: add, get, feedback, archive, restore, forget."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING, Any

import click

from scrubjay.api import serializers
from scrubjay.cli.main import Call, Group, command
from scrubjay.cli.output import (
    BOLD,
    DIM,
    SYNC_HINT,
    format_count,
    indent,
    missing_memories,
    paint,
    require_terminal,
    state_marks,
    write,
    write_error,
    write_table,
)
from scrubjay.errors import InputError, NotFoundError, SourceError
from scrubjay.models.dates import to_datetime
from scrubjay.models.ids import is_short_id
from scrubjay.models.lifecycle import VERDICTS
from scrubjay.models.records import ORIGINS, TIER_PREFIXES, TIERS
from scrubjay.models.reports import FetchReport
from scrubjay.models.views import (
    CategorySummary,
    ChangeReport,
    DictionaryReport,
    EntityPage,
    EntitySummary,
    MemoryCitation,
    MemoryLink,
)
from scrubjay.text.display import single_line, strip_control

if TYPE_CHECKING:
    from scrubjay.memory import Memory
    from scrubjay.models.lifecycle import Event
    from scrubjay.models.records import Record


@command("add")
@click.argument("text", nargs=-1)
@click.option("--file", type=click.Path(path_type=Path), help="Read the text from this file.")
@click.option(
    "--tier", type=click.Choice(TIERS), default="observation", show_default=True, help="Tier of the memory."
)
@click.option("--title", default="", help="Title.")
@click.option("--tag", "tags", multiple=True, help="Tag; repeatable.")
@click.option("--date", metavar="DATE", help="Date of the event it describes.")
@click.option("--valid-from", metavar="DATE", help="Start of validity.")
@click.option("--valid-until", metavar="DATE", help="End of validity.")
@click.option(
    "--confidence", metavar="NUMBER", type=click.FloatRange(0, 1), default=1.0, help="Confidence, 0 to 1."
)
@click.option(
    "--origin", type=click.Choice(ORIGINS), default="owner", show_default=True, help="Who stated it."
)
@click.option("--session", help="Conversation it belongs to.")
@click.option("--role", help="Speaker's role in the conversation.")
@click.option("--turn", metavar="N", type=click.IntRange(0), help="Position in the conversation, from 0.")
@click.option("--project", help="Project it belongs to: a name, a suffix of one, or a path.")
@click.option("--agent", help="Agent that recorded it.")
@click.option("--public", is_flag=True, help="Make it visible to every user of the store.")
@click.option("--group", help="Make it visible to this group, one of yours in the settings.")
@click.option("--pin", is_flag=True, help="Pin it: its score does not decay with age.")
def add(call: Call, text: tuple[str, ...], file: Path | None, public: bool, pin: bool, **fields: Any) -> None:
    """Add one memory: TEXT, or standard input if TEXT is missing or -.

    Adding the same memory again (text up to whitespace, tier, date, conversation) only adds to its history. Similar
    memories are listed and kept. A statement that says that a known one has changed supersedes it. Secrets are
    replaced before anything is stored.
    """
    content = read_text(text, file)
    arguments = {name: value for name, value in fields.items() if value is not None}
    visibility = "public" if public else "group" if fields.get("group") else "user"
    with call.open(new=True) as memory:
        done = memory.add(content, visibility=visibility, pinned=pin, **arguments)
    if call.print_json(done):
        return
    if done.status == "active":
        write(f"{done.id} {'already exists' if done.existed else 'added'}.")
    else:
        write(f"{done.id} already exists and is {done.status}.\nhint: scrubjay restore {done.id}")
    for what, ids in (("supersedes", done.supersedes), ("contradicts", done.contradicts)):
        if ids:
            write(f"It {what} {', '.join(ids)}.")
    if done.similar:
        write(f"similar: {', '.join(done.similar)}")
    if done.learned:
        write(f"Extracted facts: {', '.join(done.learned)}.")
    for kind, times in done.scrubbed.items():
        write(f"{format_count(times, 'secret')} of kind {single_line(kind)} replaced.")
    if done.note:
        write(f"Also written to {single_line(done.note)}.")


def read_text(text: tuple[str, ...], file: Path | None) -> str:
    if file is not None:
        if text:
            raise InputError("Give a text or --file, not both.")
        try:
            return file.read_text(encoding="utf-8-sig")
        except OSError as error:
            raise SourceError(f"{file} cannot be read: {error.strerror}. Nothing was added.") from error
        except UnicodeDecodeError as error:
            raise SourceError(f"{file} is not UTF-8 at byte {error.start}. Nothing was added.") from error
    if text and text != ("-",):
        return " ".join(text)
    if not text and sys.stdin.isatty():
        raise InputError("There is no text to add.", hint='scrubjay add "what to remember"')
    return sys.stdin.read()


@command("get")
@click.argument("what", nargs=-1, required=True, metavar="ID...|PATH")
@click.option("--lines", metavar="A-B", help="With PATH: only passages on these lines.")
@click.option(
    "--neighbours",
    metavar="N",
    type=click.IntRange(0, 50),
    default=0,
    help="Passages to show before and after each.",
)
@click.option(
    "--limit",
    metavar="N",
    type=click.IntRange(1),
    default=20_000,
    show_default=True,
    help="Maximum number of characters.",
)
@click.option("--offset", metavar="N", type=click.IntRange(0), default=0, help="Characters to skip.")
@click.option("--evidence", is_flag=True, help="Show the evidence of derived memories.")
@click.option("--links", is_flag=True, help="Show the links of each memory.")
def get(call: Call, what: tuple[str, ...], lines: str | None, links: bool, **options: Any) -> None:
    """Show whole memories by id, or a file's passages by path, name, alias or [[wiki link]].

    The first six digits of an id, or any unique prefix, are enough. Unknown ids are listed on standard error; the exit
    code is 2 if nothing is found.
    """
    by_id = all(
        each.startswith(tuple(TIER_PREFIXES.values())) or (is_short_id(each) and not Path(each).exists())
        for each in what
    )
    if not by_id and len(what) > 1:
        raise InputError("Give ids or one path, not both or several paths.", hint="run one command for each")
    if by_id and lines:
        raise InputError("--lines needs a path, not ids.", hint="scrubjay get PATH --lines A-B")
    if by_id:
        options |= {"ids": what}
    else:
        options |= {"path": what[0], "lines": parse_lines(lines) if lines else None}
    with call.open(cold=True) as memory:
        found = memory.get(**options)
        joined = {record.id: memory.links(record.id) for record in found.records} if links else {}
    missing = f"Not found: {', '.join(map(single_line, found.unknown))}."
    if not found.records and found.unknown:
        raise NotFoundError(missing, hint="scrubjay search QUESTION shows ids and paths")
    if found.forgotten:
        write_error(
            f"Left out, since forgotten: {format_count(found.forgotten, 'passage')}. "
            "A forgotten passage comes back only when it is edited in the file."
        )
    if call.json:
        shaped = serializers.fetched_fields(found)
        for each in shaped["memories"] if links else ():
            each["links"] = serializers.to_plain(joined[each["id"]])
        call.print_json(shaped)
        return
    print_memories(found, joined)
    if found.unknown:
        write_error(missing)
    if found.next_offset is not None:
        write_error(f"More text follows: --offset {found.next_offset}")


def parse_lines(text: str) -> tuple[int, int]:
    """Return first and last line.

    >>> parse_lines("3-9"), parse_lines("4")
    ((3, 9), (4, 4))
    """
    first, mark, last = text.partition("-")
    if not first.isdecimal() or (mark and not last.isdecimal()):
        raise InputError(f"--lines {text!r} is invalid.", hint="write it as 10-24 or 10")
    return int(first), int(last) if mark else int(first)


def print_memories(found: FetchReport, joined: Mapping[str, tuple[MemoryLink, ...]]) -> None:
    for number, record in enumerate(found.records):
        shaped = serializers.record_fields(record, found.paths.get(record.id))
        marks = [
            record.tier,
            *([shaped["date"]] if shaped["date"] else []),
            *(f"#{tag}" for tag in record.tags),
        ]
        marks += state_marks(record)
        # The id first: a title alone on its line could look like an error or a hint.
        titled = f"{record.id}  {single_line(record.title)}".rstrip()
        write(("\n" if number else "") + paint(titled, BOLD))
        write(single_line(shaped["citation"]))
        write(paint(single_line(" · ".join(marks)), DIM))
        write(indent(strip_control(record.content).strip("\n")))
        for one, rule in zip(found.evidence.get(record.id, ()), found.rules.get(record.id, ()), strict=True):
            by = f" ({rule})" if rule else ""
            write(
                single_line(
                    f"from {one.id} {serializers.record_fields(one, None)['date']}{by}: {one.content}"
                )[:200]
            )
        for link in joined.get(record.id, ()):
            arrow = "->" if link.direction == "to" else "<-"
            write(single_line(f"{arrow} {link.kind} {link.weight:.2f} {link.id} {link.phrase}"))


SHOWN_BEFORE_FORGET = 20
"""Maximum ids of one `get`."""
MAX_CHARACTERS = 100_000_000
"""More characters than twenty memories have, so that none is cut."""


@command("forget")
@click.argument("ids", nargs=-1, metavar="ID...")
@click.option(
    "--everything",
    is_flag=True,
    help="All memories of the user, also shared ones, with sources, links and the user's name.",
)
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
def forget(call: Call, ids: tuple[str, ...], everything: bool, yes: bool) -> None:
    """Delete memories permanently: text, index entries and vectors.

    An id is whole or short: six digits or more. Files are not changed; places that still contain the text are listed.
    Asks for confirmation unless --yes is given, and fails if there is no terminal to ask on.
    """
    if everything == bool(ids):
        raise click.UsageError("Give ids or --everything.")
    with call.open(cold=True) as memory:
        if not yes:
            known = find_memories(memory, ids)
            for record in known:
                write_error(f"{record.id}  {single_line(record.title or record.content)[:80]}")
            if everything:
                confirm(f"Forget everything of user {single_line(call.settings.user)}", "forgotten")
            elif known:
                confirm(f"Forget {format_count(len(known), 'memory')}", "forgotten")
        done = memory.forget_everything() if everything else memory.forget(ids)
    missing = f"Not found, or not yours: {', '.join(map(single_line, done.unknown))}."
    if done.unknown and not done.ids:
        raise NotFoundError(missing, hint="scrubjay search QUESTION shows ids")
    if call.print_json(done):
        return
    write(f"{format_count(len(done.ids), 'memory')} forgotten.")
    if done.derived:
        write(f"{format_count(len(done.derived), 'memory')} derived from them forgotten as well.")
    if done.restored:
        write(f"{format_count(len(done.restored), 'source memory')} of those restored.")
    if done.reactivated:
        number = format_count(len(done.reactivated), "superseded memory")
        verb = "are" if done.reactivated[1:] else "is"
        write(f"{number} {verb} active again: {', '.join(done.reactivated)}.")
    write_remains(done.still)
    if done.still:
        write("It comes back when its passage there is edited, unless you delete it from the file.")
    if done.unknown:
        write_error(missing)


def write_remains(places: Sequence[str]) -> None:
    by_file: dict[str, list[str]] = {}
    for place in places:
        path, mark, lines = place.rpartition(":")
        if mark and lines.replace("-", "").isdecimal():
            by_file.setdefault(path, []).append(lines)
        else:  # a document without lines
            write(f"The text remains in {single_line(place)}.")
    for path, found in sorted(by_file.items()):
        numbers = [int(number) for lines in found for number in lines.split("-")]
        where = f"{path}:{found[0]}" if len(found) == 1 else f"{path}, at {len(found):,} places in lines "
        extent = "" if len(found) == 1 else f"{min(numbers)}-{max(numbers)}"
        write(f"The text remains in {single_line(where + extent)}.")


def find_memories(memory: Memory, ids: Sequence[str]) -> list[Record]:
    found: list[Record] = []
    for start in range(0, len(ids), SHOWN_BEFORE_FORGET):
        found += memory.get(ids[start : start + SHOWN_BEFORE_FORGET], limit=MAX_CHARACTERS).records
    return found


def confirm(action: str, done: str) -> None:
    """Ask whether to do what cannot be undone.

    Raises:
        InputError: There is no terminal to ask on.
    """
    require_terminal(done)
    click.confirm(f"{action} permanently?", abort=True, err=True)


EVENT_PHRASES = {
    "added": "was added again",
    "archived": "was archived",
    "changed": "was changed",
    "contradicted": "was contradicted",
    "derived": "was derived",
    "inject": "was released for injection",
    "never-inject": "was barred from injection",
    "not-wrong": "was no longer marked wrong",
    "pinned": "was pinned",
    "read": "was read by a language model",
    "reinforced": "was repeated",
    "restored": "was restored",
    "superseded": "was superseded",
    "unpinned": "was unpinned",
    "used": "was used",
    "useful": "was marked useful",
    "wrong": "was marked wrong",
}
"""Op of an event to what a person reads."""


@command("archive")
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
def archive(call: Call, ids: tuple[str, ...]) -> None:
    """Hide memories from default results. Nothing is deleted; `scrubjay restore` brings them back.

    A passage of a file stays archived when it is edited.
    """
    _change_status(call, lambda memory: memory.archive(ids), "archived")


@command("restore")
@click.argument("ids", nargs=-1, metavar="ID...")
@click.option(
    "--archived-by-consolidation",
    is_flag=True,
    help="Restore all memories that consolidation archived, in any run.",
)
def restore(call: Call, ids: tuple[str, ...], archived_by_consolidation: bool) -> None:
    """Make archived or superseded memories active again."""
    if bool(ids) == archived_by_consolidation:
        raise click.UsageError(
            "Give ids, or --archived-by-consolidation for all memories that consolidation archived."
        )
    if archived_by_consolidation:
        _change_status(call, lambda memory: memory.restore_consolidated(), "restored")
    else:
        _change_status(call, lambda memory: memory.restore(ids), "restored")


@command("feedback")
@click.argument("verdict", type=click.Choice(VERDICTS))
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
def feedback(call: Call, verdict: str, ids: tuple[str, ...]) -> None:
    """Record that memories were used, useful or wrong; wrong ones rank lower.

    "never-inject" keeps them out of hooks and the proxy; search still finds them. "not-wrong" and "inject"
    withdraw "wrong" and "never-inject".
    """
    word = "marked used" if verdict == "used" else EVENT_PHRASES[verdict].removeprefix("was ")
    _change_status(call, lambda memory: memory.feedback(ids, verdict), word)


def _change_status(call: Call, change: Callable[[Memory], ChangeReport], word: str) -> None:
    with call.open(cold=True) as memory:
        done = change(memory)
    missing = f"Not found, or not yours: {', '.join(map(single_line, done.unknown))}."
    if done.unknown and not done.ids and not done.unchanged:
        raise NotFoundError(missing, hint="scrubjay search QUESTION shows ids")
    if call.print_json(done):
        return
    write(f"{format_count(len(done.ids), 'memory')} {word}.")
    if done.also:
        write(f"Also {word}: {', '.join(done.also)}.")
    if done.unchanged:
        write(f"{format_count(len(done.unchanged), 'memory')} unchanged.")
    if done.unknown:
        write_error(missing)


@command("history")
@click.argument("memory", metavar="ID")
def history(call: Call, memory: str) -> None:
    """Show the history of a memory: its changes, its evidence and what superseded it."""
    with call.open(cold=True) as opened:
        found = opened.history(memory)
    if call.json:
        call.print_json(serializers.history_fields(found, None))
        return
    record = found.memory
    write(
        f"{record.id}  {record.tier}, {record.status}, strength {record.strength:.2f}, "
        f"confidence {record.confidence:.2f}"
    )
    write(single_line(strip_control(record.content))[:200])
    write(f"{_format_time(record.recorded_at)}  recorded")
    for event in found.events:
        write(_format_event(event, record.owner))
    if found.evidence:
        evidence = (
            f"{one} ({single_line(rule)})" if rule else one
            for one, rule in zip(found.evidence, found.rules, strict=True)
        )
        write(f"evidence: {', '.join(evidence)}")
    for name in ("derived", "supersedes", "superseded_by", "contradicts"):
        ids = getattr(found, name)
        if ids:
            write(f"{name.replace('_', ' ')}: {', '.join(ids)}")


def _format_event(event: Event, owner: str) -> str:
    by = ""
    if event.other:
        link = {"changed": ", before:", "wrong": " with", "not-wrong": " with"}.get(event.op, " by")
        by = f"{link} {event.other}"
    run = f" in {event.run}" if event.run else ""
    who = f", done by {strip_control(event.actor)}" if event.actor and event.actor != owner else ""
    of = f" from {format_count(event.count, 'memory')}" if event.count else ""
    return f"{_format_time(event.at)}  {EVENT_PHRASES[event.op]}{by}{of}{run}{who}"


def _format_time(micros: int) -> str:
    return f"{to_datetime(micros):%Y-%m-%d %H:%M:%SZ}"


DEFAULT_CONCEPTS = 20
"""Concepts in a list."""
MAX_REJECTED = 20
"""Invalid lines of a dictionary, and conflicting names, that are listed."""


@click.group("concepts", cls=Group, default="list", otherwise="show", subcommand_metavar="[COMMAND | NAME]")
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
    default=DEFAULT_CONCEPTS,
    show_default=True,
    help="Maximum number of concepts.",
)
def list_concepts(call: Call, query: str, limit: int) -> None:
    """List concepts, most mentioned first; with PART only those with it in a name."""
    with call.open(cold=True) as memory:
        found = memory.concepts.list(query=query)
        missing = "" if found else missing_memories(memory)
    shown = found[:limit]
    if call.print_json({"concepts": shown, "total": len(found)}):
        return
    rows = [
        (each.name, format_count(each.memories, "memory"), each.kind, each.id, ", ".join(each.aliases))
        for each in shown
    ]
    write_table(rows)
    if len(found) > limit:
        write_error(f"{limit:,} of {len(found):,} concepts; use -n {len(found)} to show all.")
    if missing:
        write(f"{missing}.\nhint: {SYNC_HINT}")
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
        write_table(rows, "  ")
    _print_citations(page.memories)


def _print_citations(memories: Sequence[MemoryCitation]) -> None:
    if memories:
        write("\nmemories")
    for one in memories:
        write(f"  {single_line(one.phrase)}")
        write("    " + paint(single_line(" · ".join(filter(None, (one.citation, one.date)))), DIM))


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
        missing = "" if found else missing_memories(memory)
    if call.print_json({"categories": found}):
        return
    print_tree(found, 0)
    if missing:
        write(f"{missing}.\nhint: {SYNC_HINT}")
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
    _print_citations(page.memories)


def print_tree(shelves: Sequence[CategorySummary], top: int) -> None:
    for shelf in shelves:
        about = single_line(shelf.abstract).removeprefix(f"{single_line(shelf.name)}: ")
        size = paint(f"({shelf.memories:,})  {shorten(about, MAX_PHRASE, placeholder='…')}".rstrip(), DIM)
        write(f"{'  ' * (shelf.depth - top)}{single_line(shelf.name)} {size}")
