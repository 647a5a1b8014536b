"""search, thread, context."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from scrubjay.cli.main import Call, command, declared_options
from scrubjay.cli.output import (
    DIM,
    SYNC_HINT,
    format_count,
    indent,
    missing_memories,
    paint,
    result_header,
    snippet_lines,
    state_marks,
    write,
    write_error,
)
from scrubjay.config.paths import environment, runtime_folder, settings_fingerprint
from scrubjay.config.settings import RecallSettings, setting_rules
from scrubjay.errors import InputError
from scrubjay.models.dates import local_day
from scrubjay.models.records import UNTRUSTED
from scrubjay.models.results import CONTEXT_PARTS, WEAK_RELEVANCE, count_strong
from scrubjay.search.request import SearchOptions, ThreadOptions
from scrubjay.text.display import shared_by, single_line, strip_control

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrubjay.models.results import Answer, Explanation, ReachedMemory, Result, ThreadEntry


def validity_labels(result: Result) -> list[str]:
    marks = [f"true from {local_day(result.valid_from)}"] if result.valid_from is not None else []
    marks += [f"true before {local_day(result.valid_until)}"] if result.valid_until is not None else []
    return marks + ([f"file {result.outdated} since, run `scrubjay sync`"] if result.outdated else [])


def as_of_notes(moment: str | None) -> list[str]:
    return [f"as of {moment}: what was true then, not what was stored then"] if moment is not None else []


DAEMON_SECONDS: Final = 5.0
"""Seconds to wait for the daemon: a search in a large store takes some tenths of one."""


def search_in_daemon(call: Call, query: str, options: Mapping[str, Any]) -> Answer | None:
    """Return the daemon's answer, None if there is no daemon; relative paths are made absolute first."""
    env = environment(call.store, call.user)
    folder = runtime_folder(env)
    if not os.path.isdir(folder):
        return None
    from scrubjay.api.serializers import parse_answer
    from scrubjay.daemon.client import ask_daemon, socket_path

    fingerprint = settings_fingerprint(env)
    path = socket_path(folder, fingerprint)
    if path is None or not os.path.exists(path):
        return None
    arguments = {"query": query, **options}
    if "sources" in arguments:
        arguments["sources"] = [
            os.path.abspath(name) if os.path.exists(name) else _absolute_path(name)
            for name in arguments["sources"]
        ]
    if "projects" in arguments:
        arguments["projects"] = [_absolute_path(name) for name in arguments["projects"]]
    if "here" in arguments:
        arguments["here"] = _absolute_path(arguments["here"])
    answer = ask_daemon(path, fingerprint, "search", arguments, DAEMON_SECONDS)
    return parse_answer(answer) if answer is not None else None


def _absolute_path(name: str) -> str:
    """Return a path as an absolute one and a name as it is, even if a folder of that name exists."""
    return os.path.abspath(os.path.expanduser(name)) if name.startswith((".", "~")) else name


