r"""Add and remove one entry below a top-level key of a YAML file without reformatting the rest.

PyYAML tells where each value lies; lines are put in and cut out there, inside braces as JSON. Each edit is parsed again
and refused if anything but our entry changed. Refusals, and files that are not one YAML document, are an `InputError`.

>>> put_entry(b"model: x  # mine\n", ("servers", "a"), {"args": ["mcp"]}, Path("c.yaml"))
b'model: x  # mine\nservers:\n  a:\n    args: ["mcp"]\n'
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scrubjay.agents.json_edit import decode_config, value_at
from scrubjay.errors import InputError

Keys = tuple[str, str]
"""The top-level key, and the entry's name below it."""


def parse_yaml(data: bytes | None, where: Path) -> Any:
    """Return a document as plain values; None for an empty one."""
    import yaml

    text = decode_config(data, where)
    try:
        return yaml.safe_load(text)
    except (yaml.YAMLError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        at = f":{mark.line + 1}:{mark.column + 1}" if mark else ""
        raise InputError(
            f"{where}{at}: {getattr(error, 'problem', None) or error}. Nothing was changed.",
            hint="mend that place, or move the file away, then try again",
        ) from error


def get_entry(data: bytes | None, keys: Keys, where: Path) -> Any:
    return value_at(parse_yaml(data, where), keys)


def put_entry(data: bytes | None, keys: Keys, members: Mapping[str, Any], where: Path) -> bytes:
    """Return the document with these members in the entry; its other members stay."""
    known = get_entry(data, keys, where)
    if isinstance(known, dict) and all(known.get(name) == value for name, value in members.items()):
        return data or b""
    wanted = parse_yaml(data, where) or {}
    if isinstance(wanted, dict) and isinstance(above := wanted.get(keys[0]) or {}, dict):
        # New ones: an alias elsewhere in the document may stand for the same.
        entry = {**(known if isinstance(known, dict) else {}), **members}
        wanted = {**wanted, keys[0]: {**above, keys[1]: entry}}
    text = decode_config(data, where)
    return _verify(_put(text, keys, members, known), wanted, (keys, members), where)


def remove_entry(data: bytes | None, keys: Keys, where: Path) -> bytes | None:
    """Return the document without the entry, and without the key above it where nothing else is below that."""
    if data is None or get_entry(data, keys, where) is None:
        return data
    wanted = parse_yaml(data, where)
    wanted[keys[0]] = {name: value for name, value in wanted[keys[0]].items() if name != keys[1]}
    if not wanted[keys[0]]:
        del wanted[keys[0]]
    text = decode_config(data, where)
    root = _compose(text)
    below = _value(root, keys[0])
    if below is None or _value(below, keys[1]) is None:  # merged in from elsewhere
        return _verify(text, wanted, (keys, {}), where)
    holder, at = (root, _find(root, keys[0])) if len(below.value) == 1 else (below, _find(below, keys[1]))
    start, end = holder.value[at][0].start_mark.index, _end(holder.value[at][1])
    if holder.flow_style:
        if at:
            start = _end(holder.value[at - 1][1])
        elif len(holder.value) > 1:
            end = holder.value[1][0].start_mark.index
    else:
        start, end = text.rfind("\n", 0, start) + 1, _line_end(text, end)
    return _verify(text[:start] + text[end:], wanted or None, (keys, {}), where)


def _put(text: str, keys: Keys, members: Mapping[str, Any], known: Any) -> str:
    eol = "\r\n" if "\r\n" in text else "\n"

    def lines(indent: str, named: Mapping[str, Any]) -> str:
        return "".join(f"{indent}{name}: {_json(value)}{eol}" for name, value in named.items())

    def entry(indent: str) -> str:
        return f"{indent}{keys[1]}:{eol}{lines(f'{indent}  ', members)}"

    root = _compose(text)
    at = _find(root, keys[0]) if root else None
    if at is None:
        gap = "" if not text or text.endswith("\n") else eol
        return f"{text}{gap}{keys[0]}:{eol}{entry('  ')}"
    key, below = root.value[at]
    there = _value(below, keys[1]) is not None
    if there and isinstance(known, dict):
        for name, value in members.items():
            if known.get(name) == value:
                continue
            entry_node = _value(_value(_compose(text), keys[0]), keys[1])
            old = _value(entry_node, name)
            if old is None:
                place = text.rfind("\n", 0, entry_node.start_mark.index) + 1
                text = text[:place] + lines(" " * entry_node.start_mark.column, {name: value}) + text[place:]
            else:
                text = f"{text[: old.start_mark.index]}{_json(value)}{text[_end(old) :]}"
        return text
    if there or known:
        return text  # a name without an entry, or one that is merged in from elsewhere: refused
    if isinstance(below.value, str) or not below.value:  # nothing, `~` or `{}`
        place = _line_end(text, below.end_mark.index)
        head = text[: key.end_mark.index] + ":" + text[below.end_mark.index : place].rstrip("\r\n")
        return f"{head}{eol}{entry('  ')}{text[place:]}"
    if below.flow_style:
        place = below.end_mark.index - 1
        return f"{text[:place]}, {keys[1]}: {_json(members)}{text[place:]}"
    place = _line_end(text, _end(below))
    gap = "" if text[:place].endswith("\n") else eol
    return f"{text[:place]}{gap}{entry(' ' * below.start_mark.column)}{text[place:]}"


def _compose(text: str) -> Any:
    import yaml

    return yaml.compose(text, Loader=yaml.SafeLoader)


def _find(holder: Any, name: str) -> Any:
    pairs = holder.value if holder.id == "mapping" else []
    return next((at for at, pair in enumerate(pairs) if pair[0].value == name), None)


def _value(holder: Any, name: str) -> Any:
    at = _find(holder, name)
    return None if at is None else holder.value[at][1]


def _end(node: Any) -> int:
    """Position after a value: PyYAML ends a block where the next begins, after the comments between."""
    if isinstance(node.value, list) and not node.flow_style and node.value:
        last = node.value[-1]
        return _end(last[1] if isinstance(last, tuple) else last)
    return int(node.end_mark.index)


def _line_end(text: str, at: int) -> int:
    if at and text[at - 1] == "\n":
        return at
    found = text.find("\n", at)
    return len(text) if found < 0 else found + 1


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _verify(text: str, wanted: Any, put: tuple[Keys, Mapping[str, Any]], where: Path) -> bytes:
    keys, members = put
    found: Any = None
    try:
        found = parse_yaml(text.encode("utf-8"), where)
        same = found == wanted
    except InputError:
        same = False
    if not same:
        what = (
            f"add to {keys[0]} in it: {keys[1]}: {_json(members)}" if members else f"remove {keys[1]} there"
        )
        raise InputError(
            f"{where}: {'.'.join(keys)} cannot be changed without changing the text around it. "
            "Nothing was changed.",
            hint=f"{what}, by hand",
        )
    return text.encode("utf-8")
