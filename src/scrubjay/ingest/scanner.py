"""Scanner: find the files of a source and which of them changed since the last sync, without opening them.

Patterns are those of git (gitignore(5), wildmatch.c). `.gitignore` and `.scrubjayignore` are read in the root and
below, never above it. Hidden names, `node_modules`, `__pycache__` and virtual environments are skipped unless an
``include`` pattern names them, and so are earlier versions that Logseq keeps. Symbolic links are followed inside the
root only. A search imports this module before it answers, so it must not load the write path.
"""

from __future__ import annotations

import math
import os
import re
import stat
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from fnmatch import fnmatchcase
from functools import cache
from importlib.util import find_spec
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Final

from scrubjay.errors import InputError, SourceError
from scrubjay.frozen import frozen
from scrubjay.ingest.files import MAX_FILE_BYTES, decode_text, is_within, read_bytes, read_file
from scrubjay.models.records import UNCONVERTED, Document, Record, Source, note_documents
from scrubjay.models.results import Notice
from scrubjay.models.sources import repository_of, source_location
from scrubjay.storage.interface import Reader
from scrubjay.text.markdown import normalize_newlines
from scrubjay.tracing import traced

if TYPE_CHECKING:
    from scrubjay.ingest.scan_cache import FolderWatch, ScanCache

# reStructuredText and Org have other headings, so they are only taken when `include` names them.
NOTE_INCLUDE = ("*.md", "*.markdown", "*.mdx", "*.txt")
DOCUMENT_INCLUDE = ("*.pdf", "*.docx", "*.html", "*.htm", "*.xhtml", "*.epub")
"""Files that are read with the extra ``documents``; without it they are counted and skipped."""
DEFAULT_INCLUDE = (*NOTE_INCLUDE, *DOCUMENT_INCLUDE)
TRANSCRIPT_INCLUDE = ("*.jsonl", "*.json", "*.jsonl.reset.*", "*.jsonl.deleted.*", "opencode*.db")
"""Files that may be transcripts; their content decides. A format whose files are named otherwise adds its pattern."""
AUTOMATIC_INCLUDE = (*DEFAULT_INCLUDE, *TRANSCRIPT_INCLUDE)
"""Patterns of a folder in which transcripts were found when it was registered."""
_AUTOMATIC_INCLUDES = (
    "*.md *.markdown *.mdx *.txt *.jsonl *.json *.jsonl.reset.* *.jsonl.deleted.* opencode*.db",
    "*.md *.markdown *.mdx *.txt *.pdf *.docx *.html *.htm *.xhtml *.epub "
    "*.jsonl *.json *.jsonl.reset.* *.jsonl.deleted.* opencode*.db",
)
"""`AUTOMATIC_INCLUDE` of every release, as sources store it. These never change; a new one is appended."""


def may_be_transcript(path: str) -> bool:
    """Return whether a transcript may have this file name; transcripts are read in pieces, however large."""
    name = path.rpartition("/")[2].lower()
    # A copy with any ending behind may be named by hand.
    return ".jsonl" in name[-40:] or any(fnmatchcase(name, pattern) for pattern in TRANSCRIPT_INCLUDE)


_DOCUMENT_SUFFIXES = tuple(pattern[1:] for pattern in DOCUMENT_INCLUDE)
_HTML_SUFFIXES = (".html", ".htm", ".xhtml")
DOCUMENT_LIBRARIES: Final = ("pypdfium2", "mammoth", "selectolax")


def document_suffix(path: str) -> str:
    """Return the ending of a document's name in lower case, or an empty string for other files.

    >>> document_suffix("Minutes.PDF"), document_suffix("minutes.md")
    ('.pdf', '')
    """
    suffix = os.path.splitext(path)[1].lower()
    return suffix if suffix in _DOCUMENT_SUFFIXES else ""


@cache
def can_read_documents() -> bool:
    """Return whether the libraries of the extra ``documents`` are installed, without loading them."""
    return all(find_spec(name) is not None for name in DOCUMENT_LIBRARIES)


def is_unreadable_document(path: str, *, named: bool) -> bool:
    """Return whether a file is a document, and cannot be read; HTML that a person names is read as it is written."""
    suffix = document_suffix(path)
    return bool(suffix) and not (named and suffix in _HTML_SUFFIXES) and not can_read_documents()


