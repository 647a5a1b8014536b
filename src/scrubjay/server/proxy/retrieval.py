"""Retrieval for the proxy: the memories to inject into a request, within a time budget.

A question about oneself ("What do I like to cook?") may share no word with the answer ("My signature dish is pesto"),
so it gets the profile.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any, Final

from scrubjay.frozen import frozen
from scrubjay.redaction.redactor import redact_text
from scrubjay.search.query import MAX_QUERY_LENGTH
from scrubjay.text.dialogue import is_small_talk
from scrubjay.text.normalize import word_set

if TYPE_CHECKING:
    from scrubjay.api.auth import Principal
    from scrubjay.server.proxy.formats import Conversation, MemoryOptions
    from scrubjay.server.session import Session


MAX_WORDS: Final = 40
"""Words of a personal question; longer texts use "I" for other reasons."""
_FIRST_PERSON: Final = word_set(
    """i i'm i've i'd i'll me my mine myself our we us
    ich mich mir mein meine meinen meinem meiner meines wir unser unsere
    yo mí mi mis mío mía nosotros nuestro nuestra je j'ai moi mon ma mes nous notre nos
    io mio mia miei mie noi nostro nostra eu meu minha meus minhas nós nosso nossa ik mij mijn wij ons onze
    я меня мне мной мой моя моё мои мы наш наша"""
)
# Words that begin a question without a question mark.
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


def is_personal(text: str) -> bool:
    """Return whether a text is a question about its author.

    >>> [is_personal(text) for text in ("What do I like to cook?", "Tell me about my hobby", "我喜欢吃什么？")]
    [True, True, True]
    >>> [is_personal(text) for text in ("My boat is called Albatross.", "What is fingerstyle?", "Who leads the team?")]
    [False, False, False]
    """
    words = [word.strip("-'") for word in _WORD.findall(text.casefold().replace("’", "'"))]
    if len(words) > MAX_WORDS:
        return False
    asks = bool(_QUESTION_MARK.search(text)) or any(word in _QUESTION_WORDS for word in words[:1])
    return asks and (not _FIRST_PERSON.isdisjoint(words) or bool(_CJK_FIRST_PERSON.search(text)))


CACHE_SIZE: Final = 1_024
"""Questions whose context is cached for the tool results that follow them."""
OPENING_SECONDS: Final = 15.0
"""Seconds that a request waits for the store to be opened and the models to be loaded."""
HISTORY_TURNS: Final = 12
"""Earlier turns for query rewriting, which uses no more."""


@frozen
class RetrievedContext:
    """Text to inject, the number of its memories, and their revisions; empty for nothing."""

    text: str = ""
    memories: int = 0
    revisions: Mapping[str, str] = field(default_factory=dict, hash=False)


EMPTY_CONTEXT: Final = RetrievedContext()


class ContextRetriever:
    def __init__(self, session: Session) -> None:
        self._session = session
        self._cache: OrderedDict[tuple[Principal, str, str | None, str], RetrievedContext] = OrderedDict()
        self._opening: asyncio.Task[None] | None = None

    def open(self) -> asyncio.Task[None]:
        """Open the store and load the models in a task, so that no request needs to."""
        self._opening = asyncio.create_task(self._warm())
        return self._opening

    async def retrieve(
        self, who: Principal, options: MemoryOptions, conversation: Conversation
    ) -> RetrievedContext:
        """Return the text to inject: none if no memory is needed, or if retrieval fails or takes too long.

        A request with a tool's result gets the same text as its question did, without a search, unless a memory in it
        has changed since.
        """
        key = (who, options.session or conversation.name, options.project, conversation.question)
        cached = None if conversation.prompt else self._cache.get(key, EMPTY_CONTEXT)
        if cached is EMPTY_CONTEXT:
            return EMPTY_CONTEXT
        started = time.monotonic()
        try:
            if self._opening is not None and not self._opening.done():
                await asyncio.wait([self._opening], timeout=OPENING_SECONDS)
            async with asyncio.timeout(self._budget):
                if cached is not None and json.loads(
                    await self._session.ask(who, "unchanged", {"revisions": cached.revisions})
                ):
                    return cached
                query = await asyncio.to_thread(self._query, options, conversation)
                if query is None:
                    return EMPTY_CONTEXT
                reply = json.loads(await self._session.ask(who, "recall", query))
        except Exception as error:  # noqa: BLE001 whatever fails, the request continues without memories
            ms = (time.monotonic() - started) * 1000
            self._session.log.write("warning", "proxy recall", ms, error=type(error).__name__)
            return EMPTY_CONTEXT
        context = RetrievedContext(**reply) if reply["text"] else EMPTY_CONTEXT
        self._cache[key] = context
        self._cache.move_to_end(key)
        while len(self._cache) > CACHE_SIZE:
            self._cache.popitem(last=False)
        return context

    @property
    def _budget(self) -> float:
        """Seconds, including those for a language model that rewrites the query."""
        llm = self._session.settings.llm
        return self._session.settings.proxy.budget_ms / 1000 + (llm.rewrite_deadline if llm.rewrite else 0.0)

    def _query(self, options: MemoryOptions, conversation: Conversation) -> dict[str, Any] | None:
        question = conversation.question
        if is_small_talk(question):
            return None
        settings = self._session.settings
        history = conversation.before[-HISTORY_TURNS:] if settings.llm.rewrite else ()
        parts = [part for part in settings.proxy.parts if part != "profile" or is_personal(question)]
        return {
            # A question may be followed by megabytes of pasted text.
            "query": redact_text(question[:MAX_QUERY_LENGTH], settings.redaction.allow).text,
            "budget": settings.proxy.tokens,
            "project": options.project,
            "session": options.session or conversation.name or None,
            "parts": parts,
            "otherwise": ["profile"] if "profile" in parts else [],
            "history": [f"{turn.role}: {turn.text}" for turn in history],
        }

    async def _warm(self) -> None:
        try:
            await self._session.warm("recall", {"query": "What is remembered here?", "budget": 50})
        except Exception as error:  # noqa: BLE001 the next request reports it, or continues without memories
            self._session.log.write("warning", "proxy opening", error=type(error).__name__)
