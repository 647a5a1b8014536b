"""token: who may use the server over HTTP: tokens made, listed, revoked."""

from __future__ import annotations

import time

import click

from scrubjay.memory.dates import SECOND, duration, moment
from scrubjay.surfaces.cli.command import Call, Command, Group
from scrubjay.surfaces.cli.output import clean, table, tell, write, write_json
from scrubjay.verbs.tokens import SCOPES, USUAL, Principal, Token, Tokens, tokens_path


@click.group("token", cls=Group)
def token() -> None:
    """Make, list and revoke tokens for `scrubjay serve` and `scrubjay mcp --http`.

    A token is a principal: whoever shows it sees what that user and those groups may see, whatever else they ask for.
    """


@token.command("create", cls=Command)
@click.argument("name")
@click.option("--tenant", help="The walled garden.  [default: the settings' tenant]")
@click.option("--group", "groups", metavar="NAME", multiple=True, help="A group they belong to; repeatable.")
@click.option("--agent", default="", metavar="NAME", help="What their additions are signed with.")
@click.option(
    "--scope",
    "scopes",
    type=click.Choice(SCOPES),
    multiple=True,
    help="What may be done with it: read (ask), write (add; change and forget one's own), curate (change and "
    "forget what others shared), admin (what is done to a whole store, and files of the server; may "
    "curate); repeatable.  [default: read and write]",
)
@click.option(
    "--expires",
    default="90d",
    show_default=True,
    metavar="TIME",
    help="When it ends: 12h, 90d, or never.",
)
def create(
    call: Call,
    name: str,
    tenant: str | None,
    groups: tuple[str, ...],
    agent: str,
    scopes: tuple[str, ...],
    expires: str,
) -> None:
    """Make a token and print it, this once: only its hash is kept.

    It stands for --user, by default you, and for no group but those named here.
    """
    settings = call.settings()
    lasts = None if expires == "never" else duration(expires) // SECOND
    who = Principal(
        tenant or settings.tenant, settings.user, groups, agent, tuple(dict.fromkeys(scopes)) or USUAL
    )
    tokens = Tokens(tokens_path())
    first = not tokens.all()
    secret = tokens.create(name, who, lasts)
    if call.json:
        made = next(each for each in tokens.all() if each.name == name)
        write_json(_shown(made) | {"token": secret})
        return
    write(secret)
    until = "for ever" if lasts is None else f"for {expires}"
    tell(f"It stands for {clean(who.user)} {until}. It is shown this once; its hash is in {tokens.file}.")
    if first:
        tell(
            "From now on servers ask everybody for a token; `scrubjay serve --open` lets your own programs go without."
        )


@token.command("list", cls=Command)
def list_(call: Call) -> None:
    """List tokens; what they are is kept nowhere."""
    found = Tokens(tokens_path()).all()
    if call.json:
        write_json({"tokens": [_shown(each) for each in found]})
        return
    if not found:
        tell("There is no token.")
        return
    rows = [("name", "user", "groups", "agent", "scopes", "expires")]
    for each in found:
        shown = _shown(each)
        ends = f"{shown['expires'] or 'never'}{' (expired)' if shown['expired'] else ''}"
        rows.append((each.name, each.user, ", ".join(each.groups), each.agent, ", ".join(each.scopes), ends))
    for row in table(rows):
        write(clean(row))


@token.command("revoke", cls=Command)
@click.argument("name")
def revoke(call: Call, name: str) -> None:
    """Revoke a token: from now on it opens nothing, in servers that run as well."""
    gone = Tokens(tokens_path()).revoke(name)
    if call.json:
        write_json(_shown(gone))
    else:
        write(f"Revoked {clean(gone.name)}.")


def _shown(each: Token) -> dict[str, object]:
    return {
        "name": each.name,
        "tenant": each.tenant,
        "user": each.user,
        "groups": list(each.groups),
        "agent": each.agent,
        "scopes": list(each.scopes),
        "created": _time(each.created),
        "expires": None if each.expires is None else _time(each.expires),
        "expired": each.expired(time.time()),
    }


def _time(seconds: int) -> str:
    return moment(seconds * SECOND).isoformat(timespec="seconds")
