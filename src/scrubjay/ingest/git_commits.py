"""Commits: which of them say something, and what is stored of one.

A commit is a document with one memory (a long message has several): the whole message, then its author and files. One
that says nothing is left out and leaves a document without memories. A commit that reverts or amends another supersedes
it, by what it says in git's own words alone.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Final

from scrubjay.ingest.alignment import PASSAGE_TIER, PreparedDocument
from scrubjay.ingest.chunker import chunk_text
from scrubjay.ingest.deletion import REREAD_HASH, status_changes
from scrubjay.ingest.embedder import prepare_memory
from scrubjay.ingest.git import MAX_FIELD_BYTES, Commit, Repository
from scrubjay.ingest.reader import redact_documents, stage_versions
from scrubjay.ingest.scanner import head_stamp
from scrubjay.ingest.sync_run import MAX_BATCH_DOCUMENTS, SyncRun, SyncTally
from scrubjay.models.dates import SECOND, now_micros
from scrubjay.models.graph import Edge
from scrubjay.models.ids import memory_id, memory_key, text_hash, tombstone_hashes
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
from scrubjay.storage.changes import Change, UnchangedPassage
from scrubjay.storage.interface import Reader

if TYPE_CHECKING:
    from scrubjay.redaction.redactor import RedactedText

WHOLE_CHARACTERS: Final = 8_000
"""A longer message is cut into passages."""
MAX_NAME: Final = 100
"""Characters of an author's name that are kept."""
MAX_SUBJECT: Final = 300
"""Characters of a subject by which a commit is known; a longer one says something."""
LAST_SECOND: Final = 253_402_300_799
"""The end of the year 9999: what a later date says is no date."""

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
"""Authors in whose name people's own scripts commit: what these explain is kept."""
_VERSION: Final = r"v?\d+(?:\.\d+)*(?:(?:[-+.][A-Za-z]|a|b|rc|dev|post)[\w.+-]*)?"
_PREFIX: Final = r"(?:(?:build|chore|ci|deps|release|fix)(?:\([^)]*\))?!?: *)?"
_BUMP: Final = re.compile(
    rf"{_PREFIX}(?:(?:bump|update|upgrade)s? .+ from \S+ to \S+|(?:bump|update) (?:the )?version(?: number)?"
    rf"(?: to {_VERSION})?|(?:(?:(?:prepare|tag|cut) )?(?:release|version|bump)(?: version)?(?: to)?:? )?{_VERSION}"
    r"(?: release)?)(?: *\((?:#\d+)\)| *\[[\w -]+\])*\.?",
    re.I,
)
_NO_BODY: Final = re.compile(
    r"(?:[A-Za-z]+-)*by: .*|change-id: .*|git-svn-id: .*|cc: .*|\(cherry picked from commit [0-9a-f]+\)|#(?:\s.*)?|"
    r"conflicts:|\t.*|\[(?:skip ci|ci skip)\]|-+",
    re.I,
)
"""A line behind the subject that says nothing by itself."""

_REVERTS: Final = re.compile(r"^This reverts commit ([0-9a-f]{12,64})(?:\.|, reversing)?$", re.M)
_REVERT_SUBJECT: Final = re.compile(r'Revert "(.+)"(?: \(#\d+\))?')
_AMEND_SUBJECT: Final = re.compile(r"amend! (.+)")
_ISSUE: Final = re.compile(r"(?<![\w&#/])#(\d{1,7})\b|\b([A-Z][A-Z0-9]{1,9}-\d{1,6})\b(?!-)")
_NO_ISSUES: Final = re.compile(
    "AES|BSD|CP|CVE|CWE|GPL|HTTP|IEC|IEEE|ISO|LGPL|MD|MIT|MPL|PEP|RFC|RSA|SHA|TLS|UTF|UTC|WCAG"
)
"""What names a standard by a number."""


MAX_COMMITS: Final = 5_000
"""Commits that a history begins with, and most that one sync adds; older ones are not read."""
UNREAD_COMMITS: Final = "scrubjay sync"
"""Hint of the notice that a search left commits to a sync."""


@dataclass(frozen=True, slots=True)
class HistoryChanges:
    """What a repository holds beyond what is stored, and no longer.

    Attributes:
        head: What is checked out, as a source keeps it.
        new: Path of a document to its commit, the newest first; also of those that are to be read again.
        gone: Paths of documents.
        empty: Whether nothing is committed yet.
    """

    head: str
    new: Mapping[str, str]
    gone: Sequence[str]
    empty: bool = False


