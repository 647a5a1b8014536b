"""Patterns of file names as in git: gitignore(5), wildmatch.c.

Hidden names, `node_modules` and `__pycache__` are skipped unless an ``include`` pattern names them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

SKIPPED_FOLDERS = frozenset({"node_modules", "__pycache__"})
_SUFFIX_PATTERN = re.compile(r"\*(\.[\w.+-]+)\Z")
_WILDCARD = re.compile(r"[*?[\\]")
_STARS = re.compile(r"\*+")
_CHARACTER_CLASSES = {
    "alnum": "a-zA-Z0-9",
    "alpha": "a-zA-Z",
    "blank": r" \t",
    "digit": "0-9",
    "lower": "a-z",
    "punct": r"!-\/:-@\[-`{-~",
    "space": r"\s",
    "upper": "A-Z",
    "xdigit": "0-9a-fA-F",
}


def is_skipped_name(name: str) -> bool:
    return name[0] == "." or name in SKIPPED_FOLDERS


class IgnoreRules:
    """The rules of one folder, for paths relative to it; ``broken`` are lines that are not patterns."""

    def __init__(self, lines: Iterable[str]) -> None:
        self.broken: tuple[str, ...] = ()
        self._rules: list[tuple[re.Pattern[str], bool, bool]] = []  # expression, folders only, ignores
        for line in lines:
            self._add(line)
        # Nearly every path matches no rule, and one expression decides that in C; most folders have none.
        self._any = _any_of(rule[0] for rule in self._rules if not rule[1])
        self._any_folder = _any_of(rule[0] for rule in self._rules)

    def _add(self, line: str) -> None:
        pattern = _trim_pattern(line)
        if not pattern or pattern.startswith("#"):
            return
        ignores = not pattern.startswith("!")
        body = pattern.removeprefix("!")
        source = _translate(body.removesuffix("/")) if body else None
        if source is None:
            self.broken += (line,)
        else:
            self._rules.append((re.compile(source, re.DOTALL), body.endswith("/"), ignores))

    def decide(self, path: str, *, folder: bool = False) -> bool | None:
        """Return True for an ignored path, False where a negation takes it back, None where no rule matches."""
        if not self._rules or not (self._any_folder if folder else self._any).fullmatch(path):
            return None
        for expression, folders_only, ignores in reversed(self._rules):
            if (folder or not folders_only) and expression.fullmatch(path):
                return ignores
        return None


class IncludePatterns:
    def __init__(self, patterns: Sequence[str]) -> None:
        suffixes = [_SUFFIX_PATTERN.match(pattern) for pattern in patterns]
        self._suffixes = tuple(match[1].lower() for match in suffixes if match)
        self._others = IgnoreRules(
            pattern for pattern, match in zip(patterns, suffixes, strict=True) if not match
        )
        self.broken = self._others.broken
        segments = {segment for pattern in patterns for segment in pattern.lstrip("!").split("/")}
        self._named = IgnoreRules(
            f"/{segment}" for segment in segments if segment and is_skipped_name(segment)
        )

    def matches(self, path: str) -> bool:
        return path.lower().endswith(self._suffixes) or bool(self._others.decide(path))

    def names(self, name: str) -> bool:
        """Return whether a pattern names this skipped folder or file: ``.github/*.md`` names ``.github``."""
        return bool(self._named.decide(name))


def _any_of(expressions: Iterable[re.Pattern[str]]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{each.pattern})" for each in expressions) or "(?!)", re.DOTALL)


def _trim_pattern(line: str) -> str:
    """Strip trailing spaces; one after a backslash belongs to the pattern."""
    text = line.rstrip("\r")
    short = text.rstrip(" ")
    escapes = len(short) - len(short.rstrip("\\"))
    return short + " " if escapes % 2 and len(text) > len(short) else short


def _translate(pattern: str) -> str | None:
    """Translate a gitignore pattern to a regular expression for a full match; None where git matches nothing."""
    pieces = [] if "/" in pattern else ["(?:.*/)?"]
    at = 1 if pattern.startswith("/") else 0
    while at < len(pattern):
        letter = pattern[at]
        if letter == "*":
            piece, at = _translate_stars(pattern, at)
        elif letter == "[":
            group = _translate_group(pattern, at + 1)
            if group is None:
                return None
            piece, at = group
        elif letter == "\\":
            if at + 1 == len(pattern):
                return None
            piece, at = re.escape(pattern[at + 1]), at + 2
        else:
            piece, at = "[^/]" if letter == "?" else re.escape(letter), at + 1
        pieces.append(piece)
    return "".join(pieces)


def _translate_stars(pattern: str, start: int) -> tuple[str, int]:
    """Return the expression of a run of stars, and its end, after the slash that belongs to it."""
    end = start + len(_STARS.match(pattern, start)[0])  # type: ignore[index]
    # git matches the part before the first wildcard separately, so stars right behind it open a pattern too.
    opens = pattern[start - 1 : start] in {"", "/"} or not _WILDCARD.search(pattern, 0, start)
    if end - start > 1 and opens and "/" in pattern:
        if end == len(pattern):
            return ".*", end
        if pattern[end] == "/":
            return "(?:.*/)?", end + 1
    return "[^/]*", end


def _translate_group(pattern: str, at: int) -> tuple[str, int] | None:
    """Return the expression of a ``[…]`` group from after its bracket, and its end; None if it is not closed."""
    negated = pattern[at : at + 1] in {"!", "^"}
    at += negated
    members, first = "", at
    while at < len(pattern) and (pattern[at] != "]" or at == first):
        if pattern.startswith("[:", at) and (end := pattern.find(":]", at)) > 0:
            members += _CHARACTER_CLASSES.get(pattern[at + 2 : end], "")
            at = end + 2
            continue
        low, at = _next_letter(pattern, at)
        high = low
        if pattern[at : at + 1] == "-" and pattern[at + 1 : at + 2] not in {"", "]"}:
            high, at = _next_letter(pattern, at + 1)
        if low <= high:
            members += f"{re.escape(low)}-{re.escape(high)}"
    if at >= len(pattern):
        return None
    if not members:
        return ("[^/]" if negated else "(?!)"), at + 1
    return f"(?!/)[{'^' if negated else ''}{members}]", at + 1


def _next_letter(pattern: str, at: int) -> tuple[str, int]:
    if pattern[at] == "\\" and at + 1 < len(pattern):
        at += 1
    return pattern[at], at + 1
