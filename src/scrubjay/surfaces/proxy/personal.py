"""Personal: str -> whether somebody asks about themselves: then what they said of themselves has to do with it.

"What do I like to cook?" shares no word with "My signature dish is pesto": no search finds that for sure, but it is
known whose dish it is.
"""

from __future__ import annotations

import re
from typing import Final

from scrubjay.text.reworded import bag

MOST_WORDS: Final = 40
"""Words of such a question; in a longer text "I" stands for much else."""
_SELF: Final = bag(
    """i i'm i've i'd i'll me my mine myself our we us
    ich mich mir mein meine meinen meinem meiner meines wir unser unsere
    yo mí mi mis mío mía nosotros nuestro nuestra je j'ai moi mon ma mes nous notre nos
    io mio mia miei mie noi nostro nostra eu meu minha meus minhas nós nosso nossa ik mij mijn wij ons onze
    я меня мне мной мой моя моё мои мы наш наша"""
)
_ASKS: Final = bag(
    """what what's where where's when who who's whom whose which why how do does did am is are was were have has can
    could should would will tell remind show list recommend suggest describe plan find give
    was wo wann wer wen wem wessen welche welcher welches warum wie erzähl zeig nenne empfiehl
    qué dónde cuándo quién cuál cómo dime cuéntame quoi où quand qui quel quelle comment dis raconte est-ce
    che cosa dove quando chi quale come dimmi onde quem qual wat waar wanneer wie welke hoe
    что где когда кто какой какая какие как расскажи"""
)
_ALONE: Final = re.compile(r"[我俺僕私나내저]|わたし|ぼく")
_QUESTION: Final = re.compile(r"[?？]")
_WORD: Final = re.compile(r"[\w'-]+")
"""Words that begin a question, where no mark tells that it is one."""


def personal(text: str) -> bool:
    """Tell whether somebody asks about themselves.

    >>> [personal(each) for each in ("What do I like to cook?", "Tell me about my hobby", "我喜欢吃什么？")]
    [True, True, True]
    >>> [personal(each) for each in ("My boat is called Albatross.", "What is fingerstyle?", "Who leads the team?")]
    [False, False, False]
    """
    found = [word.strip("-'") for word in _WORD.findall(text.casefold().replace("’", "'"))]
    if len(found) > MOST_WORDS:
        return False
    asks = bool(_QUESTION.search(text)) or any(word in _ASKS for word in found[:1])
    return asks and (not _SELF.isdisjoint(found) or bool(_ALONE.search(text)))
