"""Plans: which of the tables that a statement reads or writes are bound to a tenant, by the server's own plan of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate
from typing import Any

Plan = Mapping[str, Any]

OWN = ("Index Cond", "Recheck Cond", "Filter", "TID Cond")
"""Conditions on the rows of one table."""
BETWEEN = ("Hash Cond", "Merge Cond", "Join Filter")
"""Conditions on pairs of rows."""
GIVEN = r"\(?\$\d+\)?(?:::bigint)?"
COLUMN = r"(?P<{0}>\w+)\.tenant"
EQUAL = re.compile(rf"{COLUMN.format('left')} = (?:{COLUMN.format('right')}|{GIVEN})")
TURNED = re.compile(rf"{GIVEN} = {COLUMN.format('left')}")
NAMED = re.compile(rf"tenant\.(?:id|name) = {GIVEN}")
"""How the table of tenants is asked."""


def loose(plan: Plan, tables: Iterable[str]) -> list[str]:
    """Return the tables, by their names in the plan, that are read without a tenant or written without one.

    Args:
        plan: Of ``EXPLAIN (VERBOSE, GENERIC_PLAN, FORMAT JSON)``.
        tables: All that have tenants, and the table of tenants.
    """
    held = set(tables)
    bound: set[str] = set()
    links = list(_links(plan))
    while fresh := {one for one, by in links if one not in bound and (by is None or by in bound)}:
        bound |= fresh
    nodes = list(_nodes(plan))
    read = [node["Alias"] for node in nodes if node.get("Relation Name") in held and _reads(node)]
    added = [node["Relation Name"] for node in nodes if node.get("Operation") == "Insert" and not _adds(node)]
    return sorted({name for name in read if name not in bound} | set(added))


def _reads(node: Plan) -> bool:
    return "Scan" in str(node["Node Type"])


def _adds(node: Plan) -> bool:
    """Return whether what is inserted begins with a tenant that was given, or is a tenant."""
    if node["Relation Name"] == "tenant":
        return True
    first = str(node["Plans"][0]["Output"][0])
    return re.fullmatch(rf"{GIVEN}|\(?{GIVEN}\)?|\w+\.tenant", first) is not None


def _nodes(plan: Plan) -> Iterator[Plan]:
    yield plan
    for below in plan.get("Plans", ()):
        yield from _nodes(below)


def _links(plan: Plan) -> Iterator[tuple[str, str | None]]:
    """Yield names with the name that binds them, None where the statement's own value does."""
    for node in _nodes(plan):
        for condition in _conditions(node, OWN):
            if NAMED.fullmatch(condition) and node.get("Relation Name") == "tenant":
                yield node["Alias"], None
            yield from _equal(condition, {node.get("Alias", "")})
        can_lack = _aliases(_lacking(node))
        for condition in _conditions(node, BETWEEN):
            yield from _equal(condition, can_lack)


def _equal(condition: str, which: set[str]) -> Iterator[tuple[str, str | None]]:
    match = EQUAL.fullmatch(condition) or TURNED.fullmatch(condition)
    if match is None:
        return
    left, right = match["left"], match.groupdict().get("right")
    if left in which:
        yield left, right
    if right is not None and right in which:
        yield right, left


def _lacking(node: Plan) -> list[Plan]:
    """Return the sides of a join from which only rows come that its condition lets through."""
    sides = [below for below in node.get("Plans", ()) if below["Parent Relationship"] in ("Outer", "Inner")]
    kind = node.get("Join Type")
    if kind in ("Inner", "Semi", "Right Semi"):
        return sides
    wanted = {"Left": "Inner", "Anti": "Inner", "Right": "Outer", "Right Anti": "Outer"}.get(str(kind))
    return [side for side in sides if side["Parent Relationship"] == wanted]


def _aliases(plans: Iterable[Plan]) -> set[str]:
    return {node["Alias"] for plan in plans for node in _nodes(plan) if "Alias" in node}


def _conditions(node: Plan, kinds: Iterable[str]) -> Iterator[str]:
    """Yield each of the conditions that must all hold."""
    for kind in kinds:
        if kind in node:
            yield from _both(str(node[kind]))


def _both(condition: str) -> Iterator[str]:
    """Yield the parts of a condition that ``AND`` joins at its top.

    >>> list(_both("((m.tenant = $1) AND ((a = 1) OR (b = 2)))"))
    ['m.tenant = $1', '(a = 1) OR (b = 2)']
    """
    text = _bare(condition)
    depth, start, parts = 0, 0, []
    for place, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if depth == 0 and text.startswith(" AND ", place):
            parts.append(text[start:place])
            start = place + len(" AND ")
    if not parts:
        yield text
        return
    for part in (*parts, text[start:]):
        yield from _both(part)


def _bare(text: str) -> str:
    """Return a text without the brackets that are around all of it."""
    while text.startswith("(") and text.endswith(")"):
        depths = list(accumulate((letter == "(") - (letter == ")") for letter in text))
        if 0 in depths[:-1]:
            break
        text = text[1:-1]
    return text
