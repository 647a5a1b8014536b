"""Trust: a source, its files -> whose words each is, and what is stored of them brought in step with that.

A file is its owner's unless it lies below a folder of dependencies, or in a repository most of whose last commits are
others' (`commit_authors`), or a person said otherwise of the whole source. What is not its owner's has the origin
``untrusted``: it is found and cited as ever, sets no pin and no visibility, is no one's words, and enters no context.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from scrubjay.ingest.commit_authors import work
from scrubjay.ingest.forget import AGAIN
from scrubjay.ingest.noted import noted
from scrubjay.ingest.place import shared_directory
from scrubjay.ingest.run import Run
from scrubjay.ingest.sources.files import FileState
from scrubjay.memory.life import Life
from scrubjay.memory.records import FOREIGN, JOINT, OWN, Document, Record, Source
from scrubjay.memory.reports import Trouble
from scrubjay.memory.sources import dependency, holding, location, whose
from scrubjay.memory.tiers import UNTRUSTED
from scrubjay.memory.turns import PERSON
from scrubjay.store.changes import Change, PutDocument, PutLife, PutSource

_WHY: Final = {
    FOREIGN: "none of the last commits there is yours (`git config user.email`)",
    JOINT: "most of the last commits there are others'; only contexts of its own project show it",
}
_DEPENDENCY: Final = "that is a folder of dependencies"


@dataclass(frozen=True, slots=True)
class TrustChoice:
    """What a person says of a source; what is None stays as it is.

    Attributes:
        trust: One of ``records.TRUST``: ``""`` goes back to what its folders and commits tell.
        share: Whether front matter may show its notes to others.
    """

    trust: str | None = None
    share: bool | None = None


NO_CHOICE: Final = TrustChoice()
"""Leave what was chosen before."""


def judge(
    run: Run,
    registered: Source,
    files: Sequence[FileState],
    known: Mapping[str, Document],
    choice: TrustChoice,
    *,
    whole: bool = True,
) -> Source:
    """Return a source as it is judged now; what is stored of it is changed where that is another judgement.

    Passages get another origin at once; notes are read again, since their front matter counts now, or no longer.

    Args:
        run: The sync.
        registered: The source as it is registered.
        files: Its files.
        known: Its documents.
        choice: What a person says of it.
        whole: Whether these are all of its files; else what is known of repositories without any of them stays.
    """
    now = replace(registered, trust=registered.trust if choice.trust is None else choice.trust)
    if not now.trust:
        now = replace(now, repositories=_looked(registered, files, whole=whole))
    shares = _shares(run, now, known) if choice.share is None else choice.share
    now = replace(now, share=shares)
    fresh = [one.path for one in files if one.path not in known]
    if now == registered:
        _notice(run, now, fresh)
        return registered
    turned = {path for path in known if (whose(registered, path) == OWN) != (whose(now, path) == OWN)}
    shared = registered.share is not False  # an earlier version took all front matter at its word
    reread = turned if choice.share in (None, shared) else set(known)
    changes: list[Change] = [PutSource(replace(now, synced_at=registered.synced_at))]
    lives: dict[str, Life] = {}
    with run.store.reader(run.scope) as reader:
        for path in sorted(turned):
            own = whose(now, path) == OWN
            for record in reader.passages(now.id, path):
                origin = _origin(record) if own else UNTRUSTED
                if noted(record.content) == record.id:  # an addition, said elsewhere
                    continue
                if origin != record.origin:
                    lives[record.id] = Life(origin=origin, pinned=record.pinned and own)
    notes = [known[path] for path in sorted(reread) if not known[path].cursor]
    changes += [PutDocument(replace(note, content_hash=AGAIN, mtime_ns=0)) for note in notes]
    run.store.write(run.scope, [*changes, PutLife(lives)])
    _notice(run, now, [*sorted(turned), *fresh])
    if registered.share is None and shares:
        where = location(now)
        run.tally.notices.append(
            Trouble(
                where,
                "Front matter shows some of its notes to others, as it did before; of a new source it would not.",
                f"scrubjay sync {where} --no-share keeps them private",
            )
        )
    return now


def _origin(record: Record) -> str:
    """Return whose words a passage or turn is, where its source is trusted."""
    if record.role is None or record.role in PERSON:
        return "owner"
    return "agent" if record.role in ("assistant", "ai", "model", "bot") else record.origin


def _shares(run: Run, source: Source, known: Mapping[str, Document]) -> bool:
    """Return whether front matter of a source may share; of one of an earlier version, whether it did."""
    if source.share is not None:
        return source.share
    with run.store.reader(run.scope) as reader:
        return any(
            record.key != source.key and record.turn is None
            for path in known
            if whose(source, path) == OWN
            for record in reader.passages(source.id, path)
        )


def _looked(source: Source, files: Sequence[FileState], *, whole: bool) -> tuple[tuple[str, str, str], ...]:
    """Return the repositories in which a source's files lie, whose work each is, and at which head that was found.

    A repository whose head moved since it was judged is judged again, whoever looks and however often before.
    """
    known = {name: (found, head) for name, found, head in source.repositories or ()}
    root = os.path.realpath(source.root)
    found: dict[str, str | None] = {}
    home = os.path.realpath(os.path.expanduser("~"))
    for folder in {os.path.dirname(one.path) for one in files}:
        _nearest(os.path.join(root, folder) if folder else root, home, found)
    judged = {} if whole else dict(known)
    for place, shared in found.items():
        if shared is None:
            continue
        name = os.path.relpath(place, root)
        head = _head(shared)  # before the commits are read: if it moves meanwhile, the next look judges again
        if head and known.get(name, ("", ""))[1] == head:
            judged[name] = known[name]
        else:
            judged[name] = (work(shared), head)
    return tuple((name, found, head) for name, (found, head) in sorted(judged.items()))


def _nearest(folder: str, home: str, found: dict[str, str | None]) -> None:
    """Note folders up to the nearest repository: each with its ``.git`` directory, or None for a folder of none."""
    while folder not in found and folder not in (home, os.path.dirname(folder)):
        found[folder] = shared_directory(folder)
        if found[folder] is not None:
            return
        folder = os.path.dirname(folder)


def _head(git_dir: str) -> str:
    """Return what changes whenever a repository's head moves: time and size of its log; empty where it keeps none."""
    try:
        log = os.stat(os.path.join(git_dir, "logs", "HEAD"))
    except OSError:
        return ""
    return f"{log.st_mtime_ns}:{log.st_size}"


def _notice(run: Run, source: Source, paths: Sequence[str]) -> None:
    """Say which files are not taken as their owner's, by what they lie in, unless that is what a person said."""
    if source.trust:
        return
    counts: Counter[tuple[str, str]] = Counter()
    for path in dict.fromkeys(paths):
        if whose(source, path) != OWN:
            folder = dependency(source, path)
            if folder is not None:
                counts[folder, _DEPENDENCY] += 1
            else:
                place, found = holding(source, path)
                within = place is not None and place.startswith(
                    source.root
                )  # else the source is a part of it
                counts[(place if within and place else source.root), _WHY[found]] += 1
    for (place, why), count in sorted(counts.items()):
        files = "1 file is" if count == 1 else f"{count:,} files are"
        run.tally.notices.append(
            Trouble(
                place,
                f"{files} untrusted, since {why}. Searches find untrusted text, marked so; it sets no pin and no "
                "visibility, nothing is learned from it, and no other context shows it.",
                f"scrubjay sync {Path(location(source))} --trusted, if all of it is to be trusted",
            )
        )
