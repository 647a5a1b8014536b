"""Git history: read a repository's commits with the ``git`` program, and make memories of them.

A repository may be hostile. Nothing that it names is run (hooks, pagers, signature checks, external diffs, text
conversions, file-system monitors), and nothing is fetched. Fields of the output end with NUL, which no message can
hold, and a random mark begins each commit.

A commit is a document with one memory (a long message has several): the whole message, then its author and files. One
that says nothing is left out and leaves a document without memories. A commit that reverts or amends another supersedes
it, by what it says in git's own words alone.
"""

from __future__ import annotations

import os
import re
import secrets
import subprocess
import tempfile
import threading
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import IO, TYPE_CHECKING, Any, Final

from scrubjay.errors import SourceError
from scrubjay.frozen import frozen
from scrubjay.ingest.alignment import PASSAGE_TIER, FreshPassage, PreparedDocument
from scrubjay.ingest.chunker import chunk_text
from scrubjay.ingest.deletion import find_forgotten, status_changes
from scrubjay.ingest.files import is_within
from scrubjay.ingest.freshness import head_log, log_stamp
from scrubjay.ingest.reader import redact_documents, stage_versions
from scrubjay.ingest.sync_run import MAX_BATCH_DOCUMENTS, SyncRun, SyncTally
from scrubjay.models.dates import SECOND, now_micros
from scrubjay.models.graph import Edge
from scrubjay.models.ids import memory_id, memory_key, text_hash
from scrubjay.models.lifecycle import LifecycleChange
from scrubjay.models.records import (
    COMMIT,
    LEFT_OUT,
    OWN,
    UNTRUSTED,
    Document,
    EventTime,
    Record,
    Source,
    SourcePlace,
    commit_title,
    said_at,
)
from scrubjay.models.reports import FileError
from scrubjay.models.sources import authorship, commit_path, repository_of
from scrubjay.storage.changes import Change, RequireUnchanged, UnchangedPassage
from scrubjay.storage.interface import Reader

