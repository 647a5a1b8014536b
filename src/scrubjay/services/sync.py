"""Sync, enrich, embed and rebuild sources."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from scrubjay.categories.folders import remove_folders
from scrubjay.categories.topics import are_topics_due, lack_finer_model, organise_topics
from scrubjay.config.paths import Pauses, environment
from scrubjay.config.settings import data_dir
from scrubjay.errors import InputError, NotFoundError, QuotaError
from scrubjay.frozen import frozen
from scrubjay.ingest import pipeline
from scrubjay.ingest.chunker import ChunkSettings
from scrubjay.ingest.deletion import find_orphans
from scrubjay.ingest.embedder import backfill_vectors, count_pending
from scrubjay.ingest.enrichment import EnrichmentRun, due_memories
from scrubjay.ingest.fact_stage import FactStage
from scrubjay.ingest.freshness import MAX_INLINE_FILES
from scrubjay.ingest.linker import EdgeBuilder, LinkingOptions
from scrubjay.ingest.projects import AUTOMATIC_PROJECT, EXPLICIT_NO_PROJECT, ProjectResolver
from scrubjay.ingest.reader import stage_versions
from scrubjay.ingest.rebuild import rebuild_tenant
from scrubjay.ingest.scanner import ScanResult
from scrubjay.ingest.sources import (
    NO_CHOICE,
    TrustChoice,
    containing_source,
    register_history,
    register_or_relocate_source,
)
from scrubjay.ingest.sync_run import SyncRun, SyncTally
from scrubjay.models.records import COMMIT, IMPORTED_AT, Scope, Source, StageVersions
from scrubjay.models.reports import (
    EmbedReport,
    EnrichReport,
    FileError,
    ProgressCallback,
    RemovedSource,
    SourceStatus,
    SyncReport,
    VectorReport,
)
from scrubjay.models.sources import (
    exclude_memory_notes,
    exclude_nested_sources,
    expand_path,
    repository_of,
    source_location,
)
from scrubjay.services.workspace import Workspace, resolve_projects
from scrubjay.storage.changes import (
    Change,
    DropCategory,
    DropMemory,
    DropSource,
    PutCategory,
    PutVersions,
    RequireUnchanged,
)
from scrubjay.storage.interface import Reader, retry_conflicts
from scrubjay.text.display import estimate_tokens
from scrubjay.tracing import annotate, traced

if TYPE_CHECKING:
    from scrubjay.embeddings.base import AnyEmbedder, Embedder


def refresh_topics(workspace: Workspace, keys: Iterable[str], is_due: Callable[[Reader, str], bool]) -> None:
    """Find the topics of visibility keys anew if ``is_due`` says so; it gets a view of those who may see the key."""
    if "categories" not in workspace.settings.linking.stages:
        return
    store, scope, models = workspace.store, workspace.scope, workspace.models
    for key in keys:
        with store.reader(scope.seen_with(key)) as reader:
            due = is_due(reader, key)
        if due:
            organise_topics(store, scope, key, models.ensure_base_model(), models.passage_models())


def refresh_grown_topics(
    workspace: Workspace, written: Mapping[str, int], max_memories: int | None = None
) -> None:
    """Find the topics of each key anew whose memories have doubled or halved; ``written`` counts new ones by key.

    With ``max_memories``, for a call that must be fast, only keys of the new memories that have no more than these: the
    next sync does the others.
    """
    model = workspace.models.base.model.fingerprint

    def is_due(reader: Reader, key: str) -> bool:
        if max_memories is not None and reader.count_memories(key) > max_memories:
            return False
        return are_topics_due(reader, key, model, written.get(key, 0), patient=max_memories is None)

    refresh_topics(workspace, workspace.scope.keys if max_memories is None else written, is_due)


def edge_builder(workspace: Workspace, base: Embedder) -> EdgeBuilder:
    linking = workspace.settings.linking
    options = LinkingOptions(linking.stages, linking.similarity, linking.links)
    return EdgeBuilder(
        workspace.store, workspace.scope, base.model.fingerprint, workspace.dictionaries, options
    )


def fact_stage(workspace: Workspace, base: Embedder, *, extract: bool = True) -> FactStage:
    stages = workspace.settings.facts.stages if extract else ()
    return FactStage(workspace.store, workspace.scope, base, stages, curates=workspace.may_curate)


def count_due(workspace: Workspace) -> int:
    """Return how many memories are due for enrichment by this caller."""
    with workspace.reader() as reader:
        return len(due_memories(reader))


@traced("scrubjay.sync.enrich")
def enrich(
    workspace: Workspace,
    progress: ProgressCallback | None = None,
    proceed: Callable[[], bool] = lambda: True,
) -> EnrichReport:
    """Process the enrichment queue, unless another process or thread does."""
    started = time.monotonic()
    store, scope, base = workspace.store, workspace.scope, workspace.models.ensure_base_model()
    linked = learned = 0
    problems: tuple[FileError, ...] = ()
    notices: tuple[FileError, ...] = ()
    waiting = count_due(workspace)
    if not waiting:  # an earlier call may have been interrupted, or left topics to this one
        refresh_grown_topics(workspace, {})
    previous = 0
    while waiting not in (0, previous) and not problems and proceed():
        previous = waiting
        edges, facts = edge_builder(workspace, base), fact_stage(workspace, base)
        recluster = partial(refresh_grown_topics, workspace)
        with store.try_exclusive(scope, "enrichment") as alone:
            if not alone:
                break
            try:
                EnrichmentRun(store, scope, base, edges, facts, recluster, progress, proceed).enrich()
            except QuotaError as error:
                problems = (FileError(store.url, f"Facts were not stored: {error}", error.hint),)
        linked += edges.linked
        learned += facts.learned
        waiting = count_due(workspace)  # written meanwhile by calls that found this one at work
    if workspace.settings.notes.learned_dir is not None:
        from scrubjay.services.learned_notes import update_learned_notes

        notes = update_learned_notes(workspace, changed=bool(linked or learned or previous))
        if notes is not None:
            problems, notices = (*problems, *notes.problems), notes.stored
    return EnrichReport(linked, learned, waiting, time.monotonic() - started, problems, notices)


def embed_pending(
    workspace: Workspace,
    seconds: float | None,
    progress: ProgressCallback | None,
    proceed: Callable[[], bool] | None = None,
    *,
    bundled: bool = False,
) -> EmbedReport:
    """Compute pending embeddings, and recompute the topics of keys that a model now covers.

    A key is covered when every memory with that key is embedded; the caller's other memories do not matter.
    ``proceed`` is that of `backfill_vectors`; ``bundled`` leaves out models that send texts to a service.
    """
    workspace.models.ensure_base_model()  # the models of a store from before they were the default
    before = {key: pending_embeddings(workspace, key) for key in workspace.scope.keys}
    store, scope, overlap = workspace.store, workspace.scope, workspace.settings.chunk.overlap
    workspace.models.adopt_multilingual()
    models = workspace.models.background_models() if bundled else workspace.models.backfilled_models()
    done = backfill_vectors(
        store, scope, models, overlap=overlap, seconds=seconds, progress=progress, proceed=proceed
    )
    covered = [key for key, waited in before.items() if not (waited and pending_embeddings(workspace, key))]
    if models and covered:
        finer = workspace.models.passage_models()
        # A key that was covered before may have its topics from a call that was interrupted after it embedded the last
        # memory; it has none if none were found.
        refresh_topics(
            workspace,
            covered,
            lambda reader, key: lack_finer_model(reader, key, finer, none=before[key] > 0),
        )
    return done


MAX_INLINE_EMBEDDINGS: Final = 16
"""Pending memories that a sync or a search embeds at once: half a second of the bundled models on one processor."""


def embed_if_few(workspace: Workspace, ranking: Sequence[AnyEmbedder] | None = None) -> EmbedReport:
    """Embed missing vectors of bundled models, if only a few are missing.

    Edited memories then rank by their own vectors, not by predicted ones. A model that has embedded nothing yet, as at
    a first sync, or lacks many is left to the background. ``ranking`` restricts the models; by default all bundled ones
    are considered.
    """
    models = workspace.models.background_models()
    if ranking is not None:
        fingerprints = {each.model.fingerprint for each in ranking}
        models = [each for each in models if each.model.fingerprint in fingerprints]
    with workspace.reader() as reader:
        coverage = [(each, reader.coverage(each.model.fingerprint)) for each in models]
    few = [each for each, has in coverage if has.covered and 0 < has.waiting <= MAX_INLINE_EMBEDDINGS]
    overlap = workspace.settings.chunk.overlap
    done = backfill_vectors(workspace.store, workspace.scope, few, overlap=overlap)
    return replace(done, waiting=pending_embeddings(workspace))


def enrich_and_embed(
    workspace: Workspace, proceed: Callable[[], bool], *, bundled: bool = False
) -> tuple[EnrichReport, EmbedReport]:
    """Enrich due memories, then embed pending ones, newest first, as far as ``proceed`` allows.

    ``bundled`` embeds with the bundled models alone, which send nothing anywhere.
    """
    enriched = enrich(workspace, proceed=proceed)
    return enriched, embed_pending(workspace, None, None, proceed, bundled=bundled)


def pending_work(workspace: Workspace, *, bundled: bool = False) -> int:
    """Return how many memories are due for enrichment, plus the pending embeddings of each model.

    ``bundled`` leaves out models that send texts to a service.
    """
    models = workspace.models.background_models() if bundled else workspace.models.backfilled_models()
    with workspace.reader() as reader:
        embeddings = sum(reader.coverage(each.model.fingerprint).waiting for each in models)
        return len(due_memories(reader)) + embeddings


def pending_embeddings(workspace: Workspace, key: str | None = None) -> int:
    """Return how many memories, or those with a visibility key, lack an embedding of a backfilled model."""
    scope = workspace.scope if key is None else workspace.scope.seen_with(key)
    with workspace.store.reader(scope) as reader:
        return count_pending(reader, workspace.models.backfilled_models())


def embed_texts(workspace: Workspace, texts: Sequence[str], model: str | None) -> VectorReport:
    if isinstance(texts, str) or not all(isinstance(text, str) for text in texts):
        raise InputError("texts must be a list of texts.")
    embedder = workspace.models.bundled(model)
    rows = []
    for windows in embedder.embed(texts):
        mean = windows.astype(np.float64).mean(axis=0)
        length = float(np.linalg.norm(mean))
        rows.append(tuple((mean / length if length else mean).astype(np.float32).tolist()))
    return VectorReport(embedder.model.name, tuple(rows), sum(map(estimate_tokens, texts)))


MAX_LISTED_FILES: Final = 100
"""Changed files that a report lists."""


def chunk_settings(workspace: Workspace) -> ChunkSettings:
    sizes = workspace.settings.chunk
    return ChunkSettings(sizes.target, sizes.overlap, sizes.most, workspace.settings.redaction.allow)


@frozen
class SyncRules:
    """Options of a source, which are stored with it; an empty or None field keeps the stored value.

    Attributes:
        project: A name or path, ``none`` or ``auto``.
        trust: ``trusted``, ``untrusted`` or ``auto``.
        share: Whether front matter may share notes with others.
        git: Whether the history of a repository is ingested.
    """

    description: str = ""
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    project: str | None = None
    trust: str | None = None
    share: bool | None = None
    git: bool | None = None

    @property
    def choice(self) -> TrustChoice:
        return TrustChoice("" if self.trust == "auto" else self.trust, self.share)


NO_RULES: Final = SyncRules()


def sync(
    workspace: Workspace,
    path: str | Path | None,
    rules: SyncRules = NO_RULES,
    progress: ProgressCallback | None = None,
    *,
    only: str | Path | None = None,
    enriched: bool = True,
) -> SyncReport:
    """Sync one folder or file, or every registered source; ``only`` one file of a folder.

    Written memories are searchable, and with ``enriched`` also enriched, before this returns. A folder that is a
    repository is synced with its history, unless ``rules`` exclude or excluded that.

    A store made by other versions of the stages is rebuilt first: old and new passages never mix.
    """
    started = time.monotonic()
    full = None if path is None else Path(os.path.abspath(expand_path(str(path))))
    _check_rules(workspace, full, rules)
    project = rules.project
    if project is not None:
        words = {"auto": AUTOMATIC_PROJECT, "none": EXPLICIT_NO_PROJECT}
        project = words[project] if project in words else resolve_projects(workspace, [project])[0]
    scan: ScanResult | None = None
    notices: list[FileError] = []
    chosen = _registered_sources(workspace)
    file = None if only is None else _file_of(chosen, full, str(only))
    if full is not None:
        roots = {one.id: one.root for one in chosen}
        options = Source("", "", rules.description, rules.include, rules.exclude)
        default = workspace.settings.sync
        source, scan = retry_conflicts(
            partial(
                register_or_relocate_source,
                workspace.store,
                workspace.scope,
                full,
                options,
                default.include,
                default.exclude,
            )
        )
        if roots.get(source.id, source.root) != source.root:
            before = roots[source.id]
            message = f"{before} does not exist, and all its notes are here: its memories now belong to this folder."
            hint = f"if this is a copy: scrubjay sync {before}, once that is back"
            notices.append(FileError(source.root, message, hint))
        chosen = [source]
        if file is None:
            chosen, more = _with_history(workspace, source, full, rules.git)
            notices += more
    else:
        chosen, notices = _on_this_machine(chosen)
    _rebuild_if_outdated(workspace, progress)
    done = sync_each(
        workspace, chosen, started, progress, only=file, project=project, choice=rules.choice, scan=scan
    )
    if file is not None and not (done.files or done.problems or done.notices):
        message = "It was not read: another source holds it, or the patterns of its source leave it out."
        notices.append(FileError(str(file), message))
    done = replace(done, notices=(*done.notices, *notices))
    if enriched:
        done = _enrich_synced(workspace, done, progress)
    counts = ("files", "passages", "added", "updated", "removed", "commits", "waiting")
    annotate({f"scrubjay.{name}": getattr(done, name) for name in counts})
    if workspace.log is not None and done.problems:
        workspace.log.write(
            "warning",
            "sync problems",
            done.seconds * 1000,
            problems=len(done.problems),
            files=done.files,
        )
    if workspace.log is not None and done.notices:
        workspace.log.write("warning", "sync notices", done.seconds * 1000, notices=len(done.notices))
    return done


def _file_of(known: Sequence[Source], full: Path | None, only: str) -> Path:
    """Return the file of a source that ``only`` names, absolute or relative to the folder."""
    file = Path(os.path.abspath((full or Path()) / expand_path(only)))
    source = None if full is None else containing_source(known, full)
    root = full if source is None else Path(source.root)
    if not os.path.isfile(file) or (root is not None and not file.is_relative_to(root)):
        raise InputError(
            f"{file} is no file{f' in {root}' if root is not None else ''}. Nothing was synced.",
            hint="name a file by its absolute path, or relative to the folder",
        )
    return file


def _on_this_machine(sources: Sequence[Source]) -> tuple[list[Source], list[FileError]]:
    """Leave out imported sources whose folder is not here; return the others and one notice."""
    absent = [
        one for one in sources if one.synced_at == IMPORTED_AT and not os.path.lexists(source_location(one))
    ]
    if not absent:
        return list(sources), []
    message = "Imported, and not on this machine; its memories are kept."
    if len(absent) > 1:
        message = (
            f"{len(absent):,} imported sources, this one the first, are not on this machine; "
            "their memories are kept."
        )
    return [one for one in sources if one not in absent], [FileError(source_location(absent[0]), message)]


def _check_rules(workspace: Workspace, full: Path | None, rules: SyncRules) -> None:
    if rules.trust not in (None, "auto", "trusted", "untrusted"):
        raise InputError(
            f"Trust {rules.trust!r:.40} is not auto, trusted or untrusted. Nothing was synced.",
            hint="omit it to keep the earlier choice",
        )
    if full is None:
        if rules.project is not None:
            raise InputError(
                f"Project {rules.project} was named for no folder. Nothing was synced.",
                hint=f"scrubjay sync DIR --project {rules.project}",
            )
        if rules.choice != NO_CHOICE:
            raise InputError(
                "Trust and sharing apply to one folder; none was given. Nothing was synced.",
                hint="scrubjay sync DIR --trusted, --untrusted, --share or --no-share",
            )
        if rules.git is not None:
            raise InputError(
                "--git and --no-git apply to one folder; none was given. Nothing was synced.",
                hint="scrubjay sync DIR --git or --no-git",
            )
        return
    if rules.git is not None and not os.path.lexists(full) and _find_history(workspace, full) is not None:
        raise InputError(
            f"{full} does not exist, so its stored history was neither read nor removed. Nothing was synced.",
            hint=f"restore it; `scrubjay sources remove {full}` deletes its memories",
        )
    if rules.git is not None and not _is_repository(workspace, full):
        raise InputError(
            f"{full} is no git repository. Nothing was synced.", hint="name the folder that holds its .git"
        )
    container = containing_source(_registered_sources(workspace), full) if rules.choice != NO_CHOICE else None
    if container is not None and (where := source_location(container)) != str(full):
        raise InputError(
            f"{full} lies in the source {where}, and trust and sharing apply to a whole source. Nothing was synced.",
            hint=f"give {where}; or scrubjay sources remove {where}, sync {full} first and then {where}",
        )


def _enrich_synced(workspace: Workspace, done: SyncReport, progress: ProgressCallback | None) -> SyncReport:
    done = done.with_enriched(enrich(workspace, progress))
    if done.waiting or done.learned:
        done = done.with_embedded(embed_if_few(workspace))
    return done


def _with_history(
    workspace: Workspace, source: Source, full: Path, git: bool | None
) -> tuple[list[Source], list[FileError]]:
    """Return a folder's source, with that of its history, and notices of a removed or unread history."""
    store, scope = workspace.store, workspace.scope
    if repository_of(source) is not None or not _is_repository(workspace, full):
        if not all((full / name).exists() for name in ("HEAD", "objects", "refs")):
            return [source], []
        message = "That is a bare repository, which has no files; its history was not read."
        return [source], [FileError(str(full), message, f"clone it, and sync the clone: git clone {full}")]
    known = _find_history(workspace, full)
    source, history = register_history(store, scope, source, str(full), known, git)
    if history is not None:
        projects = ProjectResolver(store, scope)
        chosen = projects.chosen_for(source.id)
        if known is None and chosen is not None:
            store.write(scope, [projects.put_choice(history.id, chosen)])
        return [source, history], []
    if known is None:
        return [source], []
    with store.reader(scope) as reader:
        count = _count_stored_commits(reader, known)
    _remove_sources(workspace, [known])
    message = f"Its history was removed, with {count:,} commit{'' if count == 1 else 's'}."
    return [source], [FileError(str(full), message, f"scrubjay sync {full} --git reads it again")]