def _without_documents(scan: ScanResult, include: Sequence[str]) -> ScanResult:
    """Move documents that cannot be read from the files to ``skipped``."""
    if can_read_documents():
        return scan
    named = not set(DOCUMENT_INCLUDE) <= set(include)
    skipped = {file.path for file in scan.files if is_unreadable_document(file.path, named=named)}
    if not skipped:
        return scan
    files = tuple(file for file in scan.files if file.path not in skipped)
    return replace(scan, files=files, skipped=tuple(sorted(skipped)))


def is_automatic(source: Source) -> bool:
    """Return whether a source's patterns were chosen by a release, not named by a person."""
    return " ".join(source.include) in _AUTOMATIC_INCLUDES


def include_patterns(source: Source) -> Sequence[str]:
    """Return the patterns of a source's files; chosen ones follow what this version can read."""
    return AUTOMATIC_INCLUDE if is_automatic(source) else source.include or DEFAULT_INCLUDE


def mtime_and_size(place: str, info: os.stat_result) -> tuple[int, int]:
    """Return a file's last change in nanoseconds and its bytes; of a database, its write-ahead log counts too."""
    if place.endswith(".db"):
        try:
            log = os.stat(place + "-wal", follow_symlinks=False)
        except OSError:
            return info.st_mtime_ns, info.st_size
        return max(info.st_mtime_ns, log.st_mtime_ns), info.st_size + log.st_size
    return info.st_mtime_ns, info.st_size


# In one folder the later file overrules.
IGNORE_FILES = (".gitignore", ".scrubjayignore")
SKIPPED_FOLDERS = frozenset({"node_modules", "__pycache__"})
LOGSEQ_COPIES: Final = ("/logseq/bak/", "/logseq/version-files/")
"""Where Logseq keeps earlier versions of its pages, beside its ``config.edn``."""

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


MAX_PATH_BYTES: Final = 65_536
ENTRIES_PER_CLOCK_CHECK = 64  # about half a millisecond


@frozen
class FileState:
    """A listed file: POSIX path relative to the root without Unicode normalisation, last change, bytes."""

    path: str
    mtime_ns: int
    size: int


@frozen
class ScanProblem:
    """Something that could not be listed; with ``hides``, unseen files may exist at or below ``path``."""

    path: str
    message: str
    hint: str
    hides: bool = True


@frozen
class ScanResult:
    """The files of a source.

    Attributes:
        missing: The root does not exist or cannot be read; nothing may be judged as removed.
        complete: False if the time was up; then nothing else here counts.
        linked: Whether symbolic links were followed.
        skipped: Paths of documents that cannot be read because the extra ``documents`` is not installed.
    """

    files: tuple[FileState, ...]
    problems: tuple[ScanProblem, ...]
    missing: bool
    complete: bool = True
    linked: bool = field(default=False, compare=False)
    skipped: tuple[str, ...] = ()


@traced("scrubjay.sync.scan")
def scan_files(
    root: Path,
    *,
    include: Sequence[str] = DEFAULT_INCLUDE,
    exclude: Sequence[str] = (),
    until: float = math.inf,
    watch: FolderWatch | None = None,
) -> ScanResult:
    """List the files of a folder, or one file, without opening any but ignore files.

    ``exclude`` overrules every ignore file; ``until`` is a monotonic deadline; ``watch``
    gets each folder before it is listed.

    Raises:
        InputError: ``include`` or ``exclude`` holds an invalid pattern.
    """
    included, excluded = IncludePatterns(include), IgnoreRules(exclude)
    if broken := included.broken + excluded.broken:
        hint = "write it as in a .gitignore: a backslash escapes the character after it"
        raise InputError(f"{broken[0]!r} is not a pattern of file names; nothing was read.", hint=hint)
    try:
        info = os.stat(root)
        if stat.S_ISREG(info.st_mode):
            if info.st_size > MAX_FILE_BYTES and not may_be_transcript(root.name):
                return ScanResult((), (_size_problem(root.name, info.st_size),), False)
            single = ScanResult((FileState(root.name, *mtime_and_size(str(root), info)),), (), False)
            return _without_documents(single, include)
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
    walk = _Walk(top, included, excluded, until, watch, automatic=set(DOCUMENT_INCLUDE) <= set(include))
    return _without_documents(walk.run(), include)


