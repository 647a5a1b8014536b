"""models: the embedding models, and which of them rank."""

from __future__ import annotations

import click

from scrubjay.memory.reports import ModelStatus
from scrubjay.surfaces.cli.command import Call, Command, Group
from scrubjay.surfaces.cli.output import counted, line, table, write, write_json
from scrubjay.verbs import shape


@click.group("models", cls=Group, invoke_without_command=True)
@click.pass_context
def models(ctx: click.Context) -> None:
    """List, add, use or drop embedding models.

    Without a command it lists.
    """
    if ctx.invoked_subcommand is None:
        show(ctx.obj)


@models.command("list", cls=Command)
def list_(call: Call) -> None:
    """List the models and how far each reaches."""
    show(call)


@models.command("add", cls=Command)
@click.argument("name")
def add(call: Call, name: str) -> None:
    """Register a model of the settings, [models.NAME], beside the others.

    It ranks nothing until `scrubjay embed` has reached every memory and `scrubjay models use NAME` is said.
    """
    with call.open() as memory:
        done = memory.add_model(name)
    said(
        call,
        done,
        f"{line(done.name)} added. Next: scrubjay embed, then scrubjay models use {line(done.name)}",
    )


@models.command("use", cls=Command)
@click.argument("name")
def use(call: Call, name: str) -> None:
    """Rank with a model beside the base model, and no longer with the others.

    The others keep their vectors.
    """
    with call.open() as memory:
        done = memory.use_model(name)
    waiting = (
        f" {counted(done.waiting, 'memory')} pending embedding; run `scrubjay embed`." if done.waiting else ""
    )
    said(call, done, f"{line(done.name)} ranks from now on.{waiting}")


@models.command("drop", cls=Command)
@click.argument("name")
def drop(call: Call, name: str) -> None:
    """Remove a model and its vectors."""
    with call.open() as memory:
        done = memory.drop_model(name)
    said(call, done, f"{line(done.name)} dropped, with its vectors.")


def said(call: Call, done: ModelStatus, text: str) -> None:
    """Print what became of a model."""
    if call.json:
        write_json(shape.plain(done))
    else:
        write(text)


def show(call: Call) -> None:
    """Print the models."""
    with call.open() as memory:
        found = memory.models()
    if call.json:
        write_json({"models": shape.plain(found)})
        return
    for text in rows(found):
        write(text)


def rows(found: list[ModelStatus]) -> list[str]:
    """Return one line a model."""
    if not found:
        return []
    return table(
        [
            (
                each.name,
                each.state,
                f"{each.dimensions} dimensions",
                f"{each.covered:,} embedded",
                f"{each.waiting:,} waiting",
                each.provider,
                each.problem,
            )
            for each in found
        ]
    )