def _is_repository(workspace: Workspace, full: Path) -> bool:
    """Return whether a folder has a ``.git``, or had one whose history is stored."""
    return os.path.lexists(full / ".git") or _find_history(workspace, full) is not None


def _find_history(workspace: Workspace, full: Path) -> Source | None:
    place = str(full / ".git")
    return next((one for one in _registered_sources(workspace) if source_location(one) == place), None)


def _count_stored_commits(reader: Reader, source: Source) -> int:
    return sum(one.versions.extractor == COMMIT for one in reader.documents(source.id).values())


def sync_file(workspace: Workspace, source: Source, only: Path) -> SyncReport:
    started = time.monotonic()
    _rebuild_if_outdated(workspace, None)
    return _enrich_synced(workspace, sync_each(workspace, [source], started, None, only=only), None)


def current_versions(workspace: Workspace) -> StageVersions:
    return stage_versions(chunk_settings(workspace))


def _registered_sources(workspace: Workspace) -> list[Source]:
    with workspace.reader() as reader:
        return reader.sources()


def sync_each(
    workspace: Workspace,
    chosen: Sequence[Source],
    started: float,
    progress: ProgressCallback | None,
    only: Path | None = None,
    project: str | None = None,
    inline: int | None = None,
    choice: TrustChoice = NO_CHOICE,
    scan: ScanResult | None = None,
) -> SyncReport:
    """Sync sources one after the other, up to their enrichment.

    ``started`` is a time of the monotonic clock; ``inline`` is ``max_bytes`` of `sync_source`, for a search, which
    leaves files unread that have passages of a group the caller is not in. ``scan`` are the files of the one source,
    if they were already scanned.
    """
    tally, notes = SyncTally(), workspace.settings.notes
    with workspace.reader() as reader:
        known = reader.sources()
        registered = {one.id for one in known}
        hidden = {} if inline is not None else {one.id: reader.hidden_groups(one.id) for one in chosen}
    run = SyncRun(
        store=workspace.store,
        scope=workspace.scope,
        owner=workspace.scope,
        secret=workspace.store.secret(workspace.scope),
        base=workspace.models.ensure_base_model(),
        chunks=chunk_settings(workspace),
        tally=tally,
        projects=ProjectResolver(workspace.store, workspace.scope),
        stages=workspace.settings.linking.stages,
        progress=progress,
        paused=Pauses(str(data_dir())).silent,
        notes=None if notes.dir is None else notes.dir.expanduser(),
    )
    for source in chosen:
        if source is not chosen[0]:  # the sync of those before may have taken long
            known = _registered_sources(workspace)
            current = next((one for one in known if one.id == source.id), None)
            if current is None and source.id in registered:
                continue
            source = current or source
        source_run = replace(run, scope=workspace.scope.joined(hidden.get(source.id, ())))
        try:
            repository = repository_of(source)
            if repository is not None:
                from scrubjay.ingest.git import Repository  # a sync of notes needs none of it

                most = None if inline is None else MAX_INLINE_FILES
                pipeline.sync_history(
                    source_run, source, Repository(repository, environment()), choice, project, most
                )
                continue
            own = exclude_memory_notes(exclude_nested_sources(source, known), notes.learned_dir)
            still_valid = only is None and own == source
            pipeline.sync_source(
                source_run, source, own, only, inline, choice, project, scan if still_valid else None
            )
        except NotFoundError:
            if source.id in {one.id for one in _registered_sources(workspace)}:
                raise  # else it was removed meanwhile
    with workspace.reader() as reader:
        passages = reader.count_passages([source.id for source in chosen])
        waiting = count_pending(reader, workspace.models.backfilled_models())
        if inline is None:
            tally.forgotten += sum(
                one.forgotten for source in chosen for one in reader.documents(source.id).values()
            )
    return SyncReport(
        files=tally.files,
        passages=passages,
        added=tally.added,
        updated=tally.updated,
        unchanged=passages - tally.added - tally.updated,
        removed=tally.removed,
        forgotten=tally.forgotten,
        linked=0,
        learned=0,
        embedded=0,
        waiting=waiting,
        scrubbed=dict(sorted(tally.scrubbed.items())),
        problems=(*tally.problems, *_refused_notes(tally, workspace.scope)),
        seconds=time.monotonic() - started,
        changed=tuple(tally.changed[:MAX_LISTED_FILES]),
        notices=(*tally.notices, *_unshared_notes(tally), *_unread_documents(tally)),
        commits=tally.commits,
        left_out=tally.left_out,
    )