def _size_problem(path: str, size: int) -> ScanProblem:
    message = f"{path} has {size:,} bytes, more than the {MAX_FILE_BYTES:,} that are read; it was left out."
    return ScanProblem(path, message, "split it, or leave it out by a line in .scrubjayignore")


# Length of the path above each ignore file, and its rules; the deepest first.
FolderRules = tuple[tuple[int, IgnoreRules], ...]


_RULE_NAMES: Final = frozenset((*IGNORE_FILES, ".git"))


@cache
def _html_rules() -> IgnoreRules:
    """Ignore HTML in a repository, where it is code or generated, unless a pattern or .scrubjayignore names it."""
    return IgnoreRules(f"*{suffix}" for suffix in _HTML_SUFFIXES)


@frozen
class _Folder:
    path: str  # on disk
    relative: str  # "" for the root, else with a closing slash
    rules: FolderRules


class _Walk:
    """Walks folders with an explicit stack, so that only the disk limits their depth."""

    def __init__(
        self,
        top: str,
        include: IncludePatterns,
        exclude: IgnoreRules,
        until: float,
        watch: FolderWatch | None,
        *,
        automatic: bool,
    ) -> None:
        self.top, self.include, self.exclude, self.until, self.watch = top, include, exclude, until, watch
        self.files: list[FileState] = []
        self.problems: list[ScanProblem] = []
        self.automatic = automatic
        self.links: list[tuple[str, str, FolderRules]] = []
        self.seen: set[tuple[int, int]] = set()
        self.listed: set[str] | None = None  # built at the first link

    def run(self) -> ScanResult:
        stack = [_Folder(self.top, "", ())]
        while True:
            while stack:
                if not self._list_folder(stack.pop(), stack):
                    return ScanResult((), (), False, complete=False)
            if not self.links:
                break
            # Links come last, in the order of their paths, so that the result does not depend on the disk's order.
            self.links.sort(reverse=True)
            if self.listed is None:
                self.listed = {state.path for state in self.files}
            self._follow_link(*self.links.pop(), stack)
        by_path = attrgetter("path")
        self.files.sort(key=by_path)
        self.problems.sort(key=by_path)
        return ScanResult(tuple(self.files), tuple(self.problems), False, linked=self.listed is not None)

    def _list_folder(self, folder: _Folder, stack: list[_Folder]) -> bool:
        try:
            info = os.stat(folder.path)
            if (info.st_dev, info.st_ino) in self.seen:
                return True
            self.seen.add((info.st_dev, info.st_ino))
            if self.watch is not None:
                self.watch.add(folder.path, info.st_dev)
            with os.scandir(folder.path) as entries:
                entries_found = list(entries)
        except OSError as error:
            self._report_unreadable(folder.relative, error)
            return True
        if folder.relative and any(entry.name == "pyvenv.cfg" for entry in entries_found):
            return True
        if f"/{folder.relative}".endswith(LOGSEQ_COPIES) and os.path.exists(
            os.path.join(os.path.dirname(folder.path), "config.edn")
        ):
            return True
        rules = self._folder_rules(folder, entries_found)
        for place, entry in enumerate(entries_found):
            if place % ENTRIES_PER_CLOCK_CHECK == 0 and time.monotonic() >= self.until:
                return False
            try:
                self._visit(entry, folder.relative, rules, stack)
            except OSError as error:
                self._report_unreadable(folder.relative + entry.name, error)
        return True

    def _folder_rules(self, folder: _Folder, found: Iterable[os.DirEntry[str]]) -> FolderRules:
        present = {entry.name for entry in found if entry.name in _RULE_NAMES}
        if not present:
            return folder.rules
        above = folder.rules
        if ".git" in present and self.automatic:  # last, so that any ignore file overrules it
            above = (*above, (len(folder.relative), _html_rules()))
        lines: list[str] = []
        for name in (name for name in IGNORE_FILES if name in present):
            try:
                text = read_file(Path(folder.path), name).text
            except SourceError as error:
                self.problems.append(ScanProblem(folder.relative + name, str(error), error.hint, hides=False))
                continue
            lines.extend(text.split("\n"))
        return ((len(folder.relative), IgnoreRules(lines)), *above) if lines else above

    def _visit(self, entry: os.DirEntry[str], above: str, rules: FolderRules, stack: list[_Folder]) -> None:
        name = entry.name
        is_link = entry.is_symlink()
        if not is_link and entry.is_dir(follow_symlinks=False):
            if is_skipped_name(name) and not self.include.names(name):
                return
            if not self._is_ignored(above + name, rules, folder=True) and self._check_name(above + name):
                stack.append(_Folder(entry.path, f"{above}{name}/", rules))
        elif is_link:
            if not is_skipped_name(name) or self.include.names(name):
                self.links.append((above + name, entry.path, rules))
                if self.watch is not None:
                    self.watch.mark_incomplete()
        elif self._is_wanted(name, above + name, rules) and entry.is_file(follow_symlinks=False):
            self._add_file(above + name, entry.path, entry.stat(follow_symlinks=False))

    def _is_wanted(self, name: str, path: str, rules: FolderRules) -> bool:
        if not self.include.matches(path) or (is_skipped_name(name) and not self.include.names(name)):
            return False
        return not self._is_ignored(path, rules)

    def _is_ignored(self, path: str, rules: FolderRules, *, folder: bool = False) -> bool:
        if self.exclude.decide(path, folder=folder):
            return True
        for above, ignore in rules:
            decision = ignore.decide(path[above:], folder=folder)
            if decision is not None:
                return decision
        return False

    def _add_file(self, path: str, place: str, info: os.stat_result) -> None:
        if not self._check_name(path):
            return
        if self.watch is not None and info.st_nlink > 1:
            self.watch.mark_incomplete()
        if info.st_size > MAX_FILE_BYTES and not may_be_transcript(path):
            self.problems.append(_size_problem(path, info.st_size))
        else:
            self.files.append(FileState(path, *mtime_and_size(place, info)))

    def _follow_link(self, path: str, place: str, rules: FolderRules, stack: list[_Folder]) -> None:
        real = os.path.realpath(place)
        try:
            info = os.stat(real)
        except OSError:
            return  # a dangling or circular link
        is_folder = stat.S_ISDIR(info.st_mode)
        name = path.rpartition("/")[2]
        if is_folder:
            wanted = not self._is_ignored(path, rules, folder=True)
        else:
            wanted = stat.S_ISREG(info.st_mode) and self._is_wanted(name, path, rules)
        if not wanted or not self._check_name(path):
            return
        if not is_within(real, self.top):
            message = f"{path} links to {_printable_path(real)}, outside the source; it was not followed."
            self.problems.append(
                ScanProblem(path, message, f"scrubjay sync {_printable_path(real)}", hides=False)
            )
        elif is_folder:
            stack.append(_Folder(place, path + "/", rules))
        else:
            own = real[len(self.top) :].lstrip(os.sep).replace(os.sep, "/")
            if self.listed is not None and own not in self.listed:
                self.listed.add(own)
                self._add_file(path, place, info)

    def _check_name(self, path: str) -> bool:
        if path.isascii() or _printable_path(path) == path:
            return True
        message = f"{_printable_path(path)}: the name is not UTF-8; it was left out."
        self.problems.append(ScanProblem(_printable_path(path), message, "rename it", hides=False))
        return False

    def _report_unreadable(self, path: str, error: OSError) -> None:
        if isinstance(error, FileNotFoundError):
            return  # deleted since its folder was listed
        shown = _printable_path(path.rstrip("/"))
        message = f"{shown} cannot be read: {error.strerror or error}. What was stored from it is kept."
        hint = "allow reading it, or leave it out by a line in .scrubjayignore"
        self.problems.append(ScanProblem(shown, message, hint))


