"""serve, worker, mcp, proxy, token."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, TypeVar

import click

from scrubjay.api.auth import DEFAULT_SCOPES, SCOPES, Principal, Token, TokenStore, tokens_path
from scrubjay.cli.main import Call, Group, command, stop_on_signal
from scrubjay.cli.output import format_count, write, write_error, write_now, write_table
from scrubjay.config.paths import environment
from scrubjay.config.settings import data_dir
from scrubjay.errors import InputError, ProviderError
from scrubjay.models.dates import SECOND, iso_seconds, parse_duration
from scrubjay.text.display import single_line, strip_control

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from scrubjay.config.settings import Settings
    from scrubjay.models.reports import EmbedReport, EnrichReport
    from scrubjay.server.run import Address


F = TypeVar("F", bound=Callable[..., object])
MAX_NAMES = 3
NO_TLS_WARNING = "Tokens and memories are sent unencrypted: put a TLS proxy in front."


def run_http(
    call: Call,
    settings: Settings,
    address: str,
    application: Callable[..., ASGIApp],
    ready_message: str,
    *,
    require_token: bool,
    open_: bool,
    readers: int = 0,
    root_path: str = "",
) -> None:
    """Serve until interrupted; local clients may connect without a token.

    Args:
        call: The command line.
        settings: The owner of the process, and the store.
        address: ``HOST:PORT``.
        application: Makes the ASGI application from a session, ``tokens`` and ``tokenless``.
        ready_message: Printed once it can be reached, with ``{url}`` in it.
        require_token: Whether local clients need a token too.
        open_: Whether local clients need none even with a root path, another address, or existing tokens.
        readers: Reader processes.
        root_path: Path prefix under which a reverse proxy forwards requests.
    """
    from functools import partial

    from scrubjay.api.auth import TokenStore, tokens_path
    from scrubjay.server.auth import LOCAL_NAMES, TokenlessAccess
    from scrubjay.server.run import OPEN_SERVER_WARNING, Address, register_open_server, run_server

    if require_token and open_:
        raise InputError(
            "--require-token and --open exclude each other. Nothing was started.", hint="give one of them"
        )
    call.require_store_folder()
    listen_address, tokens = Address.parse(address), TokenStore(tokens_path())
    if not listen_address.loopback:
        write_error(NO_TLS_WARNING)
    issuer = settings.oauth.issuer
    if issuer:
        _check_issuer(settings)
    reason = _why_token_needed(listen_address, tokens, root_path, issuer)
    tokenless = None
    if open_ or not (require_token or root_path or issuer or not listen_address.loopback):
        tokenless = TokenlessAccess((*LOCAL_NAMES, listen_address.host.lower()), always=open_)
    if reason and not open_ and not require_token:
        write_error(
            f"Clients need a token because {reason}; use --open to exempt your own programs on this machine."
        )

    with ExitStack() as stack:

        def ready(url: str) -> None:
            if open_:
                write_error(f"warning: {OPEN_SERVER_WARNING.format(url=url, user=settings.user)}.")
                stack.enter_context(register_open_server(data_dir(), url))
            write_error(
                f"{ready_message.format(url=url)}; store {_store_name(settings)}; press Ctrl-C to stop."
            )

        run_server(
            settings,
            listen_address,
            tokens,
            partial(application, tokens=tokens, tokenless=tokenless),
            ready=ready,
            readers=readers,
            root_path=root_path,
        )


def _store_name(settings: Settings) -> str:
    from scrubjay.storage.postgres.connection import hide_password
    from scrubjay.storage.urls import store_file

    in_memory = settings.store.startswith("memory:")
    return single_line(
        str(store_file(settings.store) or (settings.store if in_memory else hide_password(settings.store)))
    )


def _check_issuer(settings: Settings) -> None:
    """Warn if the issuer's tokens cannot be checked; a wrong issuer is an error, one that is down is not."""
    from scrubjay.api.oauth import check_issuer

    try:
        check_issuer(settings)
    except ProviderError as error:
        write_error(
            f"warning: {error} Clients with an access token get 503 until it answers; other tokens work."
        )


