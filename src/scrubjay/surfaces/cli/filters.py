"""Filters: the options by which search and thread narrow what they look at, named once."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import click

from scrubjay.memory.tiers import STATUSES, TIERS

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
            "--since", metavar="DATE", help="Only from this date on, such as 2026-03-01 or 2026-03."
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