def _unshared_notes(tally: SyncTally) -> Iterator[FileError]:
    if tally.unshared:
        path, visibility = min(tally.unshared.items())
        count = len(tally.unshared)
        notes = "This note asks" if count == 1 else f"{count:,} notes, this one the first, ask"
        yield FileError(
            path,
            f"{notes} by front matter to be seen by others (visibility {visibility}). Of this source that has no "
            "effect: kept private.",
            "scrubjay sync DIR --share, if front matter in DIR may share notes",
        )


def _refused_notes(tally: SyncTally, owner: Scope) -> Iterator[FileError]:
    for group in sorted(set(tally.refused.values())):
        paths = sorted(path for path, named in tally.refused.items() if named == group)
        notes = "this note is" if len(paths) == 1 else f"{len(paths):,} notes, this one the first, are"
        groups = ", ".join(f'"{name}"' for name in (*owner.groups, group))
        yield FileError(
            paths[0],
            f"{owner.user} is not in group {group}, so {notes} kept private.",
            f"add groups = [{groups}] to the settings, or the group to the token that syncs, and sync again",
        )


def _unread_documents(tally: SyncTally) -> Iterator[FileError]:
    if tally.skipped:
        count = len(tally.skipped)
        documents = "This document was" if count == 1 else f"{count:,} documents, this one the first, were"
        yield FileError(
            tally.skipped[0],
            f"{documents} skipped; PDF, DOCX, HTML and EPUB are read after: pip install 'scrubjay[documents]'",
        )
    if tally.unconverted:
        count = len(tally.unconverted)
        documents = "This document" if count == 1 else f"{count:,} documents, this one the first,"
        yield FileError(
            tally.unconverted[0],
            f"{documents} could not be read before; `scrubjay status` lists the reasons.",
        )


