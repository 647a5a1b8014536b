"""Register sources, and determine whose work their files are.

A file is its owner's unless it is below a folder of dependencies, or in a repository most of whose last commits are
others', or a person chose otherwise for the source. Other files get the origin ``untrusted``.
"""

from __future__ import annotations

import os
import posixpath
import subprocess
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from scrubjay.errors import InputError, SourceError
from scrubjay.ingest.alignment import note_marker_id
from scrubjay.ingest.files import read_bytes
from scrubjay.ingest.freshness import log_stamp
from scrubjay.ingest.gitignore import IncludePatterns, is_skipped_name
from scrubjay.ingest.projects import shared_git_directory
from scrubjay.ingest.scanner import (
    AUTOMATIC_INCLUDE,
    DEFAULT_INCLUDE,
    OPENCODE_SIDE_FOLDERS,
    TRANSCRIPT_INCLUDE,
    FileState,
    ScanResult,
    compare_with_stored,
    include_patterns,
    is_excluded,
    is_unreadable_document,
    list_files,
    may_be_transcript,
    scan_files,
)
from scrubjay.models.dates import now_micros
from scrubjay.models.lifecycle import LifecycleChange
from scrubjay.models.records import (
    FOREIGN,
    JOINT,
    OWN,
    PERSON_ROLES,
    UNTRUSTED,
    Document,
    Record,
    Scope,
    Source,
    note_documents,
)
from scrubjay.models.reports import FileError
from scrubjay.models.sources import (
    authorship,
    commit_path,
    containing_repository,
    dependency_folder,
    escape_pattern,
    exclude_nested_sources,
    expand_path,
    is_single_file,
    repository_of,
    source_id,
    source_location,
)
from scrubjay.storage.changes import Change, PutDocument, PutLifecycle, PutSource
from scrubjay.storage.interface import Reader, Store

if TYPE_CHECKING:
    from scrubjay.ingest.sync_run import SyncTally

MAX_PROBED_FILES: Final = 100
"""JSON files that are probed to see whether a folder holds transcripts: a tenth of a second."""


def register_or_relocate_source(
    store: Store,
    scope: Scope,
    path: Path,
    options: Source,
    include: tuple[str, ...] = (),
    exclude: tuple[str, ...] = (),
) -> tuple[Source, ScanResult | None]:
    """Return the source that holds a path, registered now if there is none, and its files if they were scanned.

    A path inside a registered folder is that folder's. A single file is a source whose root is its folder and whose
    only pattern is its name. A folder with transcripts includes JSON files. Empty fields of ``options`` change nothing.
    The default patterns ``include`` apply to a source without patterns; ``exclude`` are added to those of any source.

    Raises:
        InputError: Nothing is there and no source of that root is registered, or it is a JSON file of no known format.
    """
    full = Path(os.path.abspath(expand_path(str(path))))
    with store.reader(scope) as reader:
        known = reader.sources()

    def with_patterns(source: Source) -> Source:
        own = (*options.exclude, *_excluded_histories(source)) if options.exclude else source.exclude
        return replace(
            source,
            include=options.include or source.include or include,
            exclude=(*(pattern for pattern in exclude if pattern not in own), *own),
        )

    source = containing_source(known, full)
    if source is None:
        if not full.exists():
            raise InputError(
                f"{full} does not exist. Nothing was synced.", hint="name a folder or file that exists"
            )
        if full.name == ".git":
            raise InputError(
                f"{full} is where git keeps a repository. Nothing was synced.",
                hint=f"scrubjay sync {full.parent} ingests its history",
            )
        is_file = full.is_file()
        if is_file and may_be_transcript(full.name) and not _is_transcript(str(full.parent), full.name):
            raise InputError(
                f"{full} is not a transcript of a known format. Nothing was synced.",
                hint="docs/conversations.md describes the formats, with one for your own tools",
            )
        if is_file and is_unreadable_document(full.name, named=True):
            raise InputError(
                f"{full} is a document, which this installation does not read. Nothing was synced.",
                hint="pip install 'scrubjay[documents]'",
            )
        moved = None if is_file else _moved_source(store, scope, known, full, with_patterns)
        source = moved or Source(
            id=_new_source_id(store.secret(scope), str(full), scope.key(), known),
            root=str(full.parent if is_file else full),
            include=("/" + escape_pattern(full.name),) if is_file else (),
            key=scope.key("user"),
            added_at=now_micros(),
        )
    changed = replace(with_patterns(source), description=options.description or source.description)
    scan = None
    if not changed.include:
        detected, scan = _detect_include(changed)
        changed = replace(changed, include=detected)
    if changed not in known:
        was = tuple(one for one in known if one.id == changed.id)
        store.write(scope, [PutSource(changed, was)])
    return changed, scan


