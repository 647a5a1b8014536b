"""Recall: a principal, what they wish and what is asked -> the text to put in, in time or not at all."""

from __future__ import annotations

import asyncio
import json
import time
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from scrubjay.ingest.scrub import scrub
from scrubjay.recall.query import MOST_CHARACTERS
from scrubjay.surfaces.proxy.personal import personal
from scrubjay.text.idle import idle

if TYPE_CHECKING:
    from scrubjay.surfaces.proxy.conversation import Conversation
    from scrubjay.surfaces.proxy.wish import Wish
    from scrubjay.surfaces.serve.session import Session
    from scrubjay.verbs.tokens import Principal

KEPT: Final = 1_024
"""Questions whose memories are kept for the tool results that follow them."""
OPENING: Final = 15.0
"""Seconds that a first request waits for the store to be opened; models are loaded then."""
HISTORY: Final = 12
"""Turns before the question that rewriting is given; it takes no more (recall/rewrite.py)."""


@dataclass(frozen=True, slots=True)
class Recalled:
    """What is put in.

    Attributes:
        text: Delimited; empty for nothing.
        memories: How many memories it holds.
        revisions: Those, each with its revision of then.
    """

    text: str = ""
    memories: int = 0
    revisions: Mapping[str, str] = field(default_factory=dict, hash=False)


NOTHING: Final = Recalled()
Asker = tuple["Principal", str, str | None, str]


class Recalling:
    """Recalls for the requests of one server."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._kept: OrderedDict[Asker, Recalled] = OrderedDict()
        self._opened: asyncio.Task[None] | None = None

    def open(self) -> asyncio.Task[None]:
        """Open the store and load the models, so that no request needs to; return the task that does it."""
        self._opened = asyncio.create_task(self._warm())
        return self._opened

    async def recalled(self, who: Principal, wish: Wish, told: Conversation) -> Recalled:
        """Return what to put in: nothing for what needs no memory, nothing when it fails or takes too long.

        A request with what a tool returned is given again what its question was given, without a search, as long as
        the memories in it say what they said then; else its question is asked again.
        """
        asker = (who, wish.session or told.name, wish.project, told.question)
        kept = None if told.asked else self._kept.get(asker, NOTHING)
        if kept is NOTHING:
            return NOTHING
        started = time.monotonic()
        try:
            if self._opened is not None and not self._opened.done():
                await asyncio.wait([self._opened], timeout=OPENING)
            async with asyncio.timeout(self._budget):
                if kept is not None and json.loads(
                    await self._session.ask(who, "unchanged", {"revisions": kept.revisions})
                ):
                    return kept
                asked = await asyncio.to_thread(self._asked, wish, told)
                if asked is None:
                    return NOTHING
                found = json.loads(await self._session.ask(who, "recall", asked))
        except Exception as error:  # noqa: BLE001 whatever fails, the request goes on without memories
            took = (time.monotonic() - started) * 1000
            self._session.log.write("warning", "proxy recall", took, error=type(error).__name__)
            return NOTHING
        recalled = (
            Recalled(found["text"], found["memories"], found["revisions"]) if found["text"] else NOTHING
        )
        self._kept[asker] = recalled
        self._kept.move_to_end(asker)
        while len(self._kept) > KEPT:
            self._kept.popitem(last=False)
        return recalled

    @property
    def _budget(self) -> float:
        """Seconds, those that a language model has to rewrite the question included."""
        llm = self._session.settings.llm
        return self._session.settings.proxy.budget_ms / 1000 + (llm.rewrite_deadline if llm.rewrite else 0.0)

    def _asked(self, wish: Wish, told: Conversation) -> dict[str, Any] | None:
        """Return what is asked for, None for nothing; a person may have pasted megabytes below their question."""
        if idle(told.question):
            return None
        settings = self._session.settings
        before = told.before[-HISTORY:] if settings.llm.rewrite else ()
        # What somebody said of themselves has to do with what they ask about themselves, and with nothing else.
        wanted = [part for part in settings.proxy.parts if part != "profile" or personal(told.question)]
        return {
            "query": scrub(told.question[:MOST_CHARACTERS], settings.redaction.allow).text,
            "budget": settings.proxy.tokens,
            "project": wish.project,
            "session": wish.session or told.name or None,
            "parts": wanted,
            "otherwise": ["profile"] if "profile" in wanted else [],
            "history": [f"{one.role}: {one.text}" for one in before],
        }

    async def _warm(self) -> None:
        try:
            await self._session.warm("recall", {"query": "What is remembered here?", "budget": 50})
        except Exception as error:  # noqa: BLE001 who asks next is told, or goes on without
            self._session.log.write("warning", "proxy opening", error=type(error).__name__)
