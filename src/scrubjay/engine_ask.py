"""Asking: the part of the facade that answers with a story, a page of all there is, or what to have in mind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scrubjay.memory.contexts import Context
    from scrubjay.memory.reports import Page, Vectors
    from scrubjay.memory.threads import Thread
    from scrubjay.wiring.desk import Desk


class Asking:
    """Thread, page, context and vectors; `Memory` is one."""

    _desk: Desk

    def thread(
        self,
        query: str,
        *,
        hops: int = 2,
        limit: int = 12,
        fan_out: int = 8,
        tiers: Sequence[str] = (),
        tags: Sequence[str] = (),
        path: str = "",
        sources: Sequence[str] = (),
        since: str | datetime | None = None,
        until: str | datetime | None = None,
        statuses: Sequence[str] = ("active", "superseded"),
        projects: Sequence[str] = (),
        agents: Sequence[str] = (),
        sessions: Sequence[str] = (),
        categories: Sequence[str] = (),
        snippet: int | None = None,
        now: str | datetime | None = None,
        as_of: str | datetime | None = None,
        tz: str | None = None,
    ) -> Thread:
        """Return the story that a question is about: what was found, what led there and what came of it.

        It begins with what `search` finds and goes on over concepts that memories share, concepts related to
        those, what comes before and after in a conversation or document, links, evidence, and what superseded or
        contradicts what. Each memory says by which way it was come to.

        Args:
            query: A question, words, an identifier, as `search` takes it.
            hops: Most hops from what the search finds, 0..4. Over a concept is one, over two related concepts two.
            limit: Most memories, 1..100.
            fan_out: Most edges of a kind that are followed from one memory or concept, 1..50.
            tiers: Any of these tiers; this and the other filters hold for all that the thread shows.
            tags: All of these tags.
            path: Glob over a file's path within its source, or a folder of it.
            sources: Any of these sources, by id or path.
            since: What happened at or after.
            until: What happened before the end of this day, month, year, or before this time.
            statuses: Any of these statuses. A story tells what was before: superseded memories are marked as such.
            projects: Any of these projects, by name, by the end of a name, or by a path.
            agents: What any of these agents wrote or recorded.
            sessions: Any of these conversations.
            categories: What belongs to any of these categories or to one below, by id or name.
            snippet: Most characters of a snippet.
            now: When the question is asked, to which everything has its age; None for this moment.
            as_of: Tell only what was true then (valid time, not the state of the index), as in `search`.
            tz: The zone of dates and of "yesterday", by its IANA name; None for the settings'.

        Raises:
            InputError: An option has a value it cannot have.
        """
        from scrubjay.recall.request import Clock, Filters, least_relevance, request
        from scrubjay.recall.thread import Bounds, thread
        from scrubjay.wiring.places import resolved
        from scrubjay.wiring.pools import pool
        from scrubjay.wiring.telling import Laps, answered
        from scrubjay.wiring.viewing import view

        laps = Laps()
        desk = self._desk
        recall = desk.settings.recall
        bounds = Bounds(hops, fan_out).checked(limit)
        filters = Filters(
            tiers, tags, path, sources, since, until, statuses,
            resolved(desk, projects), agents, sessions, categories,
        )  # fmt: skip
        wanted = request(
            query,
            filters=filters,
            fusion=("auto", None, None),
            parts=(None, None, None),
            sizes=(limit, recall.candidates, recall.snippet if snippet is None else snippet),
            explain=True,
            clock=Clock(now, tz or recall.tz, as_of),
        )
        least = least_relevance(recall.min_relevance, filters)
        wanted = replace(wanted, pool=pool(desk), min_relevance=least)
        with view(desk, laps) as seen:
            wanted = wanted if now is not None else replace(wanted, now=seen.at)
            found = thread(seen.reader, seen.embedders, wanted, bounds)
        laps.lap("rank")
        answered(desk, "thread", query, laps, len(found.knots), seen.names)
        return replace(found, partial=(*seen.stale, *seen.without, *found.partial), took_ms=laps.ms)

    def page(
        self,
        *,
        after: str = "",
        limit: int = 50,
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
    ) -> Page:
        """Return memories a page at a time, in the order of their ids' digits, which no writing disturbs.

        Args:
            after: Go on after this one, as ``next`` of the page before says; empty for the first page.
            limit: Most memories, 1..1,000.
            tiers: Any of these tiers.
            tags: All of these tags.
            path: Glob over a file's path within its source, or a folder of it.
            sources: Any of these sources, by id or path.
            since: What happened at or after.
            until: What happened before the end of this day, month, year, or before this time.
            statuses: Any of these statuses.
            projects: Any of these projects, by name, by the end of a name, or by a path.
            agents: What any of these agents wrote or recorded.
            sessions: Any of these conversations.
            categories: What belongs to any of these categories or to one below, by id or name.

        Raises:
            InputError: An option has a value it cannot have.
        """
        from scrubjay.recall.page import page
        from scrubjay.recall.request import Filters, listing
        from scrubjay.wiring.places import resolved

        filters = Filters(
            tiers, tags, path, sources, since, until, statuses,
            resolved(self._desk, projects), agents, sessions, categories,
        )  # fmt: skip
        wanted = listing(filters, limit)
        with self._desk.store.reader(self._desk.scope) as reader:
            return page(reader, wanted, after)

    def vectors(self, texts: Sequence[str], *, model: str | None = None) -> Vectors:
        """Return what a bundled model makes of texts: one unit vector a text, whatever its length.

        Nothing is stored. A text longer than the model's window is the mean of its windows.

        Args:
            texts: The texts.
            model: Name of a bundled model; None for the base model.

        Raises:
            NotFoundError: No bundled model is called so.
            ProviderError: The model is missing or damaged.
        """
        from scrubjay.wiring.embedding import vectors

        return vectors(self._desk, texts, model)

    def context(
        self,
        query: str | None = None,
        *,
        budget: int | None = None,
        project: str | None = None,
        session: str | None = None,
        agent: str | None = None,
        exclude_paths: Sequence[str] | None = None,
        parts: Sequence[str] | None = None,
        now: str | datetime | None = None,
        history: Sequence[str] = (),
    ) -> Context:
        """Return what is worth having in mind, as one text to be put into a conversation.

        Without a question, as when a session begins: what is pinned, what is known of the project, the last
        sessions. With one: what is pinned, and what has to do with it; where nothing has, the text is empty. It
        stands between `memory.delimiters`, so that it is never captured as new, is escaped, so that nothing in it
        ends it, and holds no memory of origin ``untrusted`` nor one that was made from such.

        Args:
            query: What is asked; None where a session begins.
            budget: Most tokens, 50..100,000; None for the settings'.
            project: Only of this project and of none, by name, the end of a name, or a path; None for all.
            session: The conversation that goes on; what was said in it is left out.
            agent: Only what this agent wrote or recorded; None for all.
            exclude_paths: Names (``CLAUDE.md``) or patterns of paths of files that the agent reads itself; None for
                the settings'.
            parts: Any of ``pinned``, ``profile``, ``recent``, ``relevant``; None for all where a session begins, and
                for what is pinned and what is relevant where something is asked.
            now: When it is asked; None for this moment.
            history: What was said before, oldest first; read as in `search`, where ``[llm] rewrite`` is on.

        Raises:
            InputError: An option has a value it cannot have.
        """
        from scrubjay.errors import InputError
        from scrubjay.memory.contexts import ANSWERING, PARTS
        from scrubjay.memory.dates import now_micros, when, zone
        from scrubjay.recall.context import Wanted, context
        from scrubjay.recall.standing import Of
        from scrubjay.wiring.places import resolved
        from scrubjay.wiring.rewriting import Rewritten, rewritten
        from scrubjay.wiring.telling import Laps, answered
        from scrubjay.wiring.usual import usual
        from scrubjay.wiring.viewing import view

        if query is not None and not isinstance(query, str):
            raise InputError(f"The query is a {type(query).__name__}, not a text.")
        laps = Laps()
        desk, at = self._desk, when(now, zone(self._desk.settings.recall.tz))
        settings = desk.settings.context
        (named,) = resolved(desk, [project]) if project is not None else (None,)
        moment = at.start if at is not None else now_micros()
        wanted = Wanted(
            usual(desk, query, moment, project) if query is not None else None,
            settings.budget if budget is None else budget,
            Of(named, agent, session, moment),
            settings.loaded if exclude_paths is None else exclude_paths,
            (PARTS if query is None else ANSWERING) if parts is None else parts,
            settings.sessions,
        ).checked()
        meant = Rewritten()
        if wanted.asking is not None and query is not None:
            meant = rewritten(desk, query, history)
            laps.lap("rewriting")
            wanted = replace(wanted, asking=replace(wanted.asking, meant=meant.text))
        with view(desk, laps) as seen:
            found = context(seen.reader, seen.embedders, wanted)
        laps.lap("rank")
        answered(desk, "context", query, laps, len(found.memories), seen.names)
        lacking = (*seen.stale, *meant.partial, *seen.without, *found.partial)
        return replace(found, partial=lacking, took_ms=laps.ms)
