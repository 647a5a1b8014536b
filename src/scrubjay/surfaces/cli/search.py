"""search: question -> the memories that answer it, with where and when."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from scrubjay.config import keys_of
from scrubjay.config_recall import FUSIONS, Recall
from scrubjay.config_rerank import KINDS
from scrubjay.errors import InputError
from scrubjay.memory.tiers import UNTRUSTED
from scrubjay.surfaces.cli import warm
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
    from collections.abc import Sequence

    from scrubjay.memory.answers import Answer, Explanation, Result

PRESETS = ("kit", "openclaw", "router")
SHAPES = ("memory", "session")
MOST_NEIGHBOURS = 10
WEAK = 0.1
"""Relevance below which a match is counted, not shown: at most one in ten of such answers."""
KEYS = keys_of(Recall)


@command("search")
@click.argument("query", nargs=-1, required=True)
@click.option(
    "--limit", "-n", metavar="N", type=click.IntRange(1, 1000), help="Results.  [default: recall.limit]"
)
@filtered("active")
@click.option("--preset", type=click.Choice(PRESETS), help="Rank as another tool's formula does.")
@click.option("--fusion", type=click.Choice(FUSIONS), help="How scores are joined.  [default: recall.fusion]")
@click.option("--weights", metavar="LIST", help="What channels weigh, such as bm25=.3,vector=.7.")
@click.option(
    "--rerank", type=click.Choice(KINDS), help="Who looks again at the best.  [default: rerank.kind]"
)
@click.option(
    "--links", metavar="N", type=click.IntRange(0, 5), help="Follow links, N hops.  [default: recall.links]"
)
@click.option(
    "--hierarchy/--no-hierarchy",
    default=None,
    help="Descend the categories that fit.  [default: recall.hierarchy]",
)
@click.option("--threshold", metavar="S", type=float, help="Least score, 0 to 1; for fusion raw.")
@timed
@click.option(
    "--here",
    default=".",
    metavar="PROJECT",
    help="Prefer memories of this project: a name, a path; empty for none.  [default: .]",
)
@click.option(
    "--confidence-floor",
    metavar="N",
    type=float,
    help="Least confidence.  [default: recall.confidence_floor]",
)
@click.option(
    "--history",
    metavar="FILE",
    help="What was said before, a turn a line, - for standard input (llm.rewrite).",
)
@click.option(
    "--min-relevance",
    metavar="auto|N",
    help="Only results of this relevance (0 to 1, 0 for all); auto: none where nothing is likely to answer."
    "  [default: recall.min_relevance]",
)
@click.option("--by", type=click.Choice(SHAPES), help="What a result is: a memory, or a whole conversation.")
@click.option(
    "--neighbours",
    metavar="N",
    type=click.IntRange(0, MOST_NEIGHBOURS),
    help="Turns of its conversation to show around a result.",
)
@click.option(
    "--weak", is_flag=True, help="Show matches below a relevance of .1, too; JSON always holds them."
)
@click.option("--explain", is_flag=True, help="Show every part of each score.")
def search(call: Call, query: tuple[str, ...], weak: bool, **options: Any) -> None:
    """Search memories, best first.

    "Quoted words" must stand together in a result, -word must not stand in it; put `--` before a query with
    such a word: scrubjay search -- invoices -draft. A query of - is read from standard input. Nothing found
    is not an error: the exit code is 0 and the list is empty.
    """
    if query == ("-",) and options["history"] == "-":
        raise InputError("Both the query and its history are - and would be read from standard input.")
    text = sys.stdin.read() if query == ("-",) else " ".join(query)
    explain = options["explain"]
    given = {name: value for name, value in options.items() if value not in (None, (), "")}
    if "history" in given:
        given["history"] = turns(given["history"])
    if "weights" in given:
        given["weights"] = weights(given["weights"])
    if "min_relevance" in given:
        given["min_relevance"] = relevance(given["min_relevance"])
    found = warm.search(call, text, given)
    where = ""
    if found is None or not (found.results or found.silence):
        with call.open(cold=True) as memory:
            found = memory.search(text, **given)
            empty = not (found.results or found.silence) and memory.status().memories == 0
            where = memory.status().store if empty else ""
    hint = "scrubjay sync DIR" if where else ""
    if call.json:
        payload = shape.answer(found, explain=explain)
        write_json(payload | {"hint": f"{where} is empty: {hint}"} if hint else payload)
        return
    if hint:
        write(f"Nothing is stored yet in {clean(where)}.\nhint: {hint}")
        return
    on = colourful(sys.stdout)
    whole = weak or explain or '"' in text or "min_relevance" in given
    numbered = list(enumerate(found.results, 1))
    shown = len(numbered) if whole else before_weak([one.relevance for one in found.results])
    blocks = [block(number, result, text, on=on) for number, result in numbered[:shown]]
    if shown < len(numbered):
        blocks.append(folded(numbered[shown:]))
    write("\n\n".join(blocks) if blocks else found.silence or f"Nothing found for: {line(text)}")
    _after(found, explain=explain, on=on)


def before_weak(relevances: Sequence[float | None]) -> int:
    """Return how many results stand before the weak end of a list: what ranks above a likely result is shown with it.

    >>> before_weak([0.01, 0.4, 0.05, None, 0.02, 0.0]), before_weak([0.01, 0.02])
    (4, 0)
    """
    return max((at for at, one in enumerate(relevances, 1) if one is None or one >= WEAK), default=0)


def folded(weak: Sequence[tuple[int, Result]]) -> str:
    """Return the one line that stands for weak matches."""
    best = max((one for _, one in weak), key=lambda one: one.relevance or 0.0)
    where = best.id if best.path is None else f"{best.path}:{best.line_start}"
    noun = "weak match" if len(weak) == 1 else "weak matches"
    return f"{len(weak):,} {noun}, best {best.relevance or 0.0:.2f} in {line(where)}: --weak shows them"


def weights(text: str) -> dict[str, float]:
    """Return the weights that a flag names.

    Raises:
        InputError: They cannot be read.
    """
    try:
        return KEYS["weights"].parse(text, Path())  # type: ignore[return-value]
    except ValueError as error:
        raise InputError(f"--weights is {text!r}, but it takes {error}.") from error


def turns(name: str) -> list[str]:
    """Return the lines of a file, or of standard input where it is called -.

    Raises:
        InputError: It cannot be read.
    """
    if name == "-":
        return sys.stdin.read().splitlines()
    try:
        return Path(name).read_text("utf-8", errors="replace").splitlines()
    except (OSError, ValueError) as error:
        raise InputError(f"--history {name!r} cannot be read: {error}. Nothing was searched.") from error


def relevance(text: str) -> float | str:
    """Return the least relevance that a flag names.

    Raises:
        InputError: It is none.
    """
    try:
        return KEYS["min_relevance"].parse(text, Path())  # type: ignore[return-value]
    except ValueError as error:
        raise InputError(f"--min-relevance is {text!r}, but it takes {error}.") from error


def block(number: int, result: Result, query: str, *, on: bool) -> str:
    """Return one result as lines of text."""
    marks = [result.tier, *([result.date] if result.date else []), f"score {result.score:.3f}"]
    marks += [f"relevance {result.relevance:.2f}"] if result.relevance is not None else []
    marks += [UNTRUSTED] if result.origin == UNTRUSTED else []
    marks += [result.status] if result.status != "active" else []
    marks += validity(result)
    marks += [f"#{tag}" for tag in result.tags]
    lines = [
        *headed(number, result, marks, on=on),
        indent(emphasised(clean(result.snippet).strip("\n"), query, on=on)),
    ]
    if result.evidence:
        lines.append(indent(paint(f"from {', '.join(result.evidence)}", DIM, on=on)))
    for turn in result.turns:
        head = f"{turn.offset:+d} {turn.role or 'turn'}"
        head += f" · {turn.date}" if turn.date else ""
        head += f" · score {turn.score:.3f}" if turn.score is not None else ""
        lines.append(indent(paint(line(f"{head} · {turn.id}"), DIM, on=on)))
        lines.append(indent(indent(emphasised(clean(turn.snippet).strip("\n"), query, on=on))))
    if result.newer:
        lines.append(indent(paint(f"newer: {', '.join(result.newer)}", DIM, on=on)))
    if result.copies:
        which = f": {', '.join(result.copied)}" if result.explanation is not None else ""
        lines.append(
            indent(paint(f"said by {counted(result.copies, 'other memory')} too{which}", DIM, on=on))
        )
    if result.explanation is not None:
        lines += [indent(each) for each in explained(result.explanation, result.score)]
    return "\n".join(lines)


def explained(why: Explanation, score: float) -> list[str]:
    """Return the parts of a score, one a line: what was added, what it was multiplied by."""
    lines = []
    for part in why.contributions:
        sign = "-" if part.amount < 0 else "+"
        made = f"value {part.value:.6f} x weight {part.weight:.6f} (raw {part.raw:.6f})"
        lines.append(f"{sign} {abs(part.amount):.6f}  {line(part.channel)}: {made}")
    for factor in why.factors:
        reason = f" ({line(factor.reason)})" if factor.reason else ""
        lines.append(f"x {factor.value:.6f}  {line(factor.name)}{reason}")
    lines.append(f"= {score:.6f}")
    if why.way:
        lines.append(f"led to by {line(why.way[0])} over {line(why.way[1])}")
    if why.words:
        words = ", ".join(f"{line(word)} {value:.3f}" for word, value in why.words.items())
        lines.append(f"words in bm25: {words}")
    return lines


def _after(found: Answer, *, explain: bool, on: bool) -> None:
    notes = [f"partial: {line(each)}" for each in found.partial]
    notes += [f"note: {line(each)}" for each in found.notes] if explain else []
    notes += as_of(found.as_of)
    notes += [f"hidden by age: {found.hidden:,} (a higher --limit shows them)"] if found.hidden else []
    notes.append(f"{counted(len(found.results), 'result')} in {found.took_ms:.0f} ms")
    write(paint("\n" + "\n".join(notes), DIM, on=on))