@command("search")
@click.argument("query", nargs=-1, required=True)
@declared_options(SearchOptions, without=("explain",))
@click.option(
    "--weak",
    is_flag=True,
    help="Also show matches with relevance below .1, even where none is likely to answer.",
)
@declared_options(SearchOptions, "explain")
def search(call: Call, query: tuple[str, ...], weak: bool, **options: Any) -> None:
    """Search memories, best first.

    "Quoted words" must appear together in a result, unless no memory has them and there are other words;
    -word must not appear in it. Put `--` before a query
    with such a word: scrubjay search -- invoices -draft. A query of - is read from standard input. Finding
    nothing is not an error: the exit code is 0 and the list is empty.
    """
    if query == ("-",) and options["history"] == "-":
        raise InputError("Query and --history cannot both be read from standard input.")
    text = sys.stdin.read() if query == ("-",) else " ".join(query)
    explain = options["explain"]
    arguments = {name: value for name, value in options.items() if value not in (None, (), "")}
    if "history" in arguments:
        arguments["history"] = read_history(arguments["history"])
    for name in ("weights", "min_relevance"):
        if name in arguments:
            arguments[name] = _parse_setting(name, arguments[name])
    full_text = weak or explain or '"' in text or "min_relevance" in arguments
    if weak:
        arguments.setdefault("min_relevance", 0.0)
    answer = search_in_daemon(call, text, arguments)
    missing = ""
    if answer is None or not (answer.results or answer.nearest):
        with call.open(cold=True) as memory:
            from scrubjay.services.workspace import retry_if_empty

            answer = memory.search(text, **arguments)
            missing = "" if answer.results or answer.nearest else missing_memories(memory)
            if not missing:
                answer = retry_if_empty(memory.workspace, memory.search, {"query": text, **arguments}, answer)
    if call.json:
        from scrubjay.api.serializers import answer_fields

        payload = answer_fields(answer, explain=explain)
        call.print_json(payload | ({"hint": f"{missing}: {SYNC_HINT}"} if missing else {}))
        return
    if missing:
        write(f"{missing}.\nhint: {SYNC_HINT}")
        return
    numbered = list(enumerate(answer.results, 1))
    shown = len(numbered) if full_text else count_strong([r.relevance for r in answer.results])
    blocks = [format_result(number, result, text) for number, result in numbered[:shown]]
    if rest := numbered[shown:] or list(enumerate(answer.nearest, 1)):
        blocks.append(weak_summary(rest, answer.silence))
    write("\n\n".join(blocks) or answer.silence or f"Nothing found for: {single_line(text)}")
    _print_footer(answer, explain=explain)


SHOWN_WEAK: Final = 3
"""Weak matches that are shown in two lines each beside others or alone; the rest is counted."""
WEAK_SNIPPET: Final = 200
"""Characters of their text."""


def weak_summary(weak: Sequence[tuple[int, Result]], silence: str) -> str:
    from scrubjay.text.markdown import front_matter_end

    noun = "weak match" if len(weak) == 1 else "weak matches"
    lines = [silence or f"{len(weak):,} {noun}, relevance below {WEAK_RELEVANCE}:"]
    shown = weak if silence else weak[:SHOWN_WEAK]
    for number, hit in shown:
        marks = [hit.citation, *([hit.date] if hit.date else []), f"relevance {hit.relevance or 0.0:.2f}"]
        marks += validity_labels(hit)
        text = single_line(hit.snippet[front_matter_end(hit.snippet) :])
        if len(text) > WEAK_SNIPPET:
            text = text[:WEAK_SNIPPET].rpartition(" ")[0] + " …"
        lines += [paint(single_line(f"{number}. {' · '.join(marks)}"), DIM)]
        lines += [indent(text)]
    hidden = len(weak) - len(shown)
    lines.append(f"--weak shows {f'these and {hidden:,} more' if hidden else 'them whole'}.")
    return "\n".join(lines)


def _parse_setting(name: str, text: str) -> Any:
    """Return the value of a flag that takes what the setting of its name takes."""
    try:
        return setting_rules(RecallSettings)[name].parse(text, Path())
    except ValueError as error:
        raise InputError(f"--{name.replace('_', '-')} {text!r} is invalid; expected {error}.") from error


def read_history(name: str) -> list[str]:
    if name == "-":
        return sys.stdin.read().splitlines()
    try:
        return Path(name).read_text("utf-8", errors="replace").splitlines()
    except (OSError, ValueError) as error:
        raise InputError(f"--history {name!r} cannot be read: {error}. Nothing was searched.") from error


