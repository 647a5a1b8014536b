"""Scanner: find the files of a source and tell which changed since the last sync.

A pattern means what git makes of it (gitignore(5), wildmatch.c): the last one that matches decides, a
leading or inner slash anchors it, a closing slash keeps it to folders, ``**`` crosses folders, ``!`` takes
back. Like git it judges a path by itself, for a walk has already decided the folders above; libraries that
judge whole paths differ there (``a`` then ``!a/**`` leaves the folder ``a`` out). It knows no disk.

Which files a source holds, without opening one of them; `read` gives a file's text. It knows nothing of
stores, chunks or what was there before.

What is listed
    Files whose name matches ``include`` and that no ignore file, ``exclude`` or built-in rule leaves out.
    ``include`` and ``exclude`` are gitignore patterns relative to the root, and case does not count in
    plain ``*.ext`` patterns. `.gitignore` and `.scrubjayignore` are read in the root and in every folder
    below it, never above it: a notes folder that its repository ignores is still a source when it is named
    as one. In one folder `.scrubjayignore` has the last word; a deeper folder overrules a higher one.
What is left out
    Names that start with a dot, `node_modules`, `__pycache__` and virtual environments, unless a segment of
    an ``include`` pattern names them (``.github/*.md``). Devices, sockets and pipes are never opened.
Symbolic links
    Followed where they stay inside the root, each folder once, and a file only where it is not listed under
    its own name. One that leads out is a `Problem`, for a person who linked notes in wants to know.
A root that is a file
    Lists that file alone, whatever its name; its ``path`` is its name.

Its own module, for a search asks it before it answers and must not load the whole write path for that.
"""

from __future__ import annotations

import math
import os
import re
import stat
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import Final

from scrubjay.errors import InputError, SourceError
from scrubjay.frozen import frozen
from scrubjay.ingest.files import MAX_FILE_BYTES, is_within, read_file
from scrubjay.models.records import Document, Source
from scrubjay.storage.interface import Reader

# What the Markdown chunker reads as it is meant. reStructuredText and Org have other headings, so their
# sections would come out untitled: they are taken when `include` asks for them.
DEFAULT_INCLUDE = ("*.md", "*.markdown", "*.mdx", "*.txt")
# What a folder with transcripts in it holds besides; which of these files are some is told by their content.
TRANSCRIPT_INCLUDE = ("*.jsonl", "*.json", "*.jsonl.reset.*", "*.jsonl.deleted.*", "opencode*.db")


def may_be_transcript(path: str) -> bool:
    """Return whether a file's name is one that transcripts have; they are read piece by piece, however large."""
    name = path.rpartition("/")[2].lower()
    log = name.endswith(".json") or ".jsonl" in name[-40:]
    return log or (name.startswith("opencode") and name.endswith(".db"))


def mtime_and_size(place: str, info: os.stat_result) -> tuple[int, int]:
    """Return when a file changed last, nanoseconds since 1970, and its bytes; of a database, its log beside it counts.

    A program that keeps its sessions in SQLite writes to that log; the file itself may stay as it is for days.

    Args:
        place: Where it lies.
        info: What the file system says of it.
    """
    if place.endswith(".db"):
        try:
            log = os.stat(place + "-wal", follow_symlinks=False)
        except OSError:
            return info.st_mtime_ns, info.st_size
        return max(info.st_mtime_ns, log.st_mtime_ns), info.st_size + log.st_size
    return info.st_mtime_ns, info.st_size


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


def is_skipped_name(name: str) -> bool:
    """Whether a folder or file of this name is left out unless it is asked for by name."""
    return name[0] == "." or name in SKIPPED_FOLDERS


class IgnoreRules:
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


class IncludePatterns:
    """What is asked for: patterns as in an ignore file, saying what to take."""

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


ENTRIES_PER_CLOCK_CHECK = 64  # entries between two looks at the clock: about half a millisecond


