"""Commands that ingest and index: sync, watch, sources, demo, models, embed, rebuild; with their progress."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn

import click

from scrubjay.cli.main import Call, Group, command, stop_on_signal
from scrubjay.cli.memories import confirm
from scrubjay.cli.output import (
    BOLD,
    format_count,
    format_duration,
    paint,
    write,
    write_error,
    write_now,
    write_table,
)
from scrubjay.config.paths import data_folder, environment
from scrubjay.daemon.embedding import start_embedding
from scrubjay.errors import NotFoundError, SourceError
from scrubjay.ingest.scanner import NOTE_INCLUDE
from scrubjay.models.reports import FileError, ModelStatus, Progress, SourceStatus, SyncReport
from scrubjay.models.sources import expand_path
from scrubjay.text.display import single_line

if TYPE_CHECKING:
    from scrubjay.memory import Memory


LINE_SECONDS = 10.0
"""Seconds between two lines of one stage without a terminal: a log should stay short."""

STAGES = {
    "write": ("Reading", "file"),
    "history": ("Reading", "commit"),
    "connect": ("Connecting", "memory"),
    "distil": ("Consolidating", "group"),
    "embed": ("Embedding", "passage"),
    "export": ("Exporting", "memory"),
    "import": ("Importing", "memory"),
    "copy": ("Copying", "memory"),
    "verify": ("Comparing", "memory"),
    "words": ("Sorting words", "memory"),
    "vectors": ("Copying vectors", "vector"),
}
"""Stage to its label while it runs, and the noun that it counts."""


@dataclass(slots=True)
class EmbeddingPace:
    report: Progress | None = None
    first: tuple[float, int] | None = None
    last: tuple[float, int] = (0.0, 0)

    def record(self, done: int, at: float) -> None:
        if self.first is None:
            self.first = (at, done)
        self.last = (at, done)

    @property
    def rate(self) -> float:
        """Passages a second; 0 if nothing was embedded.

        >>> pace = EmbeddingPace(); pace.record(0, 1.0); pace.record(30, 3.0); pace.rate
        15.0
        """
        if self.first is None or self.last[0] <= self.first[0]:
            return 0.0
        return (self.last[1] - self.first[1]) / (self.last[0] - self.first[0])


@dataclass(slots=True)
class _PlainLines:
    """Plain lines on standard error: one at the end of each stage, and one every `LINE_SECONDS` before it."""

    last_line: dict[str, float] = field(default_factory=dict)
    ended: set[str] = field(default_factory=set)

    def __call__(self, report: Progress) -> None:
        now = time.monotonic()
        due = now - self.last_line.setdefault(report.stage, now) >= LINE_SECONDS
        is_end = report.done >= report.total and report.stage not in self.ended
        if not (due or is_end):
            return
        self.last_line[report.stage] = now
        if is_end:
            self.ended.add(report.stage)
        doing, noun = _stage_name(report.stage)
        left = "" if is_end or report.left is None else f", about {format_duration(report.left)} left"
        write_error(
            f"{doing}: {report.done:,} of {format_count(report.total, noun)}, {format_duration(report.seconds)}{left}"
        )


@contextmanager
def show_progress(*, quiet: bool = False) -> Iterator[tuple[Callable[[Progress], None], EmbeddingPace]]:
    """Yield the progress callback of a long call, and the pace it records; ``quiet`` shows nothing."""
    pace = EmbeddingPace()

    def recording(show: Callable[[Progress], None]) -> Callable[[Progress], None]:
        def report(progress: Progress) -> None:
            pace.report = progress
            if progress.stage == "embed":
                pace.record(progress.done, time.monotonic())
            show(progress)

        return report

    if quiet:
        yield recording(lambda _: None), pace
    elif sys.stderr.isatty():
        with _progress_bar() as show:
            yield recording(show), pace
    else:
        yield recording(_PlainLines()), pace


@contextmanager
def _progress_bar() -> Iterator[Callable[[Progress], None]]:
    from tqdm import tqdm

    bars: dict[str, tqdm[NoReturn]] = {}

    def show(report: Progress) -> None:
        doing, noun = _stage_name(report.stage)
        if report.stage not in bars:
            size = shutil.get_terminal_size()  # tqdm ignores a terminal without a size
            by_bytes = report.all_bytes > 0
            layout = "{desc} {bar} {n_fmt}/{total_fmt} {rate_fmt} {remaining}" + (
                "{postfix}" if by_bytes else ""
            )
            bars[report.stage] = tqdm(
                total=report.all_bytes if by_bytes else report.total,
                desc=doing,
                unit="B" if by_bytes else f" {noun}s",
                unit_scale=by_bytes,
                smoothing=0,  # the mean rate since the stage began
                leave=False,
                bar_format=layout,
                file=sys.stderr,
                ncols=size.columns,
                nrows=size.lines,
            )
        bar = bars[report.stage]
        by_bytes = report.all_bytes > 0
        bar.total = report.all_bytes if by_bytes else report.total
        bar.update((report.bytes if by_bytes else report.done) - bar.n)
        if by_bytes:
            bar.set_postfix_str(f"{report.done:,} of {format_count(report.total, noun)}", refresh=False)
        bar.refresh()

    try:
        yield show
    finally:
        for bar in bars.values():
            bar.close()


def _stage_name(name: str) -> tuple[str, str]:
    return STAGES.get(name, (name, "item"))


NOTHING_TO_SYNC: Final = (
    f"Nothing there can be ingested: notes are {', '.join(NOTE_INCLUDE)} (others by --include GLOB), documents PDF, "
    "DOCX, HTML and EPUB (with pip install 'scrubjay[documents]'), and a .json or "
    ".jsonl file is a conversation where a known agent wrote it or each line has `role` and `content`."
)


@command("sync")
@click.argument("path", required=False, type=click.Path(), metavar="[DIR]")
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
    "--git/--no-git",
    default=None,
    help="Whether to ingest the commits of a folder that is the root of a git repository.  [default: yes]",
)
@click.option(
    "--embed-seconds",
    metavar="SECONDS",
    type=click.FloatRange(0),
    help="Seconds to spend on the larger models afterwards.  [default: sync.embed_seconds on a terminal, else 0]",
)
def sync(call: Call, path: str | None, embed_seconds: float | None, **rules: Any) -> None:
    """Ingest a folder or file of notes, or update all sources.

    If DIR is the root of a git repository, its commits become memories too.

    Files that cannot be read are reported and skipped; a missing folder also ends the command with exit code 3. Once
    the summary is printed, everything can be searched. Concepts, links, categories, facts and the larger models'
    embeddings follow; you may interrupt that with Ctrl-C, and it continues in the background or with the next sync.
    """
    settings = call.settings
    on_terminal = sys.stdout.isatty() and not call.json
    seconds = embed_seconds if embed_seconds is not None else settings.sync.embed_seconds * on_terminal
    searchable = False
    with call.open(new=True) as memory, show_progress(quiet=call.json) as (report, pace):
        try:
            done = memory.sync(
                path, embed_seconds=seconds * call.json, enrich=call.json, progress=report, **rules
            )
            searchable = True
            if not call.print_json(done):
                print_summary(done)
                write_now()
                if path is not None and not (done.files or done.commits or done.problems):
                    write_error(NOTHING_TO_SYNC)
                done = _enrich(memory, done, seconds, report)
        except KeyboardInterrupt:
            folder = Path(path or "").expanduser().absolute()
            if path is None or any(folder.is_relative_to(source.root) for source in memory.sources()):
                note = _interrupted_note(pace.report, searchable=searchable)
            else:
                note = f"Nothing was read yet; run `scrubjay sync {single_line(str(folder))}` again."
            write_error(f"\nStopped. {note}")
            raise
        follow = start_embedding(settings, environment(call.store, call.user), memory)
        failed = {problem.path for problem in done.problems}
        missing = failed and any(not source.present and source.root in failed for source in memory.sources())
    if not call.json:
        pending_embedding(done.waiting, pace.rate, follow=follow)
    if missing:
        raise click.exceptions.Exit(SourceError.exit_code)


def _enrich(
    memory: Memory, done: SyncReport, seconds: float, report: Callable[[Progress], None]
) -> SyncReport:
    """Enrich and embed after the summary; return the report with the number that is still pending."""
    from scrubjay.services.sync import embed_if_few

    result = memory.enrich(progress=report)
    if result.linked or result.learned:
        facts = f"{format_count(result.learned, 'fact')} extracted, " if result.learned else ""
        write(f"{format_count(result.linked, 'concept')} linked, {facts}{format_duration(result.seconds)}")
    if result.waiting and not result.problems:
        write("Another process links the rest.")
    if result.notices:
        write(f"{format_count(len(result.notices), 'changed learned file')} stored")
    _print_problems((*result.notices, *result.problems))
    if not (seconds or done.waiting or result.learned):
        return done
    embedded = memory.embed(seconds=seconds, progress=report) if seconds else embed_if_few(memory.workspace)
    if embedded.embedded:
        write(
            f"{embedded.embedded:,} embedded, {embedded.waiting:,} pending, {format_duration(embedded.seconds)}"
        )
    return done.with_embedded(embedded)


def _interrupted_note(last: Progress | None, *, searchable: bool) -> str:
    if last is not None and last.stage == "embed":
        return "All files are stored and searchable; run `scrubjay embed` to finish embedding."
    if searchable:
        return "All files are stored and searchable; the next sync links the rest, or it follows in the background."
    progress = (
        f"{last.done:,} of {format_count(last.total, 'changed file')}"
        if last and last.stage == "write"
        else "What was read is"
    )
    return f"{progress} stored and searchable; run `scrubjay sync` to continue."


def print_summary(done: SyncReport) -> None:
    linked = f"{format_count(done.linked, 'concept')} linked, " if done.linked else ""
    embedded = f"{done.embedded:,} embedded, " if done.embedded else ""
    write(
        f"{format_count(done.files, 'file')}, {format_count(done.passages, 'passage')}: {done.added:,} added, "
        f"{done.updated:,} updated, {done.unchanged:,} unchanged, {done.removed:,} removed, "
        f"{linked}{embedded}{done.waiting:,} pending, {format_duration(done.seconds)}"
    )
    if done.commits or done.left_out:
        write(f"{_commit_counts(done)}.")
    if done.learned:
        write(f"{format_count(done.learned, 'fact')} extracted.")
    if done.forgotten:
        write(
            f"{format_count(done.forgotten, 'forgotten passage')} skipped; the files still contain the text"
        )
    for kind, count in done.scrubbed.items():
        write(
            f"{format_count(count, 'secret')} of kind {single_line(kind)} replaced (`scrubjay redactions` lists them)."
        )
    _print_problems((*done.notices, *done.problems))


def _print_problems(problems: Sequence[FileError]) -> None:
    for problem in problems:
        message = problem.message
        line = message if message.startswith(problem.path) else f"{problem.path}: {message}"
        write_error(single_line(line))
        if problem.hint:
            write_error(f"  hint: {single_line(problem.hint)}")


def _commit_counts(report: SyncReport | SourceStatus) -> str:
    left_out = f", {report.left_out:,} left out (merges, bots, version bumps)" if report.left_out else ""
    return format_count(report.commits, "commit") + left_out


def pending_embedding(pending: int, rate: float, *, follow: bool = False) -> None:
    """Print how many passages are pending, and the next step; ``follow``: a background process embeds them."""
    if pending and follow:
        write(
            f"{format_count(pending, 'passage')} pending embedding, in the background (see `scrubjay status`)."
        )
    elif pending:
        estimate = f" (about {format_duration(pending / rate)})" if rate > 0 else ""
        write(f"{format_count(pending, 'passage')} pending embedding; run `scrubjay embed`{estimate}.")


MAX_NAMED = 5
"""Changed files that are listed after a sync."""


@command("watch")
def watch(call: Call) -> None:
    """Sync all sources continuously until interrupted.

    Prints the time, the files and a summary after each sync that changed something; with --json one line each.
    Also acts as the daemon that answers hooks and searches.
    """
    from scrubjay.daemon.embedding import keep_embedded
    from scrubjay.daemon.server import host_daemon

    env = environment(call.store, call.user)
    log = call.settings.log.open(data_folder(env))
    call.require_store_folder()
    with (
        call.open(new=True) as memory,
        stop_on_signal() as stop,
        host_daemon(call.settings, lambda: memory, env, "watch"),
        keep_embedded(call.settings, log, lambda: [(env, memory)]),
    ):
        sources = memory.sources()
        if not sources:
            raise NotFoundError(
                "No source is registered, so there is nothing to watch.", hint="scrubjay sync DIR"
            )
        write_error(f"Watching {format_count(len(sources), 'source')}; press Ctrl-C to stop.")
        memory.watch(stop=stop, report=lambda done: _print_sync(call, done))


def _print_sync(call: Call, done: SyncReport) -> None:
    if not (done.added or done.updated or done.removed or done.problems):
        return
    if not call.print_json(done):
        more = f" and {len(done.changed) - MAX_NAMED} more" if len(done.changed) > MAX_NAMED else ""
        names = ", ".join(single_line(path) for path in done.changed[:MAX_NAMED])
        write(f"{datetime.now().astimezone():%H:%M:%S}  {names}{more}")
        print_summary(done)
    write_now()


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

    Without a command, lists them.
    """


