"""Commands on memories, concepts and categories: add, get, feedback, archive, restore, forget."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING, Any

import click

from scrubjay.api import serializers
from scrubjay.cli.main import Call, Group, command, declared_options
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
from scrubjay.models.lifecycle import VERDICTS, NewMemory
from scrubjay.models.records import TIER_PREFIXES
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
@declared_options(
    NewMemory, "tier", "title", "tags", "date", "valid_from", "valid_until", "confidence", "origin", "session", "role",
    "turn", "project", "agent",
)  # fmt: skip
@click.option("--public", is_flag=True, help="Make it visible to every user of the store.")
@declared_options(NewMemory, "group", "pinned")
def add(call: Call, text: tuple[str, ...], file: Path | None, public: bool, **fields: Any) -> None:
    """Add one memory: TEXT, or standard input if TEXT is missing or -.

    Adding the same memory again (text up to whitespace, tier, date, conversation) only adds to its history. Similar
    memories are listed and kept. A statement that changes a known one supersedes it. Secrets are
    replaced before anything is stored.
    """
    content = read_text(text, file)
    arguments = {name: value for name, value in fields.items() if value is not None}
    visibility = "public" if public else "group" if "group" in arguments else "user"
    with call.open(new=True) as memory:
        report = memory.add(content, visibility=visibility, **arguments)
    if call.print_json(report):
        return
    if report.status == "active":
        write(f"{report.id} {'already exists' if report.existed else 'added'}.")
    else:
        write(f"{report.id} already exists and is {report.status}.\nhint: scrubjay restore {report.id}")
    for verb, ids in (("supersedes", report.supersedes), ("contradicts", report.contradicts)):
        if ids:
            write(f"It {verb} {', '.join(ids)}.")
    if report.similar:
        write(f"similar: {', '.join(report.similar)}")
    if report.learned:
        write(f"Extracted facts: {', '.join(report.learned)}.")
    for kind, count in report.scrubbed.items():
        write(f"{format_count(count, 'secret')} of kind {single_line(kind)} replaced.")
    for notice in report.notices:
        write(notice)
    if report.note:
        write(f"Also written to {single_line(report.note)}.")


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
        name.startswith(tuple(TIER_PREFIXES.values())) or (is_short_id(name) and not Path(name).exists())
        for name in what
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
        fetched = memory.get(**options)
        links_by_id = {record.id: memory.links(record.id) for record in fetched.records} if links else {}
    missing = f"Not found: {', '.join(map(single_line, fetched.unknown))}."
    if not fetched.records and fetched.unknown:
        raise NotFoundError(missing, hint="scrubjay search QUESTION shows ids and paths")
    if fetched.forgotten:
        write_error(
            f"Left out, since forgotten: {format_count(fetched.forgotten, 'passage')}. "
            "A forgotten passage comes back only when it is edited in the file."
        )
    if call.json:
        payload = serializers.fetched_fields(fetched)
        for name in payload["memories"] if links else ():
            name["links"] = serializers.to_plain(links_by_id[name["id"]])
        call.print_json(payload)
        return
    print_memories(fetched, links_by_id)
    if fetched.unknown:
        write_error(missing)
    if fetched.next_offset is not None:
        write_error(f"More text follows: --offset {fetched.next_offset}")


def parse_lines(text: str) -> tuple[int, int]:
    """Return first and last line.

    >>> parse_lines("3-9"), parse_lines("4")
    ((3, 9), (4, 4))
    """
    first, mark, last = text.partition("-")
    if not first.isdecimal() or (mark and not last.isdecimal()):
        raise InputError(f"--lines {text!r} is invalid.", hint="write it as 10-24 or 10")
    return int(first), int(last) if mark else int(first)


def print_memories(fetched: FetchReport, links_by_id: Mapping[str, tuple[MemoryLink, ...]]) -> None:
    for number, record in enumerate(fetched.records):
        fields = serializers.record_fields(record, fetched.paths.get(record.id))
        marks = [
            record.tier,
            *([fields["date"]] if fields["date"] else []),
            *(f"#{tag}" for tag in record.tags),
        ]
        marks += state_marks(record)
        # The id first: a title alone on its line could look like an error or a hint.
        heading = f"{record.id}  {single_line(record.title)}".rstrip()
        write(("\n" if number else "") + paint(heading, BOLD))
        write(single_line(fields["citation"]))
        write(paint(single_line(" · ".join(marks)), DIM))
        write(indent(strip_control(record.content).strip("\n")))
        evidence = fetched.evidence.get(record.id, ())
        for source, rule in zip(evidence, fetched.rules.get(record.id, ()), strict=True):
            rule_note = f" ({rule})" if rule else ""
            write(
                single_line(
                    f"from {source.id} {serializers.record_fields(source, None)['date']}{rule_note}: {source.content}"
                )[:200]
            )
        for link in links_by_id.get(record.id, ()):
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
    help="Delete all memories of the user, including shared ones, and the user's sources, links and name.",
)
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
def forget(call: Call, ids: tuple[str, ...], everything: bool, yes: bool) -> None:
    """Delete memories permanently: text, index entries and vectors.

    Ids may be short: the first six digits or more. Files are not changed; places that still contain the text are
    listed. Asks for confirmation unless --yes is given, and fails if there is no terminal to ask on.
    """
    if everything == bool(ids):
        raise click.UsageError("Give ids or --everything.")
    with call.open(cold=True) as memory:
        if not yes:
            records = find_memories(memory, ids)
            for record in records:
                write_error(f"{record.id}  {single_line(record.title or record.content)[:80]}")
            if everything:
                confirm(f"Forget everything of user {single_line(call.settings.user)}", "forgotten")
            elif records:
                confirm(f"Forget {format_count(len(records), 'memory')}", "forgotten")
        report = memory.forget_everything() if everything else memory.forget(ids)
    if report.unknown and not report.ids:
        from scrubjay.search.browse import unknown_id

        raise unknown_id(*report.unknown)
    if call.print_json(report):
        return
    write(f"{format_count(len(report.ids), 'memory')} forgotten.")
    if report.derived:
        write(f"{format_count(len(report.derived), 'memory')} derived from them forgotten as well.")
    if report.restored:
        write(f"{format_count(len(report.restored), 'source memory')} of those restored.")
    if report.reactivated:
        number = format_count(len(report.reactivated), "superseded memory")
        verb = "are" if report.reactivated[1:] else "is"
        write(f"{number} {verb} active again: {', '.join(report.reactivated)}.")
    write_remains(report.still)
    if report.still:
        write("If that passage is edited, it is stored again, unless you delete it from the file.")
    write_unknown(report.unknown)


def write_unknown(ids: Sequence[str]) -> None:
    if ids:
        write_error(f"Not found, or not yours: {', '.join(map(single_line, ids))}.")


def write_remains(places: Sequence[str]) -> None:
    by_file: dict[str, list[str]] = {}
    for place in places:
        path, mark, lines = place.rpartition(":")
        if mark and lines.replace("-", "").isdecimal():
            by_file.setdefault(path, []).append(lines)
        else:  # a document without lines
            write(f"The text remains in {single_line(place)}.")
    for path, ranges in sorted(by_file.items()):
        numbers = [int(number) for lines in ranges for number in lines.split("-")]
        where = f"{path}:{ranges[0]}" if len(ranges) == 1 else f"{path}, at {len(ranges):,} places in lines "
        span = "" if len(ranges) == 1 else f"{min(numbers)}-{max(numbers)}"
        write(f"The text remains in {single_line(where + span)}.")


def find_memories(memory: Memory, ids: Sequence[str]) -> list[Record]:
    records: list[Record] = []
    for start in range(0, len(ids), SHOWN_BEFORE_FORGET):
        records += memory.get(ids[start : start + SHOWN_BEFORE_FORGET], limit=MAX_CHARACTERS).records
    return records


def confirm(action: str, participle: str) -> None:
    """Ask whether to do what cannot be undone.

    Raises:
        InputError: There is no terminal to ask on.
    """
    require_terminal(participle)
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
        report = change(memory)
    if report.unknown and not report.ids and not report.unchanged:
        from scrubjay.search.browse import unknown_id

        raise unknown_id(*report.unknown)
    if call.print_json(report):
        return
    write(f"{format_count(len(report.ids), 'memory')} {word}.")
    if report.also:
        write(f"Also {word}: {', '.join(report.also)}.")
    if report.unchanged:
        write(f"{format_count(len(report.unchanged), 'memory')} unchanged.")
    write_unknown(report.unknown)


@command("history")
@click.argument("memory", metavar="ID")
def history(call: Call, memory: str) -> None:
    """Show the history of a memory: its changes, its evidence and what superseded it."""
    with call.open(cold=True) as opened:
        page = opened.history(memory)
    if call.json:
        call.print_json(serializers.history_fields(page, None))
        return
    record = page.memory
    write(
        f"{record.id}  {record.tier}, {record.status}, strength {record.strength:.2f}, "
        f"confidence {record.confidence:.2f}"
    )
    write(single_line(strip_control(record.content))[:200])
    write(f"{_format_time(record.recorded_at)}  recorded")
    for event in page.events:
        write(_format_event(event, record.owner))
    if page.evidence:
        evidence = (
            f"{memory_id} ({single_line(rule)})" if rule else memory_id
            for memory_id, rule in zip(page.evidence, page.rules, strict=True)
        )
        write(f"evidence: {', '.join(evidence)}")
    for name in ("derived", "supersedes", "superseded_by", "contradicts"):
        ids = getattr(page, name)
        if ids:
            write(f"{name.replace('_', ' ')}: {', '.join(ids)}")


def _format_event(event: Event, owner: str) -> str:
    other = ""
    if event.other:
        link = {"changed": "; previous version:", "wrong": " with", "not-wrong": " with"}.get(event.op, " by")
        other = f"{link} {event.other}"
    run = f" in {event.run}" if event.run else ""
    actor = f", done by {strip_control(event.actor)}" if event.actor and event.actor != owner else ""
    sources = f" from {format_count(event.count, 'memory')}" if event.count else ""
    return f"{_format_time(event.at)}  {EVENT_PHRASES[event.op]}{other}{sources}{run}{actor}"


def _format_time(micros: int) -> str:
    return f"{to_datetime(micros):%Y-%m-%d %H:%M:%SZ}"


DEFAULT_CONCEPTS = 20
"""Concepts in a list."""
MAX_REJECTED = 20
"""Invalid lines of a dictionary, and conflicting names, that are listed."""


@click.group("concepts", cls=Group, default="list", otherwise="show", subcommand_metavar="[COMMAND | NAME]")
def concepts() -> None:
    """List the concepts that memories mention, show one, or edit the dictionary.

    Without a command, lists them; `scrubjay concepts NAME` shows one. NAME is a name, an alias or an id.
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
        matches = memory.concepts.list(query=query)
        missing = "" if matches else missing_memories(memory)
    shown = matches[:limit]
    if call.print_json({"concepts": shown, "total": len(matches)}):
        return
    rows = [(c.name, format_count(c.memories, "memory"), c.kind, c.id, ", ".join(c.aliases)) for c in shown]
    write_table(rows)
    if len(matches) > limit:
        write_error(f"{limit:,} of {len(matches):,} concepts; use -n {len(matches)} to show all.")
    if missing:
        write(f"{missing}.\nhint: {SYNC_HINT}")
    elif not matches:
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
    visibility = "public" if public else "user" if group is None else "group"
    with call.open(cold=True) as memory:
        if file is not None:
            report = memory.concepts.add_file(file, visibility=visibility, group=group)
        else:
            report = memory.concepts.add(name or "", aliases, visibility=visibility, group=group)
    if not call.print_json(report):
        print_added(report)


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
        removed = memory.concepts.remove(name)
    referred = f"{format_count(removed.memories, 'memory')} mentioned it"
    _print_change(call, removed, f"{removed.name} removed; {referred}. `scrubjay concepts add` restores it.")


