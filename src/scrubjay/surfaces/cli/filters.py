"""Filters: the options by which search and thread narrow what they look at, and say of which time, named once."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

import click

from scrubjay.memory.tiers import STATUSES, TIERS

if TYPE_CHECKING:
    from scrubjay.memory.answers import Result

F = TypeVar("F", bound=Callable[..., object])


def filtered(usual: str) -> Callable[[F], F]:
    """Return a decorator that gives a command the filters, in the order in which its help shows them.

    Args:
        usual: The statuses that are taken where none is named, for the help.
    """
    options = (
        click.option(
            "--tier",
            "tiers",
            multiple=True,
            type=click.Choice(TIERS),
            help="Only this tier; may be repeated.",
        ),
        click.option("--tag", "tags", multiple=True, help="Only what has this tag; repeated: all of them."),
        click.option("--path", default="", help="Only at or below this path within its source, or a glob."),
        click.option("--source", "sources", multiple=True, help="Only from this source, by id or path."),
        click.option(
            "--project",
            "projects",
            multiple=True,
            help="Only from this project: a name, the end of one, a path.",
        ),
        click.option("--agent", "agents", multiple=True, help="Only what this agent said or recorded."),
        click.option("--session", "sessions", multiple=True, help="Only from this conversation."),
        click.option(
            "--category",
            "categories",
            multiple=True,
            help="Only from this category and below, by id or name.",
        ),
        click.option(
            "--since",
            metavar="DATE",
            help="Only from this date on: 2026-03-01, 2026-03, yesterday, last week.",
        ),
        click.option("--until", metavar="DATE", help="Only before the end of this date."),
        click.option(
            "--status",
            "statuses",
            multiple=True,
            type=click.Choice(STATUSES),
            help=f"Of this status; may be repeated.  [default: {usual}]",
        ),
    )

    def give(function: F) -> F:
        for option in reversed(options):
            function = option(function)
        return function

    return give


def timed(function: F) -> F:
    """Give a command the options that say when is now, and of which time is asked."""
    for option in (
        click.option(
            "--tz", metavar="ZONE", help="Zone of dates, such as Europe/Berlin.  [default: recall.tz]"
        ),
        click.option(
            "--as-of", metavar="DATE", help="What was true then, not what was stored then.  [default: now]"
        ),
        click.option(
            "--now", metavar="DATE", help="When it is asked: how old everything is.  [default: now]"
        ),
    ):
        function = option(function)
    return function


def validity(result: Result) -> list[str]:
    """Return from when and before when a result is true, where that is known."""
    marks = [f"true from {result.valid_from[:10]}"] if result.valid_from is not None else []
    return marks + ([f"true before {result.valid_until[:10]}"] if result.valid_until is not None else [])


def as_of(moment: str | None) -> list[str]:
    """Return what is said of an answer as of another time."""
    return [f"as of {moment}: what was true then, not what was stored then"] if moment is not None else []