@sources.command("list")
def list_sources(call: Call) -> None:
    """List the registered sources."""
    with call.open(cold=True) as memory:
        registered = memory.sources()
    if call.print_json({"sources": registered}):
        return
    write_table(source_rows(registered))
    if not registered:
        write("No source is registered.\nhint: scrubjay sync DIR")


@sources.command("remove")
@click.argument("source", metavar="ID|PATH")
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
def remove_source(call: Call, source: str, yes: bool) -> None:
    """Remove a source and everything derived from it; its files are not changed.

    Facts and digests with evidence in other sources stay. Asks for confirmation unless --yes is given, and fails if
    there is no terminal to ask on.
    """
    with call.open(cold=True) as memory:
        if not yes:
            _confirm_removal(memory, source)
        removed = memory.remove_source(source)
    if not call.print_json(removed):
        contents = format_count(removed.passages, "passage")
        if removed.commits:
            history = format_count(removed.commits, "commit")
            contents = history if removed.root.endswith("/.git") else f"{contents} and {history}"
        if removed.derived:
            contents += f" and {format_count(removed.derived, 'memory')} derived from it alone"
        write(f"{single_line(removed.root)} removed, with {contents}. Its files were not changed.")


def _confirm_removal(memory: Memory, name: str) -> None:
    path, known = os.path.abspath(expand_path(name)), memory.sources()
    roots = {source.root for source in known if source.root == path or source.id.startswith(name)}
    if len(roots) == 1:  # else the removal says that there is none
        (root,) = roots
        places = (root, os.path.join(root, ".git"))
        memories = format_count(sum(source.passages for source in known if source.root in places), "memory")
        confirm(f"Remove {single_line(root)} with {memories} and all that is derived from them", "removed")