@frozen
class FileState:
    """A listed file.

    Attributes:
        path: POSIX path relative to the root, as it stands on disk (no Unicode normalisation).
        mtime_ns: Last change, nanoseconds since 1970.
        size: Bytes.
    """

    path: str
    mtime_ns: int
    size: int


@frozen
class ScanProblem:
    """Something in the source that could not be listed.

    Attributes:
        path: POSIX path relative to the root, of a folder where nothing below it could be seen; "." is it.
        message: What failed and the state now.
        hint: The next step.
        hides: Files at or under ``path`` may exist unseen, so their absence from the scan proves nothing.
    """

    path: str
    message: str
    hint: str
    hides: bool = True


@frozen
class ScanResult:
    """What a source holds now.

    Attributes:
        files: The listed files, by path.
        problems: What could not be listed, by path.
        missing: The root is not there or cannot be read. Nothing may be judged as removed.
        complete: False where the time was up before everything was seen; then nothing else here counts.
        linked: Whether symbolic links were looked at.
    """

    files: tuple[FileState, ...]
    problems: tuple[ScanProblem, ...]
    missing: bool
    complete: bool = True
    linked: bool = field(default=False, compare=False)


def scan_files(
    root: Path,
    *,
    include: Sequence[str] = DEFAULT_INCLUDE,
    exclude: Sequence[str] = (),
    until: float = math.inf,
) -> ScanResult:
    """List the files of a source without opening any of them (but its ignore files).

    Args:
        root: A folder, or one file.
        include: gitignore patterns of what to list.
        exclude: gitignore patterns of what to leave out; they overrule every ignore file.
        until: When to give up, as ``time.monotonic`` counts.

    Raises:
        InputError: ``include`` or ``exclude`` holds what is no pattern.
    """
    taking, leaving = IncludePatterns(include), IgnoreRules(exclude)
    if broken := taking.broken + leaving.broken:
        hint = "write it as in a .gitignore: a backslash escapes the character after it"
        raise InputError(f"{broken[0]!r} is not a pattern of file names; nothing was read.", hint=hint)
    try:
        info = os.stat(root)
        if stat.S_ISREG(info.st_mode):
            return _single(root, info)
        if not stat.S_ISDIR(info.st_mode):
            message = f"{root} is neither a folder nor a regular file; nothing was read."
            return ScanResult((), (ScanProblem(".", message, "name a folder"),), True)
        top = os.path.realpath(root)
        os.scandir(top).close()
    except OSError as error:
        reason = error.strerror or str(error)
        hint = "check the path, or whether its disk is mounted"
        return ScanResult(
            (), (ScanProblem(".", f"{root} cannot be read: {reason}. Nothing was removed.", hint),), True
        )
    return _Walk(top, taking, leaving, until).run()


def _single(root: Path, info: os.stat_result) -> ScanResult:
    if info.st_size > MAX_FILE_BYTES and not may_be_transcript(root.name):
        return ScanResult((), (_too_large(root.name, info.st_size),), False)
    return ScanResult((FileState(root.name, *mtime_and_size(str(root), info)),), (), False)


def _too_large(path: str, size: int) -> ScanProblem:
    message = f"{path} has {size:,} bytes, more than the {MAX_FILE_BYTES:,} that are read; it was left out."
    return ScanProblem(path, message, "split it, or leave it out by a line in .scrubjayignore")


# Of each ignore file at or above a place, the deepest first: the length of the path above it, and its rules.
FolderRules = tuple[tuple[int, IgnoreRules], ...]


@frozen
class _Folder:
    path: str  # on disk
    relative: str  # "" for the root, else with a closing slash
    rules: FolderRules


