"""Edit JSON: a document's bytes, a path of names and a value -> the bytes with that value in its place.

Whatever is not named stays as it is, to the byte: order, comments, indentation, ends of lines, a byte order mark,
how the last line ends. What is written is plain JSON in the manner of what stands around it. Read is JSON with
comments and all else that JSON5 allows. No library does this without another language's runtime
(docs/decisions.md).

>>> put(b'{"a": 1} // mine', ("b", "c"), True, Path("x.json"))
b'{"a": 1, "b": {"c": true}} // mine'
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from scrubjay.agents.json_text import Keys, Text, index_of


def parse(data: bytes | None, where: Path) -> Any:
    """Return a document's value; of one that is not there or empty, an empty object.

    Args:
        data: The document; None where there is none.
        where: Its path, for messages.

    Raises:
        InputError: It is no UTF-8, or no JSON5; the message names line and column.
    """
    root = _read(data, where).root
    return {} if root is None else root.value


def get(data: bytes | None, keys: Keys, where: Path) -> Any:
    """Return the value at a path; None where there is none.

    Raises:
        InputError: The document is broken.
    """
    value = parse(data, where)
    for key in keys:
        if not _holds(value, key):
            return None
        value = value[key]
    return value


def stray(data: bytes | None, where: Path) -> str:
    """Return ``path:line:column`` of the first thing that plain JSON does not have; nothing where there is none.

    For agents that take plain JSON alone, and ignore a file that has a comment. A byte order mark is not counted.
    """
    try:
        json.loads((data or b"{}").decode("utf-8-sig", "replace") or "{}")
    except json.JSONDecodeError as error:
        return f"{where}:{error.lineno}:{error.colno}"
    return ""


def put(data: bytes | None, keys: Keys, value: Any, where: Path) -> bytes:
    """Return the document with a value at a path; objects that are missing on the way are made.

    Raises:
        InputError: The document is broken, or what stands on the way is no object.
    """
    text = _read(data, where)
    if text.root is None:
        return text.begun(_within(keys, value))
    node, left = text.walk(keys)
    if left:
        return text.inserted(node, str(left[0]), _within(left[1:], value))
    return text.source if _same(node.value, value) else text.replaced(node, value)


def put_members(data: bytes | None, keys: Keys, members: Mapping[str, Any], where: Path) -> bytes:
    """Return the document with these members in the object at a path; others that it has are kept.

    Raises:
        InputError: As `put`.
    """
    if data is None or get(data, keys, where) is None:
        return put(data, keys, dict(members), where)
    for name, value in members.items():
        data = put(data, (*keys, name), value, where)
    return data


def put_item(data: bytes | None, keys: Keys, item: Any, ours: Callable[[Any], bool], where: Path) -> bytes:
    """Return the document with one item in the array at a path.

    It takes the place of the first item that is ``ours``, other such items go; without any it is put at the end.

    Raises:
        InputError: As `put`, or the path leads to no array.
    """
    text = _read(data, where)
    if text.root is None:
        return put(data, keys, [item], where)
    node, left = text.walk(keys)
    if left:
        return put(data, keys, [item], where)
    text.must_be(node, list, keys)
    places = [at for at, each in enumerate(node.value) if ours(each)]
    if not places:
        return text.inserted(node, None, item)
    source = text.source
    for at in reversed(places[1:]):
        source = _drop(source, (*keys, at), where)
    return put(source, (*keys, places[0]), item, where)


def cut(data: bytes | None, keys: Keys, where: Path) -> bytes | None:
    """Return the document without what stands at a path, and without what becomes empty by that.

    An object or array that still holds a comment stays.

    Raises:
        InputError: The document is broken.
    """
    if data is None or not _there(data, keys, where):
        return data
    data = _drop(data, keys, where)
    while isinstance(keys[-1], str) and _there(data, keys, where):
        data = _drop(data, keys, where)
    above = keys[:-1]
    if above and get(data, above, where) in ({}, []) and not _read(data, where).has_comment(above):
        return cut(data, above, where)
    return data


def cut_items(data: bytes | None, keys: Keys, ours: Callable[[Any], bool], where: Path) -> bytes | None:
    """Return the document without the items that are ``ours`` of the array at a path.

    Raises:
        InputError: The document is broken.
    """
    items = get(data, keys, where)
    if isinstance(items, list):
        for at in reversed([at for at, each in enumerate(items) if ours(each)]):
            data = cut(data, (*keys, at), where)
    return data


@lru_cache(maxsize=4)
def _read(data: bytes | None, where: Path) -> Text:
    """A document, read once for the several edits of one installation: a client's own file can have megabytes."""
    return Text(data, where)


def _there(data: bytes, keys: Keys, where: Path) -> bool:
    return _holds(get(data, keys[:-1], where), keys[-1])


def _holds(holder: Any, key: str | int) -> bool:
    if isinstance(holder, dict):
        return key in holder
    return isinstance(holder, list) and isinstance(key, int) and key < len(holder)


def _drop(data: bytes, keys: Keys, where: Path) -> bytes:
    text = _read(data, where)
    holder, _ = text.walk(keys[:-1])
    at = index_of(holder, keys[-1])
    return text.source if at is None else text.removed(holder, at)


def _within(keys: Keys, value: Any) -> Any:
    for key in reversed(keys):
        value = {key: value}
    return value


def _same(one: Any, other: Any) -> bool:
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
