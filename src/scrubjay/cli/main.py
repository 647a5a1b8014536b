"""Command line: the table of commands, their common options, exit codes and error output.

The common options may precede or follow the command's name; after it they win. A command's module is imported when it
runs.

Exit codes: 0 success (also when nothing was found), 1 `doctor` found a problem or a step of `setup` failed, 2 usage or
settings error, 3 unreadable source, 4 store unavailable, 5 model failure, 130 interrupted, 141 broken pipe.
"""

from __future__ import annotations

import atexit
import importlib
import itertools
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from keyword import iskeyword
from typing import TYPE_CHECKING, Any, TypeVar

import click

from scrubjay.errors import InputError, NotFoundError, ScrubjayError
from scrubjay.models.options import Option, options_of

if TYPE_CHECKING:
    from pathlib import Path

    from scrubjay.config.settings import Settings
    from scrubjay.memory import Memory


F = TypeVar("F", bound=Callable[..., object])

COMMON_OPTIONS = ("store", "user", "json")
MAX_SUMMARY = 1000
"""Characters of a command's summary in help: no summary is longer."""


@dataclass(frozen=True)
class Call:
    """The common options of a command line; None for the settings' own store and user."""

    store: str | None = None
    user: str | None = None
    json: bool = False

    def with_options_from(self, params: dict[str, Any]) -> Call:
        """Move the common options out of a command's parameters into a new call."""
        store, user, json = (params.pop(name, None) for name in COMMON_OPTIONS)
        # An empty one is not the settings' own: `--user "$CUSTOMER"` with an unset variable must fail.
        return Call(
            self.store if store is None else store, self.user if user is None else user, json or self.json
        )

    @cached_property
    def settings(self) -> Settings:
        from scrubjay.config.loader import load_settings

        return load_settings(overrides={"store": self.store, "user": self.user})

    def print_json(self, value: object) -> bool:
        """Print a value as JSON if ``--json`` was given, and return whether it was."""
        if self.json:
            from scrubjay.api.serializers import to_plain
            from scrubjay.cli.output import write_json

            write_json(to_plain(value))
        return self.json

    def open(self, *, cold: bool = False, new: bool = False) -> Memory:
        """Open the store.

        A ``cold`` command answers once and ends: it loads only the base model. Only a ``new`` one may create the store
        that ``--store`` names; others refuse a missing file.
        """
        from scrubjay.cli.output import write_error
        from scrubjay.config.paths import data_folder, environment
        from scrubjay.memory import Memory

        if not new:
            self.require_store()
        settings = self.settings
        log = settings.log.open(data_folder(environment()))
        return Memory.open(settings=settings, cold=cold, announce=write_error, log=log)

    def require_store(self) -> None:
        """Refuse a ``--store`` whose file is missing."""
        if (path := self._store_file()) is not None and not path.exists():
            raise NotFoundError(
                f"There is no store at {path}. Nothing was created.",
                hint=f"check --store, or create one: scrubjay sync DIR --store {self.store}",
            )

    def require_store_folder(self) -> None:
        """Refuse a ``--store`` in a missing folder: for a server it is probably mistyped."""
        if (path := self._store_file()) is not None and not path.parent.exists():
            raise NotFoundError(
                f"There is no folder {path.parent} for the store {path.name}. Nothing was started or created.",
                hint="check --store, or create the folder",
            )

    def _store_file(self) -> Path | None:
        from scrubjay.storage.urls import store_file

        return store_file(self.store) if self.store is not None else None


def _common_options() -> list[click.Parameter]:
    return [
        click.Option(
            ["--store"], metavar="URL", help="Store to use: a path, sqlite:///PATH or postgresql://…"
        ),
        click.Option(["--user"], metavar="NAME", help="User to act as; owns what you add."),
        click.Option(["--json"], is_flag=True, help="Print one line of JSON."),
    ]


