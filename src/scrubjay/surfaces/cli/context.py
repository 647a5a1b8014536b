"""context: a question, or nothing -> what to have in mind, ready to be put into a conversation."""

from __future__ import annotations

import sys
from typing import Any

import click

from scrubjay.errors import InputError
from scrubjay.memory.contexts import PARTS
from scrubjay.surfaces.cli.command import Call, command
from scrubjay.surfaces.cli.output import clean, counted, line, tell, write, write_json
from scrubjay.verbs import shape


@command("context")
@click.argument("query", nargs=-1)
@click.option(
    "--budget", metavar="N", type=click.IntRange(50, 100_000), help="Most tokens.  [default: context.budget]"
)
@click.option("--project", help="Of this project and of none: a name, the end of one, a path such as `.`.")
@click.option("--session", help="The conversation that goes on; what was said in it is left out.")
@click.option("--agent", help="Only what this agent said or recorded.")
@click.option(
    "--exclude-path",
    "exclude_paths",
    multiple=True,
    help="A file that the agent reads itself: a name, or a pattern of paths.  [default: context.loaded]",
)
@click.option(
    "--part", "parts", multiple=True, type=click.Choice(PARTS), help="Only this part; may be repeated."
)
@click.option("--session-start", is_flag=True, help="No question: a session begins.")
@click.option("--now", metavar="DATE", help="Ask as of then.  [default: now]")
def context(call: Call, query: tuple[str, ...], session_start: bool, **options: Any) -> None:
    """Print what is worth having in mind for a question, or for a session that begins.

    Without a question: what is pinned, what is known of the project, the last sessions. With one: what is pinned and
    what has to do with it, and nothing at all where nothing has. The text is delimited and escaped; what was left
    out is counted on standard error. A query of - is read from standard input.
    """
    if session_start and query:
        raise InputError("--session-start goes without a question.", hint="leave one of the two out")
    text = sys.stdin.read() if query == ("-",) else " ".join(query) if query else None
    given = {name: value for name, value in options.items() if value not in (None, ())}
    with call.open(cold=True) as memory:
        found = memory.context(text, **given)
    if call.json:
        write_json(shape.plain(found))
        return
    if found.text:
        write(clean(found.text))
    elif found.silence:
        tell(found.silence)
    left = f", {counted(len(found.left_out), 'memory')} left out" if found.left_out else ""
    for each in found.partial:
        tell(f"partial: {line(each)}")
    tell(f"{counted(found.tokens, 'token')} of {found.budget:,}{left}, in {found.took_ms:.0f} ms")