def format_result(number: int, result: Result, query: str) -> str:
    marks = [result.tier, *([result.date] if result.date else []), f"score {result.score:.3f}"]
    marks += [f"relevance {result.relevance:.2f}"] if result.relevance is not None else []
    marks += state_marks(result)
    marks += [shared_by(result.owner)] if result.owner else []
    marks += validity_labels(result)
    marks += [f"#{tag}" for tag in result.tags]
    lines = [*result_header(number, result, marks), snippet_lines(result.snippet, query)]
    if result.evidence:
        lines.append(indent(paint(f"from {', '.join(result.evidence)}", DIM)))
    for turn in result.turns:
        header = f"{turn.offset:+d} {turn.role or 'turn'}"
        header += f" · {turn.date}" if turn.date else ""
        header += f" · score {turn.score:.3f}" if turn.score is not None else ""
        lines.append(indent(paint(single_line(f"{header} · {turn.id}"), DIM)))
        lines.append(indent(snippet_lines(turn.snippet, query)))
    if result.newer:
        lines.append(indent(paint(f"newer: {', '.join(result.newer)}", DIM)))
    if result.copies:
        ids = f": {', '.join(result.copied)}" if result.explanation is not None else ""
        lines.append(indent(paint(f"{format_count(result.copies, 'duplicate')}{ids}", DIM)))
    if result.explanation is not None:
        lines += [indent(line) for line in format_explanation(result.explanation, result.score)]
    return "\n".join(lines)


def format_explanation(explanation: Explanation, score: float) -> list[str]:
    lines = [single_line(explanation.reason)]
    for part in explanation.contributions:
        sign = "-" if part.amount < 0 else "+"
        formula = f"value {part.value:.6f} x weight {part.weight:.6f} (raw {part.raw:.6f})"
        lines.append(f"{sign} {abs(part.amount):.6f}  {single_line(part.channel)}: {formula}")
    for factor in explanation.factors:
        reason = f" ({single_line(factor.reason)})" if factor.reason else ""
        lines.append(f"x {factor.value:.6f}  {single_line(factor.name)}{reason}")
    lines.append(f"= {score:.6f}")
    if explanation.way:
        lines.append(f"via {single_line(explanation.way[1])} from {single_line(explanation.way[0])}")
    if explanation.words:
        words = ", ".join(f"{single_line(word)} {value:.3f}" for word, value in explanation.words.items())
        lines.append(f"bm25 terms: {words}")
    return lines


SHOWN_DISPLACED: Final = 3
"""Maximum number of ids of memories displaced by age that are shown."""


def _print_footer(answer: Answer, *, explain: bool) -> None:
    notes = [f"partial: {single_line(text)}" for text in answer.partial]
    notes += [f"note: {single_line(text)}" for text in answer.notes] if explain else []
    notes += as_of_notes(answer.as_of)
    if answer.hidden:
        older = format_count(answer.hidden, "older memory")
        displaced = ", ".join(answer.displaced[:SHOWN_DISPLACED]) + ", …" * (answer.hidden > SHOWN_DISPLACED)
        notes.append(f"{older} left out only because of age ({displaced}); a higher --limit shows more")
    noun = "likely result" if answer.nearest else "result"
    notes.append(f"{format_count(len(answer.results), noun)} in {answer.took_ms:.0f} ms")
    write(paint("\n" + "\n".join(notes), DIM))


@command("thread")
@click.argument("query", nargs=-1, required=True)
@declared_options(ThreadOptions)
@declared_options(SearchOptions, "explain")
def thread(call: Call, query: tuple[str, ...], explain: bool, **options: Any) -> None:
    """Show the story around a question as a timeline of memories.

    Starts from the search results and follows shared concepts, conversations, links and replacements; each
    memory shows the path by which it was reached. Superseded memories are marked. A query of - is read from
    standard input.
    """
    text = sys.stdin.read() if query == ("-",) else " ".join(query)
    arguments = {name: value for name, value in options.items() if value not in (None, (), "")}
    with call.open(cold=True) as memory:
        from scrubjay.services.workspace import retry_if_empty

        story = memory.thread(text, **arguments)
        story = retry_if_empty(memory.workspace, memory.thread, {"query": text, **arguments}, story)
    if call.json:
        from scrubjay.api.serializers import thread_fields

        call.print_json(thread_fields(story))
        return
    for number, entry in enumerate(story.entries, 1):
        if entry.gap:
            write(paint(f"   … {single_line(entry.gap)}", DIM) + "\n")
        write(format_entry(number, entry, text, explain=explain) + "\n")
    if not story.entries:
        write(f"{story.silence or f'Nothing found for: {single_line(text)}'}\n")
    notes = [f"partial: {single_line(text)}" for text in story.partial] + as_of_notes(story.as_of)
    notes.append(
        f"{format_count(len(story.entries), 'memory')}, {story.left_out:,} left out, in {story.took_ms:.0f} ms"
    )
    write(paint("\n".join(notes), DIM))


