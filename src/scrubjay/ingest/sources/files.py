"""Files: Path -> Scan.

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
"""

import math
import os
import stat
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from scrubjay.errors import InputError, SourceError
from scrubjay.ingest.sources.ignore import IGNORE_FILES, Ignore, Include, skipped
from scrubjay.ingest.sources.kinds import DEFAULT_INCLUDE, changed, like_transcript
from scrubjay.ingest.sources.read import MOST_BYTES, FileText, read, within

__all__ = ["MOST_BYTES", "FileState", "FileText", "Problem", "Scan", "read", "scan"]

LOOKS = 64  # entries between two looks at the clock: about half a millisecond


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
class Problem:
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


@dataclass(frozen=True, slots=True)
class Scan:
    """What a source holds now.

    Attributes:
        files: The listed files, by path.
        problems: What could not be listed, by path.
        missing: The root is not there or cannot be read. Nothing may be judged as removed.
        complete: False where the time was up before everything was seen; then nothing else here counts.
    """

    files: tuple[FileState, ...]
    problems: tuple[Problem, ...]
    missing: bool
    complete: bool = True


def scan(
    root: Path,
    *,
    include: Sequence[str] = DEFAULT_INCLUDE,
    exclude: Sequence[str] = (),
    until: float = math.inf,
) -> Scan:
    """List the files of a source without opening any of them (but its ignore files).

    Args:
        root: A folder, or one file.
        include: gitignore patterns of what to list.
        exclude: gitignore patterns of what to leave out; they overrule every ignore file.
        until: When to give up, as ``time.monotonic`` counts.

    Raises:
        InputError: ``include`` or ``exclude`` holds what is no pattern.
    """
    taking, leaving = Include(include), Ignore(exclude)
    if broken := taking.broken + leaving.broken:
        hint = "write it as in a .gitignore: a backslash escapes the character after it"
        raise InputError(f"{broken[0]!r} is not a pattern of file names; nothing was read.", hint=hint)
    try:
        info = os.stat(root)
        if stat.S_ISREG(info.st_mode):
            return _single(root, info)
        if not stat.S_ISDIR(info.st_mode):
            message = f"{root} is neither a folder nor a regular file; nothing was read."
            return Scan((), (Problem(".", message, "name a folder"),), True)
        top = os.path.realpath(root)
        os.scandir(top).close()
    except OSError as error:
        reason = error.strerror or str(error)
        hint = "check the path, or whether its disk is mounted"
        return Scan((), (Problem(".", f"{root} cannot be read: {reason}. Nothing was removed.", hint),), True)
    return _Walk(top, taking, leaving, until).run()


def _single(root: Path, info: os.stat_result) -> Scan:
    if info.st_size > MOST_BYTES and not like_transcript(root.name):
        return Scan((), (_too_large(root.name, info.st_size),), False)
    return Scan((FileState(root.name, *changed(str(root), info)),), (), False)


def _too_large(path: str, size: int) -> Problem:
    message = f"{path} has {size:,} bytes, more than the {MOST_BYTES:,} that are read; it was left out."
    return Problem(path, message, "split it, or leave it out by a line in .scrubjayignore")


# Of each ignore file at or above a place, the deepest first: the length of the path above it, and its rules.
Rules = tuple[tuple[int, Ignore], ...]


@dataclass(frozen=True, slots=True)
class _Folder:
    path: str  # on disk
    relative: str  # "" for the root, else with a closing slash
    rules: Rules