def _printable_path(path: str) -> str:
    return os.fsencode(path).decode("utf-8", "backslashreplace")


OPENCODE_SIDE_FOLDERS: Final = ("storage/message/", "storage/part/", "storage/session_diff/")
"""Folders of OpenCode whose files are read with their session."""


def list_files(source: Source, until: float = math.inf, watch: FolderWatch | None = None) -> ScanResult:
    """List the files of a source by its patterns; ``until`` and ``watch`` as in `scan_files`."""
    include = include_patterns(source)
    exclude = (
        (*source.exclude, *OPENCODE_SIDE_FOLDERS) if TRANSCRIPT_INCLUDE[0] in include else source.exclude
    )
    return scan_files(Path(source.root), include=include, exclude=exclude, until=until, watch=watch)


def is_excluded(source: Source, folder: str) -> bool:
    """Return whether a source's own patterns leave out a folder inside it."""
    path = os.path.relpath(folder, source.root).replace(os.sep, "/")
    return bool(IgnoreRules(source.exclude).decide(path, folder=True))


def list_file(source: Source, path: Path) -> ScanResult:
    scan = list_files(source)
    try:
        wanted = path.relative_to(source.root).as_posix()
    except ValueError:
        wanted = ""
    return replace(
        scan,
        files=tuple(state for state in scan.files if state.path == wanted),
        skipped=tuple(path for path in scan.skipped if path == wanted),
    )