if TYPE_CHECKING:
    from scrubjay.redaction.redactor import RedactedText

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
GIT_COMMAND: Final = (
    "git", "--no-pager", "--no-replace-objects", *(word for one in _SETTINGS for word in ("-c", one)),
)  # fmt: skip
_LOG_ARGUMENTS: Final = (
    "log", "--no-walk=unsorted", "--stdin", "-z", "--name-only", "--root", "--no-renames",
    "--no-ext-diff", "--no-textconv", "--no-show-signature", "--no-notes", "--no-mailmap", "--no-color",
    "--encoding=UTF-8",
)  # fmt: skip
_REDIRECTING_VARIABLES: Final = frozenset(
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
        parents: How many commits it follows.
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
    """The checked-out commit of a repository; when ``state`` changes, the whole history is compared."""

    commit: str
    detached: bool
    state: str


class Repository:
    """A folder with a ``.git``, read without the environment variables that lead git to another repository."""

    def __init__(self, folder: str, variables: Mapping[str, str]) -> None:
        self.folder = folder
        self._variables = {
            name: value for name, value in variables.items() if name not in _REDIRECTING_VARIABLES
        } | {
            "GIT_CEILING_DIRECTORIES": os.path.dirname(folder),
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_TERMINAL_PROMPT": "0",
            "LC_ALL": "C",
        }

    def head(self) -> Head | None:
        """Return the checked-out commit; None if nothing was committed yet.

        Raises:
            SourceError: git is missing, refuses the repository or cannot read it.
        """
        queries = ("--is-shallow-repository", "--absolute-git-dir", "--git-common-dir", "HEAD^{commit}")
        failed, out, error = self._run("rev-parse", *queries)
        on_branch = self._run("symbolic-ref", "--quiet", "HEAD")[0] == 0
        if failed:
            if on_branch and self._run("rev-parse", "--verify", "--quiet", "HEAD")[1] == "":
                return None
            raise self._git_error(error)
        shallow, *places, commit = out.splitlines()
        self._require_own_git_dir(*(os.path.realpath(os.path.join(self.folder, place)) for place in places))
        return Head(commit, not on_branch, f"{'branch' if on_branch else 'detached'},shallow={shallow}")

    def _require_own_git_dir(self, git_dir: str, common: str) -> None:
        """Refuse another repository's history under this folder's name.

        What git reads lies in the folder, or, for a worktree or submodule, in a repository that names the folder.
        """
        top = os.path.realpath(self.folder)
        parts = (common, *(os.path.realpath(os.path.join(common, name)) for name in ("objects", "refs")))
        if all(is_within(part, top) for part in parts):
            return
        try:
            with open(os.path.join(git_dir, "gitdir"), encoding="utf-8") as file:
                named_folder = os.path.dirname(os.path.join(git_dir, file.read().strip()))
        except (OSError, ValueError):
            named_folder = os.path.join(
                git_dir, self._run("config", "--local", "core.worktree")[1].rstrip("\n") or "."
            )
        if os.path.realpath(named_folder) != top:
            raise SourceError(
                f"{self.folder} has its .git in {common}, which names another folder. Its history was not read.",
                hint=f"scrubjay sync {os.path.dirname(common)}, if that is the repository you mean",
            )

    def has_commit(self, commit: str) -> bool:
        return bool(commit) and not self._run("cat-file", "-e", f"{commit}^{{commit}}")[0]

    def reachable(self, *of: str, without: Sequence[str] = (), limit: int | None = None) -> list[str]:
        """Return the commits that ``of`` lead to and ``without`` do not, the newest first."""
        max_count = () if limit is None else (f"--max-count={limit}",)
        failed, out, error = self._run(
            "rev-list", *max_count, *of, *(("--not", *without) if without else ()), "--"
        )
        if failed:
            raise self._git_error(error)
        return out.split()

    def read(self, shas: Sequence[str]) -> Iterator[Commit]:
        """Yield commits in this order; only one is in memory.

        Raises:
            SourceError: One is missing or damaged; those before it were yielded.
        """
        if not shas:
            return
        mark = secrets.token_hex(16)
        fields = "%x00".join((f"--format=format:%x00{mark}", "%H", "%P", "%an", "%ae", "%at", "%B", ""))
        with tempfile.TemporaryFile() as requested, tempfile.TemporaryFile() as errors:
            requested.write("\n".join((*shas, "")).encode())
            requested.seek(0)
            with self._start(*_LOG_ARGUMENTS, fields, stdin=requested, stderr=errors) as process:
                assert process.stdout is not None
                timer = threading.Timer(TIMEOUT_SECONDS, process.kill)
                timer.start()
                last: Commit | None = None  # it may be cut off, which only git's exit code shows
                try:
                    for commit in _parse_commits(_fields(process.stdout), mark.encode()):
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
                raise self._git_error(errors.read(_CHUNK).decode("utf-8", "replace"))
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
        command: list[Any] = [*GIT_COMMAND, "-C", self.folder, *words]
        try:
            return subprocess.Popen(
                command, stdin=stdin, stdout=subprocess.PIPE, stderr=stderr, env=self._variables
            )
        except OSError as error:
            raise SourceError(
                f"The program git cannot be run ({error.strerror}), so the history of {self.folder} was not read.",
                hint="install git, or leave the history out: scrubjay sync DIR --no-git",
            ) from error

    def _git_error(self, error: str) -> SourceError:
        reason = next((line for line in error.splitlines() if line.startswith("fatal: ")), "it ended early")
        reason = reason.removeprefix("fatal: ").rstrip(".")
        if not os.path.lexists(self.folder):
            return SourceError(
                f"{self.folder} does not exist. Its stored commits are kept.",
                hint=f"restore it; `scrubjay sources remove {self.folder}` deletes its memories",
            )
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
    """Yield the fields between NULs, and whether each is whole: the rest of an endless one is dropped."""
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


def _parse_commits(fields: Iterable[tuple[bytes, bool]], mark: bytes) -> Iterator[Commit]:
    stream = iter(fields)
    head: list[str] | None = None
    whole, files, count = True, list[str](), 0
    for field, _ in stream:
        if field == mark:
            if head is not None:
                yield _build_commit(head, whole, files, count)
            pairs = [next(stream, (b"", True)) for _ in range(6)]
            head, whole, files, count = [_decode(one) for one, _ in pairs], pairs[5][1], [], 0
        elif name := field.removeprefix(b"\n"):
            count += 1
            if count <= MAX_FILES:
                files.append(_decode(name))
    if head is not None:
        yield _build_commit(head, whole, files, count)


def _build_commit(head: Sequence[str], whole: bool, files: Sequence[str], count: int) -> Commit:
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


WHOLE_CHARACTERS: Final = 8_000
"""A longer message is cut into passages."""
MAX_NAME: Final = 100
"""Characters of an author's name that are kept."""
MAX_SUBJECT: Final = 300
"""Characters of a subject by which a commit is known; a longer one says something."""
LAST_SECOND: Final = 253_402_300_799
"""The end of the year 9999; later dates are invalid."""

_MERGE: Final = re.compile(
    r"Merge (?:(?:remote-tracking )?branch(?:es)?|tag|commit|pull request) \S+"
    r"(?: (?:'[^']+',?|and|(?:from|of|into) \S+))*|Merged in \S+ \(pull request #\d+\)",
)
_GENERATING_BOTS: Final = re.compile(
    r"(?:\d+\+)?(?:allcontributors|depfu|dependabot|dependabot-preview|greenkeeper|greenkeeperio-bot|imgbot|"
    r"pre-commit-ci|pyup-bot|pyup\.io bot|renovate|renovate-bot|renovate bot|scala-steward|snyk-bot|whitesource-bolt)"
    r"(?:\[bot\])?(?:@.*)?",
    re.I,
)
"""Authors whose messages are generated, whatever their length."""
_RUNNING_BOTS: Final = re.compile(
    r"(?:\d+\+)?(?:github[- ]actions?|gitlab[- ]ci|semantic-release-bot|release-please)(?:\[bot\])?(?:@.*)?|"
    r"action@github\.com",
    re.I,
)
"""Authors in whose name people's own scripts commit: messages with a body are kept."""
_VERSION: Final = r"v?\d+(?:\.\d+)*(?:(?:[-+.][A-Za-z]|a|b|rc|dev|post)[\w.+-]*)?"
_DOTTED_VERSION: Final = rf"(?=v?\d+\.){_VERSION}"
_PREFIX: Final = r"(?:(?:build|chore|ci|deps|release|fix)(?:\([^)]*\))?!?: *)?"
_DEPENDENCIES_PREFIX: Final = r"(?:deps(?:\([^)]*\))?|(?:build|chore|ci|fix)\(deps[\w-]*\))!?: *"
# A value that changes "from 30s to 90s" is a decision: only a package's version may be left out.
_BUMP: Final = re.compile(
    rf"(?:{_DEPENDENCIES_PREFIX}(?:bump|update|upgrade)s? .+ from \S+ to \S+|"
    rf"{_PREFIX}(?:bumps? \S+ from {_DOTTED_VERSION} to {_DOTTED_VERSION}(?: in \S+)?|"
    rf"(?:bump|update) (?:the )?version(?: number)?(?: to {_VERSION})?|"
    rf"(?:(?:(?:prepare|tag|cut) )?(?:release|version|bump)(?: version)?(?: to)?:? )?{_VERSION}(?: release)?))"
    r"(?: *\((?:#\d+)\)| *\[[\w -]+\])*\.?",
    re.I,
)
_BOILERPLATE_LINE: Final = re.compile(
    r"(?:[A-Za-z]+-)*by: .*|change-id: .*|git-svn-id: .*|cc: .*|\(cherry picked from commit [0-9a-f]+\)|#(?:\s.*)?|"
    r"conflicts:|\t.*|\[(?:skip ci|ci skip)\]|-+",
    re.I,
)
"""A line after the subject that says nothing by itself."""

_REVERTS: Final = re.compile(r"^This reverts commit ([0-9a-f]{12,64})(?:\.|, reversing)?$", re.M)
_REVERT_SUBJECT: Final = re.compile(r'Revert "(.+)"(?: \(#\d+\))?')
_AMEND_SUBJECT: Final = re.compile(r"amend! (.+)")
_ISSUE: Final = re.compile(r"(?<![\w&#/])#(\d{1,7})\b|\b([A-Z][A-Z0-9]{1,9}-\d{1,6})\b(?!-)")
_STANDARDS: Final = re.compile(
    "AES|BSD|CP|CVE|CWE|GPL|HTTP|IEC|IEEE|ISO|LGPL|MD|MIT|MPL|PEP|RFC|RSA|SHA|TLS|UTF|UTC|WCAG"
)
"""Prefixes that name a standard by its number, not an issue."""


MAX_COMMITS: Final = 5_000
"""Commits that a history begins with, and most that one sync adds; older ones are not read."""
UNREAD_COMMITS: Final = "scrubjay sync"
"""Hint of the notice that a search left commits to a sync."""


@dataclass(frozen=True, slots=True)
class HistoryChanges:
    """The difference between a repository and its stored commits.

    Attributes:
        head: The commit that is checked out, as a source keeps it.
        new: Path of a document to its commit, the newest first; also of those that are to be read again.
        empty: Whether nothing is committed yet.
    """

    head: str
    new: Mapping[str, str]
    gone: Sequence[str]
    empty: bool = False


def compare_history(repository: Repository, source: Source, known: Mapping[str, Document]) -> HistoryChanges:
    """Compare a repository with its stored commits.

    Only commits since the one that was checked out before are compared if git still has it, else the whole history.

    Raises:
        SourceError: git is missing, refuses the repository or cannot read it.
    """
    stamp = log_stamp(head_log(source))  # before git runs: if the head moves meanwhile, it is compared again
    head = repository.head()
    if head is None:
        return HistoryChanges(f"- - {stamp}", {}, [], empty=True)
    ((_, _, stored),) = source.repositories or ((".", OWN, ""),)
    last, _, state = stored.rpartition(" ")[0].partition(" ")
    refs = ("--branches", "--tags", "--remotes") if head.detached else ()
    if last == head.commit and state == head.state:
        listed, gone = [], set[str]()
    elif state == head.state and repository.has_commit(last):
        listed = repository.reachable(head.commit, without=(last,), limit=MAX_COMMITS)
        unreachable = repository.reachable(last, without=(head.commit, *refs))
        gone = {commit_path(source, sha) for sha in unreachable} & known.keys()
    else:
        listed = repository.reachable(head.commit, limit=MAX_COMMITS + len(known))
        oldest = max((n for n, sha in enumerate(listed, 1) if commit_path(source, sha) in known), default=0)
        listed = listed[: max(oldest, MAX_COMMITS)]
        gone = set() if head.detached else known.keys() - {commit_path(source, sha) for sha in listed}
    new = {commit_path(source, sha): sha for sha in listed}
    reread = {path: path.rpartition("@")[2] for path, one in known.items() if one.is_to_reread}
    elsewhere = {  # imported, and git here never had them
        path
        for path in gone | reread.keys()
        if known[path].is_unseen and not repository.has_commit(path.rpartition("@")[2])
    }
    gone -= elsewhere
    new = {path: sha for path, sha in new.items() if path not in known}
    return HistoryChanges(
        f"{head.commit} {head.state} {stamp}",
        new | {path: reread[path] for path in reread.keys() - gone - elsewhere},
        sorted(gone),
    )


def count_commits(tally: SyncTally, documents: Mapping[str, Document]) -> None:
    """Add the commits of a history to a tally."""
    left_out = sum(one.versions.extractor == LEFT_OUT for one in documents.values())
    tally.commits += len(documents) - left_out
    tally.left_out += left_out


def is_left_out(commit: Commit) -> bool:
    r"""Return whether a commit says nothing: an empty message, a merge, a bot's, or a version bump without a body.

    >>> one = Commit("1" * 40, 1, "Ann", "ann@example.org", 0, "Bump httpx from 0.27 to 0.28", (), 0)
    >>> is_left_out(one), is_left_out(replace(one, message=f"{one.message}\n\n0.27 lost the proxy settings."))
    (True, False)
    >>> is_left_out(replace(one, message="Merge branch 'main'", parents=2)), is_left_out(replace(one, message="Retry"))
    (True, False)
    """
    subject, body = split_message(commit.message)
    names = (commit.author.strip(), commit.email.strip())
    if not subject or any(map(_GENERATING_BOTS.fullmatch, names)):
        return True
    if any(line.strip() and not _BOILERPLATE_LINE.fullmatch(line.rstrip()) for line in body.splitlines()):
        return False
    if any(map(_RUNNING_BOTS.fullmatch, names)):
        return True
    merge = commit.parents > 1 and _MERGE.fullmatch(subject) is not None
    return len(subject) <= MAX_SUBJECT and (merge or _BUMP.fullmatch(subject) is not None)


def split_message(message: str) -> tuple[str, str]:
    """Return a message's subject, which is its first paragraph in one line, and its body."""
    subject, _, body = message.strip().partition("\n\n")
    return " ".join(subject.split()), body


def issue_tags(message: str) -> tuple[str, ...]:
    """Return the issues that a message names, as tags.

    >>> issue_tags("Retry uploads (#12), see PAY-340; UTF-8 is no issue")
    ('12', 'pay-340')
    """
    issues = (number or name for number, name in _ISSUE.findall(message))
    return tuple(sorted({one.lower() for one in issues if not _STANDARDS.fullmatch(one.partition("-")[0])}))


def commit_text(commit: Commit) -> str:
    """Return the text to store of a commit: its message, then its author and files."""
    lines = [commit.message, "", f"Author: {commit.author}"]
    if commit.files:
        more = commit.file_count - len(commit.files)
        lines.append(f"Files: {', '.join(commit.files)}" + (f" and {more:,} more" if more else ""))
    return "\n".join(lines)


def prepare_commits(
    run: SyncRun,
    source: Source,
    commits: Iterable[Commit],
    known: Mapping[str, Document],
    referring: list[str],
) -> Iterator[PreparedDocument]:
    """Yield commits ready to be written; ids of those that name another are added to ``referring``."""
    project = run.projects.of_source_directory(source.id, repository_of(source) or source.root)
    stream = iter(commits)
    while group := list(islice(stream, MAX_BATCH_DOCUMENTS)):
        # A message that is cut off or left out is not stored.
        texts = [commit_text(one) if one.whole and not is_left_out(one) else "" for one in group]
        cleaned = redact_documents(texts, run.chunks.allow)
        with run.store.reader(run.scope) as reader:
            prepared = [
                _prepare_commit(run, reader, source, commit, clean, project, known)
                for commit, clean in zip(group, cleaned, strict=True)
            ]
        referring += [
            one.record.id for document in prepared for one in document.fresh if _names_another(one.record)
        ]
        yield from prepared


def _prepare_commit(
    run: SyncRun,
    reader: Reader,
    source: Source,
    commit: Commit,
    clean: RedactedText,
    project: str | None,
    known: Collection[str],
) -> PreparedDocument:
    from scrubjay.redaction.redactor import redact_text

    path, now = commit_path(source, commit.sha), now_micros()
    at = commit.at * SECOND if 0 < commit.at <= LAST_SECOND else None
    skipped = is_left_out(commit)
    versions = replace(stage_versions(run.chunks), extractor=LEFT_OUT if skipped else COMMIT)
    document = Document(source.id, path, commit.sha, (at or 0) * 1000, len(commit.message), path, versions)
    old = {record.id: record for record in reader.passages(source.id, path)} if path in known else {}
    if skipped:
        return PreparedDocument(document, dropped=tuple(old))
    if not commit.whole:
        message = f"Its message has more than the {MAX_FIELD_BYTES:,} bytes that are read; it was left out."
        run.tally.notices.append(FileError(os.path.join(source.root, path), message))
        return PreparedDocument(document.with_extractor(LEFT_OUT))
    text = clean.text
    run.tally.scrubbed.update(clean.counts)
    author = " ".join(redact_text(commit.author[:MAX_NAME], run.chunks.allow).text.split()) or "nobody"
    subject = split_message(text)[0][:MAX_SUBJECT]
    records = []
    for ordinal, (start, end, first, last) in enumerate(_message_spans(run, text)):
        content = text[start:end]
        parts = ("commit", source.id, source.key, commit.sha, str(ordinal))
        memory = memory_id(PASSAGE_TIER, memory_key(run.secret, parts))
        new = Record(
            id=memory, tier=PASSAGE_TIER, content=content, content_hash=text_hash(content), key=source.key,
            title=commit_title(commit.sha, author), owner=run.scope.user,
            recorded_at=min(at or now, now), updated_at=now,
        )  # fmt: skip
        records.append(
            replace(
                old.get(memory, new),
                content=content,
                content_hash=new.content_hash,
                title=new.title,
                tags=tuple(sorted({*issue_tags(text), *old.get(memory, new).tags})),
                place=SourcePlace(source.id, path, ordinal, start, end, first, last),
                project=project,
                role=author,
                origin="owner" if authorship(source, path) == OWN else UNTRUSTED,
                event=EventTime(at, at, "second", "UTC") if at is not None else None,
            )
        )
    forgotten = find_forgotten(reader, run.secret, records, lambda one: (one.content,), run.scope.keys)
    kept = [one for one, gone in zip(records, forgotten, strict=True) if not gone]
    run.tally.forgotten += len(records) - len(kept)
    same = {
        one.id
        for one in kept
        if one.id in old and replace(one, updated_at=old[one.id].updated_at) == old[one.id]
    }
    fresh = [one for one in kept if one.id not in same]
    dropped = tuple(old.keys() - {one.id for one in kept})
    return PreparedDocument(
        replace(document, title=subject if kept else path),
        tuple(FreshPassage(one, old=old.get(one.id)) for one in fresh),
        tuple(
            UnchangedPassage(one.id, one.place) for one in kept if one.id in same and one.place is not None
        ),
        dropped,
        keys=frozenset((source.key,)),
    )


def _message_spans(run: SyncRun, text: str) -> Iterator[tuple[int, int, int, int]]:
    if len(text) <= WHOLE_CHARACTERS:
        yield 0, len(text), 1, text.count("\n") + 1
        return
    for one in chunk_text(text, name="", settings=run.chunks):
        yield one.start, one.end, one.line_start, one.line_end


_SUPERSEDING_RULES: Final = ("revert", "amend")


def superseding_edges(
    reader: Reader, source: Source, records: Iterable[Record], documents: Mapping[str, Document]
) -> list[Edge]:
    """Return edges from commits that say they revert or amend another, to the memories of that one.

    git's sentence names it by id. A quoted subject names it if exactly one stored commit, no younger one, has it.
    """
    subjects: dict[str, list[str]] = {}
    for path, document in documents.items():
        subjects.setdefault(document.title, []).append(path)
    edges = []
    for record in records:
        place = record.place
        if place is None or place.ordinal:
            continue
        named = [commit_path(source, sha) for sha in _REVERTS.findall(record.content)]
        targets = [path for path in named if path in documents]
        rule = "revert"
        if not targets:  # git's sentence is missing, or names a commit that a rebase replaced
            subject = split_message(record.content)[0]
            quoted = _REVERT_SUBJECT.fullmatch(subject) or _AMEND_SUBJECT.fullmatch(subject)
            rule = "amend" if subject.startswith("amend!") else "revert"
            targets = subjects.get(quoted[1], []) if quoted is not None else []
            targets = targets if len(targets) == 1 else []
        for path in targets:
            older = reader.passages(source.id, path) if path != place.path else []
            edges += [
                Edge(record.id, "supersedes", one.id, source.key, 1.0, now_micros(), rule=rule)
                for one in older
                if said_at(one) <= said_at(record)
            ]
    return edges


def status_updates(reader: Reader, seeds: Collection[str]) -> list[Change]:
    """Return the status changes of commits that are linked with these by revert or amendment.

    A commit is superseded while one that supersedes it is not: a reverted revert brings it back. Commits that a person
    pinned or archived stay as they are.
    """
    newer: dict[str, set[str]] = {one: set() for one in seeds}
    ids = sorted(newer)
    while ids:
        both = (reader.edges(ids, ["supersedes"], inward=inward) for inward in (True, False))
        edges = [edge for found in both for edge in found if edge.rule in _SUPERSEDING_RULES]
        new = {end for edge in edges for end in (edge.src, edge.dst)} - newer.keys()
        newer |= {one: set() for one in new}
        for edge in edges:
            newer[edge.dst].add(edge.src)
        ids = sorted(new)
    records = reader.get(sorted(newer))
    superseded: dict[str, bool] = {}

    def is_superseded(memory: str) -> bool:
        if memory not in superseded:
            superseded[memory] = False  # in a cycle, which only a forged message makes, nothing is superseded
            superseded[memory] = any(one in records and not is_superseded(one) for one in newer[memory])
        return superseded[memory]

    changes: list[Change] = []
    for memory, record in records.items():
        at, unchanged = now_micros(), RequireUnchanged({memory: record})
        if is_superseded(memory) and record.status == "active" and not record.pinned:
            until = min(
                said_at(records[one]) for one in newer[memory] if one in records and not is_superseded(one)
            )
            life = LifecycleChange(status="superseded", valid_until=until)
            changes += [unchanged, *status_changes([record], life, "superseded", at)]
        elif not is_superseded(memory) and record.status == "superseded":
            life = LifecycleChange(status="active", valid_until=None)
            changes += [unchanged, *status_changes([record], life, "restored", at)]
    return changes


def superseded_ids(reader: Reader, source: Source, paths: Iterable[str]) -> set[str]:
    """Return the ids of the memories that the commits of these documents revert or amend."""
    ids = [record.id for path in paths for record in reader.passages(source.id, path)]
    return {edge.dst for edge in reader.edges(ids, ["supersedes"]) if edge.rule in _SUPERSEDING_RULES}


def find_referring_commits(reader: Reader, source: Source, paths: Iterable[str]) -> list[str]:
    """Return the ids of the commits among these documents that name another."""
    return [
        record.id for path in paths for record in reader.passages(source.id, path) if _names_another(record)
    ]


def _names_another(record: Record) -> bool:
    text = record.content
    return text.startswith(("Revert ", "amend! ")) or _REVERTS.search(text) is not None