class _Walk:
    """One walk over a root: an explicit stack, so depth is bounded by the disk alone."""

    def __init__(self, top: str, include: Include, exclude: Ignore, until: float) -> None:
        self.top, self.include, self.exclude, self.until = top, include, exclude, until
        self.files: list[FileState] = []
        self.problems: list[Problem] = []
        self.links: list[tuple[str, str, Rules]] = []
        self.seen: set[tuple[int, int]] = set()
        self.listed: set[str] | None = None  # made when the first link asks

    def run(self) -> Scan:
        stack = [_Folder(self.top, "", ())]
        while True:
            while stack:
                if not self._folder(stack.pop(), stack):
                    return Scan((), (), False, complete=False)
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
        return Scan(tuple(self.files), tuple(self.problems), False)

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
            if place % LOOKS == 0 and time.monotonic() >= self.until:
                return False
            try:
                self._entry(entry, folder.relative, rules, stack)
            except OSError as error:
                self._unreadable(folder.relative + entry.name, error)
        return True

    def _rules(self, folder: _Folder, found: Iterable[os.DirEntry[str]]) -> Rules:
        """The rules above, with those of this folder's own ignore files in front."""
        present = {entry.name for entry in found if entry.name in IGNORE_FILES}
        if not present:
            return folder.rules
        lines: list[str] = []
        for name in (name for name in IGNORE_FILES if name in present):
            try:
                text = read(Path(folder.path), name).text
            except SourceError as error:
                self.problems.append(Problem(folder.relative + name, str(error), error.hint, hides=False))
                continue
            lines.extend(text.split("\n"))
        return ((len(folder.relative), Ignore(lines)), *folder.rules)

    def _entry(self, entry: os.DirEntry[str], above: str, rules: Rules, stack: list[_Folder]) -> None:
        name = entry.name
        is_link = entry.is_symlink()
        if not is_link and entry.is_dir(follow_symlinks=False):
            if skipped(name) and not self.include.names(name):
                return
            if not self._ignored(above + name, rules, folder=True) and self._spelt(above + name):
                stack.append(_Folder(entry.path, f"{above}{name}/", rules))
        elif is_link:
            if not skipped(name) or self.include.names(name):
                self.links.append((above + name, entry.path, rules))
        elif self._wanted(name, above + name, rules) and entry.is_file(follow_symlinks=False):
            self._file(above + name, entry.stat(follow_symlinks=False))

    def _wanted(self, name: str, path: str, rules: Rules) -> bool:
        if not self.include.takes(name, path) or (skipped(name) and not self.include.names(name)):
            return False
        return not self._ignored(path, rules)

    def _ignored(self, path: str, rules: Rules, *, folder: bool = False) -> bool:
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
        if info.st_size > MOST_BYTES and not like_transcript(path):
            self.problems.append(_too_large(path, info.st_size))
        else:
            self.files.append(FileState(path, *changed(os.path.join(self.top, path), info)))

    def _link(self, path: str, place: str, rules: Rules, stack: list[_Folder]) -> None:
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
        if not within(real, self.top):
            message = f"{path} links to {_shown(real)}, outside the source; it was not followed."
            self.problems.append(Problem(path, message, f"scrubjay sync {_shown(real)}", hides=False))
        elif folder:
            stack.append(_Folder(place, path + "/", rules))
        elif self.listed is not None and (own := _relative(real, self.top)) not in self.listed:
            self.listed.add(own)
            self._file(path, info)

    def _spelt(self, path: str) -> bool:
        """Whether the name is Unicode; one that is not can be neither stored nor shown, and is reported."""
        if path.isascii() or _shown(path) == path:
            return True
        message = f"{_shown(path)}: the name is not UTF-8; it was left out."
        self.problems.append(Problem(_shown(path), message, "rename it", hides=False))
        return False

    def _unreadable(self, path: str, error: OSError) -> None:
        if isinstance(error, FileNotFoundError):
            return  # it went away since its folder was listed: simply not there
        shown = _shown(path.rstrip("/"))
        message = f"{shown} cannot be read: {error.strerror or error}. What was stored from it is kept."
        hint = "allow reading it, or leave it out by a line in .scrubjayignore"
        self.problems.append(Problem(shown, message, hint))


def _shown(path: str) -> str:
    """The path with bytes that are not UTF-8 as escapes; printable whatever the disk holds."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def _relative(real: str, top: str) -> str:
    return real[len(top) :].lstrip(os.sep).replace(os.sep, "/")