def _print_change(call: Call, concept: EntitySummary, sentence: str) -> None:
    if not call.print_json(concept):
        write(single_line(sentence))


def print_concept(page: EntityPage) -> None:
    concept = page.concept
    write(paint(single_line(concept.name), BOLD))
    marks = [concept.kind, format_count(concept.memories, "memory"), concept.id]
    write(paint(single_line(" · ".join(marks)), DIM))
    if concept.aliases:
        write(single_line(f"also {', '.join(concept.aliases)}"))
    if page.related:
        write("\nrelated")
        rows = [
            (f"  {related.association:.2f}", related.name, format_count(related.support, "memory"))
            for related in page.related
        ]
        write_table(rows, "  ")
    _print_citations(page.memories)


def _print_citations(memories: Sequence[MemoryCitation]) -> None:
    if memories:
        write("\nmemories")
    for memory in memories:
        write(f"  {single_line(memory.phrase)}")
        write("    " + paint(single_line(" · ".join(filter(None, (memory.citation, memory.date)))), DIM))


def print_added(report: DictionaryReport) -> None:
    write(
        f"{format_count(report.added, 'concept')} added, {report.changed:,} changed, "
        f"{format_count(report.linked, 'memory')} linked."
    )
    for name, reason in report.refused[:MAX_REJECTED]:
        write_error(single_line(f"{name}: {reason}; skipped."))
    for clash in report.clashes[:MAX_REJECTED]:
        write_error(single_line(clash))
    surplus = max(len(report.refused) - MAX_REJECTED, 0) + max(len(report.clashes) - MAX_REJECTED, 0)
    if surplus:
        write_error(f"… and {surplus:,} more; use --json to list all.")
    if report.clashes:
        write_error("hint: scrubjay concepts merge NAME INTO merges duplicates.")


