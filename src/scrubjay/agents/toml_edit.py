"""Add and remove a table in a TOML file without reformatting the rest.

Our table is appended and cut out as lines: tomlkit would put it after the last table of its kind, between a comment and
the table it describes. Inside an existing table tomlkit changes only what differs. Each edit is parsed again and
refused if anything but our table changed. Refusals, and documents that are not TOML, are an `InputError`.
"""

from __future__ import annotations

import contextlib
import copy
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from scrubjay.agents.json_edit import decode_config, value_at
from scrubjay.errors import InputError

_BOM: Final = "\ufeff"
_BLANK: Final = "\ufeff \t\r\n"


def parse_toml(data: bytes | None, where: Path) -> dict[str, Any]:
    """Return a document as plain values; an empty one for None."""
    import tomllib

    text = decode_config(data, where)
    try:
        return tomllib.loads(text.removeprefix(_BOM))
    except tomllib.TOMLDecodeError as error:
        position = re.search(r"\(at line (\d+), column (\d+)\)", str(error))
        end = (text.count("\n") + 1, len(text) - text.rfind("\n"))
        line, column = position.groups() if position else end
        reason = str(error).partition(" (at ")[0]
        raise InputError(
            f"{where}:{line}:{column}: {reason}. Nothing was changed.",
            hint="mend that place, or move the file away, then try again",
        ) from error


def get_value(data: bytes | None, keys: Sequence[str], where: Path) -> Any:
    return value_at(parse_toml(data, where), keys)


def put_table(data: bytes | None, keys: Sequence[str], members: Mapping[str, Any], where: Path) -> bytes:
    """Return the document with these members in the table at a path; its other members stay."""
    existing = get_value(data, keys, where)
    if isinstance(existing, Mapping) and all(existing.get(name) == value for name, value in members.items()):
        return data or b""
    text = decode_config(data, where)
    new = _append_table(text, keys, members) if existing is None else _change_table(text, keys, members)
    target = copy.deepcopy(parse_toml(data, where))
    table: Any = target
    for key in keys:
        table = table.setdefault(key, {}) if isinstance(table, dict) else {}
    if isinstance(table, dict):
        table.update(members)
    return _verify(new, target, keys, where)


def remove_table(data: bytes | None, keys: Sequence[str], where: Path) -> bytes | None:
    if data is None or get_value(data, keys, where) is None:
        return data
    text = decode_config(data, where)
    target = copy.deepcopy(parse_toml(data, where))
    holder: Any = target
    for key in keys[:-1]:
        holder = holder[key]
    del holder[keys[-1]]
    return _verify(_remove_table_lines(text, keys), target, keys, where)


def _append_table(text: str, keys: Sequence[str], members: Mapping[str, Any]) -> str:
    import tomlkit

    eol = _line_end(text)
    lines = [f"[{'.'.join(keys)}]"]
    lines += [f"{name} = {tomlkit.item(value).as_string()}" for name, value in members.items()]
    gap = ""
    if text.strip(_BLANK):
        gap = eol if text.endswith("\n") else eol * 2
    return f"{text}{gap}{eol.join(lines)}{eol}"


def _change_table(text: str, keys: Sequence[str], members: Mapping[str, Any]) -> str:
    import tomlkit

    document = tomlkit.parse(text.removeprefix(_BOM))
    table: Any = document
    for key in keys:
        table = table[key]
    table.update(members)
    new = document.as_string()
    if _line_end(text) == "\r\n" and not re.search(r"(?<!\r)\n", text):
        new = re.sub(r"(?<!\r)\n", "\r\n", new)
    return (_BOM if text.startswith(_BOM) else "") + new


def _remove_table_lines(text: str, keys: Sequence[str]) -> str:
    """The text without the lines of the table and its subtables, but with comments that follow them."""
    name = r"\s*\.\s*".join(rf"[\"']?{re.escape(key)}[\"']?" for key in keys)
    header = re.compile(rf"\s*\[\s*{name}\s*[.\]]")
    lines: list[str] = []
    trailing: list[str] = []
    inside = False
    for line in text.removeprefix(_BOM).splitlines(keepends=True):
        if re.match(r"\s*\[", line) and (header.match(line) or re.match(r"\s*\[\[?[^\],]+\]", line)):
            was_inside, inside = inside, bool(header.match(line))
            if inside and not was_inside and lines and not lines[-1].strip() and any(map(str.strip, lines)):
                lines.pop()
            lines += trailing if was_inside and not inside else []
            trailing = []
        if not inside:
            lines.append(line)
        elif line.strip() and not line.lstrip().startswith("#"):
            trailing = []
        else:
            trailing.append(line)
    return "".join([_BOM if text.startswith(_BOM) else "", *lines, *trailing])


def _verify(text: str, expected: dict[str, Any], keys: Sequence[str], where: Path) -> bytes:
    parsed: object = None
    with contextlib.suppress(InputError):
        parsed = parse_toml(text.encode("utf-8"), where)
    if _prune(parsed) != _prune(expected):
        name = ".".join(keys)
        raise InputError(
            f"{where}: the table {name} cannot be changed without changing the text around it. "
            "Nothing was changed.",
            hint=f"write it as a table of its own, [{name}], then try again",
        )
    return text.encode("utf-8")


def _prune(value: object) -> object:
    if not isinstance(value, dict):
        return value
    return {name: pruned for name, item in value.items() if (pruned := _prune(item)) != {}}


def _line_end(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"