def source_rows(statuses: Sequence[SourceStatus]) -> list[Sequence[str]]:
    return [
        (
            s.id,
            s.root + ("" if s.present else " (missing)"),
            _commit_counts(s) if s.root.endswith("/.git") else format_count(s.documents, "file"),
            format_count(s.passages, "passage") + (f", {s.forgotten:,} forgotten" if s.forgotten else ""),
            f"project {s.project}" if s.project else "no project",
            _TRUST_LABELS[s.trust].format(" in part" if s.untrusted < s.documents else "")
            + (", shared by front matter" if s.share else ""),
            _synced_label(s),
            s.description,
        )
        for s in statuses
    ]


def _synced_label(source: SourceStatus) -> str:
    if source.synced:
        return f"synced {source.synced}"
    if source.imported:
        return "imported, never synced here"
    if not (source.documents or source.commits):
        return "never synced"
    return "last sync not finished, run `scrubjay sync`"


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
    from scrubjay.api import serializers
    from scrubjay.cli.search import format_result

    with ExitStack() as stack:
        store = call.store or str(Path(stack.enter_context(tempfile.TemporaryDirectory())) / "demo.db")
        memory = stack.enter_context(Call(store, call.user).open(new=True))
        done = memory.sync(DEMO_NOTES, description="scrubjay's demo notes", trust="trusted", embed_seconds=60)
        answers = [_ask_question(memory, question) for question in DEMO_QUESTIONS]
    if call.json:
        plain = [
            {"query": question, **serializers.answer_fields(answer, explain=last)}
            for question, answer, last in answers
        ]
        call.print_json({"summary": done, "answers": plain})
        return
    write(
        f"{format_count(done.files, 'note')} of a small team: {format_count(done.passages, 'passage')} "
        f"ingested and embedded in {format_duration(done.seconds)}."
    )
    for question, answer, explain in answers:
        flag = " --explain" if explain else ""
        write(f"\n{paint(f'$ scrubjay search{flag} {question!r}', BOLD)}")
        for number, result in enumerate(answer.results, 1):
            write(format_result(number, result, question))
    write("\nNow your own notes:\n  scrubjay sync ~/notes\n  scrubjay search 'what did we decide about …'")
    if call.store:
        write(
            f"The demo's notes stay in {store}; scrubjay sources remove {DEMO_NOTES} --store {store} removes them."
        )