def compare_with_stored(
    scan: ScanResult, known: Mapping[str, Document], *, retry_failed: bool = False
) -> tuple[list[FileState], list[str]]:
    """Return files whose time or size differs from what is stored, and paths that are gone since they were seen.

    ``retry_failed`` includes files that could not be read the last time, but for documents that only a change of the
    file makes readable.
    """
    changed = [
        file
        for file in scan.files
        if (old := known.get(file.path)) is None
        or old.mtime_ns != file.mtime_ns
        or old.size != file.size
        or (retry_failed and old.trouble and old.versions.extractor != UNCONVERTED)
    ]
    present = {file.path for file in scan.files}.union(scan.skipped)
    unread = {problem.path for problem in scan.problems if problem.hides}
    gone = [
        path
        for path, old in known.items()
        if path not in present and not old.is_unseen and not _is_within_any(path, unread)
    ]
    return changed, gone


def select_inline(
    changed: Sequence[FileState], gone: Sequence[str], known: Mapping[str, Document], room: int
) -> tuple[list[FileState], list[str], list[FileState], int]:
    """Return the changed files to read before an answer, the documents to drop, the files left, and the room left.

    ``room`` is in bytes. A note that is gone takes `GONE_BYTES`, and a new file of its time and size nothing more: it
    was renamed. While another new file is left, no other note is dropped, since it may be the same one.
    """
    stamps = {(known[path].mtime_ns, known[path].size) for path in gone if not known[path].cursor}
    selected = [one for one in changed if one.path not in known and (one.mtime_ns, one.size) in stamps]
    renamed = set(selected)
    edited = [state for state in changed if state not in renamed]
    removal_bytes = GONE_BYTES * sum(not known[path].cursor for path in gone)
    if removal_bytes > room:
        stamps, selected = set(), []
        edited = [state for state in edited if state.path in known]
    else:
        room -= removal_bytes
    if len(edited) <= MAX_INLINE_FILES:
        for state in sorted(edited, key=lambda one: unread_bytes(one, known)):
            if unread_bytes(state, known) > room:
                break
            room -= unread_bytes(state, known)
            selected.append(state)
    chosen = set(selected)
    left = [state for state in changed if state not in chosen]
    if any(state.path not in known for state in left):
        stamps &= {(state.mtime_ns, state.size) for state in renamed}
    dropped = [
        path for path in gone if known[path].cursor or (known[path].mtime_ns, known[path].size) in stamps
    ]
    return selected, dropped, left, room


def exclude_hidden(
    reader: Reader,
    source: Source,
    changed: Sequence[FileState],
    gone: Sequence[str],
    known: Mapping[str, Document],
) -> tuple[list[FileState], list[str], list[str]]:
    """Return the changed files, the documents that are gone, and the paths that a search leaves to a sync.

    These have passages of a group that the reader is not in. A new file that may be one of them, renamed, is not
    returned either.
    """
    hidden = set().union(*reader.hidden_groups(source.id).values()) if changed or gone else set()
    left = [path for path in gone if path in hidden]
    stamps = {(known[path].mtime_ns, known[path].size) for path in left}
    readable = []
    for one in changed:
        old = known.get(one.path)
        if one.path not in hidden and (old is not None or (one.mtime_ns, one.size) not in stamps):
            readable.append(one)
        elif old is not None and (old.mtime_ns or old.size != one.size):
            left.append(one.path)  # unless it was read just after it was written: no time is stored then
    return readable, [path for path in gone if path not in hidden], sorted(left)


