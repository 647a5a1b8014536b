"""models, embed, rebuild."""

from __future__ import annotations

import click

from scrubjay.cli.main import Call, Group, command
from scrubjay.cli.output import format_count, format_duration, table, write, write_json
from scrubjay.cli.progress import show_progress
from scrubjay.cli.sync import pending_embedding, print_summary
from scrubjay.models.reports import ModelStatus
from scrubjay.text.display import single_line


@click.group("models", cls=Group, default="list")
def models() -> None:
    """List, add, use or drop embedding models.

    Without a command it lists.
    """


@models.command("list")
def list_models(call: Call) -> None:
    """List the models and how many memories each covers."""
    with call.open() as memory:
        found = memory.models()
    if call.print_json({"models": found}):
        return
    for text in model_lines(found):
        write(text)


@models.command("add")
@click.argument("name")
def add_model(call: Call, name: str) -> None:
    """Register a model from the settings, [models.NAME].

    It is used for ranking once `scrubjay embed` has covered every memory and `scrubjay models use NAME` selects it.
    """
    with call.open() as memory:
        done = memory.add_model(name)
    print_model_change(
        call,
        done,
        f"{single_line(done.name)} added. Next: scrubjay embed, then scrubjay models use {single_line(done.name)}",
    )


@models.command("use")
@click.argument("name")
def use_model(call: Call, name: str) -> None:
    """Rank with this model and the base model only.

    Other models keep their vectors.
    """
    with call.open() as memory:
        done = memory.use_model(name)
    waiting = (
        f" {format_count(done.waiting, 'memory')} pending embedding; run `scrubjay embed`."
        if done.waiting
        else ""
    )
    print_model_change(call, done, f"{single_line(done.name)} is now used for ranking.{waiting}")


@models.command("drop")
@click.argument("name")
def drop_model(call: Call, name: str) -> None:
    """Remove a model and its vectors."""
    with call.open() as memory:
        done = memory.drop_model(name)
    print_model_change(call, done, f"{single_line(done.name)} and its vectors removed.")


def print_model_change(call: Call, done: ModelStatus, text: str) -> None:
    if not call.print_json(done):
        write(text)


def model_lines(found: list[ModelStatus]) -> list[str]:
    if not found:
        return []
    return table(
        [
            (
                each.name,
                each.state,
                f"{each.dimensions} dimensions",
                f"{each.covered:,} embedded",
                f"{each.waiting:,} pending",
                each.provider,
                each.problem,
            )
            for each in found
        ]
    )


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
    if call.print_json(done):
        return
    write(
        f"{format_count(done.embedded, 'passage')} embedded in {format_duration(done.seconds)}, "
        f"{done.waiting:,} pending"
    )
    pending_embedding(done.waiting, pace.rate)


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
        write_json({"reduced": True}) if call.json else write(
            "Indexes dropped; searches scan all memories again."
        )
        return
    with call.open() as memory, show_progress(quiet=call.json) as (report, _):
        done = memory.build_index(progress=report)
    if call.print_json(done):
        return
    write(f"word index: {format_count(done.words, 'memory')}, {format_duration(done.seconds)}")
    write(f"vector index: {', '.join(done.models)}" if done.models else f"vector index: none; {done.without}")