def _ask_question(memory: Memory, question: str) -> tuple[str, Any, bool]:
    explain = question == DEMO_QUESTIONS[-1]
    return question, memory.search(question, limit=1 if explain else 2, explain=explain), explain


@click.group("models", cls=Group, default="list")
def models() -> None:
    """List, add, use or drop embedding models.

    Without a command, lists them.
    """


@models.command("list")
def list_models(call: Call) -> None:
    """List the models and how many memories each covers."""
    with call.open() as memory:
        registered = memory.models()
    if call.print_json({"models": registered}):
        return
    write_table(model_rows(registered))


@models.command("add")
@click.argument("name")
def add_model(call: Call, name: str) -> None:
    """Register a model from the settings, [models.NAME], or late-interaction:FOLDER.

    It is used for ranking once `scrubjay embed` has covered every memory and `scrubjay models use NAME` selects it.
    """
    from scrubjay.embeddings.base import FOLDER_PREFIX

    if name.startswith(FOLDER_PREFIX):
        name = FOLDER_PREFIX + str(Path(name.removeprefix(FOLDER_PREFIX)).expanduser().absolute())
    with call.open() as memory:
        done = memory.add_model(name)
    name = single_line(done.name)
    if not call.print_json(done):
        write(f"{name} added. Next: scrubjay embed, then scrubjay models use {name}")


