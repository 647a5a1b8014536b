"""Ignore: Iterable[str] -> Ignore, the rules of which names a source leaves out and takes in.

A pattern means what git makes of it (gitignore(5), wildmatch.c): the last one that matches decides, a
leading or inner slash anchors it, a closing slash keeps it to folders, ``**`` crosses folders, ``!`` takes
back. Like git it judges a path by itself, for a walk has already decided the folders above; libraries that
judge whole paths differ there (``a`` then ``!a/**`` leaves the folder ``a`` out). It knows no disk.
"""

import re
from collections.abc import Iterable, Sequence

# In one folder the later file has the last word.
IGNORE_FILES = (".gitignore", ".scrubjayignore")
# Built by tools from other things; a person's notes are never in them.
SKIPPED_FOLDERS = frozenset({"node_modules", "__pycache__"})

_SUFFIX_PATTERN = re.compile(r"\*(\.[\w.+-]+)\Z")
_WILD = re.compile(r"[*?[\\]")
_STARS = re.compile(r"\*+")
_CLASSES = {
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


def skipped(name: str) -> bool:
    """Whether a folder or file of this name is left out unless it is asked for by name."""
    return name[0] == "." or name in SKIPPED_FOLDERS


class Ignore:
    """The rules of one folder, asked with paths relative to it.

    Attributes:
        broken: Lines that are no pattern; they match nothing, as in git.
    """

    def __init__(self, lines: Iterable[str]) -> None:
        self.broken: tuple[str, ...] = ()
        self._rules: list[tuple[re.Pattern[str], bool, bool]] = []  # expression, folders only, ignores
        for line in lines:
            self._add(line)
        # Nearly every path meets no rule, and one expression says so in C.
        self._any = _one_of(rule[0] for rule in self._rules if not rule[1])
        self._any_folder = _one_of(rule[0] for rule in self._rules)

    def _add(self, line: str) -> None:
        pattern = _trimmed(line)
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
        """True where the path is ignored, False where a negation takes it back, None where no rule speaks."""
        if not (self._any_folder if folder else self._any).fullmatch(path):
            return None
        for expression, folders_only, ignores in reversed(self._rules):
            if (folder or not folders_only) and expression.fullmatch(path):
                return ignores
        return None


class Include:
    """What is asked for: patterns as in an ignore file, saying what to take."""

    def __init__(self, patterns: Sequence[str]) -> None:
        suffixes = [_SUFFIX_PATTERN.match(pattern) for pattern in patterns]
        self._suffixes = tuple(match[1].lower() for match in suffixes if match)
        self._others = Ignore(pattern for pattern, match in zip(patterns, suffixes, strict=True) if not match)
        self.broken = self._others.broken
        segments = {segment for pattern in patterns for segment in pattern.lstrip("!").split("/")}
        self._named = Ignore(f"/{segment}" for segment in segments if segment and skipped(segment))

    def takes(self, name: str, path: str) -> bool:
        """Whether a file is asked for."""
        return name.lower().endswith(self._suffixes) or bool(self._others.decide(path))

    def names(self, name: str) -> bool:
        """Whether a pattern names this skipped folder or file: ``.github/*.md`` names ``.github``."""
        return bool(self._named.decide(name))


def _one_of(expressions: Iterable[re.Pattern[str]]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{each.pattern})" for each in expressions) or "(?!)", re.DOTALL)


def _trimmed(line: str) -> str:
    """The pattern without the spaces at its end; one after a backslash belongs to it."""
    text = line.rstrip("\r")
    short = text.rstrip(" ")
    escapes = len(short) - len(short.rstrip("\\"))
    return short + " " if escapes % 2 and len(text) > len(short) else short


def _translate(pattern: str) -> str | None:
    """The pattern as an expression to be matched in full; None where git lets it match nothing."""
    pieces = [] if "/" in pattern else ["(?:.*/)?"]
    at = 1 if pattern.startswith("/") else 0
    while at < len(pattern):
        letter = pattern[at]
        if letter == "*":
            piece, at = _stars(pattern, at)
        elif letter == "[":
            group = _group(pattern, at + 1)
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


def _stars(pattern: str, start: int) -> tuple[str, int]:
    """What a run of stars stands for, and where it ends (behind the slash that belongs to it)."""
    end = start + len(_STARS.match(pattern, start)[0])  # type: ignore[index]
    # git matches the part before the first wildcard apart, so stars right behind it open a pattern too.
    opens = pattern[start - 1 : start] in {"", "/"} or not _WILD.search(pattern, 0, start)
    if end - start > 1 and opens and "/" in pattern:
        if end == len(pattern):
            return ".*", end
        if pattern[end] == "/":
            return "(?:.*/)?", end + 1
    return "[^/]*", end


def _group(pattern: str, at: int) -> tuple[str, int] | None:
    """A ``[…]`` group from behind its bracket: the expression and where it ends; None where it never does."""
    negated = pattern[at : at + 1] in {"!", "^"}
    at += negated
    members, first = "", at
    while at < len(pattern) and (pattern[at] != "]" or at == first):
        if pattern.startswith("[:", at) and (end := pattern.find(":]", at)) > 0:
            members += _CLASSES.get(pattern[at + 2 : end], "")
            at = end + 2
            continue
        low, at = _letter(pattern, at)
        high = low
        if pattern[at : at + 1] == "-" and pattern[at + 1 : at + 2] not in {"", "]"}:
            high, at = _letter(pattern, at + 1)
        if low <= high:
            members += f"{re.escape(low)}-{re.escape(high)}"
    if at >= len(pattern):
        return None
    if not members:
        return ("[^/]" if negated else "(?!)"), at + 1
    return f"(?!/)[{'^' if negated else ''}{members}]", at + 1


def _letter(pattern: str, at: int) -> tuple[str, int]:
    if pattern[at] == "\\" and at + 1 < len(pattern):
        at += 1
    return pattern[at], at + 1