class _Walk:
    """One walk over a root: an explicit stack, so depth is bounded by the disk alone."""

    def __init__(self, top: str, include: IncludePatterns, exclude: IgnoreRules, until: float) -> None:
        self.top, self.include, self.exclude, self.until = top, include, exclude, until
        self.files: list[FileState] = []
        self.problems: list[ScanProblem] = []
        self.links: list[tuple[str, str, FolderRules]] = []
        self.seen: set[tuple[int, int]] = set()
        self.listed: set[str] | None = None  # made when the first link asks

    def run(self) -> ScanResult:
        stack = [_Folder(self.top, "", ())]
        while True:
            while stack:
                if not self._folder(stack.pop(), stack):
                    return ScanResult((), (), False, complete=False)
            if not self.links:
                break
            # Links come after everything that is there under its own name, in the order of their paths, so
            # which of two names is listed never depends on the order the disk gives.
            self.links.sort(reverse=True)
            if self.listed is None:
                self.listed = {state.path for state in self.files}
            self._link(*self.links.pop(), stack)
        self.files.sort(key=lambda state: state.path)
        self.problems.sort(key=lambda problem: problem.path)
        return ScanResult(tuple(self.files), tuple(self.problems), False, linked=self.listed is not None)

    def _folder(self, folder: _Folder, stack: list[_Folder]) -> bool:
        try:
            info = os.stat(folder.path)
            if (info.st_dev, info.st_ino) in self.seen:
                return True
            self.seen.add((info.st_dev, info.st_ino))
            with os.scandir(folder.path) as entries:
                found = list(entries)
        except OSError as error:
            self._unreadable(folder.relative, error)
            return True
        if folder.relative and any(entry.name == "pyvenv.cfg" for entry in found):
            return True
        rules = self._rules(folder, found)
        for place, entry in enumerate(found):
            if place % ENTRIES_PER_CLOCK_CHECK == 0 and time.monotonic() >= self.until:
                return False
            try:
                self._entry(entry, folder.relative, rules, stack)
            except OSError as error:
                self._unreadable(folder.relative + entry.name, error)
        return True

    def _rules(self, folder: _Folder, found: Iterable[os.DirEntry[str]]) -> FolderRules:
        """The rules above, with those of this folder's own ignore files in front."""
        present = {entry.name for entry in found if entry.name in IGNORE_FILES}
        if not present:
            return folder.rules
        lines: list[str] = []
        for name in (name for name in IGNORE_FILES if name in present):
            try:
                text = read_file(Path(folder.path), name).text
            except SourceError as error:
                self.problems.append(ScanProblem(folder.relative + name, str(error), error.hint, hides=False))
                continue
            lines.extend(text.split("\n"))
        return ((len(folder.relative), IgnoreRules(lines)), *folder.rules)

    def _entry(self, entry: os.DirEntry[str], above: str, rules: FolderRules, stack: list[_Folder]) -> None:
        name = entry.name
        is_link = entry.is_symlink()
        if not is_link and entry.is_dir(follow_symlinks=False):
            if is_skipped_name(name) and not self.include.names(name):
                return
            if not self._ignored(above + name, rules, folder=True) and self._spelt(above + name):
                stack.append(_Folder(entry.path, f"{above}{name}/", rules))
        elif is_link:
            if not is_skipped_name(name) or self.include.names(name):
                self.links.append((above + name, entry.path, rules))
        elif self._wanted(name, above + name, rules) and entry.is_file(follow_symlinks=False):
            self._file(above + name, entry.stat(follow_symlinks=False))

    def _wanted(self, name: str, path: str, rules: FolderRules) -> bool:
        if not self.include.takes(name, path) or (is_skipped_name(name) and not self.include.names(name)):
            return False
        return not self._ignored(path, rules)

    def _ignored(self, path: str, rules: FolderRules, *, folder: bool = False) -> bool:
        if self.exclude.decide(path, folder=folder):
            return True
        for above, ignore in rules:
            decision = ignore.decide(path[above:], folder=folder)
            if decision is not None:
                return decision
        return False

    def _file(self, path: str, info: os.stat_result) -> None:
        if not self._spelt(path):
            return
        if info.st_size > MAX_FILE_BYTES and not may_be_transcript(path):
            self.problems.append(_too_large(path, info.st_size))
        else:
            self.files.append(FileState(path, *mtime_and_size(os.path.join(self.top, path), info)))

    def _link(self, path: str, place: str, rules: FolderRules, stack: list[_Folder]) -> None:
        real = os.path.realpath(place)
        try:
            info = os.stat(real)
        except OSError:
            return  # leads nowhere (an editor's lock, a moved target) or in a circle: there is no file
        folder = stat.S_ISDIR(info.st_mode)
        name = path.rpartition("/")[2]
        if folder:
            wanted = not self._ignored(path, rules, folder=True)
        else:
            wanted = stat.S_ISREG(info.st_mode) and self._wanted(name, path, rules)
        if not wanted or not self._spelt(path):
            return
        if not is_within(real, self.top):
            message = f"{path} links to {_printable_path(real)}, outside the source; it was not followed."
            self.problems.append(
                ScanProblem(path, message, f"scrubjay sync {_printable_path(real)}", hides=False)
            )
        elif folder:
            stack.append(_Folder(place, path + "/", rules))
        elif self.listed is not None and (own := _relative(real, self.top)) not in self.listed:
            self.listed.add(own)
            self._file(path, info)

    def _spelt(self, path: str) -> bool:
        """Whether the name is Unicode; one that is not can be neither stored nor shown, and is reported."""
        if path.isascii() or _printable_path(path) == path:
            return True
        message = f"{_printable_path(path)}: the name is not UTF-8; it was left out."
        self.problems.append(ScanProblem(_printable_path(path), message, "rename it", hides=False))
        return False

    def _unreadable(self, path: str, error: OSError) -> None:
        if isinstance(error, FileNotFoundError):
            return  # it went away since its folder was listed: simply not there
        shown = _printable_path(path.rstrip("/"))
        message = f"{shown} cannot be read: {error.strerror or error}. What was stored from it is kept."
        hint = "allow reading it, or leave it out by a line in .scrubjayignore"
        self.problems.append(ScanProblem(shown, message, hint))