@models.command("use")
@click.argument("name")
def use_model(call: Call, name: str) -> None:
    """Rank with this model instead of others of its kind (whole passages, or late interaction).

    Other models keep their vectors.
    """
    with call.open() as memory:
        done = memory.use_model(name)
    if not call.print_json(done):
        pending = f" {format_count(done.waiting, 'memory')} pending embedding; run `scrubjay embed`."
        write(f"{single_line(done.name)} is now used for ranking.{pending if done.waiting else ''}")


@models.command("drop")
@click.argument("name")
def drop_model(call: Call, name: str) -> None:
    """Remove a model and its vectors."""
    with call.open() as memory:
        done = memory.drop_model(name)
    if not call.print_json(done):
        write(f"{single_line(done.name)} and its vectors removed.")


def model_rows(statuses: Sequence[ModelStatus]) -> list[Sequence[str]]:
    return [
        (
            model.name,
            model.state,
            f"{model.dimensions} dimensions",
            f"{model.covered:,} embedded",
            f"{model.waiting:,} pending",
            model.provider,
            model.hint or model.problem,
        )
        for model in statuses
    ]


@command("embed")
@click.option(
    "--seconds", metavar="SECONDS", type=click.FloatRange(0, min_open=True), help="Stop after this time."
)
def embed(call: Call, seconds: float | None) -> None:
    """Compute the pending embeddings of the larger models.

    Can be interrupted at any time; the next run continues.
    """
    with call.open() as memory, show_progress(quiet=call.json) as (report, pace):
        done = memory.embed(seconds=seconds, progress=report)
        notes = memory.status().notes
    if call.print_json(done):
        return
    write(
        f"{format_count(done.embedded, 'passage')} embedded in {format_duration(done.seconds)}, "
        f"{done.waiting:,} pending"
    )
    pending_embedding(done.waiting, pace.rate)
    for text in notes:
        write(f"note: {single_line(text)}")


@command("rebuild")
@click.option(
    "--large/--no-large",
    default=None,
    help="Create or drop the indexes for a large tenant on PostgreSQL instead; run as the owner of the tables.",
)
def rebuild(call: Call, large: bool | None) -> None:
    """Rebuild the index from the stored memories beside the old one, then switch.

    Added, pinned and forgotten memories are not affected. Searches continue meanwhile.
    """
    if large is not None:
        _change_large_index(call, make=large)
        return
    with call.open() as memory, show_progress(quiet=call.json) as (report, _):
        done = memory.rebuild(progress=report)
    if not call.print_json(done):
        print_summary(done)


def _change_large_index(call: Call, *, make: bool) -> None:
    if not make:
        with call.open() as memory:
            memory.drop_index()
        if not call.print_json({"reduced": True}):
            write("Indexes dropped; searches scan all memories again.")
        return
    with call.open() as memory, show_progress(quiet=call.json) as (report, _):
        done = memory.build_index(progress=report)
    if call.print_json(done):
        return
    write(f"word index: {format_count(done.words, 'memory')}, {format_duration(done.seconds)}")
    write(f"vector index: {', '.join(done.models)}" if done.models else f"vector index: none; {done.without}")
