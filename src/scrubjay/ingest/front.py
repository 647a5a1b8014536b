"""Front: YAML between dashes -> its fields, every value as the text that was written.

Values are not turned into numbers, dates or truth values: a tag ``no`` stays ``no``, and ``2026-02-30`` stays
to be named in a problem. So no YAML type can be asked for: nothing but strings, lists and mappings is built.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

MOST = 64 * 1024
"""Characters of front matter that are read; what people write by hand is a hundredth of it."""

DEEPEST = 16
"""Levels of nesting that are read: deeper YAML is built to exhaust its reader."""


def fields(raw: str) -> tuple[Mapping[str, object], str]:
    """Read front matter.

    Args:
        raw: What stands between the lines of dashes, its line ends made even.

    Returns:
        The fields by lower-case name, and what is wrong with them as a sentence; one of the two is empty.
        A value is a string, a list or a mapping.
    """
    import yaml

    if len(raw) > MOST:
        return {}, f"The front matter has {len(raw):,} characters; at most {MOST:,} are read."
    loader: type = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    try:
        wrong = _suspect(yaml.parse(raw, Loader=loader))
        found = None if wrong else yaml.load(raw, Loader=loader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        what = getattr(error, "problem", None) or "it cannot be parsed"
        where = f" (line {mark.line + 2})" if mark else ""  # the dashes are line 1
        return {}, f"The front matter is not YAML: {what}{where}."
    except (ValueError, OverflowError):  # an escape beyond Unicode, half of a surrogate pair
        return {}, "The front matter is not YAML: it holds a character that does not exist."
    if wrong:
        return {}, wrong
    if found is None or found == "":
        return {}, ""
    if not isinstance(found, dict):
        return {}, "The front matter names no fields: write `key: value` lines."
    return {str(key).strip().lower(): value for key, value in found.items()}, ""


def _suspect(events: Iterable[object]) -> str:
    """Why YAML is not to be built, by its events, which are read without building anything."""
    import yaml

    depth = 0
    for event in events:
        if isinstance(event, yaml.AliasEvent):
            return "The front matter repeats itself by YAML aliases (`*name`), which are not read."
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > DEEPEST:
            return f"The front matter is nested more than {DEEPEST} levels deep."
    return ""
