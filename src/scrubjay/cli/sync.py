"""sync, watch, sources, demo."""

from __future__ import annotations

import signal
import sys
import tempfile
import threading
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, Final

import click

from scrubjay.api import serializers
from scrubjay.cli.main import Call, Group, command
from scrubjay.cli.output import (
    BOLD,
    format_count,
    format_duration,
    paint,
    table,
    write,
    write_error,
    write_json,
)
from scrubjay.cli.progress import show_progress
from scrubjay.cli.search import format_result
from scrubjay.config.paths import environment
from scrubjay.daemon.server import host_daemon
from scrubjay.errors import NotFoundError
from scrubjay.ingest.scanner import DEFAULT_INCLUDE
from scrubjay.models.reports import Progress, SourceStatus, SyncReport
from scrubjay.text.display import single_line

if TYPE_CHECKING:
    from scrubjay.memory import Memory


NOTHING_TO_SYNC: Final = (
    f"Nothing there can be ingested: notes are {', '.join(DEFAULT_INCLUDE)} (others by --include GLOB), and a .json or "
    ".jsonl file is a conversation where a known agent wrote it or each line has `role` and `content`."
)


@command("sync")
@click.argument("path", required=False, type=click.Path(path_type=Path), metavar="[DIR]")
@click.option("--description", default="", help="One line that is returned with the source's results.")
@click.option(
    "--include", multiple=True, metavar="GLOB", help="Files to include, as gitignore patterns; repeatable."
)
@click.option(
    "--exclude", multiple=True, metavar="GLOB", help="Files to exclude, as gitignore patterns; repeatable."
)
@click.option(
    "--project",
    metavar="NAME",
    help="Project of the files, by name or path; `none` for no project, `auto` for their repository's.  "
    "[default: auto]",
)
@click.option(
    "--trusted",
    "trust",
    flag_value="trusted",
    help="The files are yours: use their front matter and extract facts.  [default: by folders and commits]",
)
@click.option(
    "--untrusted",
    "trust",
    flag_value="untrusted",
    help="Do not trust the files: searchable, but no facts are extracted and nothing is injected unasked.",
)
@click.option(
    "--share/--no-share",
    default=None,
    help="Whether front matter may share notes with others.  [default: no]",
)
@click.option(
    "--embed-seconds",
    metavar="SECONDS",
    type=click.FloatRange(0),
    help="Seconds to spend on the larger models afterwards.  [default: sync.embed_seconds on a terminal, else 0]",
)
def sync(call: Call, path: Path | None, embed_seconds: float | None, **rules: Any) -> None:
    """Ingest a folder or file of notes, or update all sources.

    A file that cannot be read is reported and skipped. Stored passages are searchable at once; embeddings of the
    larger models follow: on a terminal for some seconds, and by `scrubjay embed`.
    """
    settings = call.settings
    on_terminal = sys.stdout.isatty() and not call.json
    seconds = embed_seconds if embed_seconds is not None else settings.sync.embed_seconds * on_terminal
    with call.open(new=True) as memory, show_progress(quiet=call.json) as (report, pace):
        try:
            done = memory.sync(path, embed_seconds=seconds, progress=report, **rules)
        except KeyboardInterrupt:
            write_error(f"\nStopped. {_interrupted_note(pace.report)}")
            raise
    if call.print_json(done):
        return
    print_summary(done)
    if path is not None and not (done.passages or done.problems):
        write_error(NOTHING_TO_SYNC)
    pending_embedding(done.waiting, pace.rate)


def _interrupted_note(last: Progress | None) -> str:
    if last is not None and last.stage == "embed":
        return "All files are stored and searchable; run `scrubjay embed` to finish embedding."
    far = (
        f"{last.done:,} of {format_count(last.total, 'changed file')}"
        if last and last.stage == "write"
        else "What was read is"
    )
    return f"{far} stored and searchable; run `scrubjay sync` to continue."


def print_summary(done: SyncReport) -> None:
    write(
        f"{format_count(done.files, 'file')}, {format_count(done.passages, 'passage')}: {done.added:,} added, "
        f"{done.updated:,} updated, {done.unchanged:,} unchanged, {done.removed:,} removed, "
        f"{format_count(done.linked, 'concept')} linked, {done.embedded:,} embedded, "
        f"{done.waiting:,} pending, {format_duration(done.seconds)}"
    )
    if done.learned:
        write(f"{format_count(done.learned, 'fact')} extracted.")
    if done.forgotten:
        write(
            f"{format_count(done.forgotten, 'forgotten passage')} skipped; the files still contain the text"
        )
    for kind, times in done.scrubbed.items():
        write(f"{format_count(times, 'secret')} of kind {single_line(kind)} replaced.")
    for trouble in (*done.notices, *done.problems):
        write_error(f"{single_line(trouble.path)}: {single_line(trouble.message)}")
        if trouble.hint:
            write_error(f"  hint: {single_line(trouble.hint)}")


def pending_embedding(waiting: int, rate: float) -> None:
    if waiting:
        about = f" (about {format_duration(waiting / rate)})" if rate > 0 else ""
        write(f"{format_count(waiting, 'passage')} pending embedding; run `scrubjay embed`{about}.")


MAX_NAMED = 5
"""Changed files that are listed after a sync."""