def unread_bytes(state: FileState, known: Mapping[str, Document]) -> int:
    old = known.get(state.path)
    return max(0, state.size - old.cursor) if old is not None else state.size


def _is_within_any(path: str, folders: set[str]) -> bool:
    return "." in folders or any(
        path == folder or path.startswith(folder.rstrip("/") + "/") for folder in folders
    )


MAX_INLINE_FILES: Final = 16
"""Changed files, or commits, that a search ingests itself; more are left to `sync`."""
MAX_INLINE_BYTES: Final = 1_000_000
"""Bytes of changed files that a search ingests itself: seconds of work."""
GONE_BYTES: Final = 4_000
"""Bytes of text whose ingest takes as long as to drop a document: 5 ms; to rename one takes half of it."""


def head_log(source: Source) -> str:
    """Return the file of a history's repository, or worktree, that changes with what is checked out."""
    git_dir = source_location(source)
    try:
        with open(git_dir, "rb") as file:  # a worktree or submodule names its directory
            named = file.read(MAX_PATH_BYTES).decode("utf-8", "replace").removeprefix("gitdir:").strip()
        git_dir = os.path.join(os.path.dirname(git_dir), named)
    except OSError:
        pass  # a directory
    log = os.path.join(git_dir, "logs", "HEAD")
    return log if os.path.exists(log) else os.path.join(git_dir, "HEAD")


def log_stamp(log: str) -> str:
    """Return time and size of a log of git, which change whenever its head moves; empty where it is missing."""
    try:
        info = os.stat(log)
    except OSError:
        return ""
    return f"{info.st_mtime_ns}:{info.st_size}"


def has_moved(source: Source) -> bool:
    """Return whether something was committed or checked out since a history was read, without running git."""
    stamp = log_stamp(head_log(source))
    return bool(stamp) and not any(head.endswith(f" {stamp}") for _, _, head in source.repositories or ())


FILE_CHANGED: Final = "changed"
FILE_GONE: Final = "gone"


def outdated_memories(
    reader: Reader, records: Iterable[Record], *, missing_roots: bool = False
) -> dict[str, str]:
    """Return the memories whose file is gone, or no longer contains their text, with `FILE_GONE` or `FILE_CHANGED`.

    Only the files of these memories are looked at. As in a sync, a root that is empty, or missing unless
    ``missing_roots``, says nothing about its files, and turns stay when their log is gone.
    """
    sources = {source.id: source for source in reader.sources() if repository_of(source) is None}
    by_file: dict[str, dict[str, list[Record]]] = {}
    for record in records:
        if record.place is not None and record.place.source in sources:
            by_file.setdefault(record.place.source, {}).setdefault(record.place.path, []).append(record)
    outdated: dict[str, str] = {}
    for source, memories in by_file.items():
        root = sources[source].root
        notes = [one for one in reader.documents(source, sorted(memories)).values() if not one.cursor]
        if notes and (_has_entries(root) or (missing_roots and not os.path.exists(root))):
            for note in notes:
                outdated |= _outdated_passages(root, note, memories[note.path])
    return outdated


def outdated_shared(reader: Reader, records: Iterable[Record]) -> set[str]:
    """Return the passages of others' files that changed since they were read, and may no longer be shared.

    Search, thread and context leave these out; reads by id, path or date do not compare. Only the files of
    these passages are looked at. A root that is missing or empty says nothing about them: it may be on another machine.
    """
    own = {source.id for source in reader.sources()}
    shared = {one.id: one for one in records if one.place is not None and one.place.source not in own}
    files = reader.files_of_others(list(shared)) if shared else {}
    notes = note_documents({memory: document for memory, (_, document) in files.items()})
    outdated: set[str] = set()
    for memory, note in notes.items():
        root, _ = files[memory]
        if _has_entries(root):
            outdated |= _outdated_passages(root, note, [shared[memory]], strict=True).keys()
    return outdated


MAX_COMPARED_BYTES: Final = 1_000_000
"""Size up to which a changed file is read to see whether a memory's text is still in it."""


