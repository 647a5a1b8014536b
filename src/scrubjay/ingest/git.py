"""Git: read a repository's commits with the ``git`` program.

A repository may be hostile. Nothing that it names is run (hooks, pagers, signature checks, external diffs, text
conversions, file-system monitors), and nothing is fetched. Fields of the output end with NUL, which no message can
hold, and a random mark begins each commit.
"""

from __future__ import annotations

import os
import secrets
import subprocess
import tempfile
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import IO, Any, Final

from scrubjay.errors import SourceError
from scrubjay.frozen import frozen
from scrubjay.ingest.files import is_within

TIMEOUT_SECONDS: Final = 600.0
"""Seconds after which a call of git is ended: listing a million commits takes ten."""
MAX_FIELD_BYTES: Final = 1_000_000
"""Bytes of a message; a longer one is a dump and is not read."""
MAX_FILES: Final = 20
"""Files of a commit that are named; the others are counted."""
_CHUNK: Final = 1 << 16
_SETTINGS: Final = (
    "core.fsmonitor=false",
    f"core.hooksPath={os.devnull}",
    "log.showSignature=false",
    "protocol.allow=never",
    *(f"protocol.{name}.allow=never" for name in ("file", "ext", "ssh", "git", "http", "https")),
)
_COMMAND: Final = (
    "git", "--no-pager", "--no-replace-objects", *(word for one in _SETTINGS for word in ("-c", one)),
)  # fmt: skip
_READ: Final = (
    "log", "--no-walk=unsorted", "--stdin", "-z", "--name-only", "--root", "--no-renames",
    "--no-ext-diff", "--no-textconv", "--no-show-signature", "--no-notes", "--no-mailmap", "--no-color",
    "--encoding=UTF-8",
)  # fmt: skip
_LEADING_ELSEWHERE: Final = frozenset(
    f"GIT_{name}"
    for name in (
        "DIR", "WORK_TREE", "INDEX_FILE", "COMMON_DIR", "OBJECT_DIRECTORY", "ALTERNATE_OBJECT_DIRECTORIES",
        "NAMESPACE", "PREFIX", "GRAFT_FILE", "SHALLOW_FILE", "REPLACE_REF_BASE", "EXTERNAL_DIFF",
    )
)  # fmt: skip
"""Variables that a git hook is started with, which lead git to another repository."""


@frozen
class Commit:
    """One commit.

    Attributes:
        sha: Its whole id.
        parents: How many commits it follows.
        author: The author's name.
        email: The author's address.
        at: When it was written (author date), UTC seconds.
        message: The whole message without the blank lines at its end; cut where it is not ``whole``.
        files: The first `MAX_FILES` files that it changed; none of a merge.
        file_count: How many files it changed.
        whole: Whether the message has at most `MAX_FIELD_BYTES`.
    """

    sha: str
    parents: int
    author: str
    email: str
    at: int
    message: str
    files: tuple[str, ...]
    file_count: int
    whole: bool = True


@frozen
class Head:
    """What a repository has checked out; ``state`` changes where a history is to be compared as a whole."""

    commit: str
    detached: bool
    state: str