@command("watch")
def watch(call: Call) -> None:
    """Sync all sources continuously until interrupted.

    Prints the time, the files and a summary after each sync that changed something; with --json one line each.
    Also acts as the daemon that answers hooks and searches.
    """
    stop = threading.Event()

    def end(_signal: int, _frame: FrameType | None) -> None:
        stop.set()

    env = environment(call.store, call.user)
    with call.open(new=True) as memory, host_daemon(call.settings, lambda: memory, env, "watch"):
        sources = memory.sources()
        if not sources:
            raise NotFoundError(
                "No source is registered, so there is nothing to watch.", hint="scrubjay sync DIR"
            )
        before = {each: signal.signal(each, end) for each in (signal.SIGINT, signal.SIGTERM)}
        try:
            write_error(f"Watching {format_count(len(sources), 'source')}; press Ctrl-C to stop.")
            memory.watch(stop=stop, report=lambda done: _print_sync(call, done))
        finally:
            for each, handler in before.items():
                signal.signal(each, handler)


def _print_sync(call: Call, done: SyncReport) -> None:
    if not (done.added or done.updated or done.removed or done.problems):
        return
    if not call.print_json(done):
        more = f" and {len(done.changed) - MAX_NAMED} more" if len(done.changed) > MAX_NAMED else ""
        names = ", ".join(single_line(path) for path in done.changed[:MAX_NAMED])
        write(f"{datetime.now().astimezone():%H:%M:%S}  {names}{more}")
        print_summary(done)


_TRUST_LABELS: Final = {
    "own": "trusted",
    "joint": "untrusted{} (shared work)",
    "foreign": "untrusted{} (others' work)",
    "trusted": "trusted (set by you)",
    "untrusted": "untrusted (set by you)",
}


@click.group("sources", cls=Group, default="list")
def sources() -> None:
    """List sources, or remove one.

    Without a command it lists.
    """


@sources.command("list")
def list_sources(call: Call) -> None:
    """List the registered sources."""
    with call.open(cold=True) as memory:
        found = memory.sources()
    if call.print_json({"sources": found}):
        return
    for text in source_lines(found):
        write(text)
    if not found:
        write("No source is registered.\nhint: scrubjay sync DIR")


@sources.command("remove")
@click.argument("source", metavar="ID|PATH")
def remove_source(call: Call, source: str) -> None:
    """Remove a source and everything derived from it; its files are not changed.

    Facts and digests with evidence in other sources stay.
    """
    with call.open(cold=True) as memory:
        gone = memory.remove_source(source)
    if not call.print_json(gone):
        brought = format_count(gone.passages, "passage")
        if gone.derived:
            brought += f" and {format_count(gone.derived, 'memory')} derived from it alone"
        write(f"{single_line(gone.root)} removed, with {brought}. Its files were not changed.")


def source_lines(found: list[SourceStatus]) -> list[str]:
    if not found:
        return []
    return table(
        [
            (
                each.id,
                each.root + ("" if each.present else " (missing)"),
                format_count(each.documents, "file"),
                format_count(each.passages, "passage"),
                f"project {each.project}" if each.project else "no project",
                _TRUST_LABELS[each.trust].format(" in part" if each.untrusted < each.documents else "")
                + (", shared by front matter" if each.share else ""),
                f"synced {each.synced}" if each.synced else "never synced",
                each.description,
            )
            for each in found
        ]
    )


DEMO_NOTES = Path(__file__).parent / "demo_notes"
DEMO_QUESTIONS = (
    "why did we leave MongoDB?",
    "who takes over when Mara is away?",
    "ERR_TIDE_409 after a retry",
)
"""A reason, a person with a date, an identifier. The last is explained."""


@command("demo")
def demo(call: Call) -> None:
    """Ingest a small folder of notes and search it three times.

    Uses a temporary store unless --store names one.
    """
    with ExitStack() as stack:
        store = call.store or str(Path(stack.enter_context(tempfile.TemporaryDirectory())) / "demo.db")
        memory = stack.enter_context(Call(store, call.user).open(new=True))
        done = memory.sync(DEMO_NOTES, description="scrubjay's demo notes", trust="trusted", embed_seconds=60)
        found = [_ask_questions(memory, question) for question in DEMO_QUESTIONS]
    if call.json:
        answers = [
            {"query": question, **serializers.answer_fields(answer, explain=last)}
            for question, answer, last in found
        ]
        write_json({"summary": serializers.to_plain(done), "answers": answers})
        return
    write(
        f"{format_count(done.files, 'note')} of a small team: {format_count(done.passages, 'passage')} "
        f"ingested and embedded in {format_duration(done.seconds)}."
    )
    for question, answer, explain in found:
        flag = " --explain" if explain else ""
        write(f"\n{paint(f'$ scrubjay search{flag} {question!r}', BOLD)}")
        for number, result in enumerate(answer.results, 1):
            write(format_result(number, result, question))
    write("\nNow your own notes:\n  scrubjay sync ~/notes\n  scrubjay search 'what did we decide about …'")
    if call.store:
        write(
            f"The demo's notes stay in {store}; scrubjay sources remove {DEMO_NOTES} --store {store} removes them."
        )


def _ask_questions(memory: Memory, question: str) -> tuple[str, Any, bool]:
    explain = question == DEMO_QUESTIONS[-1]
    return question, memory.search(question, limit=1 if explain else 2, explain=explain), explain
