"""Searching: the part of the facade that answers a query with a list of memories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scrubjay.memory.answers import Answer
    from scrubjay.wiring.desk import Desk


class Searching:
    """Search; `Memory` is one."""

    _desk: Desk

    def search(
        self,
        query: str,
        *,
        limit: int | None = None,
        tiers: Sequence[str] = (),
        tags: Sequence[str] = (),
        path: str = "",
        sources: Sequence[str] = (),
        since: str | datetime | None = None,
        until: str | datetime | None = None,
        statuses: Sequence[str] = ("active",),
        projects: Sequence[str] = (),
        agents: Sequence[str] = (),
        sessions: Sequence[str] = (),
        categories: Sequence[str] = (),
        fusion: str | None = None,
        weights: Mapping[str, float] | None = None,
        preset: str | None = None,
        channels: Sequence[str] | None = None,
        models: Sequence[str] | None = None,
        stages: Sequence[str] | None = None,
        rerank: str | None = None,
        links: int | None = None,
        hierarchy: bool | None = None,
        depth: int = 3,
        alpha: float = 0.5,
        threshold: float | None = None,
        explain: bool = False,
        snippet: int | None = None,
        now: str | datetime | None = None,
        history: Sequence[str] = (),
        as_of: str | datetime | None = None,
        tz: str | None = None,
        min_relevance: float | str | None = None,
        here: str | None = None,
        confidence_floor: float | None = None,
        by: str = "memory",
        neighbours: int = 0,
    ) -> Answer:
        """Return the memories that answer a query, best first.

        Args:
            query: A question, words, an identifier. ``"quoted"`` text must stand in a result; ``-word`` must not.
            limit: Most results.
            tiers: Any of these tiers.
            tags: All of these tags.
            path: Glob over a file's path within its source, or a folder of it.
            sources: Any of these sources, by id or path.
            since: What happened at or after: ISO text (``2026``, ``2026-03``, ``2026-03-01``, with time) or datetime.
            until: What happened before the end of this day, month, year, or before this time.
            statuses: Any of these statuses.
            projects: Any of these projects, by name, by the end of a name, or by a path (``.`` is the one here).
            agents: What any of these agents wrote or recorded.
            sessions: Any of these conversations.
            categories: What belongs to any of these categories or to one below, by id or name.
            fusion: ``auto`` (weights follow the query), ``rrf``, ``weighted`` (z-scores) or ``raw`` (cosine, BM25 and
                trigrams, each from 0 to 1).
            weights: Channel (``bm25``, ``vector``, ``ngram``, ``graph``) to weight.
            preset: Another system's fusion: ``kit``, ``openclaw`` or ``router``.
            channels: Channels that take part; None for all.
            models: Names of embedding models that take part; None for all in use.
            stages: Optional stages that take part (docs/recall.md names them); None for all.
            rerank: Who looks again at the best of what was found (docs/rerank.md): ``features``, ``cross-encoder``,
                ``http``, ``chat``, or ``off``; None takes the reranker that `open` was given, else the settings' one.
            links: Hops over links (given, written, automatic) that are followed from the results; 0 for none, None
                for what the settings say, which they say for fusion ``auto`` alone.
            hierarchy: Whether what belongs to the categories that fit is lifted and brought in; None as for ``links``.
            depth: Levels of categories for that, 1..10.
            alpha: What a memory's own score weighs beside its category's, 0..1.
            threshold: Least score of a result, 0..1, for fusion ``raw``, whose scores have a unit; None for none.
            explain: Return with each result every part of its score.
            snippet: Most characters of a snippet.
            now: When the question is asked, to which everything has its age; None for this moment.
            history: What was said before, oldest first. Where ``[llm] rewrite`` is on, a language model puts into the
                query what it leaves to that ("and when was that?"); what it makes of it is searched, too.
            as_of: Answer by what was true then (valid time, not the state of the index): what was replaced since is
                found, what became true later is not. A date means its end. "As of" in the query says the same.
            tz: The zone of dates and of "yesterday", by its IANA name; None for the settings'.
            min_relevance: ``auto``: an empty answer that says so where nothing is likely to answer; a number from
                0 to 1: only results of at least this relevance; 0 for all. None for the setting, which is ``auto``.
            here: Project whose memories are preferred, by name or a path in it (``.`` is the one here); the others
                are searched as well. None prefers none.
            confidence_floor: Confidence below which a memory is no result, 0 for none; None for the settings'.
            by: What a result is: a ``memory``; or a ``session``, one for each conversation, ranked from its turns:
                the best of them, with the next two in ``turns``.
            neighbours: Turns of its conversation to show with a result, on either side, in ``turns``; at most 10.
                Results that stand there are shown there alone.

        Raises:
            InputError: An option has a value it cannot have.
        """
        from scrubjay.memory.answers import Answer
        from scrubjay.recall.pipeline import search
        from scrubjay.recall.reach import Reach
        from scrubjay.recall.request import Caps, Clock, Filters, least_relevance, request, shaped
        from scrubjay.wiring.places import resolved
        from scrubjay.wiring.pools import pool
        from scrubjay.wiring.rewriting import rewritten
        from scrubjay.wiring.telling import Laps, answered
        from scrubjay.wiring.viewing import view

        laps = Laps()
        recall = self._desk.settings.recall
        # A preset is fusion and weights at once; what the settings say of either does not join it.
        usual = ("auto", None) if preset is not None else (recall.fusion, None if fusion else recall.weights)
        filters = Filters(
            tiers, tags, path, sources, since, until, statuses,
            resolved(self._desk, projects), agents, sessions, categories,
        )  # fmt: skip
        wanted = request(
            query,
            filters=filters,
            fusion=(fusion or usual[0], weights or usual[1], preset),
            parts=(channels, models, stages),
            sizes=(
                recall.limit if limit is None else limit,
                recall.candidates,
                recall.snippet if snippet is None else snippet,
            ),
            explain=explain,
            clock=Clock(now, tz or recall.tz, as_of),
        )
        least = least_relevance(recall.min_relevance if min_relevance is None else min_relevance, filters)
        wanted = replace(wanted, min_relevance=least)
        usually = wanted.fusion == "auto" and wanted.weights is None and preset is None
        reach = Reach(
            links=(recall.links if usually else 0) if links is None else links,
            hierarchy=(usually and recall.hierarchy) if hierarchy is None else hierarchy,
            depth=depth,
            alpha=alpha,
            threshold=threshold,
        )
        wanted = replace(wanted, reach=reach.checked(), pool=pool(self._desk, here, confidence_floor))
        most = Caps(recall.session_cap, recall.document_cap)
        wanted = shaped(wanted, by, neighbours, most, variety=recall.variety)
        plain = wanted.fusion != "auto" or wanted.weights is not None or preset is not None
        again, not_again = self._desk.rerankers.wanted(
            self._desk.settings, rerank, self._desk.lineup, self._desk.announce, plain=plain
        )
        laps.lap("models")
        meant = rewritten(self._desk, query, history)
        laps.lap("rewriting")
        with view(self._desk, laps) as seen:
            wanted = replace(wanted, meant=meant.text, now=wanted.now if now is not None else seen.at)
            found = search(seen.reader, seen.embedders, wanted, again)
        laps.lap("rank")
        answered(self._desk, "search", query, laps, len(found.results), seen.names)
        lacking = (*seen.stale, *meant.partial, *seen.without, *not_again, *found.partial)
        notes = (*meant.notes, *seen.left_out, *found.notes)
        silence, as_of = found.silence, found.as_of
        return Answer(found.results, lacking, laps.ms, notes, found.hidden, silence, as_of)