def _why_token_needed(address: Address, tokens: TokenStore, root_path: str, issuer: str) -> str:
    if not address.loopback:
        return f"{address.host} is not a loopback address"
    if root_path:
        return "--root-path implies a reverse proxy"
    if issuer:
        return "[oauth] names an issuer"
    if names := [token.name for token in tokens.all()]:
        return f"tokens exist ({', '.join(names[:MAX_NAMES])}{', …' if len(names) > MAX_NAMES else ''})"
    return ""


DEFAULT_HOST, DEFAULT_PORT = "127.0.0.1", 8765
MAX_READERS = 64
DEFAULT_READERS = 4
"""Default maximum: each reader keeps its own models and caches."""


def _token_options(prefix: str = "", unless: str = "tokens exist") -> Callable[[F], F]:
    require, allow = ("require", "let") if prefix else ("Require", "Let")
    options = (
        click.option(
            "--require-token", is_flag=True, help=f"{prefix}{require} a token from local clients too."
        ),
        click.option(
            "--open",
            "open_",
            is_flag=True,
            help=f"{prefix}{allow} your own local programs connect without a token even if {unless}.",
        ),
    )
    return lambda function: options[0](options[1](function))


@command("serve")
@click.argument("address", metavar="[HOST:PORT]", default="")
@click.option("--host", metavar="NAME", help=f"Address to listen on.  [default: {DEFAULT_HOST}]")
@click.option(
    "--port",
    metavar="N",
    type=click.IntRange(0, 65_535),
    help=f"Port to listen on.  [default: {DEFAULT_PORT}]",
)
@_token_options(unless="tokens or a --root-path exist")
@click.option(
    "--readers",
    type=click.IntRange(0, MAX_READERS),
    default=None,
    metavar="N",
    help="Reader processes; 0 answers in the server process.  [default: one per CPU, at most 4]",
)
@click.option(
    "--root-path",
    default="",
    metavar="PATH",
    help="Path prefix under which a reverse proxy forwards requests.",
)
def serve(
    call: Call,
    address: str,
    host: str | None,
    port: int | None,
    require_token: bool,
    open_: bool,
    readers: int | None,
    root_path: str,
) -> None:
    """Serve HTTP, MCP at /mcp and the proxy at /openai/v1 and /anthropic, by default on 127.0.0.1:8765.

    Clients send a token (`scrubjay token create`). If no tokens exist and no --root-path is given, your own local
    programs need none.
    """
    from scrubjay.server.app import create_app

    if address and (host or port is not None):
        raise InputError(
            f"The address is given twice: as {address} and by --host or --port. Nothing was started.",
            hint="give HOST:PORT, or --host and --port",
        )
    settings = call.settings
    if settings.store.startswith("memory:"):  # nobody else can read it
        readers = 0
    run_http(
        call,
        settings,
        address or _join_address(host or DEFAULT_HOST, DEFAULT_PORT if port is None else port),
        create_app,
        "Serving at {url}",
        require_token=require_token,
        open_=open_,
        readers=min(os.cpu_count() or 1, DEFAULT_READERS) if readers is None else readers,
        root_path=root_path,
    )


