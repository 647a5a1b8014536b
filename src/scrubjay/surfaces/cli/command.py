"""Command: a click command that takes --store, --user and --json, and hands them on as one `Call`.

The three may stand before or after the command's name; after it they win. A group imports a command's
module only when that command is asked for, so that `scrubjay search` pays for nothing but searching.
"""

from __future__ import annotations

import importlib
import itertools
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from scrubjay.config import Settings
    from scrubjay.engine import Memory

COMMON = ("store", "user", "json")
WHOLE = 1000
"""Characters of a summary in a list of commands: more than any has, so that none is cut."""


@dataclass(frozen=True, slots=True)
class Call:
    """What every command is told.

    Attributes:
        store: URL or path of the store; None for the settings' own.
        user: Who asks; None for the settings' own.
        json: Whether to print JSON.
    """

    store: str | None = None
    user: str | None = None
    json: bool = False

    def over(self, params: dict[str, Any]) -> Call:
        """Take the common options out of a command's parameters, and return the call that they make."""
        store, user, json = (params.pop(name, None) for name in COMMON)
        return Call(store or self.store, user or self.user, json or self.json)

    def settings(self) -> Settings:
        """Return the settings, with the flags on top."""
        from scrubjay.config import load
        from scrubjay.surfaces.cli.output import tell

        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", FutureWarning)
            found = load(overrides={"store": self.store, "user": self.user})
        for one in caught:
            tell(str(one.message))
        return found

    def open(self, *, cold: bool = False, new: bool = False) -> Memory:
        """Open the store.

        Args:
            cold: Load no model but the base one: for a command that answers once and ends.
            new: Whether the command may make the store that ``--store`` names; others refuse a name that
                leads nowhere, which is most often mistyped.

        Raises:
            NotFoundError: There is no such store.
        """
        from scrubjay.config_start import data_folder, environment
        from scrubjay.engine import Memory
        from scrubjay.surfaces.cli.output import tell

        settings = self.settings()
        if not new:
            self.must_exist()
        log = settings.log.open(data_folder(environment()))
        return Memory.open(settings=settings, cold=cold, announce=tell, log=log)

    def must_exist(self) -> None:
        """Refuse a ``--store`` that names a file which is not there.

        Raises:
            NotFoundError: There is no such store.
        """
        from scrubjay.errors import NotFoundError
        from scrubjay.store.open import file_of

        path = file_of(self.store) if self.store is not None else None
        if path is not None and not path.exists():
            raise NotFoundError(
                f"There is no store at {path}. Nothing was made.",
                hint=f"check --store, or make one: scrubjay sync DIR --store {self.store}",
            )


def _common() -> list[click.Parameter]:
    return [
        click.Option(
            ["--store"], metavar="URL", help="Store to use: a path, sqlite:///PATH or postgresql://…"
        ),
        click.Option(["--user"], metavar="NAME", help="Who asks; what you add belongs to them."),
        click.Option(["--json"], is_flag=True, help="Print one line of JSON."),
    ]


class Command(click.Command):
    """A command whose function is called with a `Call` before its own parameters."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.params += _common()

    def invoke(self, ctx: click.Context) -> Any:
        """Call the command's function."""
        call = (ctx.obj or Call()).over(ctx.params)
        assert self.callback is not None
        return ctx.invoke(self.callback, call, **ctx.params)


class Group(click.Group):
    """Commands by name, each imported when asked for.

    Attributes:
        lazy: Name to ``module:attribute``.
        sections: Heading to the names that the help shows under it; without any they stand under one.
        aliases: Other word to the name of the command that it runs.
        otherwise: Command that is run with words which name no command; None to refuse them.
    """

    def __init__(
        self,
        *args: Any,
        lazy: Mapping[str, str] | None = None,
        sections: Mapping[str, Sequence[str]] | None = None,
        aliases: Mapping[str, str] | None = None,
        otherwise: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.lazy = dict(lazy or {})
        self.sections = dict(sections or {})
        self.aliases = dict(aliases or {})
        self.otherwise = otherwise
        self.params += _common()

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of the table: what is used first stands first."""
        return [*self.lazy, *self.commands]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands under their headings, each with the whole first sentence of its help."""
        for heading, names in (self.sections or {"Commands": self.list_commands(ctx)}).items():
            found = [(name, self.get_command(ctx, name)) for name in names]
            rows = [(name, each.get_short_help_str(WHOLE)) for name, each in found if each is not None]
            if rows:
                with formatter.section(heading):
                    formatter.write_dl(rows)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command, importing its module now."""
        cmd_name = self.aliases.get(cmd_name, cmd_name)
        if cmd_name not in self.lazy:
            return super().get_command(ctx, cmd_name)
        module, _, attribute = self.lazy[cmd_name].partition(":")
        found: click.Command = getattr(importlib.import_module(module), attribute)
        return found

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the first argument names, or say which one may have been meant."""
        name = args[0]
        if name in self.aliases:
            return super().resolve_command(ctx, [self.aliases[name], *args[1:]])
        if self.otherwise is not None and not name.startswith("-") and name not in self.list_commands(ctx):
            words = list(itertools.takewhile(lambda each: not each.startswith("-"), args))
            return super().resolve_command(ctx, [self.otherwise, " ".join(words), *args[len(words) :]])
        if not name.startswith("-") and name not in self.list_commands(ctx) and not ctx.resilient_parsing:
            raise click.UsageError(f"No such command: {name}.{meant(name, self.list_commands(ctx))}", ctx)
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Remember the options that stand before the command's name."""
        ctx.obj = (ctx.obj or Call()).over(ctx.params)
        return super().invoke(ctx)


def command(name: str, **rules: Any) -> Callable[[Callable[..., Any]], click.Command]:
    """Make a function a command; its docstring is the help."""
    return click.command(name, cls=Command, **rules)


def meant(word: str, known: Iterable[str]) -> str:
    """Return `` Did you mean …?`` or nothing.

    >>> meant("serach", ["search", "sync"]), meant("xyz", ["search"])
    (' Did you mean search?', '')
    """
    import difflib

    near = difflib.get_close_matches(word, list(known), n=1)
    return f" Did you mean {near[0]}?" if near else ""
