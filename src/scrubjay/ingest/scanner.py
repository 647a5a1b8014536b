"""Scanner: find the files of a source and which of them changed since the last sync, without opening them.

Patterns are those of git. `.gitignore` and `.scrubjayignore` are read in the root and below, never above it. Hidden
names, `node_modules`, `__pycache__` and virtual environments are skipped unless an ``include`` pattern names them, and
so are earlier versions that Logseq keeps. Symbolic links are followed inside the root only. A search imports this
module before it answers, so it must not load the write path.
"""

from __future__ import annotations

import math
import os
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
from scrubjay.ingest.files import MAX_FILE_BYTES, is_within, read_file
from scrubjay.ingest.gitignore import IgnoreRules, IncludePatterns, is_skipped_name
from scrubjay.models.records import Document, Source
from scrubjay.tracing import traced

if TYPE_CHECKING:
    from scrubjay.ingest.scan_cache import FolderWatch

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
LOGSEQ_COPIES: Final = ("/logseq/bak/", "/logseq/version-files/")
"""Where Logseq keeps earlier versions of its pages, beside its ``config.edn``."""

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
        or (retry_failed and old.trouble and not old.is_unconverted)
    ]
    present = {file.path for file in scan.files}.union(scan.skipped)
    unread = {problem.path for problem in scan.problems if problem.hides}
    gone = [
        path
        for path, old in known.items()
        if path not in present and not old.is_unseen and not _is_within_any(path, unread)
    ]
    return changed, gone


def unread_bytes(state: FileState, known: Mapping[str, Document]) -> int:
    old = known.get(state.path)
    return max(0, state.size - old.cursor) if old is not None else state.size


def _is_within_any(path: str, folders: set[str]) -> bool:
    return "." in folders or any(
        path == folder or path.startswith(folder.rstrip("/") + "/") for folder in folders
    )