def compare_history(repository: Repository, source: Source, known: Mapping[str, Document]) -> HistoryChanges:
    """Compare a repository with what is stored of it.

    From the commit that was checked out before, where git still has it; else the whole history is compared.

    Raises:
        SourceError: git is missing, refuses the repository or cannot read it.
    """
    stamp = head_stamp(source)  # before git looks: if it moves meanwhile, it is compared again
    head = repository.head()
    if head is None:
        return HistoryChanges(f"- - {stamp}", {}, [], empty=True)
    ((_, _, stored),) = source.repositories or ((".", OWN, ""),)
    last, _, state = stored.rpartition(" ")[0].partition(" ")
    refs = ("--branches", "--tags", "--remotes") if head.detached else ()
    if last == head.commit and state == head.state:
        listed, gone = [], set[str]()
    elif state == head.state and repository.has(last):
        listed = repository.reachable(head.commit, without=(last,), limit=MAX_COMMITS)
        lost = repository.reachable(last, without=(head.commit, *refs))
        gone = {commit_path(source, sha) for sha in lost} & known.keys()
    else:
        listed = repository.reachable(head.commit, limit=MAX_COMMITS + len(known))
        oldest = max((n for n, sha in enumerate(listed, 1) if commit_path(source, sha) in known), default=0)
        listed = listed[: max(oldest, MAX_COMMITS)]
        gone = set() if head.detached else known.keys() - {commit_path(source, sha) for sha in listed}
    new = {commit_path(source, sha): sha for sha in listed}
    again = {path: path.rpartition("@")[2] for path, one in known.items() if one.content_hash == REREAD_HASH}
    new = {path: sha for path, sha in new.items() if path not in known}
    return HistoryChanges(
        f"{head.commit} {head.state} {stamp}",
        new | {path: again[path] for path in again.keys() - gone},
        sorted(gone),
    )


def count_commits(
    tally: SyncTally, before: Mapping[str, Document], now: Mapping[str, Document] | None = None
) -> None:
    """Add what a history holds to a tally; once more, when it has changed."""
    for documents, sign in ((before, 1),) if now is None else ((before, -1), (now, 1)):
        left_out = sum(one.versions.extractor == LEFT_OUT for one in documents.values())
        tally.commits += sign * (len(documents) - left_out)
        tally.left_out += sign * left_out


def left_out(commit: Commit) -> bool:
    r"""Return whether a commit says nothing: an empty message, a merge, a bot's or a new version's without a text.

    >>> one = Commit("1" * 40, 1, "Ann", "ann@example.org", 0, "Bump httpx from 0.27 to 0.28", (), 0)
    >>> left_out(one), left_out(replace(one, message=f"{one.message}\n\n0.27 lost the proxy settings."))
    (True, False)
    >>> left_out(replace(one, message="Merge branch 'main'", parents=2)), left_out(replace(one, message="Retry thrice"))
    (True, False)
    """
    subject, body = split_message(commit.message)
    names = (commit.author.strip(), commit.email.strip())
    if not subject or any(map(_GENERATING_BOTS.fullmatch, names)):
        return True
    if any(line.strip() and not _NO_BODY.fullmatch(line.rstrip()) for line in body.splitlines()):
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
    found = (number or name for number, name in _ISSUE.findall(message))
    return tuple(sorted({one.lower() for one in found if not _NO_ISSUES.fullmatch(one.partition("-")[0])}))


def commit_text(commit: Commit) -> str:
    """Return what is stored of a commit: its message, then who wrote it and what it changed."""
    lines = [commit.message, "", f"Author: {commit.author}"]
    if commit.files:
        more = commit.file_count - len(commit.files)
        lines.append(f"Files: {', '.join(commit.files)}" + (f" and {more:,} more" if more else ""))
    return "\n".join(lines)


def prepare_commits(
    run: SyncRun, source: Source, commits: Iterable[Commit], known: Mapping[str, Document], naming: list[str]
) -> Iterator[PreparedDocument]:
    """Yield commits ready to be written; ids of those that name another go to ``naming``."""
    project = run.projects.within(source.id, repository_of(source) or source.root)
    stream = iter(commits)
    while group := list(islice(stream, MAX_BATCH_DOCUMENTS)):
        # A message that is cut off or left out is not stored.
        texts = [commit_text(one) if one.whole and not left_out(one) else "" for one in group]
        cleaned = redact_documents(texts, run.chunks.allow)
        with run.store.reader(run.scope) as reader:
            prepared = [
                _prepare(
                    run, reader, source, commit, clean, project, commit_path(source, commit.sha) in known
                )
                for commit, clean in zip(group, cleaned, strict=True)
            ]
        naming += [
            one.record.id for document in prepared for one in document.fresh if _names_another(one.record)
        ]
        yield from prepared


