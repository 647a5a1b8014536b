"""proxy: the proxy in front of a model, by itself."""

from __future__ import annotations

from dataclasses import replace

import click

from scrubjay.surfaces.cli.command import Call, command
from scrubjay.surfaces.cli.served import served

USUAL = "127.0.0.1:8766"


@command("proxy")
@click.argument("address", metavar="[HOST:PORT]", default=USUAL)
@click.option("--openai", metavar="URL", help="Where /openai/v1 leads.  [default: the settings']")
@click.option("--anthropic", metavar="URL", help="Where /anthropic leads.  [default: the settings']")
@click.option("--require-token", is_flag=True, help="Ask clients on this machine for a token too.")
@click.option(
    "--open",
    "open_",
    is_flag=True,
    help="Let your programs on this machine go without a token even if there are tokens.",
)
def proxy(
    call: Call, address: str, openai: str | None, anthropic: str | None, require_token: bool, open_: bool
) -> None:
    """Stand in front of a model: put memories into its requests, and remember what passes, until interrupted.

    Give a client of OpenAI the base URL http://127.0.0.1:8766/openai/v1, one of Anthropic
    http://127.0.0.1:8766/anthropic. `scrubjay serve` has the same under its own address.
    """
    from scrubjay.surfaces.proxy.app import application

    settings = call.settings()
    found = settings.proxy
    found = replace(found, openai=openai or found.openai, anthropic=anthropic or found.anthropic)
    served(
        replace(settings, proxy=found),
        address,
        application,
        "OpenAI at {url}/openai/v1, Anthropic at {url}/anthropic",
        require_token=require_token,
        open_=open_,
    )
