"""Search service: refresh changed files, open a store view, rewrite the query, build the default request, time and log it.

A search never waits longer than the deadline for it, whatever the service does, and it is asked while no view of the
store is open. Secrets are taken out before anything is sent.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from scrubjay.config.loader import api_key
from scrubjay.errors import ConfigError, ProviderError, StoreBusyError, StoreError, StoreReadOnlyError
from scrubjay.models.dates import SECOND, now_micros
from scrubjay.models.lifecycle import LifecycleChange
from scrubjay.models.reports import FetchReport
from scrubjay.services.workspace import Workspace
from scrubjay.storage.quota import used_allowances

if TYPE_CHECKING:
    from scrubjay.config.settings import LlmSettings
    from scrubjay.embeddings.base import Embedder
    from scrubjay.llm.client import LanguageModel
    from scrubjay.models.records import Source, StageVersions
    from scrubjay.search.request import SearchRequest, TierOptions
    from scrubjay.storage.interface import Reader


STALE_QUOTA = "Files changed, but there is no room ([quota]): the answer is from before; `scrubjay sync` takes what fits."
STALE_READ_ONLY = "Files changed, but the store is read-only: the answer is from before."
STALE_BUSY = "Files changed, but another process is writing: the answer is from before."


@dataclass(frozen=True, slots=True)
class ChangedFiles:
    """What a look at the files found.

    Attributes:
        changed: Sources with a few changed files, to be taken in.
        partial: What was not looked at.
        stamped: What made the store.
    """

    changed: tuple[Source, ...] = ()
    partial: tuple[str, ...] = ()
    stamped: StageVersions | None = None


def find_changed_files(workspace: Workspace, reader: Reader) -> ChangedFiles:
    """Look for the few files that changed since the last sync."""
    sources = reader.sources() if workspace.looks else []
    if not sources:
        return ChangedFiles()
    from scrubjay.ingest.scanner import check_freshness
    from scrubjay.models.sources import exclude_nested_sources

    found = check_freshness(
        reader,
        [exclude_nested_sources(source, sources) for source in sources],
        workspace.settings.sync.look_seconds,
    )
    changed = tuple(source for source in sources if source.id in found.changed)
    return ChangedFiles(changed, found.partial, reader.versions() if changed else None)


def ingest_changed_files(workspace: Workspace, seen: ChangedFiles) -> tuple[str, ...]:
    """Take in what changed, while no view of the store is open; say what was not looked at, or not taken in."""
    if any(limit.used >= limit.allowed for limit in used_allowances(workspace.store, workspace.scope)):
        return (*seen.partial, STALE_QUOTA)
    try:
        if workspace.store.busy(workspace.scope):
            return (*seen.partial, STALE_BUSY)
    except StoreReadOnlyError:
        return (*seen.partial, STALE_READ_ONLY)
    from scrubjay.ingest.reader import stage_versions
    from scrubjay.ingest.scanner import MAX_INLINE_BYTES
    from scrubjay.services.sync import chunk_settings, sync_each

    if seen.stamped is not None and seen.stamped != stage_versions(chunk_settings(workspace)):
        return (*seen.partial, "The store was made by another version: `scrubjay sync` brings it up to date.")
    try:
        sync_each(workspace, list(seen.changed), time.monotonic(), None, most=0, inline=MAX_INLINE_BYTES)
    except StoreBusyError:
        return (*seen.partial, STALE_BUSY)
    except StoreReadOnlyError:
        return (*seen.partial, STALE_READ_ONLY)
    return seen.partial


MAX_LOGGED_QUERY: Final = 2_000
"""Characters of a question that are written down where the settings want them."""


class StageTimer:
    """The times of one question, each part under its name.

    Attributes:
        parts: Name to milliseconds.
    """

    def __init__(self) -> None:
        self._begun = self._last = time.perf_counter()
        self.parts: dict[str, float] = {}

    def lap(self, name: str) -> None:
        """End a part, or a piece of it."""
        now = time.perf_counter()
        self.parts[name] = round(self.parts.get(name, 0.0) + (now - self._last) * 1000, 1)
        self._last = now

    @property
    def ms(self) -> float:
        """Milliseconds from the beginning to the end of the last part."""
        return round((self._last - self._begun) * 1000, 3)


def log_slow_query(
    workspace: Workspace, kind: str, query: str | None, laps: StageTimer, results: int, models: list[str]
) -> None:
    """Tell of a question that took longer than ``[log] slow_ms``: where the time went, and over how much.

    Args:
        workspace: Where it was asked.
        kind: ``search``, ``thread`` or ``context``.
        query: The question, if any; it is written down only where ``[log] queries`` says so.
        laps: Its times.
        results: How many memories it found.
        models: Names of the models that ranked.
    """
    settings = workspace.settings.log
    if workspace.log is None or laps.ms < settings.slow_ms:
        return
    with workspace.store.reader(workspace.scope) as reader:
        memories = sum(map(reader.amount, workspace.scope.keys))
    facts: dict[str, str | float | bool] = {f"{name}_ms": took for name, took in laps.parts.items()}
    facts |= {"memories": memories, "results": results, "models": ",".join(models)}
    facts |= {"words": len((query or "").split())}
    if settings.queries and query:
        facts["query"] = query[:MAX_LOGGED_QUERY]
    workspace.log.write("warning", f"slow {kind}", laps.ms, **facts)


@dataclass(frozen=True, slots=True)
class SearchView:
    """What an answer is made from.

    Attributes:
        reader: The view of the store.
        embedders: The models that rank, base first.
        stale: What of the files was not looked at, or not taken in.
        without: Models that failed, and why.
        left_out: Models that a cold process does without by design.
        at: UTC microseconds of now, when all that changed is taken in: what was just learned is true by then.
    """

    reader: Reader
    embedders: list[Embedder]
    stale: tuple[str, ...]
    without: tuple[str, ...]
    left_out: tuple[str, ...]
    at: int

    @property
    def names(self) -> list[str]:
        """Names of the models that rank."""
        return [one.model.name for one in self.embedders]


@contextmanager
def open_view(workspace: Workspace, laps: StageTimer) -> Iterator[SearchView]:
    """Take in the few files that changed since the last sync, and open what is answered from.

    One view serves for looking and answering, as each costs a server three requests. It is closed in between where
    something is written, or a model is loaded, which can take minutes.
    """
    with ExitStack() as held:
        reader = held.enter_context(workspace.store.reader(workspace.scope))
        found = find_changed_files(workspace, reader)
        stale = found.partial
        if found.changed:
            held.close()
            stale = ingest_changed_files(workspace, found)
            reader = held.enter_context(workspace.store.reader(workspace.scope))
        laps.lap("files")
        states = reader.models()
        if workspace.lineup.ready(states):
            embedders, without = workspace.lineup.ranking(states)
        else:
            held.close()
            embedders, without = workspace.lineup.ranking(states)
            reader = held.enter_context(workspace.store.reader(workspace.scope))
        laps.lap("models")
        yield SearchView(reader, embedders, stale, without, workspace.lineup.left_out(states), now_micros())


MAX_FAILURES: Final = 3
"""Failures in a row after which the model is left alone for a while: each of them made somebody wait."""
COOLDOWN_SECONDS: Final = 60.0
"""Seconds for which it is then left alone."""
MAX_RESPONSE_BYTES: Final = 1 << 16
"""Bytes of an answer: a hundred times what was asked for."""


@dataclass(frozen=True, slots=True)
class RewriteOutcome:
    """What became of a question.

    Attributes:
        text: The rewriting, to be searched beside the question; empty where there is none.
        partial: What was to be done and could not be.
        notes: Why nothing was to be done, for explain.
    """

    text: str = ""
    partial: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(slots=True)
class _RequestStats:
    """What came of the requests so far; threads may ask at once."""

    model: LanguageModel | None = None
    announced: bool = False
    row: int = 0
    until: float = 0.0
    lock: threading.Lock = field(default_factory=threading.Lock)


class QueryRewriter:
    """A process's dealings with the language model that rewrites questions."""

    def __init__(
        self,
        settings: LlmSettings,
        announce: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Ask nothing yet.

        Args:
            settings: The section ``[llm]``.
            announce: Told once, before anything is sent, where what goes.
            clock: Seconds that only go on.
        """
        self._settings = settings
        self._announce = announce
        self._clock = clock
        self._so_far = _RequestStats()

    def rewritten(self, question: str, history: Sequence[str]) -> RewriteOutcome:
        """Return what a question means after what was said; nothing is asked where the settings do not say so.

        Raises:
            InputError: The history is no list of texts.
        """
        if isinstance(history, list | tuple) and not history:  # most searches: nothing is loaded for them
            return RewriteOutcome()
        from scrubjay.ingest.turns import redact_turns
        from scrubjay.redaction.redactor import redact_text
        from scrubjay.search.rewrite import MAX_QUESTION_LENGTH, check_history, check_rewriting, trim_history

        wanted = self._settings
        clean = [turn.text for turn in redact_turns(check_history(history)).found]
        said = trim_history(clean)
        if not said or not question.strip():
            return RewriteOutcome()
        if not wanted.model or not wanted.rewrite:
            return RewriteOutcome(notes=("What was said before was not read: [llm] rewrite is off.",))
        if len(question) > MAX_QUESTION_LENGTH:
            return RewriteOutcome(notes=("The question is too long to be rewritten.",))
        if self._clock() < self._so_far.until:
            return self._without(
                f"failed {MAX_FAILURES} times and is left alone for {COOLDOWN_SECONDS:.0f} s"
            )
        question = redact_text(question, before=clean).text
        try:
            answer = self._complete(question, said)
        except (ConfigError, ProviderError) as error:
            self._failed()
            return self._without(f"did not rewrite it: {str(error).partition('. ')[0]}")
        self._so_far.row = 0
        found = check_rewriting(answer, question, said)
        if found.refused:
            return self._without(f"rewrote it, which was not believed: {found.refused}")
        return RewriteOutcome(found.text)

    def _without(self, why: str) -> RewriteOutcome:
        return RewriteOutcome(partial=(f"The question was taken as it is: {self._settings.model} {why}.",))

    def _failed(self) -> None:
        so_far = self._so_far
        with so_far.lock:
            so_far.row += 1
            if so_far.row >= MAX_FAILURES:
                so_far.row, so_far.until = 0, self._clock() + COOLDOWN_SECONDS

    def _complete(self, question: str, said: Sequence[str]) -> str:
        """Ask, and wait no longer than the deadline, which holds for the whole request (`providers.post`).

        Raises:
            ConfigError: The settings cannot be used.
            ProviderError: There was no answer in time, or none that is one.
        """
        from scrubjay.search.rewrite import INSTRUCTIONS, build_prompt

        model, deadline = self._model(), self._settings.rewrite_deadline
        request = build_prompt(question, said)
        self._tell(model, len(said), len(request))
        return model.complete(INSTRUCTIONS, request, deadline=deadline, max_bytes=MAX_RESPONSE_BYTES)

    def _model(self) -> LanguageModel:
        from scrubjay.llm.client import LlmSpec, open_llm

        wanted = self._settings
        with self._so_far.lock:
            if self._so_far.model is None:
                spec = LlmSpec(wanted.base_url, wanted.model, api_key("llm", wanted))
                self._so_far.model = open_llm(spec)
            return self._so_far.model

    def _tell(self, model: LanguageModel, turns: int, characters: int) -> None:
        with self._so_far.lock:
            first, self._so_far.announced = not self._so_far.announced, True
        if first:
            what = f"1 question with {turns} turn{'s' if turns > 1 else ''}"
            self._announce(
                f"Sending {what} ({characters:,} characters) to {model.host} to be rewritten by {model.name}; "
                "later questions with a history go there too."
            )


def rewrite_query(workspace: Workspace, question: str, history: Sequence[str]) -> RewriteOutcome:
    """Return what becomes of a question that is asked at a workspace; see `QueryRewriter.rewritten`."""
    return (
        workspace.rewriter.rewritten(question, history)
        if workspace.rewriter is not None
        else RewriteOutcome()
    )


def tier_pool(workspace: Workspace, here: str | None = None, floor: float | None = None) -> TierOptions:
    """Return what tiers weigh, how sure an answer must be, and the project that is preferred.

    Args:
        workspace: Whose settings.
        here: Project the caller is in, by name or path; a path that is no project prefers none.
        floor: Least confidence, None for the settings'.

    Raises:
        InputError: A setting names no tier, or a number is out of range.
    """
    from scrubjay.search.request import TierOptions

    recall = workspace.settings.recall
    return TierOptions(
        tiers=("observation",) if recall.tiers == "observations" else (),
        weights=recall.tier_weights or {},
        floor=recall.confidence_floor if floor is None else floor,
        here=_preferred_project(workspace, here) if here else None,
    ).checked()


def _preferred_project(workspace: Workspace, here: str) -> str | None:
    from scrubjay.ingest.projects import ProjectResolver

    return ProjectResolver(workspace.store, workspace.scope, learn=False).named(here) or None


def default_request(workspace: Workspace, query: str, now: int, here: str | None = None) -> SearchRequest:
    """Return a question as the settings have it searched; no model puts it in other words or looks at it again.

    Args:
        workspace: Whose settings.
        query: The question.
        now: When it is asked, UTC microseconds.
        here: Project the caller is in, by name or path.

    Raises:
        InputError: A setting is out of range.
    """
    from scrubjay.search.request import Clock, ExpansionOptions, ResultCaps, build_request

    recall = workspace.settings.recall
    auto = recall.fusion == "auto" and recall.weights is None
    request = build_request(
        query,
        fusion=recall.fusion,
        weights=recall.weights,
        limit=recall.limit,
        multiplier=recall.candidates,
        snippet=recall.snippet,
        clock=Clock(tz=recall.tz),
        min_relevance=recall.min_relevance,
        pool=tier_pool(workspace, here),
        reach=ExpansionOptions(links=recall.links if auto else 0, hierarchy=auto and recall.hierarchy),
        caps=ResultCaps(recall.session_cap, recall.document_cap),
        variety=recall.variety,
    )
    return replace(request, now=now)


USAGE_INTERVAL: Final = 3_600 * SECOND
"""Microseconds within which reading a memory again is the same use of it; half-lives are weeks and more."""


def record_usage(workspace: Workspace, ids: Sequence[str], found: FetchReport) -> None:
    """Remember that memories were used just now, in one write that waits for nobody.

    Only the caller's own: what several see would tell them that somebody reads it, and move what they find. It is
    no feedback: strength and events stay. A store that another writes to, or that cannot be written, is left as
    it is, since the read succeeded; the next read tries again.

    Args:
        workspace: Where.
        ids: What was asked for: ids, or their shortest unique beginnings.
        found: What was found, neighbours among it, which nobody asked for.
    """
    if not workspace.settings.recall.touch:
        return
    now, own = now_micros(), workspace.scope.key()
    asked = tuple(one for one in ids if one)
    lives = {
        record.id: LifecycleChange(last_used=now)
        for record in found.records
        if record.key == own
        and record.id.startswith(asked)
        and (record.last_used is None or now - record.last_used >= USAGE_INTERVAL)
    }
    if lives:
        from scrubjay.storage.changes import PutLifecycle

        with suppress(StoreError):
            workspace.store.write(workspace.scope, [PutLifecycle(lives)], patience=0.0)
