"""sync: a folder, or every source -> the store in step with it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, Final

import click

from scrubjay.ingest.sources.kinds import DEFAULT_INCLUDE
from scrubjay.memory.reports import Progress, Summary
from scrubjay.surfaces.cli.command import Call, command
from scrubjay.surfaces.cli.output import counted, duration, line, tell, write, write_json
from scrubjay.surfaces.cli.progress import shown
from scrubjay.verbs import shape

NOTHING: Final = (
    f"Nothing there can be taken in: notes are {', '.join(DEFAULT_INCLUDE)} (others by --include GLOB), and a .json or "
    ".jsonl file is a conversation where a known agent wrote it or each line has `role` and `content`."
)


@command("sync")
@click.argument("path", required=False, type=click.Path(path_type=Path), metavar="[DIR]")
@click.option("--description", default="", help="One line that is returned with the source's hits.")
@click.option(
    "--include", multiple=True, metavar="GLOB", help="Files to take, as in a .gitignore; repeatable."
)
@click.option("--exclude", multiple=True, metavar="GLOB", help="Files to leave out; repeatable.")
@click.option(
    "--project",
    metavar="NAME",
    help="Project that the files belong to, by name or path; `none` for no project, `auto` for their repository's.  "
    "[default: auto]",
)
@click.option(
    "--trusted",
    "trust",
    flag_value="trusted",
    help="All of it is yours: its front matter counts, and it is learned from.  [default: by folders and commits]",
)
@click.option(
    "--untrusted",
    "trust",
    flag_value="untrusted",
    help="Nobody vouches for it: found, but not learned from, and put into no prompt by itself.",
)
@click.option(
    "--share/--no-share",
    default=None,
    help="Whether front matter may show notes to others.  [default: no]",
)
@click.option(
    "--embed-seconds",
    metavar="SECONDS",
    type=click.FloatRange(0),
    help="Seconds for the larger models afterwards.  [default: sync.embed_seconds on a terminal, else 0]",
)
def sync(call: Call, path: Path | None, embed_seconds: float | None, **rules: Any) -> None:
    """Take a folder or file of notes in, or bring all sources up to date.

    A file that cannot be read is named and the rest goes on. What is in the store can be searched at once;
    the larger models are filled in afterwards: on a terminal for some seconds, and by `scrubjay embed`.
    """
    settings = call.settings()
    on_terminal = sys.stdout.isatty() and not call.json
    seconds = embed_seconds if embed_seconds is not None else settings.sync.embed_seconds * on_terminal
    with call.open(new=True) as memory, shown(quiet=call.json) as (report, pace):
        try:
            done = memory.sync(path, embed_seconds=seconds, progress=report, **rules)
        except KeyboardInterrupt:
            tell(f"\nStopped. {_kept(pace.report)}")
            raise
    if call.json:
        write_json(shape.plain(done))
        return
    summarise(done)
    if path is not None and not (done.passages or done.problems):
        tell(NOTHING)
    waits(done.waiting, pace.rate)


def _kept(last: Progress | None) -> str:
    """Return what an interrupted sync leaves, and how to go on."""
    if last is not None and last.stage == "embed":
        return "All files are stored and can be searched; `scrubjay embed` goes on with the larger model."
    far = (
        f"{last.done:,} of {counted(last.total, 'changed file')}"
        if last and last.stage == "write"
        else "What was read"
    )
    return f"{far} stored; all that is stored can be searched, and `scrubjay sync` goes on with the rest."


def summarise(done: Summary) -> None:
    """Print what a sync did, one fact after the other, and what it could not read."""
    write(
        f"{counted(done.files, 'file')}, {counted(done.passages, 'passage')}: {done.added:,} added, "
        f"{done.updated:,} updated, {done.unchanged:,} unchanged, {done.removed:,} removed, "
        f"{counted(done.linked, 'concept')} linked, {done.embedded:,} embedded, "
        f"{done.waiting:,} waiting, {duration(done.seconds)}"
    )
    if done.learned:
        write(f"{counted(done.learned, 'statement')} learned.")
    if done.forgotten:
        write(f"{counted(done.forgotten, 'forgotten passage')} left out; the files still hold the words")
    for kind, times in done.scrubbed.items():
        write(f"{counted(times, 'secret')} of kind {line(kind)} replaced.")
    for trouble in (*done.notices, *done.problems):
        tell(f"{line(trouble.path)}: {line(trouble.message)}")
        if trouble.hint:
            tell(f"  hint: {line(trouble.hint)}")


def waits(waiting: int, rate: float) -> None:
    """Say how many passages wait for a larger model, and for how long, as far as the pace tells."""
    if waiting:
        about = f" (about {duration(waiting / rate)})" if rate > 0 else ""
        verb = "waits" if waiting == 1 else "wait"
        write(f"{counted(waiting, 'passage')} {verb} for the larger model; `scrubjay embed` does it{about}.")