def format_entry(number: int, entry: ThreadEntry, query: str, *, explain: bool) -> str:
    result, reached = entry.result, entry.reached
    marks = [(entry.dated and result.date) or "not dated", result.tier, f"score {result.score:.3f}"]
    marks += [UNTRUSTED] if result.origin == UNTRUSTED else []
    marks += [result.status] if result.status != "active" else []
    marks += [shared_by(result.owner)] if result.owner else []
    marks += validity_labels(result)
    marks += [f"replaced by {', '.join(entry.replaced_by)}"] if entry.replaced_by else []
    marks += [f"contradicts {', '.join(entry.contradicts)}"] if entry.contradicts else []
    lines = [
        *result_header(number, result, marks),
        snippet_lines(result.snippet, query),
        indent(paint(single_line(format_path(reached)), DIM)),
    ]
    if explain:
        parts = f"{reached.share:g} x propagated {reached.carried:.6f} + {reached.least:g} x own {reached.own:.6f}"
        lines.append(indent(paint(f"score: {parts}", DIM)))
    return "\n".join(lines)


def format_path(reached: ReachedMemory) -> str:
    if not reached.path:
        return "found by the search"
    from scrubjay.api.serializers import path_text

    return f"{'found by the search and ' if reached.found else ''}via {path_text(reached)}"


@command("context")
@click.argument("query", nargs=-1)
@click.option(
    "--budget",
    metavar="N",
    type=click.IntRange(50, 100_000),
    help="Maximum number of tokens.  [default: context.budget]",
)
@click.option(
    "--project", help="This project and memories without one: a name, a suffix of one, or a path such as `.`."
)
@click.option("--session", help="Current conversation; its own turns are left out.")
@click.option("--agent", help="Only memories recorded by this agent.")
@click.option(
    "--exclude-path",
    "exclude_paths",
    multiple=True,
    help="Skip a file that the agent loads itself: a name or a path pattern; repeatable.  [default: context.loaded]",
)
@click.option(
    "--part", "parts", multiple=True, type=click.Choice(CONTEXT_PARTS), help="Only this part; repeatable."
)
@click.option(
    "--unprompted", is_flag=True, default=None, help="Only the few memories that a hook would inject."
)
@click.option("--session-start", is_flag=True, help="Context for a new session; takes no question.")
@click.option("--now", metavar="DATE", help="Current time.  [default: now]")
def context(call: Call, query: tuple[str, ...], session_start: bool, **options: Any) -> None:
    """Print context for a question or for a new session.

    Without a question: pinned memories, project memories and recent sessions. With one: pinned and relevant
    memories, or the pinned ones alone if none is relevant. The text is delimited and escaped; the number of
    memories left out is printed on standard error. A query of - is read from standard input.
    """
    if session_start and query:
        raise InputError("--session-start takes no question.", hint="omit one of them")
    text = sys.stdin.read() if query == ("-",) else " ".join(query) if query else None
    arguments = {name: value for name, value in options.items() if value not in (None, ())}
    with call.open(cold=True) as memory:
        from scrubjay.services.workspace import retry_if_empty

        block = memory.context(text, **arguments)
        block = retry_if_empty(memory.workspace, memory.context, {"query": text, **arguments}, block)
    if call.print_json(block):
        return
    if block.text:
        write(strip_control(block.text))
    elif block.silence:
        write_error(block.silence)
    left = f", {format_count(len(block.left_out), 'memory')} left out" if block.left_out else ""
    for part in block.partial:
        write_error(f"partial: {single_line(part)}")
    write_error(f"{format_count(block.tokens, 'token')} of {block.budget:,}{left}, in {block.took_ms:.0f} ms")