def _join_address(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host and not host.startswith("[") else f"{host}:{port}"


@command("worker")
def worker(call: Call) -> None:
    """Enrich and embed new memories as they arrive, until interrupted.

    For servers: run it beside `scrubjay serve` with `[models] background = "never"`. It works for all users of the
    store, however they log in, and uses the processors that you allow it. Prints a line after each batch; with --json
    one object.
    """
    from scrubjay.config.paths import data_folder
    from scrubjay.daemon.embedding import EmbeddingJob
    from scrubjay.daemon.worker import Worker, stored_principals, token_principals
    from scrubjay.services.inspection import tenant_counts

    settings, tokens = call.settings, TokenStore(tokens_path())
    owner = Principal(settings.tenant, settings.user, tuple(settings.groups))
    data = data_folder(environment(call.store, call.user))

    def report(caller: Principal, enriched: EnrichReport, embedded: EmbedReport) -> None:
        principal = {"tenant": caller.tenant, "user": caller.user, "groups": caller.groups}
        if call.print_json({**principal, "enriched": enriched, "embedded": embedded}):
            write_now()
            return
        pending = enriched.waiting + embedded.waiting
        if embedded.embedded or enriched.linked or enriched.learned or pending:
            counts = (
                f"{format_count(embedded.embedded, 'memory')} embedded",
                f"{format_count(enriched.linked, 'concept mention')} linked",
                f"{format_count(enriched.learned, 'fact')} learned",
                f"{pending:,} pending",
            )
            now = datetime.now().astimezone()
            write(f"{now:%H:%M:%S}  {strip_control(caller.user)}: {', '.join(counts)}")
            write_now()
        for problem in enriched.problems:
            write_error(f"warning: {strip_control(problem.message)}")

    call.require_store_folder()
    with call.open(new=True) as memory, stop_on_signal() as stop:
        write_error(
            f"Enriching and embedding as memories come; store {_store_name(settings)}; press Ctrl-C to stop."
        )
        job = EmbeddingJob(data, settings.store)
        log = settings.log.open(data)

        def principals() -> list[Principal]:
            return stored_principals(memory, token_principals(owner, tokens))

        counts = tenant_counts(
            memory.workspace.store, {caller.tenant for caller in token_principals(owner, tokens)}
        )
        if counts.hidden:
            tenants = ", ".join(map(single_line, counts.tenants))
            write_error(
                f"note: {single_line(counts.hidden)} Serving those of the settings and the tokens: {tenants}."
            )
        Worker(memory, principals, job, log).run(
            stop, report, lambda error: write_error(f"error: {strip_control(str(error))}")
        )


@command("mcp")
@click.option(
    "--http",
    metavar="HOST:PORT",
    help="Serve many clients over streamable HTTP at this address instead, such as 127.0.0.1:8765.",
)
@_token_options(prefix="With --http: ")
def mcp(call: Call, http: str | None, require_token: bool, open_: bool) -> None:
    """Serve an MCP client over standard input and output.

    The client starts and stops it; meanwhile it acts as the daemon that answers hooks and searches. Standard output
    carries the protocol; the log is on standard error.

    With --http it serves until interrupted. Clients send a token (`scrubjay token create`); if no tokens exist, your
    own local programs need none.
    """
    if http is None:
        if require_token or open_:
            option = "--require-token" if require_token else "--open"
            raise InputError(f"{option} needs --http: over standard input the client is you.")
        from scrubjay.server.mcp.stdio import serve_stdio

        call.require_store_folder()
        serve_stdio(call.settings, environment(call.store, call.user))
        return
    from scrubjay.server.mcp.http import MCP_PATH, create_mcp_app

    run_http(
        call,
        call.settings,
        http,
        create_mcp_app,
        f"MCP at {{url}}{MCP_PATH}",
        require_token=require_token,
        open_=open_,
    )


DEFAULT_PROXY_ADDRESS = "127.0.0.1:8766"


@command("proxy")
@click.argument("address", metavar="[HOST:PORT]", default=DEFAULT_PROXY_ADDRESS)
@click.option("--openai", metavar="URL", help="Upstream of /openai/v1.  [default: proxy.openai]")
@click.option("--anthropic", metavar="URL", help="Upstream of /anthropic.  [default: proxy.anthropic]")
@_token_options()
def proxy(
    call: Call, address: str, openai: str | None, anthropic: str | None, require_token: bool, open_: bool
) -> None:
    """Run a proxy that adds memories to model requests and stores the conversations, until interrupted.

    Set the base URL of OpenAI clients to http://127.0.0.1:8766/openai/v1 and of Anthropic clients to
    http://127.0.0.1:8766/anthropic. `scrubjay serve` includes the same proxy.
    """
    from scrubjay.server.proxy.app import create_proxy_app

    settings = call.settings
    old = settings.proxy
    changed = replace(old, openai=openai or old.openai, anthropic=anthropic or old.anthropic)
    run_http(
        call,
        replace(settings, proxy=changed),
        address,
        create_proxy_app,
        "OpenAI at {url}/openai/v1, Anthropic at {url}/anthropic",
        require_token=require_token,
        open_=open_,
    )


@click.group("token", cls=Group)
def token() -> None:
    """Create, list and revoke tokens for `scrubjay serve` and `scrubjay mcp --http`.

    A token identifies a user and groups: its bearer sees exactly their visible memories.
    """


@token.command("create")
@click.argument("name")
@click.option("--tenant", help="Tenant.  [default: the settings' tenant]")
@click.option("--group", "groups", metavar="NAME", multiple=True, help="Group of the user; repeatable.")
@click.option("--agent", default="", metavar="NAME", help="Agent name recorded with added memories.")
@click.option(
    "--scope",
    "scopes",
    type=click.Choice(SCOPES),
    multiple=True,
    help="Permission: read (search), write (add; change and forget one's own), curate (change and forget what "
    "others shared; add public memories), admin (whole-store operations and files of the server; includes curate); "
    "repeatable.  "
    "[default: read and write]",
)
@click.option(
    "--expires", default="90d", show_default=True, metavar="TIME", help="Lifetime: 12h, 90d or never."
)
def create_token(
    call: Call,
    name: str,
    tenant: str | None,
    groups: tuple[str, ...],
    agent: str,
    scopes: tuple[str, ...],
    expires: str,
) -> None:
    """Create a token and print it once: only its hash is stored.

    It identifies --user, by default you, and only the groups given here.
    """
    settings = call.settings
    lifetime = None if expires == "never" else parse_duration(expires) // SECOND
    principal = Principal(
        settings.tenant if tenant is None else tenant,
        settings.user,
        groups,
        agent,
        tuple(dict.fromkeys(scopes)) or DEFAULT_SCOPES,
    )
    tokens = TokenStore(tokens_path())
    first = not tokens.all()
    secret = tokens.create(name, principal, lifetime)
    if call.json:
        created = next(entry for entry in tokens.all() if entry.name == name)
        call.print_json(_token_fields(created) | {"token": secret})
        return
    write(secret)
    validity = "without expiry" if lifetime is None else f"for {expires}"
    write_error(
        f"Valid for user {strip_control(principal.user)} {validity}. "
        f"It is shown only once; its hash is stored in {tokens.file}."
    )
    if first:
        write_error(
            "Servers now require a token from every client; `scrubjay serve --open` exempts your own local programs."
        )


@token.command("list")
def list_tokens(call: Call) -> None:
    """List tokens, without their secrets, which are not stored."""
    tokens = TokenStore(tokens_path()).all()
    if call.print_json({"tokens": [_token_fields(item) for item in tokens]}):
        return
    if not tokens:
        write_error("There are no tokens.")
        return
    rows = [("name", "tenant", "user", "groups", "agent", "scopes", "expires")]
    for item in tokens:
        fields = _token_fields(item)
        expiry = f"{fields['expires'] or 'never'}{' (expired)' if fields['expired'] else ''}"
        scopes = ", ".join(item.scopes)
        rows.append((item.name, item.tenant, item.user, ", ".join(item.groups), item.agent, scopes, expiry))
    write_table(rows)


@token.command("revoke")
@click.argument("name")
def revoke_token(call: Call, name: str) -> None:
    """Revoke a token at once, in running servers too."""
    revoked = TokenStore(tokens_path()).revoke(name)
    if not call.print_json(_token_fields(revoked)):
        write(f"Revoked {strip_control(revoked.name)}.")


def _token_fields(entry: Token) -> dict[str, object]:
    return {
        "name": entry.name,
        "tenant": entry.tenant,
        "user": entry.user,
        "groups": list(entry.groups),
        "agent": entry.agent,
        "scopes": list(entry.scopes),
        "created": iso_seconds(entry.created * SECOND),
        "expires": None if entry.expires is None else iso_seconds(entry.expires * SECOND),
        "expired": entry.expired(time.time()),
    }
