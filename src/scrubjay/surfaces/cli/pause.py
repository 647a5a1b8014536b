"""pause, resume: hooks do nothing for a while, and what is said meanwhile is never taken in."""

from __future__ import annotations

import time

import click

from scrubjay.agents.hooks.forms import FORMS
from scrubjay.config import data_dir
from scrubjay.errors import StoreError
from scrubjay.memory.dates import SECOND, duration
from scrubjay.pauses import EVERY, Pauses
from scrubjay.surfaces.cli.command import Call, command
from scrubjay.surfaces.cli.output import write, write_json

AGENT = click.argument("agent", required=False, type=click.Choice([*FORMS]), metavar="[AGENT]")


@command("pause")
@AGENT
@click.option(
    "--for", "length", metavar="TIME", help="Until this is over, such as 2h.  [default: until resume]"
)
def pause(call: Call, agent: str | None, length: str | None) -> None:
    """Let agents' hooks do nothing: no memories are put into sessions, and nothing that is said is taken in.

    What is said during a pause stays out afterwards too, as far as the transcript says when it was said. Tools that
    an agent calls itself still work, and so does `scrubjay sync` for notes.
    """
    seconds = duration(length) / SECOND if length is not None else None
    pauses = Pauses(str(data_dir()))
    try:
        until = pauses.pause(agent or EVERY, seconds)
    except OSError as error:
        raise StoreError(
            f"{pauses.path} cannot be written ({error.strerror}). Nothing is paused.",
            hint="SCRUBJAY_OFF=1 before the agent's command does the same for one session",
        ) from error
    if call.json:
        write_json({"paused": agent or "all", "until": until})
        return
    write(f"Paused{f' for {agent}' if agent else ''} {told(until)}.")


@command("resume")
@AGENT
def resume(call: Call, agent: str | None) -> None:
    """End a pause."""
    pauses = Pauses(str(data_dir()))
    were = pauses.running()
    try:
        if were:
            pauses.resume(agent or EVERY)
    except OSError as error:
        raise StoreError(f"{pauses.path} cannot be written ({error.strerror}). The pause goes on.") from error
    left = pauses.running()
    if call.json:
        write_json({"resumed": bool(were) and left != were, "paused": sorted(who or "all" for who in left)})
        return
    if not were:
        write("Nothing was paused.")
    elif left:
        write(f"Still paused: {', '.join(who or 'all agents' for who in sorted(left))}.")
    else:
        write("Hooks work again.")


def told(until: float | None) -> str:
    """Return until when, in words.

    >>> told(None)
    'until `scrubjay resume`'
    """
    if until is None or until == float("inf"):
        return "until `scrubjay resume`"
    return f"until {time.strftime('%Y-%m-%d %H:%M', time.localtime(until))}"
