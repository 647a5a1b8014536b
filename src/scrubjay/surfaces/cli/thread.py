"""thread: question -> its story: what was found, what led there, what came of it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from scrubjay.memory.tiers import UNTRUSTED
from scrubjay.surfaces.cli.command import Call, command
from scrubjay.surfaces.cli.filters import as_of, filtered, timed, validity
from scrubjay.surfaces.cli.output import (
    DIM,
    clean,
    colourful,
    counted,
    emphasised,
    headed,
    indent,
    line,
    paint,
    write,
    write_json,
)  # fmt: skip
from scrubjay.verbs import shape

if TYPE_CHECKING:
    from scrubjay.memory.threads import Knot, Reached, Step


@command("thread")
@click.argument("query", nargs=-1, required=True)
@click.option("--limit", "-n", metavar="N", type=click.IntRange(1, 100), help="Memories.  [default: 12]")
@click.option("--hops", metavar="N", type=click.IntRange(0, 4), help="Hops from what is found.  [default: 2]")
@click.option(
    "--fan-out", metavar="N", type=click.IntRange(1, 50), help="Edges followed from each.  [default: 8]"
)
@filtered("active, superseded")
@timed
@click.option("--explain", is_flag=True, help="Show the parts of each score.")
def thread(call: Call, query: tuple[str, ...], explain: bool, **options: Any) -> None:
    """Tell the story that a question is about, in the order in which it happened.

    It begins with what a search finds and goes on over what memories share, follow, link to and replace; each says
    by which way it was come to. Superseded memories are marked. A query of - is read from standard input.
    """
    text = sys.stdin.read() if query == ("-",) else " ".join(query)
    given = {name: value for name, value in options.items() if value not in (None, (), "")}
    with call.open(cold=True) as memory:
        found = memory.thread(text, **given)
    if call.json:
        write_json(shape.thread(found))
        return
    on = colourful(sys.stdout)
    for number, knot in enumerate(found.knots, 1):
        if knot.gap:
            write(paint(f"   … {line(knot.gap)}", DIM, on=on) + "\n")
        write(block(number, knot, text, explain=explain, on=on) + "\n")
    if not found.knots:
        write(f"{found.silence or f'Nothing found for: {line(text)}'}\n")
    notes = [f"partial: {line(each)}" for each in found.partial] + as_of(found.as_of)
    notes.append(
        f"{counted(len(found.knots), 'memory')}, {found.left_out:,} left out, in {found.took_ms:.0f} ms"
    )
    write(paint("\n".join(notes), DIM, on=on))


def block(number: int, knot: Knot, query: str, *, explain: bool, on: bool) -> str:
    """Return one memory as lines of text."""
    result, reached = knot.result, knot.reached
    marks = [(knot.dated and result.date) or "not dated", result.tier, f"score {result.score:.3f}"]
    marks += [UNTRUSTED] if result.origin == UNTRUSTED else []
    marks += [result.status] if result.status != "active" else []
    marks += validity(result)
    marks += [f"replaced by {', '.join(knot.replaced_by)}"] if knot.replaced_by else []
    marks += [f"contradicts {', '.join(knot.contradicts)}"] if knot.contradicts else []
    lines = [
        *headed(number, result, marks, on=on),
        indent(emphasised(clean(result.snippet).strip("\n"), query, on=on)),
        indent(paint(line(way(reached)), DIM, on=on)),
    ]
    if explain:
        parts = (
            f"{reached.share:g} x carried {reached.carried:.6f} + {reached.least:g} x own {reached.own:.6f}"
        )
        lines.append(indent(paint(f"score: {parts}", DIM, on=on)))
    return "\n".join(lines)


def way(reached: Reached) -> str:
    """Return how a memory was come to."""
    if not reached.path:
        return "found by the search"
    steps = " ".join([reached.seed, *(step(each) for each in reached.path)])
    return f"found by the search, and by {steps}" if reached.found else f"by {steps}"


def step(taken: Step) -> str:
    """Return one step.

    >>> from scrubjay.memory.threads import Step
    >>> step(Step("references", "to", "con_1", "Go")), step(Step("supersedes", "from", "obs_1"))
    ('-references-> Go', '<-supersedes- obs_1')
    """
    name = taken.name or taken.id
    return f"-{taken.kind}-> {name}" if taken.direction == "to" else f"<-{taken.kind}- {name}"
