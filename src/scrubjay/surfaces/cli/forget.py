"""forget: ids -> gone for good."""

from __future__ import annotations

import sys

import click

from scrubjay.errors import InputError, NotFoundError
from scrubjay.surfaces import shape
from scrubjay.surfaces.cli.command import Call, command
from scrubjay.surfaces.cli.output import counted, line, tell, write, write_json


@command("forget")
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
def forget(call: Call, ids: tuple[str, ...], yes: bool) -> None:
    """Remove memories for good: text, index and vectors.

    Files are not touched; it says where the words still stand. Unless --yes is given it asks first, and
    refuses where nobody can answer.
    """
    with call.open(cold=True) as memory:
        if not yes:
            known = memory.get(ids, limit=1_000_000).records
            for kept in known:
                tell(f"{kept.id}  {line(kept.title or kept.content)[:80]}")
            if known:
                confirm(len(known))
        done = memory.forget(ids)
    missing = f"Not there, or not yours: {', '.join(map(line, done.unknown))}."
    if done.unknown and not done.ids:
        raise NotFoundError(missing, hint="scrubjay search QUESTION shows ids")
    if call.json:
        write_json(shape.plain(done))
        return
    write(f"{counted(len(done.ids), 'memory')} forgotten.")
    for place in done.still:
        write(f"The words still stand in {line(place)}.")
    if done.unknown:
        tell(missing)


def confirm(number: int) -> None:
    """Ask, or raise.

    Raises:
        InputError: There is no terminal to ask on.
        Abort: The answer was no.
    """
    if not sys.stdin.isatty():
        raise InputError(
            "forget asks first, and nobody can answer here. Nothing was forgotten.", hint="add --yes"
        )
    click.confirm(f"Forget {counted(number, 'memory')} for good?", abort=True, err=True)