def _prepare(
    run: SyncRun,
    reader: Reader,
    source: Source,
    commit: Commit,
    clean: RedactedText,
    project: str | None,
    stored: bool,
) -> PreparedDocument:
    from scrubjay.redaction.redactor import redact_text

    path, now = commit_path(source, commit.sha), now_micros()
    at = commit.at * SECOND if 0 < commit.at <= LAST_SECOND else None
    leaves = left_out(commit)
    versions = replace(stage_versions(run.chunks), extractor=LEFT_OUT if leaves else COMMIT)
    document = Document(source.id, path, commit.sha, (at or 0) * 1000, len(commit.message), path, versions)
    old = {record.id: record for record in reader.passages(source.id, path)} if stored else {}
    if leaves:
        return PreparedDocument(document, dropped=tuple(old))
    if not commit.whole:
        message = f"Its message has more than the {MAX_FIELD_BYTES:,} bytes that are read; it was left out."
        run.tally.notices.append(FileError(os.path.join(source.root, path), message))
        return PreparedDocument(replace(document, versions=replace(versions, extractor=LEFT_OUT)))
    text = clean.text
    run.tally.scrubbed.update(clean.counts)
    author = " ".join(redact_text(commit.author[:MAX_NAME], run.chunks.allow).text.split()) or "nobody"
    subject = split_message(text)[0][:MAX_SUBJECT]
    records = []
    for ordinal, (start, end, first, last) in enumerate(_cut(run, text)):
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
    hashes = {one.id: tombstone_hashes(run.secret, one.content, run.scope.keys) for one in records}
    forgotten = reader.forgotten_hashes(one for own in hashes.values() for one in own)
    stays = [one for one in records if forgotten.isdisjoint(hashes[one.id])]
    run.tally.forgotten += len(records) - len(stays)
    same = {
        one.id
        for one in stays
        if one.id in old and replace(one, updated_at=old[one.id].updated_at) == old[one.id]
    }
    fresh = [one for one in stays if one.id not in same]
    dropped = tuple(old.keys() - {one.id for one in stays})
    renewed = tuple(one.id for one in fresh if one.id in old)
    run.tally.added += len(fresh) - len(renewed)
    run.tally.updated += len(renewed)
    run.tally.removed += len(dropped)
    return PreparedDocument(
        replace(document, title=subject if stays else path),
        tuple(map(prepare_memory, fresh)),
        tuple(
            UnchangedPassage(one.id, one.place) for one in stays if one.id in same and one.place is not None
        ),
        dropped,
        renewed=renewed,
        preceding=[""] * len(fresh),
        keys=frozenset((source.key,)),
    )


def _cut(run: SyncRun, text: str) -> Iterator[tuple[int, int, int, int]]:
    if len(text) <= WHOLE_CHARACTERS:
        yield 0, len(text), 1, text.count("\n") + 1
        return
    for one in chunk_text(text, name="", settings=run.chunks):
        yield one.start, one.end, one.line_start, one.line_end


_RULES: Final = ("revert", "amend")


def superseding_edges(
    reader: Reader, source: Source, records: Iterable[Record], documents: Mapping[str, Document]
) -> list[Edge]:
    """Return edges from commits that say they revert or amend another to what is stored of that one.

    git's sentence names it by id. A quoted subject names it where exactly one stored commit that is no younger has it.
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
        if not targets:  # git's sentence is missing, or names what a rebase has replaced
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
    """Return what makes commits superseded, or active again, that are linked with these by revert or amendment.

    A commit is superseded while one that supersedes it is not: a reverted revert brings it back. What a person pinned
    or archived stays as it is.
    """
    newer: dict[str, set[str]] = {one: set() for one in seeds}
    ids = sorted(newer)
    while ids:
        edges = [
            edge for inward in (True, False) for edge in reader.edges(ids, ["supersedes"], inward=inward)
        ]
        edges = [edge for edge in edges if edge.rule in _RULES]
        new = {end for edge in edges for end in (edge.src, edge.dst)} - newer.keys()
        newer |= {one: set() for one in new}
        for edge in edges:
            newer[edge.dst].add(edge.src)
        ids = sorted(new)
    records = reader.get(sorted(newer))
    superseded: dict[str, bool] = {}

    def is_superseded(memory: str) -> bool:
        if memory not in superseded:
            superseded[memory] = (
                False  # in a circle, which only a forged message makes, nothing is superseded
            )
            superseded[memory] = any(one in records and not is_superseded(one) for one in newer[memory])
        return superseded[memory]

    changes: list[Change] = []
    for memory, record in records.items():
        at = now_micros()
        if is_superseded(memory) and record.status == "active" and not record.pinned:
            until = min(
                said_at(records[one]) for one in newer[memory] if one in records and not is_superseded(one)
            )
            life = LifecycleChange(status="superseded", valid_until=until)
            changes += status_changes([record], life, "superseded", at)
        elif not is_superseded(memory) and record.status == "superseded":
            life = LifecycleChange(status="active", valid_until=None)
            changes += status_changes([record], life, "restored", at)
    return changes


def superseded_by(reader: Reader, source: Source, paths: Iterable[str]) -> set[str]:
    """Return the ids of what the commits of these documents revert or amend."""
    ids = [record.id for path in paths for record in reader.passages(source.id, path)]
    return {edge.dst for edge in reader.edges(ids, ["supersedes"]) if edge.rule in _RULES}


def names_of_others(reader: Reader, source: Source, paths: Iterable[str]) -> list[str]:
    """Return the ids of the commits among these documents that name another."""
    return [
        record.id for path in paths for record in reader.passages(source.id, path) if _names_another(record)
    ]


def _names_another(record: Record) -> bool:
    text = record.content
    return text.startswith(("Revert ", "amend! ")) or _REVERTS.search(text) is not None