def _outdated_passages(
    root: str, note: Document, passages: Sequence[Record], *, strict: bool = False
) -> dict[str, str]:
    """Return outdated passages; with ``strict`` all passages of a file that changed since it was read."""
    place = os.path.join(root, note.path)
    try:
        mtime_ns, size = mtime_and_size(place, os.stat(place))
    except (FileNotFoundError, NotADirectoryError):
        return dict.fromkeys((one.id for one in passages), FILE_GONE)
    except OSError:
        return {}  # the sync reports why it cannot be read
    # No time is stored of a file that was read just after it was written.
    if note.mtime_ns in (mtime_ns, 0) and note.size == size:
        return {}
    text = ""
    if size <= MAX_COMPARED_BYTES:
        try:
            data = read_bytes(Path(root), note.path)
            if data.content_hash == note.content_hash:
                return {}
            if not strict:
                text = normalize_newlines(decode_text(data.data, note.path))
        except (OSError, SourceError):
            pass  # it is no text, or is being written: no passage is known to be in it
    return {one.id: FILE_CHANGED for one in passages if strict or one.content not in text}


def _has_entries(folder: str) -> bool:
    try:
        with os.scandir(folder) as entries:
            return any(True for _ in entries)
    except OSError:
        return False


@frozen
class Freshness:
    """Result of a freshness check: ids of sources to sync before answering, and notices of what the answer lacks."""

    changed: tuple[str, ...]
    partial: tuple[str, ...]


def has_enough_new_lines(source: Source, document: Document | None) -> bool:
    """Return whether more of a changed file can be read: the next turn of a log may not be complete."""
    if document is None or not document.cursor:
        return True
    from scrubjay.ingest.transcripts.base import is_log_due

    try:
        with (Path(source.root) / document.path).open("rb") as file:
            return is_log_due(file, document.cursor)
    except OSError:
        return True  # the sync reports why it cannot be read


def _notice(source: Source, paths: Sequence[str], reason: str) -> Notice:
    more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
    return Notice(f"{Path(source.root) / paths[0]}{more} changed and {reason}: run `scrubjay sync`.")


def check_freshness(
    reader: Reader, sources: Sequence[Source], seconds: float, cache: ScanCache | None = None
) -> Freshness:
    """Compare each source's files with the store, for at most ``seconds``; ``cache`` keeps scans.

    A missing root is not reported: `status` shows it, and its memories still answer.
    """
    started = time.monotonic()
    changed: list[str] = []
    partial: list[str] = []
    room = MAX_INLINE_BYTES
    for source in sources:
        if repository_of(source) is not None:
            if has_moved(source):
                changed.append(source.id)
            continue
        if cache is not None and cache.is_unchanged(source, reader.state):
            continue
        scan = (cache.list_files if cache is not None else list_files)(source, started + seconds)
        if not scan.complete:
            partial.append(
                f"{source.root} was not compared with the store: that takes longer than {seconds * 1000:g} ms."
            )
            continue
        known = reader.documents(source.id)
        stale, gone = ([], []) if scan.missing else compare_with_stored(scan, known)
        gone = [path for path in gone if not known[path].cursor]  # turns stay when their log is gone
        stale = [file for file in stale if has_enough_new_lines(source, known.get(file.path))]
        if not (stale or gone):
            if cache is not None:
                cache.mark_unchanged(source, scan, reader.state)
            continue
        stale, gone, waiting = exclude_hidden(reader, source, stale, gone, known)
        fitting, dropped, left, room = select_inline(stale, gone, known, room)
        count = len(left) + len(gone) - len(dropped)
        if waiting:
            partial.append(_notice(source, waiting, "is shared with a group you are not in"))
        if count > MAX_INLINE_FILES:
            partial.append(
                Notice(
                    f"{source.root} has {count} files that changed or were being written when they were read: "
                    "run `scrubjay sync`."
                )
            )
        elif left:
            left.sort(key=lambda state: unread_bytes(state, known), reverse=True)
            partial.append(_notice(source, [state.path for state in left], "is larger than a search reads"))
        if fitting or dropped:
            changed.append(source.id)
    return Freshness(tuple(changed), tuple(partial))
