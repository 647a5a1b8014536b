"""Retrieval for the proxy: which memories are injected into a request, within a time budget.

"What do I like to cook?" shares no word with "My signature dish is pesto": no search finds that for sure, but it is
known whose dish it is.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from scrubjay.redaction.redactor import redact_text
from scrubjay.search.query import MAX_QUERY_LENGTH
from scrubjay.text.dialogue import is_small_talk
from scrubjay.text.normalize import word_set

if TYPE_CHECKING:
    from scrubjay.api.auth import Principal
    from scrubjay.server.proxy.request import Conversation, MemoryOptions
    from scrubjay.server.session import Session


MAX_WORDS: Final = 40
"""Words of such a question; in a longer text "I" stands for much else."""
_FIRST_PERSON: Final = word_set(
    """i i'm i've i'd i'll me my mine myself our we us
    ich mich mir mein meine meinen meinem meiner meines wir unser unsere
    yo mí mi mis mío mía nosotros nuestro nuestra je j'ai moi mon ma mes nous notre nos
    io mio mia miei mie noi nostro nostra eu meu minha meus minhas nós nosso nossa ik mij mijn wij ons onze
    я меня мне мной мой моя моё мои мы наш наша"""
)
_QUESTION_WORDS: Final = word_set(
    """what what's where where's when who who's whom whose which why how do does did am is are was were have has can
    could should would will tell remind show list recommend suggest describe plan find give
    was wo wann wer wen wem wessen welche welcher welches warum wie erzähl zeig nenne empfiehl
    qué dónde cuándo quién cuál cómo dime cuéntame quoi où quand qui quel quelle comment dis raconte est-ce
    che cosa dove quando chi quale come dimmi onde quem qual wat waar wanneer wie welke hoe
    что где когда кто какой какая какие как расскажи"""
)
_CJK_FIRST_PERSON: Final = re.compile(r"[我俺僕私나내저]|わたし|ぼく")
_QUESTION_MARK: Final = re.compile(r"[?？]")
_WORD: Final = re.compile(r"[\w'-]+")
"""Words that begin a question, where no mark tells that it is one."""


def is_personal(text: str) -> bool:
    """Tell whether somebody asks about themselves.

    >>> [is_personal(each) for each in ("What do I like to cook?", "Tell me about my hobby", "我喜欢吃什么？")]
    [True, True, True]
    >>> [is_personal(each) for each in ("My boat is called Albatross.", "What is fingerstyle?", "Who leads the team?")]
    [False, False, False]
    """
    found = [word.strip("-'") for word in _WORD.findall(text.casefold().replace("’", "'"))]
    if len(found) > MAX_WORDS:
        return False
    asks = bool(_QUESTION_MARK.search(text)) or any(word in _QUESTION_WORDS for word in found[:1])
    return asks and (not _FIRST_PERSON.isdisjoint(found) or bool(_CJK_FIRST_PERSON.search(text)))


CACHE_SIZE: Final = 1_024
"""Questions whose memories are kept for the tool results that follow them."""
OPENING_SECONDS: Final = 15.0
"""Seconds that a first request waits for the store to be opened; models are loaded then."""
HISTORY_TURNS: Final = 12
"""Turns before the question that rewriting is given; it takes no more (recall/rewrite.py)."""


@dataclass(frozen=True, slots=True)
class RetrievedContext:
    """What is put in.

    Attributes:
        text: Delimited; empty for nothing.
        memories: How many memories it holds.
        revisions: Those, each with its revision of then.
    """

    text: str = ""
    memories: int = 0
    revisions: Mapping[str, str] = field(default_factory=dict, hash=False)


EMPTY_CONTEXT: Final = RetrievedContext()
CacheKey = tuple["Principal", str, str | None, str]


class ContextRetriever:
    """Recalls for the requests of one server."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._queued: OrderedDict[CacheKey, RetrievedContext] = OrderedDict()
        self._opened: asyncio.Task[None] | None = None

    def open(self) -> asyncio.Task[None]:
        """Open the store and load the models, so that no request needs to; return the task that does it."""
        self._opened = asyncio.create_task(self._warm())
        return self._opened

    async def recalled(self, who: Principal, wish: MemoryOptions, told: Conversation) -> RetrievedContext:
        """Return what to put in: nothing for what needs no memory, nothing when it fails or takes too long.

        A request with what a tool returned is given again what its question was given, without a search, as long as
        the memories in it say what they said then; else its question is asked again.
        """
        asker = (who, wish.session or told.name, wish.project, told.question)
        kept = None if told.asked else self._queued.get(asker, EMPTY_CONTEXT)
        if kept is EMPTY_CONTEXT:
            return EMPTY_CONTEXT
        started = time.monotonic()
        try:
            if self._opened is not None and not self._opened.done():
                await asyncio.wait([self._opened], timeout=OPENING_SECONDS)
            async with asyncio.timeout(self._budget):
                if kept is not None and json.loads(
                    await self._session.ask(who, "unchanged", {"revisions": kept.revisions})
                ):
                    return kept
                asked = await asyncio.to_thread(self._asked, wish, told)
                if asked is None:
                    return EMPTY_CONTEXT
                found = json.loads(await self._session.ask(who, "recall", asked))
        except Exception as error:  # noqa: BLE001 whatever fails, the request goes on without memories
            took = (time.monotonic() - started) * 1000
            self._session.log.write("warning", "proxy recall", took, error=type(error).__name__)
            return EMPTY_CONTEXT
        recalled = (
            RetrievedContext(found["text"], found["memories"], found["revisions"])
            if found["text"]
            else EMPTY_CONTEXT
        )
        self._queued[asker] = recalled
        self._queued.move_to_end(asker)
        while len(self._queued) > CACHE_SIZE:
            self._queued.popitem(last=False)
        return recalled

    @property
    def _budget(self) -> float:
        """Seconds, those that a language model has to rewrite the question included."""
        llm = self._session.settings.llm
        return self._session.settings.proxy.budget_ms / 1000 + (llm.rewrite_deadline if llm.rewrite else 0.0)

    def _asked(self, wish: MemoryOptions, told: Conversation) -> dict[str, Any] | None:
        """Return what is asked for, None for nothing; a person may have pasted megabytes below their question."""
        if is_small_talk(told.question):
            return None
        settings = self._session.settings
        before = told.before[-HISTORY_TURNS:] if settings.llm.rewrite else ()
        # What somebody said of themselves has to do with what they ask about themselves, and with nothing else.
        wanted = [part for part in settings.proxy.parts if part != "profile" or is_personal(told.question)]
        return {
            "query": redact_text(told.question[:MAX_QUERY_LENGTH], settings.redaction.allow).text,
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