class Command(click.Command):
    """A command whose function is called with a `Call` before its own parameters."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.params += _common_options()

    def invoke(self, ctx: click.Context) -> Any:
        call = (ctx.obj or Call()).with_options_from(ctx.params)
        assert self.callback is not None
        return ctx.invoke(self.callback, call, **ctx.params)


class Group(click.Group):
    """Commands by name, each imported when it is used.

    Attributes:
        lazy: Command name to its module in this package.
        sections: Help headings to command names; one heading by default.
        otherwise: Command that runs if the first word is no command; None to refuse such words.
        default: Command that runs if none is given.
    """

    command_class = Command

    def __init__(
        self,
        *args: Any,
        lazy: Mapping[str, str] | None = None,
        sections: Mapping[str, Sequence[str]] | None = None,
        aliases: Mapping[str, str] | None = None,
        otherwise: str | None = None,
        default: str | None = None,
        **kwargs: Any,
    ) -> None:
        kwargs["invoke_without_command"] = default is not None
        super().__init__(*args, **kwargs)
        self.lazy = dict(lazy or {})
        self.sections = dict(sections or {})
        self.aliases = dict(aliases or {})
        self.otherwise = otherwise
        self.default = default
        self.params += _common_options()

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*self.lazy, *self.commands]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for heading, names in (self.sections or {"Commands": self.list_commands(ctx)}).items():
            commands = [(name, self.get_command(ctx, name)) for name in names]
            rows = [(name, cmd.get_short_help_str(MAX_SUMMARY)) for name, cmd in commands if cmd is not None]
            if rows:
                with formatter.section(heading):
                    formatter.write_dl(rows)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        cmd_name = self.aliases.get(cmd_name, cmd_name)
        if cmd_name not in self.lazy:
            return super().get_command(ctx, cmd_name)
        module = importlib.import_module(f"scrubjay.cli.{self.lazy[cmd_name]}")
        loaded: click.Command = getattr(module, f"{cmd_name}_" if iskeyword(cmd_name) else cmd_name)
        return loaded

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name in self.aliases:
            return super().resolve_command(ctx, [self.aliases[name], *args[1:]])
        if self.otherwise is not None and not name.startswith("-") and name not in self.list_commands(ctx):
            words = list(itertools.takewhile(lambda word: not word.startswith("-"), args))
            return super().resolve_command(ctx, [self.otherwise, " ".join(words), *args[len(words) :]])
        if not name.startswith("-") and name not in self.list_commands(ctx) and not ctx.resilient_parsing:
            raise click.UsageError(f"No such command: {name}.{suggest(name, self.list_commands(ctx))}", ctx)
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        ctx.obj = (ctx.obj or Call()).with_options_from(ctx.params)
        result = super().invoke(ctx)
        if self.default is None or ctx.invoked_subcommand is not None:
            return result
        command = self.commands[self.default]
        with command.make_context(self.default, [], parent=ctx) as inner:
            return command.invoke(inner)


@contextmanager
def stop_on_signal(stop: threading.Event | None = None) -> Iterator[threading.Event]:
    """Yield an event, ``stop`` or a new one, that SIGINT and SIGTERM set until the block ends."""
    import signal

    stop = stop or threading.Event()
    handlers = {n: signal.signal(n, lambda *_: stop.set()) for n in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)


def command(name: str, **rules: Any) -> Callable[[Callable[..., Any]], click.Command]:
    """Make a function a command; its docstring is the help."""
    return click.command(name, cls=Command, **rules)


def declared_options(kind: type, *names: str, without: tuple[str, ...] = ()) -> Callable[[F], F]:
    """Give a command the flags of the options that a class declares: those named, in that order, or all."""
    options = {option.name: option for option in options_of(kind) if option.flags}
    chosen = names or [name for name in options if name not in without]

    def decorate(function: F) -> F:
        for name in reversed(chosen):
            function = _click_option(options[name])(function)
        return function

    return decorate


def _click_option(option: Option) -> Callable[[F], F]:
    attributes: dict[str, Any] = {"metavar": option.metavar, "default": option.flag_default}
    if option.kind == "bool":
        attributes = {"default": option.default, "is_flag": True}
    elif option.kind == "int" and option.bounds:
        attributes["type"] = click.IntRange(*option.bounds)
    elif option.kind == "float":
        attributes["type"] = click.FloatRange(*option.bounds) if option.bounds else float
    elif option.metavar is None:
        attributes["multiple"] = option.several
        attributes["type"] = click.Choice(option.choices) if option.choices else None
    default = option.setting
    if option.default and (option.several or option.choices):
        default = ", ".join(option.default) if option.several else str(option.default)
    help_text = f"{option.help}  [default: {default}]" if default else option.help
    return click.option(*option.flags, option.name, help=help_text, **attributes)


def suggest(word: str, known: Iterable[str]) -> str:
    """Return `` Did you mean …?`` or nothing.

    >>> suggest("serach", ["search", "sync"]), suggest("xyz", ["search"])
    (' Did you mean search?', '')
    """
    import difflib

    similar = difflib.get_close_matches(word, list(known), n=1)
    return f" Did you mean {similar[0]}?" if similar else ""


INTERRUPTED = 130
BROKEN_PIPE = 141
"""128 and the signal's number, as a shell reports SIGINT and SIGPIPE."""