MAX_PHRASE = 80
"""Characters of a category's abstract in a tree."""


@click.group("categories", cls=Group, default="list")
def categories() -> None:
    """List the topics and folders that memories belong to, or show one.

    Without a command, lists all. Give a category by name, path of names or id.
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
        listed = memory.categories.list(kind=kind, depth=depth)
        missing = "" if listed else missing_memories(memory)
    if call.print_json({"categories": listed}):
        return
    print_tree(listed, 0)
    if missing:
        write(f"{missing}.\nhint: {SYNC_HINT}")
    elif not listed:
        write("There are no categories yet; they appear once there are more memories.")


@categories.command("show")
@click.argument("name", metavar="NAME|ID")
def show_category(call: Call, name: str) -> None:
    """Show a category, its subcategories and some of its memories."""
    with call.open(cold=True) as memory:
        page = memory.categories.show(name)
    if call.print_json(page):
        return
    node = page.category
    write(paint(single_line(node.name), BOLD))
    write(paint(single_line(f"{node.kind} · {format_count(node.memories, 'memory')} · {node.id}"), DIM))
    if node.overview or node.abstract:
        write(indent(strip_control(node.overview or node.abstract).strip()))
    if page.below:
        write()
        print_tree(page.below, node.depth)
    _print_citations(page.memories)


def print_tree(nodes: Sequence[CategorySummary], top: int) -> None:
    for node in nodes:
        about = single_line(node.abstract).removeprefix(f"{single_line(node.name)}: ")
        size = paint(f"({node.memories:,})  {shorten(about, MAX_PHRASE, placeholder='…')}".rstrip(), DIM)
        write(f"{'  ' * (node.depth - top)}{single_line(node.name)} {size}")