class Repository:
    """A folder with a ``.git``, read with the environment of the process except for what leads git elsewhere."""

    def __init__(self, folder: str, variables: Mapping[str, str]) -> None:
        self.folder = folder
        self._variables = {
            name: value for name, value in variables.items() if name not in _LEADING_ELSEWHERE
        } | {
            "GIT_CEILING_DIRECTORIES": os.path.dirname(folder),
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_TERMINAL_PROMPT": "0",
            "LC_ALL": "C",
        }

    def head(self) -> Head | None:
        """Return what is checked out; None where nothing was committed yet.

        Raises:
            SourceError: git is missing, refuses the repository or cannot read it.
        """
        wanted = ("--is-shallow-repository", "--absolute-git-dir", "--git-common-dir", "HEAD^{commit}")
        failed, out, error = self._run("rev-parse", *wanted)
        on_branch = self._run("symbolic-ref", "--quiet", "HEAD")[0] == 0
        if failed:
            if on_branch and self._run("rev-parse", "--verify", "--quiet", "HEAD")[1] == "":
                return None
            raise self._failure(error)
        shallow, *places, commit = out.splitlines()
        self._check_places(*(os.path.realpath(os.path.join(self.folder, place)) for place in places))
        return Head(commit, not on_branch, f"{'branch' if on_branch else 'detached'},shallow={shallow}")

    def _check_places(self, git_dir: str, common: str) -> None:
        """Refuse another repository's history under this folder's name.

        What git reads lies in the folder, or, for a worktree or submodule, in a repository that names the folder.
        """
        top = os.path.realpath(self.folder)
        parts = (common, *(os.path.realpath(os.path.join(common, name)) for name in ("objects", "refs")))
        if all(is_within(part, top) for part in parts):
            return
        try:
            with open(os.path.join(git_dir, "gitdir"), encoding="utf-8") as file:
                named = os.path.dirname(os.path.join(git_dir, file.read().strip()))
        except (OSError, ValueError):
            named = os.path.join(
                git_dir, self._run("config", "--local", "core.worktree")[1].rstrip("\n") or "."
            )
        if os.path.realpath(named) != top:
            raise SourceError(
                f"{self.folder} has its .git in {common}, which names another folder. Its history was not read.",
                hint=f"scrubjay sync {os.path.dirname(common)}, if that is the repository you mean",
            )

    def has(self, commit: str) -> bool:
        return bool(commit) and not self._run("cat-file", "-e", f"{commit}^{{commit}}")[0]

    def reachable(self, *of: str, without: Sequence[str] = (), limit: int | None = None) -> list[str]:
        """Return the commits that ``of`` lead to and ``without`` do not, the newest first."""
        most = () if limit is None else (f"--max-count={limit}",)
        failed, out, error = self._run(
            "rev-list", *most, *of, *(("--not", *without) if without else ()), "--"
        )
        if failed:
            raise self._failure(error)
        return out.split()

    def read(self, shas: Sequence[str]) -> Iterator[Commit]:
        """Yield commits in this order; only one is in memory.

        Raises:
            SourceError: One is missing or damaged; those before it were yielded.
        """
        if not shas:
            return
        mark = secrets.token_hex(16)
        form = "%x00".join((f"--format=format:%x00{mark}", "%H", "%P", "%an", "%ae", "%at", "%B", ""))
        with tempfile.TemporaryFile() as wanted, tempfile.TemporaryFile() as errors:
            wanted.write("\n".join((*shas, "")).encode())
            wanted.seek(0)
            with self._start(*_READ, form, stdin=wanted, stderr=errors) as process:
                assert process.stdout is not None
                timer = threading.Timer(TIMEOUT_SECONDS, process.kill)
                timer.start()
                last: Commit | None = None  # it may be cut off, which only git's exit code tells
                try:
                    for commit in _parse(_fields(process.stdout), mark.encode()):
                        if last is not None:
                            yield last
                        last = commit
                except GeneratorExit:
                    process.kill()
                    raise
                finally:
                    timer.cancel()
            errors.seek(0)
            if process.returncode:
                raise self._failure(errors.read(_CHUNK).decode("utf-8", "replace"))
        if last is not None:
            yield last

    def _run(self, *words: str) -> tuple[int, str, str]:
        with self._start(*words, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
            timer = threading.Timer(TIMEOUT_SECONDS, process.kill)
            timer.start()
            try:
                out, error = process.communicate()
            finally:
                timer.cancel()
        return process.returncode, out.decode("utf-8", "replace"), error.decode("utf-8", "replace")

    def _start(self, *words: str, stdin: int | IO[bytes], stderr: int | IO[bytes]) -> subprocess.Popen[bytes]:
        command: list[Any] = [*_COMMAND, "-C", self.folder, *words]
        try:
            return subprocess.Popen(
                command, stdin=stdin, stdout=subprocess.PIPE, stderr=stderr, env=self._variables
            )
        except OSError as error:
            raise SourceError(
                f"The program git cannot be run ({error.strerror}), so the history of {self.folder} was not read.",
                hint="install git, or leave the history out: scrubjay sync DIR --no-git",
            ) from error

    def _failure(self, error: str) -> SourceError:
        reason = next((line for line in error.splitlines() if line.startswith("fatal: ")), "it ended early")
        reason = reason.removeprefix("fatal: ").rstrip(".")
        if "dubious ownership" in error:
            return SourceError(
                f"git does not read the repository {self.folder}, which belongs to another user. Its history was "
                "not read.",
                hint=f"if you trust it: git config --global --add safe.directory {self.folder}",
            )
        return SourceError(
            f"git cannot read the history of {self.folder}: {reason}. What is stored of it stays.",
            hint=f"git -C {self.folder} fsck; or scrubjay sync {self.folder} --no-git",
        )


def _fields(stream: IO[bytes]) -> Iterator[tuple[bytes, bool]]:
    """Yield what stands between NULs, and whether it is whole: the rest of an endless field is not kept."""
    rest, whole = b"", True
    while chunk := stream.read(_CHUNK):
        *ended, last = chunk.split(b"\0")
        for part in ended:
            yield (rest + part)[:MAX_FIELD_BYTES], whole and len(rest) + len(part) <= MAX_FIELD_BYTES
            rest, whole = b"", True
        rest += last
        if len(rest) > MAX_FIELD_BYTES:
            rest, whole = rest[:MAX_FIELD_BYTES], False
    yield rest, whole


def _parse(fields: Iterable[tuple[bytes, bool]], mark: bytes) -> Iterator[Commit]:
    stream = iter(fields)
    head: list[str] | None = None
    whole, files, count = True, list[str](), 0
    for field, _ in stream:
        if field == mark:
            if head is not None:
                yield _commit(head, whole, files, count)
            pairs = [next(stream, (b"", True)) for _ in range(6)]
            head, whole, files, count = [_decode(one) for one, _ in pairs], pairs[5][1], [], 0
        elif name := field.removeprefix(b"\n"):
            count += 1
            if count <= MAX_FILES:
                files.append(_decode(name))
    if head is not None:
        yield _commit(head, whole, files, count)


def _commit(head: Sequence[str], whole: bool, files: Sequence[str], count: int) -> Commit:
    sha, parents, author, email, at, message = head
    seconds = int(at) if at.lstrip("-").isdecimal() else 0
    return Commit(
        sha, len(parents.split()), author, email, seconds, message.rstrip(), tuple(files), count, whole
    )


def _decode(data: bytes) -> str:
    """Decode what git could not convert to UTF-8: every byte is a character of Latin-1."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")