MAX_COMPARED_FILES: Final = 40
"""Files that are hashed to see whether a folder holds the notes of a missing one."""


def _new_source_id(secret: bytes, root: str, key: str, known: Sequence[Source]) -> str:
    """Return the id of a new source; a source that was moved away from this root keeps its own."""
    taken = {source.id for source in known}
    while (new := source_id(secret, root, key)) in taken:
        root += "/"
    return new


def _moved_source(
    store: Store, scope: Scope, known: Sequence[Source], full: Path, with_patterns: Callable[[Source], Source]
) -> Source | None:
    """Return the source whose folder is gone and whose notes are in a new folder, with that root.

    The folder was moved, or the source came with an import from another machine. Or it is only absent, as on a disk
    that is not mounted, and the new folder is a copy. So a sync of the new folder must remove no document: all notes
    must be there, none in an older version, and half of those compared unchanged.
    """
    for source in known:
        own = source.key == scope.key("user") and repository_of(source) is None and not is_single_file(source)
        if not own or os.path.lexists(source.root):
            continue
        with store.reader(scope) as reader:
            stored = note_documents(reader.documents(source.id))
        if not stored or not all((full / path).is_file() for path in stored):
            continue
        moved = replace(source, root=str(full))
        scan = list_files(exclude_nested_sources(with_patterns(moved), known))
        changed, gone = compare_with_stored(scan, stored)
        older = (one for one in changed if one.path in stored and one.mtime_ns < stored[one.path].mtime_ns)
        if gone or any(one.size != stored[one.path].file_size for one in older):
            continue
        compared = sorted(stored)[:: max(1, len(stored) // MAX_COMPARED_FILES)][:MAX_COMPARED_FILES]
        equal = sum(_file_hash(full, path) == stored[path].content_hash for path in compared)
        if 2 * equal >= len(compared):
            return moved
    return None


def _file_hash(root: Path, path: str) -> str:
    try:
        return read_bytes(root, path).content_hash
    except SourceError:
        return ""


def _is_transcript(root: str, path: str) -> bool:
    from scrubjay.ingest.transcripts.importer import format_of_file  # a folder of notes needs none of it

    return format_of_file(root, path) is not None


def _excluded_histories(source: Source) -> tuple[str, ...]:
    """Return the patterns by which a person left out the history of a repository."""
    return tuple(one for one in source.exclude if one.endswith("/.git"))


def _detect_include(source: Source) -> tuple[tuple[str, ...], ScanResult | None]:
    """Return patterns, and the files only if one scan serves both sets of patterns: without links or problems."""
    scan = scan_files(Path(source.root), include=AUTOMATIC_INCLUDE, exclude=source.exclude)
    logs = IncludePatterns(TRANSCRIPT_INCLUDE)
    candidates = [one.path for one in scan.files if logs.matches(one.path)]
    exact = not scan.linked and not scan.problems
    if any(_is_transcript(source.root, path) for path in candidates[:MAX_PROBED_FILES]):
        files = tuple(one for one in scan.files if not one.path.startswith(OPENCODE_SIDE_FOLDERS))
        return AUTOMATIC_INCLUDE, replace(scan, files=files) if exact else None
    notes = IncludePatterns(DEFAULT_INCLUDE)
    files = tuple(one for one in scan.files if notes.matches(one.path))
    return (), replace(scan, files=files) if exact else None


def containing_source(known: Sequence[Source], full: Path) -> Source | None:
    """Return the registered source of a path: itself, else one that contains it.

    A source does not contain hidden folders that it skips: agents' transcripts below a home folder are other sources.
    """
    for source in known:
        if source_location(source) == str(full):
            return source
    for source in known:
        if not is_single_file(source) and full.is_relative_to(source.root):
            patterns = IncludePatterns(include_patterns(source))
            parts = full.relative_to(source.root).parts
            if all(patterns.names(part) or not is_skipped_name(part) for part in parts):
                return source
    return None


MAX_COMMITS: Final = 300
GIT_TIMEOUT_SECONDS: Final = 3.0
MAX_ADDRESS: Final = 120
"""Characters read of an author's address."""


def commit_authors(git_dir: str) -> list[str] | None:
    """Return the e-mail addresses of the last commits' authors; None where git fails.

    Nothing is fetched, and no hook, pager or signature program is run.
    """
    options = (f"--max-count={MAX_COMMITS}", f"--format=%<({MAX_ADDRESS},trunc)%ae", "--no-show-signature")
    return _git_lines(git_dir, "log", *options, "HEAD", "--")


def own_addresses(git_dir: str) -> frozenset[str]:
    configured = _git_lines(git_dir, "config", "--get-all", "user.email") or ()
    identities = _git_lines(git_dir, "var", "GIT_AUTHOR_IDENT") or ()
    guessed = (line.rpartition(">")[0].rpartition("<")[2] for line in identities)
    return frozenset({*configured, *guessed} - {""})


def repository_authorship(git_dir: str) -> str:
    """Return ``OWN``, ``JOINT`` or ``FOREIGN``.

    Own is a repository without commits or with at least half of them by the user, joint one with some. Where git fails,
    one with commits and a remote is foreign: it may be a clone.
    """
    authors = commit_authors(git_dir)
    if authors is None:
        commit_files = ("packed-refs", "logs/HEAD", "shallow")
        has_commits = any(os.path.exists(os.path.join(git_dir, name)) for name in commit_files)
        return FOREIGN if has_commits and _has_remote(git_dir) else OWN
    mine = own_addresses(git_dir)
    count = sum(author in mine for author in authors)
    if 2 * count >= len(authors):
        return OWN
    return JOINT if count else FOREIGN


def _has_remote(git_dir: str) -> bool:
    try:
        with open(os.path.join(git_dir, "config"), "rb") as file:
            return b"[remote " in file.read(1_000_000)
    except OSError:
        return False


def _git_lines(git_dir: str, *arguments: str) -> list[str] | None:
    from scrubjay.ingest.git import GIT_COMMAND  # a folder in no repository needs none of it

    try:
        done = subprocess.run(
            [*GIT_COMMAND, f"--git-dir={git_dir}", *arguments],
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=GIT_TIMEOUT_SECONDS,
            check=False,
            cwd=git_dir,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    if done.returncode != 0:
        return None
    lines = done.stdout.decode("utf-8", "replace").splitlines()
    return [line.strip().casefold() for line in lines if line.strip()]


_REASONS: Final = {
    FOREIGN: "none of the last commits there is yours (`git config user.email`)",
    JOINT: "most of the last commits there are others'; only contexts of its own project show it",
}
_DEPENDENCY: Final = "that is a folder of dependencies"


@dataclass(frozen=True, slots=True)
class TrustChoice:
    """A person's choices for a source; None keeps what is set.

    Attributes:
        trust: One of ``records.TRUST_LEVELS``; ``""`` goes back to folders and commits.
        share: Whether front matter may share its notes.
    """

    trust: str | None = None
    share: bool | None = None


NO_CHOICE: Final = TrustChoice()


def reassess_trust(
    reader: Reader,
    tally: SyncTally,
    registered: Source,
    files: Sequence[FileState],
    known: Mapping[str, Document],
    choice: TrustChoice,
    *,
    whole: bool = True,
) -> tuple[Source, list[Change]]:
    """Return a source with its current trust, and the changes to what is stored of it.

    Passages get another origin at once; notes are read again, since their front matter now counts, or no longer does.
    Without ``whole``, ``files`` are only some of its files, and repositories without any of them keep their judgement.
    """
    judged = replace(registered, trust=registered.trust if choice.trust is None else choice.trust)
    if not judged.trust:
        judged = replace(judged, repositories=_judge_repositories(registered, files, whole=whole))
    shares = _shares_notes(reader, judged, known) if choice.share is None else choice.share
    judged = replace(judged, share=shares)
    new = [one.path for one in files if one.path not in known]
    if judged == registered:
        _add_notices(tally, judged, new)
        return registered, []
    reclassified = {
        path for path in known if (authorship(registered, path) == OWN) != (authorship(judged, path) == OWN)
    }
    shared = registered.share is not False  # earlier versions obeyed all front matter
    reread = reclassified if choice.share in (None, shared) else set(known)
    lifecycle: dict[str, LifecycleChange] = {}
    for path in sorted(reclassified):
        own = authorship(judged, path) == OWN
        for record in reader.passages(judged.id, path):
            origin = _trusted_origin(record) if own else UNTRUSTED
            is_addition = note_marker_id(record.content) == record.id
            if origin != record.origin and not is_addition:
                lifecycle[record.id] = LifecycleChange(origin=origin, pinned=record.pinned and own)
    notes = [known[path] for path in sorted(reread) if not known[path].cursor]
    changes: list[Change] = [
        PutSource(judged, (registered,)),
        *(PutDocument(note.to_reread()) for note in notes),
    ]
    if lifecycle:
        changes.append(PutLifecycle(lifecycle))
    _add_notices(tally, judged, [*sorted(reclassified), *new])
    if registered.share is None and shares:
        where = source_location(judged)
        tally.notices.append(
            FileError(
                where,
                "Front matter shows some of its notes to others, as it did before; of a new source it would not.",
                f"scrubjay sync {where} --no-share keeps them private",
            )
        )
    return judged, changes


def reassess_history_trust(
    reader: Reader, registered: Source, known: Iterable[str], choice: TrustChoice, head: str
) -> tuple[Source, list[Change]]:
    """Return a history's source with its current trust, and the changes to what is stored of it.

    A repository whose ``head`` moved since it was judged is judged again.
    """
    current = replace(registered, trust=registered.trust if choice.trust is None else choice.trust)
    ((_, repo_authorship, stored_head),) = registered.repositories or ((".", OWN, ""),)
    if stored_head.partition(" ")[0] != head.partition(" ")[0]:
        repo_authorship = repository_authorship(shared_git_directory(repository_of(current) or "") or "")
    current = replace(current, repositories=((".", repo_authorship, stored_head),))
    path = commit_path(current, "")
    own = authorship(current, path) == OWN
    if own == (authorship(registered, path) == OWN):
        return current, []
    lives = {
        record.id: LifecycleChange(origin="owner" if own else UNTRUSTED, pinned=record.pinned and own)
        for one in known
        for record in reader.passages(current.id, one)
    }
    return current, [PutLifecycle(lives)] if lives else []


def with_head(source: Source, head: str) -> Source:
    """Return a history's source with the head up to which it was read."""
    repo_authorship = next((one for _, one, _ in source.repositories or ()), OWN)
    return replace(source, repositories=((".", repo_authorship, head),))


def register_history(
    store: Store, scope: Scope, folder: Source, repository: str, known: Source | None, git: bool | None
) -> tuple[Source, Source | None]:
    """Return the source of a folder, which remembers a person's choice, and that of its repository's history.

    Args:
        store: The store.
        scope: The principal.
        folder: The source that holds the repository's folder.
        repository: The folder, with a ``.git`` in it.
        known: The history's source, if it is registered.
        git: Whether to ingest the history; None keeps the earlier choice, which at first is to ingest it.

    Returns:
        The history is None if it is left out; a new one is not written yet.
    """
    place = os.path.join(repository, ".git")
    pattern = "/" + escape_pattern(os.path.relpath(place, folder.root))
    exclude = tuple(one for one in folder.exclude if git is None or one != pattern) + (
        (pattern,) if git is False else ()
    )
    if exclude != folder.exclude:
        folder = replace(folder, exclude=exclude)
        store.write(scope, [PutSource(folder)])
    if git is False or (known is None and not git and is_excluded(folder, place)):
        return folder, None
    name = os.path.basename(repository)
    return folder, known or Source(
        id=source_id(store.secret(scope), place, scope.key()),
        root=os.path.dirname(repository),
        description=f"git history of {name}",
        include=(f"/{escape_pattern(name)}/.git",),
        key=folder.key,
        added_at=now_micros(),
        trust=folder.trust,
    )


def _trusted_origin(record: Record) -> str:
    if record.role is None or record.role in PERSON_ROLES:
        return "owner"
    return "agent" if record.role in ("assistant", "ai", "model", "bot") else record.origin


def _shares_notes(reader: Reader, source: Source, known: Mapping[str, Document]) -> bool:
    if source.share is not None:
        return source.share
    return any(
        record.key != source.key and record.turn is None
        for path in known
        if authorship(source, path) == OWN
        for record in reader.passages(source.id, path)
    )


def _judge_repositories(
    source: Source, files: Sequence[FileState], *, whole: bool
) -> tuple[tuple[str, str, str], ...]:
    """Return the authorship of each repository, judged again if its head moved."""
    known = {name: (repo_authorship, head) for name, repo_authorship, head in source.repositories or ()}
    root = os.path.realpath(source.root)
    home = os.path.realpath(os.path.expanduser("~"))
    git_dirs: dict[str, str | None] = {}  # by folder
    folders = {posixpath.dirname(one.path) for one in files}
    for folder in (os.path.join(root, one) if one else root for one in folders):
        while folder not in git_dirs and folder not in (home, os.path.dirname(folder)):
            git_dirs[folder] = shared_git_directory(folder)
            if git_dirs[folder] is not None:
                break
            folder = os.path.dirname(folder)
    judged = {} if whole else dict(known)
    for folder, git_dir in git_dirs.items():
        if git_dir is None:
            continue
        name = os.path.relpath(folder, root)
        # Before the commits are read: if the head moves meanwhile, it is judged again.
        head = log_stamp(os.path.join(git_dir, "logs", "HEAD"))
        if head and known.get(name, ("", ""))[1] == head:
            judged[name] = known[name]
        else:
            judged[name] = (repository_authorship(git_dir), head)
    return tuple((name, repo_authorship, head) for name, (repo_authorship, head) in sorted(judged.items()))


def _add_notices(tally: SyncTally, source: Source, paths: Sequence[str]) -> None:
    if source.trust:
        return
    counts: Counter[tuple[str, str]] = Counter()
    for path in dict.fromkeys(paths):
        if authorship(source, path) != OWN:
            folder = dependency_folder(source, path)
            if folder is not None:
                counts[folder, _DEPENDENCY] += 1
            else:
                place, repo_authorship = containing_repository(source, path)
                if place is None or not place.startswith(source.root):  # the source is a part of it
                    place = source.root
                counts[place, _REASONS[repo_authorship]] += 1
    for (place, reason), count in sorted(counts.items()):
        files = "1 file is" if count == 1 else f"{count:,} files are"
        tally.notices.append(
            FileError(
                place,
                f"{files} untrusted, since {reason}. Searches find untrusted text and mark it; its front matter sets "
                "no pin and no visibility, nothing is learned from it, and it is not put into prompts, except a "
                "team's in its own project.",
                f"scrubjay sync {Path(source_location(source))} --trusted, if all of it is to be trusted",
            )
        )
