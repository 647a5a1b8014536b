"""forget: ids -> gone for good."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from scrubjay.errors import InputError, NotFoundError
from scrubjay.surfaces.cli.command import Call, command
from scrubjay.surfaces.cli.output import counted, line, tell, write, write_json
from scrubjay.verbs import shape

if TYPE_CHECKING:
    from scrubjay.engine import Memory
    from scrubjay.memory.records import Record


BATCH = 20
"""Ids that one `get` takes."""
MOST = 100_000_000
"""Characters: more than any twenty memories have, so that none is left out."""


@command("forget")
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
def forget(call: Call, ids: tuple[str, ...], yes: bool) -> None:
    """Remove memories for good: text, index and vectors.

    Takes whole ids, not their first letters. Files are not touched; it says where the words still stand.
    Unless --yes is given it asks first, and refuses where nobody can answer.
    """
    with call.open(cold=True) as memory:
        if not yes:
            known = [kept for kept in named(memory, ids) if kept.id in ids]
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
    if done.derived:
        write(f"{counted(len(done.derived), 'memory')} made from them went too.")
    if done.restored:
        write(f"{counted(len(done.restored), 'memory')} that those were also made from came back.")
    for place in done.still:
        write(f"The words still stand in {line(place)}.")
    if done.unknown:
        tell(missing)


def named(memory: Memory, ids: Sequence[str]) -> list[Record]:
    """Return the memories that the ids name, to show before asking."""
    found: list[Record] = []
    for start in range(0, len(ids), BATCH):
        found += memory.get(ids[start : start + BATCH], limit=MOST).records
    return found


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