SECTIONS = {
    "Start": ("setup", "demo", "sync", "watch", "sources", "import"),
    "Ask": ("search", "thread", "context", "get", "history", "concepts", "categories"),
    "Write": ("add", "feedback", "archive", "restore", "forget"),
    "Look after": (
        "status", "doctor", "config", "redactions", "models", "embed", "consolidate", "skills", "audit", "rebuild",
        "export", "backup", "copy",
    ),
    "Serve": ("serve", "worker", "mcp", "proxy", "token"),
    "Agents": ("install", "uninstall", "pause", "resume", "hook", "resident", "completion"),
}  # fmt: skip
"""Commands by help section, in order of first use."""

_MODULES = {
    "search": "search thread context",
    "memories": "add get forget archive restore feedback history concepts categories",
    "sync": "sync watch sources demo models embed rebuild",
    "consolidation": "consolidate audit skills",
    "transfer": "export import backup copy",
    "serve": "serve worker mcp proxy token",
    "agents": "install uninstall hook pause resume resident",
    "setup": "setup",
    "admin": "status doctor config redactions completion",
}
"""Modules of this package and their commands."""

COMMANDS = {
    name: next(module for module, own in _MODULES.items() if name in own.split())
    for names in SECTIONS.values()
    for name in names
}

ALIASES = {
    "remember": "add",
    "rm": "forget",
    "delete": "forget",
    "remove": "forget",
    "list": "sources",
    "ls": "sources",
}
"""Names that people try for a command; help lists only the command."""


@click.group(
    "scrubjay",
    cls=Group,
    lazy=COMMANDS,
    sections=SECTIONS,
    aliases=ALIASES,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(package_name="scrubjay", message="scrubjay %(version)s")
def cli() -> None:
    """Memory for AI agents: search your notes, commits and conversations, and see the source of each answer.

    Start with `scrubjay setup`, which finds your agents, repositories and notes; or with `scrubjay sync DIR` to ingest
    a folder of notes. Then ask: `scrubjay search QUESTION`.
    """


def main() -> None:
    for stream in (sys.stdout, sys.stderr):
        # Escape characters that the terminal cannot show.
        getattr(stream, "reconfigure", lambda **_: None)(errors="backslashreplace")
    code = run(sys.argv[1:])
    if threading.active_count() > 1:
        sys.exit(code)
    # Finalizing the interpreter is a sixth of a cold search, and nothing is left to be closed.
    atexit._run_exitfuncs()
    with suppress(OSError, ValueError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)


def run(args: Sequence[str]) -> int:
    """Run a command line and return its exit code; expected errors are printed."""
    try:
        code = cli.main(list(args), prog_name="scrubjay", standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.Exit as wanted:
        return wanted.exit_code
    except click.UsageError as error:
        where = error.ctx.command_path if error.ctx else "scrubjay"
        return _print_error(InputError(error.format_message(), hint=f"{where} --help"), args)
    except click.ClickException as error:
        return _print_error(InputError(error.format_message()), args)
    except ScrubjayError as error:
        return _print_error(error, args)
    except (KeyboardInterrupt, click.Abort):
        print(file=sys.stderr)
        return INTERRUPTED
    except SystemExit as ended:  # click exits so after completion (0) and a broken pipe (1)
        return BROKEN_PIPE if ended.code else 0
    except BrokenPipeError:
        # The rest of the buffer would fail again when Python exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    return code if isinstance(code, int) else 0


def _print_error(error: ScrubjayError, args: Sequence[str]) -> int:
    from scrubjay.api import serializers
    from scrubjay.cli.output import RED, indent, paint, write_error, write_json
    from scrubjay.text.display import strip_control

    # A command line that cannot be parsed has no options, so check its words.
    options = args[: args.index("--")] if "--" in args else args
    if "--json" in options:
        write_json(serializers.error_fields(error))
        return error.exit_code
    for name, text in ((paint("error:", RED), str(error)), ("hint:", error.hint)):
        if text:
            write_error(f"{name} {indent(strip_control(text)).strip()}")
    return error.exit_code
