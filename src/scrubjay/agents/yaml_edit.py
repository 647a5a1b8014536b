r"""Add and remove one entry below a top-level key of a YAML file without reformatting the rest.

PyYAML gives each value's position; lines are inserted and removed there, inside braces as JSON. Each edit is parsed
again and refused if it changed more than our entry. Refusals and files that are not one document are an `InputError`.

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
    existing = get_entry(data, keys, where)
    if isinstance(existing, dict) and all(existing.get(name) == value for name, value in members.items()):
        return data or b""
    expected = parse_yaml(data, where) or {}
    if isinstance(expected, dict) and isinstance(servers := expected.get(keys[0]) or {}, dict):
        # New ones: an alias elsewhere in the document may stand for the same.
        entry = {**(existing if isinstance(existing, dict) else {}), **members}
        expected = {**expected, keys[0]: {**servers, keys[1]: entry}}
    text = decode_config(data, where)
    return _verify(_edit_text(text, keys, members, existing), expected, (keys, members), where)


def remove_entry(data: bytes | None, keys: Keys, where: Path) -> bytes | None:
    """Return the document without the entry, and without the key above it where nothing else is below that."""
    if data is None or get_entry(data, keys, where) is None:
        return data
    expected = parse_yaml(data, where)
    left = {name: value for name, value in expected.pop(keys[0]).items() if name != keys[1]}
    expected |= {keys[0]: left} if left else {}
    text = decode_config(data, where)
    root = _compose(text)
    entries = _child(root, keys[0])
    if entries is None or _child(entries, keys[1]) is None:  # merged in from elsewhere
        return _verify(text, expected, (keys, {}), where)
    holder, key = (root, keys[0]) if len(entries.value) == 1 else (entries, keys[1])
    above = root.value[_child_index(root, keys[0])][0].end_mark.index
    if holder is root and "#" in text[above : entries.value[0][0].start_mark.index]:  # a comment there stays
        holder, key, expected[keys[0]] = entries, keys[1], {} if entries.flow_style else None
    index = _child_index(holder, key)
    start, end = holder.value[index][0].start_mark.index, _end_index(holder.value[index][1])
    if holder.flow_style:
        if index:
            start = _end_index(holder.value[index - 1][1])
        elif len(holder.value) > 1:
            end = holder.value[1][0].start_mark.index
    else:
        start, end = text.rfind("\n", 0, start) + 1, _line_end(text, end)
    return _verify(text[:start] + text[end:], expected or None, (keys, {}), where)


def _edit_text(text: str, keys: Keys, members: Mapping[str, Any], existing: Any) -> str:
    eol = "\r\n" if "\r\n" in text else "\n"

    def lines(indent: str, named: Mapping[str, Any]) -> str:
        return "".join(f"{indent}{name}: {_json(value)}{eol}" for name, value in named.items())

    def entry(indent: str) -> str:
        return f"{indent}{keys[1]}:{eol}{lines(f'{indent}  ', members)}"

    root = _compose(text)
    index = _child_index(root, keys[0]) if root else None
    if index is None:
        gap = "" if not text or text.endswith("\n") else eol
        return f"{text}{gap}{keys[0]}:{eol}{entry('  ')}"
    entries = root.value[index][1]
    is_named = _child(entries, keys[1]) is not None
    if is_named and isinstance(existing, dict):
        for name, value in members.items():
            if existing.get(name) == value:
                continue
            entry_node = _child(_child(_compose(text), keys[0]), keys[1])
            old = _child(entry_node, name)
            if old is None:
                place = text.rfind("\n", 0, entry_node.start_mark.index) + 1
                text = text[:place] + lines(" " * entry_node.start_mark.column, {name: value}) + text[place:]
            else:
                text = f"{text[: old.start_mark.index]}{_json(value)}{text[_end_index(old) :]}"
        return text
    if is_named or existing:
        return text  # a name without an entry, or one that is merged in from elsewhere: refused
    if isinstance(entries.value, str) or not entries.value:  # nothing, `~` or `{}`
        place = _line_end(text, entries.end_mark.index)
        head = (text[: entries.start_mark.index].rstrip() + text[entries.end_mark.index : place]).rstrip(
            "\r\n"
        )
        return f"{head}{eol}{entry('  ')}{text[place:]}"
    if entries.flow_style:
        place = entries.end_mark.index - 1
        return f"{text[:place]}, {keys[1]}: {_json(members)}{text[place:]}"
    place = _line_end(text, _end_index(entries))
    gap = "" if text[:place].endswith("\n") else eol
    return f"{text[:place]}{gap}{entry(' ' * entries.start_mark.column)}{text[place:]}"


def _compose(text: str) -> Any:
    import yaml

    return yaml.compose(text, Loader=yaml.SafeLoader)


def _child_index(holder: Any, name: str) -> Any:
    pairs = holder.value if holder.id == "mapping" else []
    return next((index for index, pair in enumerate(pairs) if pair[0].value == name), None)


def _child(holder: Any, name: str) -> Any:
    index = _child_index(holder, name)
    return None if index is None else holder.value[index][1]


def _end_index(node: Any) -> int:
    """Position after a value: PyYAML ends a block where the next begins, after the comments between."""
    if isinstance(node.value, list) and not node.flow_style and node.value:
        last = node.value[-1]
        return _end_index(last[1] if isinstance(last, tuple) else last)
    return int(node.end_mark.index)


def _line_end(text: str, at: int) -> int:
    if at and text[at - 1] == "\n":
        return at
    newline = text.find("\n", at)
    return len(text) if newline < 0 else newline + 1


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _verify(text: str, expected: Any, edit: tuple[Keys, Mapping[str, Any]], where: Path) -> bytes:
    keys, members = edit
    parsed: Any = None
    try:
        parsed = parse_yaml(text.encode("utf-8"), where)
        same = parsed == expected
    except InputError:
        same = False
    if not same:
        action = (
            f"add to {keys[0]} in it: {keys[1]}: {_json(members)}" if members else f"remove {keys[1]} there"
        )
        raise InputError(
            f"{where}: {'.'.join(keys)} cannot be changed without changing the text around it. "
            "Nothing was changed.",
            hint=f"{action}, by hand",
        )
    return text.encode("utf-8")