def _printable_path(path: str) -> str:
    """The path with bytes that are not UTF-8 as escapes; printable whatever the disk holds."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def _relative(real: str, top: str) -> str:
    return real[len(top) :].lstrip(os.sep).replace(os.sep, "/")


OPENCODE_SIDE_FOLDERS: Final = ("storage/message/", "storage/part/", "storage/session_diff/")
"""Folders of OpenCode whose many files are read with the session they belong to, and are no transcripts alone."""


def list_files(source: Source, until: float = math.inf) -> ScanResult:
    """Return the files of a source; until the clock (``time.monotonic``) says stop."""
    include = source.include or DEFAULT_INCLUDE
    exclude = (
        (*source.exclude, *OPENCODE_SIDE_FOLDERS) if TRANSCRIPT_INCLUDE[0] in include else source.exclude
    )
    return scan_files(Path(source.root), include=include, exclude=exclude, until=until)


def list_file(source: Source, path: Path) -> ScanResult:
    """Return one file of a source, or nothing where its rules leave it out; of the others nothing is told."""
    found = list_files(source)
    try:
        wanted = path.relative_to(source.root).as_posix()
    except ValueError:
        wanted = ""
    return replace(found, files=tuple(state for state in found.files if state.path == wanted))


def compare_with_stored(
    found: ScanResult, known: Mapping[str, Document], *, again: bool = False
) -> tuple[list[FileState], list[str]]:
    """Return the files whose time or size is not what is stored, and the paths that are gone.

    Args:
        found: The files.
        known: What is stored.
        again: Whether files that could not be read the last time are tried though they are as they were.
    """
    changed = [
        file
        for file in found.files
        if file.path not in known
        or (known[file.path].mtime_ns, known[file.path].size) != (file.mtime_ns, file.size)
        or (again and known[file.path].trouble)
    ]
    present = {file.path for file in found.files}
    unread = {problem.path for problem in found.problems if problem.hides}
    gone = [path for path in known if path not in present and not _within(path, unread)]
    return changed, gone


def select_within_budget(
    changed: Sequence[FileState], known: Mapping[str, Document], most: int
) -> tuple[list[FileState], list[FileState]]:
    """Return the changed files that are read before an answer, no more than so many bytes, and those that are left.

    Of a log that grew only what is new counts.
    """
    fit: list[FileState] = []
    for state in sorted(changed, key=lambda one: unread_bytes(one, known)):
        most -= unread_bytes(state, known)
        if most < 0:
            break
        fit.append(state)
    chosen = set(fit)
    return fit, [state for state in changed if state not in chosen]


def unread_bytes(state: FileState, known: Mapping[str, Document]) -> int:
    """Return how many bytes of a changed file are to be read."""
    old = known.get(state.path)
    return max(0, state.size - old.cursor) if old is not None else state.size


def _within(path: str, folders: set[str]) -> bool:
    return "." in folders or any(
        path == folder or path.startswith(folder.rstrip("/") + "/") for folder in folders
    )


MAX_INLINE_FILES: Final = 16
"""Changed files that a search takes in itself; more are named, and `sync` is the place for them."""
MAX_INLINE_BYTES: Final = 1_000_000
"""Bytes of changed files that a search reads itself: seconds of work. Larger files are named and left to `sync`."""


@frozen
class Freshness:
    """What a look at the sources found.

    Attributes:
        changed: Ids of sources with a few changed files, to be synced before the answer.
        partial: What the answer has to do without.
    """

    changed: tuple[str, ...]
    partial: tuple[str, ...]


def _is_due(source: Source, document: Document | None) -> bool:
    """Return whether a changed file is worth reading now: a talk that goes on is, once it has grown enough."""
    if document is None or not document.cursor:
        return True
    from scrubjay.ingest.transcripts.base import is_log_due

    try:
        with (Path(source.root) / document.path).open("rb") as file:
            return is_log_due(file, document.cursor)
    except OSError:
        return True  # the sync says why it cannot be read


def check_freshness(reader: Reader, sources: Sequence[Source], seconds: float) -> Freshness:
    """Compare each source's files with the store until the time is up.

    A missing root is not news here: `status` shows it, and its memories still answer.

    Args:
        reader: Where.
        sources: Which.
        seconds: After which an answer does not wait for the look any longer.
    """
    started = time.monotonic()
    changed: list[str] = []
    partial: list[str] = []
    room = MAX_INLINE_BYTES
    for source in sources:
        found = list_files(source, started + seconds)
        if not found.complete:
            partial.append(
                f"{source.root} was not compared with the store: the look takes longer than {seconds * 1000:g} ms."
            )
            continue
        known = reader.documents(source.id)
        stale, gone = ([], []) if found.missing else compare_with_stored(found, known)
        gone = [path for path in gone if not known[path].cursor]  # what was said stays when its log is gone
        stale = [file for file in stale if _is_due(source, known.get(file.path))]
        if not (stale or gone):
            continue
        fit, left = select_within_budget(stale, known, room)
        room -= sum(unread_bytes(state, known) for state in fit)
        if left and len(stale) + len(gone) <= MAX_INLINE_FILES:
            largest = max(left, key=lambda state: unread_bytes(state, known))
            more = f" and {len(left) - 1} more" if len(left) > 1 else ""
            partial.append(
                f"{Path(source.root) / largest.path}{more} changed and holds more than a search reads: "
                "`scrubjay sync` takes it in."
            )
            if not (fit or gone):
                continue
        if len(stale) + len(gone) > MAX_INLINE_FILES:
            partial.append(
                f"{source.root} has {len(stale) + len(gone)} files that changed or were being written when they were "
                "read: `scrubjay sync` takes them in."
            )
        else:
            changed.append(source.id)
    return Freshness(tuple(changed), tuple(partial))
