"""hook: what an agent calls at its events. Nearly always `entry` answers before this is loaded."""

from __future__ import annotations

import click

from scrubjay.surfaces.cli.command import Call, command


@command("hook", hidden=False)
@click.argument("agent")
@click.argument("event")
def hook(call: Call, agent: str, event: str) -> None:
    """Answer an agent at one of its events; `scrubjay install` writes this into its configuration.

    Reads the agent's JSON on standard input and answers in its form, or says nothing: then there was nothing to say,
    the time was up, or something failed, of which the log tells. It never fails. Events: session-start, prompt, stop,
    pre-compact, session-end, heartbeat.
    """
    from scrubjay.surfaces.cli.hooked import hooked

    hooked((agent, event), call.store, call.user)