def _rebuild_if_outdated(workspace: Workspace, progress: ProgressCallback | None) -> None:
    with workspace.reader() as reader:
        stamped = reader.versions()
    if stamped is None:
        workspace.store.write(workspace.scope, [PutVersions(current_versions(workspace))])
    elif stamped != (current := current_versions(workspace)):
        same = (stamped.chunker, stamped.labeller) == (current.chunker, current.labeller)
        _rebuild_all(workspace, progress, keep_vectors=same)


def _rebuild_all(
    workspace: Workspace, progress: ProgressCallback | None, *, keep_vectors: bool = False
) -> None:
    """Rebuild every memory, and mark all to be connected again."""
    store, scope = workspace.store, workspace.scope
    with store.reader(scope) as reader:
        categories = reader.categories()
    if "categories" in workspace.settings.linking.stages:  # topics of no memories are due
        stale: list[Change] = [
            PutCategory(replace(one, built=0)) for one in categories if one.kind == "topic"
        ]
    else:
        stale = [DropCategory(one.id) for one in categories]
    store.write(scope, stale)
    base, chunks = workspace.models.ensure_base_model(), chunk_settings(workspace)
    rebuild_tenant(store, scope, base, chunks, progress, keep_vectors=keep_vectors)


def rebuild_store(workspace: Workspace, progress: ProgressCallback | None = None) -> SyncReport:
    started = time.monotonic()
    _rebuild_all(workspace, progress)
    enrich(workspace, progress)
    workspace.store.vacuum()
    with workspace.reader() as reader:
        counts = reader.counts()
        waiting = count_pending(reader, workspace.models.backfilled_models())
    seconds = time.monotonic() - started
    return SyncReport(
        files=counts.documents, passages=counts.memories, added=0, updated=counts.memories, unchanged=0, removed=0,
        forgotten=0, linked=0, learned=0, embedded=0, waiting=waiting, scrubbed={}, problems=(), seconds=seconds,
    )  # fmt: skip


def remove_source(workspace: Workspace, status: SourceStatus) -> RemovedSource:
    """Remove a source, its memories, what is derived from them alone, and the categories of its folders.

    With a folder its history goes, too.
    """
    places = (status.root, os.path.join(status.root, ".git"))
    sources = [one for one in _registered_sources(workspace) if source_location(one) in places]
    with workspace.reader() as reader:
        commits = sum(_count_stored_commits(reader, one) for one in sources)
    derived = _remove_sources(workspace, sources)
    return RemovedSource(**asdict(status) | {"commits": commits}, derived=derived)


def _remove_sources(workspace: Workspace, sources: Sequence[Source]) -> int:
    """Remove sources, and return the number of memories that were derived from them alone."""
    count = 0
    for one in sources:
        remove_folders(workspace.store, workspace.scope, one)
        count += retry_conflicts(partial(_drop_source, workspace, one))
    refresh_grown_topics(workspace, {})
    return count


def _drop_source(workspace: Workspace, source: Source) -> int:
    with workspace.reader() as reader:
        derived = reader.get(sorted(find_orphans(reader, source.id)))
    workspace.store.write(
        workspace.scope, [RequireUnchanged(derived), DropMemory(tuple(derived)), DropSource(source.id)]
    )
    return len(derived)
