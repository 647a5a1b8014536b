"""Dialogue: small talk, repeated questions, and replies that admit to not knowing.

Free of heavy imports: hooks and the proxy check for small talk before a store is opened.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Final

from scrubjay.text.normalize import word_set

MAX_SMALL_TALK_WORDS: Final = 7
"""Words of such a text; a longer one says more than its words of politeness."""
_SMALL_TALK: Final = word_set(
    """hi hello hey heya hiya howdy yo greetings morning evening goodnight bye goodbye cheers welcome
    thanks thank thx ty tysm ok okay okey kay yes yeah yep yup yea no nope nah sure fine great good cool nice perfect
    awesome excellent wonderful amazing brilliant lovely alright agreed correct exactly right absolutely definitely
    continue proceed next go ahead please sorry hmm hm um uh oh ah wow lol haha understood noted done lgtm sgtm
    hallo guten tag moin servus tschüss danke dankeschön bitte gern gerne ja nein jep nö klar genau gut super prima
    weiter passt verstanden notiert einverstanden
    hola buenos buenas gracias sí si vale claro adiós perfecto bueno
    bonjour bonsoir salut merci oui non d'accord parfait
    ciao buongiorno buonasera grazie prego va bene perfetto
    olá oi bom boa obrigado obrigada sim não tchau
    hoi dag bedankt dank nee goed hej tack tak nej takk hei
    cześć dziękuję dzięki tak nie dobrze merhaba selam teşekkürler evet hayır tamam
    привет здравствуйте спасибо да нет хорошо ладно пока дякую привіт так ні
    مرحبا شكرا نعم لا שלום תודה כן לא
    你好 您好 谢谢 谢谢你 多谢 好的 好 是 是的 不 不是 不用 对 没错 再见 早上好 晚上好 嗨 謝謝 對 继续 可以 行 嗯 繼續
    こんにちは こんばんは おはよう おはようございます ありがとう ありがとうございます はい いいえ うん 了解 続けて
    안녕 안녕하세요 감사합니다 고마워 고마워요 네 예 아니요 아니 좋아요"""
)
_SMALL_TALK_FILLERS: Final = word_set(
    """a an the you you're youre u so very much lot bunch many for that this it is it's that's there all to and my me
    i'm i am again everyone everybody folks team friend then just do on not at problem worries sounds looks works
    job work one day afternoon night really too also help your got how are doing today
    dir ihnen ihr euch vielen sehr schön das ist es mal alles
    muchas mucho muy usted tardes noches días beaucoup bien le la vous toi très c'est tante mille molto
    muito dia tarde noite você"""
)
"""Words that say nothing more beside one of those."""
MAX_SMALL_TALK_CHARACTERS: Final = 200
"""Characters of the beginning, which suffice for most other texts."""
_NON_WORD: Final = re.compile(r"[^\w']+")


def is_small_talk(text: str) -> bool:
    """Return whether a text says nothing by itself ("thanks, got it").

    >>> [is_small_talk(text) for text in ("You're welcome.", "lgtm, next", "👍", "谢谢！", "no, it was Porto", "4711")]
    [True, True, True, True, False, False]
    """
    found = _words(text[:MAX_SMALL_TALK_CHARACTERS])
    if len(found) <= MAX_SMALL_TALK_WORDS and len(text) > MAX_SMALL_TALK_CHARACTERS:
        found = _words(text)
    if len(found) > MAX_SMALL_TALK_WORDS:
        return False
    return not found or (
        any(word in _SMALL_TALK for word in found)
        and all(word in _SMALL_TALK or word in _SMALL_TALK_FILLERS for word in found)
    )


def _words(text: str) -> list[str]:
    return [word for word in _NON_WORD.split(text.casefold().replace("’", "'")) if word.strip("_'")]


# It begins with a character class: an alternation would be searched eight times as slowly.
_SENTENCE_END: Final = re.compile(r"[.!?…。！？\n](?:(?<=[.!?…])\s+|(?<=[。！？])|(?<=\n)\n*)")
MAX_CACHED_TEXT: Final = 8_192
"""Characters of a text up to which its questions are kept for a while: each search reads the same turns again. 2,048 of
them are 16 MB at most, texts that a reader keeps as well."""
_QUESTION_PREFIX: Final = (
    r"\W*(?:(?:and|but|or|so|ok|okay|then|well|hm+|hi|hey|btw|also|und|aber|also|ok)\b\W*)*"
)
_QUESTION_CLAUSE: Final = (
    r"(?:"
    r"(?:how|what|what's|which|who|who's|whose|where|when|why"
    r"|wie|was|welche[rsmn]?|wer|wem|wen|wo|wohin|woher|wann|warum|wieso|weshalb)\b"
    r"|(?:do|does|did|is|are|was|were|can|could|will|would|should|shall|have|has|may)\s+"
    r"(?:i|we|you|they|he|she|it|there|this|that|these|the|our|my|your|any)\b"
    r"|(?:ist|sind|hat|haben|kann|können|soll|sollen|darf|gibt)\s+(?:es|das|der|die|wir|ich|man|ihr|du)\b)"
)
_QUESTION: Final = re.compile(_QUESTION_PREFIX + _QUESTION_CLAUSE, re.I)
_QUESTION_TAIL: Final = re.compile(rf",\s+(?:so|and|but|und|aber|also)\s+({_QUESTION_CLAUSE})", re.I)
"""A question behind the statement that it is about."""
_ASKED_BEFORE: Final = re.compile(
    r"^\W*\w+n't\b|\b(?:how|what|which|who|whose|where|when|why|if|whether"
    r"|wie|welche[rsmn]?|wer|wem|wen|wo\w{0,5}|wann|warum|wieso|weshalb|ob)\b",
    re.I,
)
"""Words before that question that ask, too: "I forgot what it was, so what could it be?"."""
_CONDITION: Final = re.compile(_QUESTION_PREFIX + r"(?:when|where|whenever|wenn)\b[^,]*,\s*\w", re.I)
"""A condition and its consequence: "when the build fails, run make clean"."""
_LAST_QUESTION_WORD: Final = re.compile(r"[,\s](?:why|how|when|where|who|what|warum|wie|wann|wo|wer)$", re.I)
MAX_QUESTION_WORD: Final = 6
"""Characters of the longest of these, with the one before it."""

_NOT_KNOWING: Final = re.compile(
    r"\b(?:do|does|did|can|could)(?:n't| not)\s+(?:\w+\s+)?(?:know|have|see|find|tell|say)\b"
    r"|\b(?:i|we) can(?:'t| ?not)\s+(?:\w+\s+)?(?:know|see|find|tell|say)\b"
    r"|\bnot (?:sure|certain|known)\b|\bno idea\b|\b(?:weiß|kenne|finde|sehe|habe) (?:ich |es |das |da )*(?:nicht|kein)"
    r"|\bkeine ahnung\b|不知道|不清楚|找不到|没有找到|わかりません|分かりません",
    re.I,
)

_OPENING: Final = (
    r"\W*(?:(?:ah|ach|actually|and|but|hm+|moment|no|nein|oh|ok|okay|oops|sorry|ups|wait)\b\W*){0,4}"
)
_TAKES_BACK: Final = re.compile(
    _OPENING
    + r"(?:(?:scratch|strike|ignore|forget|disregard) (?:that(?!\s*\w)|what I (?:just )?(?:said|wrote)\b)"
    r"|(?:correction|my mistake|korrektur|kommando zurück)\s*(?:[,.:;!–-]|$)"
    r"|I (?:misread|misspoke|(?:looked at|read|had) the wrong)\b"
    r"|(?:vergiss|streich) (?:das(?!\s*\w)|was ich (?:gesagt|geschrieben)\b)"
    r"|ich habe? mich (?:geirrt|verlesen|vertan|versprochen)\b)|更正[：:]|我说错",
    re.I,
)
"""Beginnings of "Sorry, scratch that: it is still 100"."""
_PRIVATE_OPENING: Final = re.compile(
    r"\W*(?:(?:the )?user (?:said|says|asked)\b\W*)?"
    r"(?:(?:please|pls|btw|hey|ok|and|but|bitte|aber|und)\b\W*){0,3}(?:"
    r"(?:do not|don't|dont|never) (?:remember|memori[sz]e|store|save|note|record|keep) (?:this|that|it)"
    r"(?: down)?(?: anywhere\s*:| in your memory\b|\s*:\s*(?:i|i'm|i've|my|we|our)\b)"
    r"|(?:(?<=\w\W)|(?<=\w\W\W))(?:do not|don't|dont|never) (?:remember|memori[sz]e) (?:this|that),"
    r"\s*(?:i'm|my|our)\b"
    r"|(?:merke? dir (?:das|dies)(?: bitte)? nicht|nicht merken)\s*:\s*(?:ich|mein\w{0,2}|wir|unser\w{0,2})\b)"
    r"|不要记住这个[：:]",
    re.I,
)
"""Beginnings of "Please don't store this: my salary is 71k"; a bare "don't remember that, I …" may mean "I don't"."""
_PRIVATE_END: Final = re.compile(
    r"\b(?:please|pls) (?:do not|don't|dont) (?:store|save|remember|record) (?:this|that|it) anywhere\W*$"
    r"|\bdas bitte (?:nirgends|nirgendwo) (?:ab)?speichern\W*$",
    re.I,
)
"""Ends of "My salary is 71k. Please don't save that anywhere."."""
_END_CHARACTERS: Final = 80
_PRIVATE_REQUEST: Final = re.compile(
    r"\W*(?:(?:please|pls|btw|hey|ok|okay|oh|actually|and|but|bitte|ach|aber|und|stp|svp|s'il (?:te|vous) pla[iî]t"
    r"|por favor|请|請)\W*)*(?:"
    r"(?:do not|don't|dont) (?:(?:remember|memori[sz]e|retain) (?:it|{what})|(?:store|save|note|record) {what}"
    r"|write {what} down)(?: down)?(?: anywhere| in (?:your )?memory)?"
    r"|(?:(?:this|that|it)(?:'s| is| was| stays)?|keep (?:this|that|it)|strictly)? ?off the record"
    r"|(?:merke? dir|merken sie sich|merkt euch) (?:das|dies|es)(?: bitte)? nicht"
    r"|(?:speicher|notier|schreib)e?(?: dir)? (?:das|dies)(?: bitte)? (?:nicht|nirgends|nirgendwo)(?: (?:ab|auf))?"
    r"|(?:das|dies)(?: bitte)? (?:nicht|nirgends|nirgendwo) (?:merken|(?:ab)?speichern|notieren|aufschreiben)"
    r"|(?<=bitte )nicht merken"
    r"|(?:ne |n')?(?:retiens|retenez|m[ée]morisez?|notez?|enregistrez?) (?:surtout )?pas (?:ça|cela|ceci)"
    r"|(?:ne )?(?:garde|gardez) pas (?:ça|cela|ceci) en mémoire"
    r"|ne (?:le |l'|la )(?:retiens|retenez|m[ée]morisez?) pas"
    r"|no (?:recuerdes?|memorices?|guardes?|almacenes?|anotes?|registres?) (?:esto|eso)"
    r"|no lo (?:recuerdes?|memorices?)"
    r"|não (?:se )?(?:lembres?|recordes?) (?:disso|disto)"
    r"|não (?:memorizes?|guardes?|salves?|armazenes?|anotes?|registres?) (?:isso|isto)"
    r"|(?:不要|别|別|勿)(?:(?:记住|記住|记下|記下)(?:这个|這個|那个|那個|这些|這些|这件事|這件事|它)?"
    r"|(?:保存|记录|記錄|存储|儲存)(?:这个|這個|那个|那個|这些|這些|这件事|這件事))了?"
    r")(?:\W+(?:please|pls|ok|okay|thanks|thank you|bitte|danke|stp|svp|s'il (?:te|vous) pla[iî]t|merci|por favor"
    r"|gracias|obrigad[oa]|谢谢|謝謝))*\W*".replace(
        "{what}", r"(?:this|that|any of (?:this|that)|what i (?:just )?(?:said|wrote|told you))"
    ),
    re.I,
)
"""A whole turn such as "Please don't remember that."; what "that" is was said before."""
_REQUEST_CHARACTERS: Final = 100
"""Characters of the longest of them."""


def is_question(sentence: str) -> bool:
    """Return whether a sentence asks, with or without a question mark.

    >>> [is_question(text) for text in ("how long is the trial", "多久？", "21 days.", "when it fails, run make clean")]
    [True, True, False, False]
    """
    text = sentence.strip()
    if text.endswith(("?", "？", "?)", '?"')):
        return True
    if text.endswith((".", "!", "。", ":")) or _CONDITION.match(text):
        return False
    if _QUESTION.match(text):
        return True
    end = len(text)
    while end and not (text[end - 1].isalnum() or text[end - 1] == "_"):
        end -= 1
    return bool(_LAST_QUESTION_WORD.search(text, max(0, end - MAX_QUESTION_WORD), end))


def only_asks(text: str) -> bool:
    """Return whether each sentence of a text is a question or small talk.

    >>> [only_asks(text) for text in ("Done. Anything else?", "why is it slow", "It was the index. Why?")]
    [True, True, False]
    """
    return all(is_question(sentence) or is_small_talk(sentence) for sentence in sentences(text))


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences and lines of a text that are not blank."""
    start = 0
    for border in (*_SENTENCE_END.finditer(text), None):
        end = len(text) if border is None else border.start() + (border[0][0] != "\n")
        if (sentence := text[start:end]) and not sentence.isspace():
            yield sentence
        start = end if border is None else border.end()


def _split_questions(text: str) -> tuple[tuple[str, bool], ...]:
    """Return the parts of a text, each with whether it asks.

    >>> _split_questions("Sven is allergic to nuts, so what could I bake?")
    (('Sven is allergic to nuts,', False), ('what could I bake?', True))
    """
    parts: list[tuple[str, bool]] = []
    for sentence in sentences(text):
        asks = is_question(sentence)
        tail = _QUESTION_TAIL.search(sentence) if asks and not _QUESTION.match(sentence) else None
        if tail is None or _ASKED_BEFORE.search(sentence, 0, tail.start()):
            parts.append((sentence, asks))
        else:
            parts += [(sentence[: tail.start() + 1], False), (sentence[tail.start(1) :], True)]
    return tuple(parts)


_split_recent_questions: Final = lru_cache(maxsize=2_048)(_split_questions)


def cut_blocks(text: str, opening: str, closing: str) -> tuple[str, int]:
    """Return a text without what is between two marks, and how many blocks there were; an unpaired mark stays."""
    lines: list[str] = []
    place = count = 0
    while (start := text.find(opening, place)) >= 0:
        end = text.find(closing, start)
        if end < 0:
            break
        lines.append(text[place:start])
        place = end + len(closing)
        count += 1
    return "".join(lines) + text[place:], count


def drop_questions(text: str, repeats: Callable[[str], bool]) -> str:
    """Return a text without the questions that `repeats` accepts.

    >>> drop_questions("I redo the page. How long is the trial? It was 14 days.", lambda said: "trial" in said)
    'I redo the page. It was 14 days.'
    """
    parts = (_split_recent_questions if len(text) <= MAX_CACHED_TEXT else _split_questions)(text)
    kept = [part for part, asks in parts if not (asks and repeats(part))]
    return " ".join(kept) if len(kept) < len(parts) else text


def admits_not_knowing(reply: str) -> bool:
    """Return whether a reply says that it has no answer.

    >>> [admits_not_knowing(text) for text in ("I don't have the list.", "So I can't say.", "They can't see them.")]
    [True, True, False]
    """
    return bool(_NOT_KNOWING.search(reply.replace("’", "'")))


def takes_back(text: str) -> bool:
    """Return whether a text begins by taking back what its speaker said before.

    >>> [takes_back(text) for text in ("sorry, scratch that, it is 100", "I meant to ask you", "Forget that meeting.")]
    [True, False, False]
    """
    return _TAKES_BACK.match(text.replace("’", "'")) is not None


def asks_not_to_remember(text: str) -> bool:
    """Return whether a person asks not to remember a turn; "don't keep it in memory" is about a program.

    >>> [asks_not_to_remember(text) for text in ("Don't remember this: I'm ill.", "Don't store it: it is a cache key.")]
    [True, False]
    """
    text = text.replace("’", "'")
    return bool(
        _PRIVATE_OPENING.match(text)
        or _PRIVATE_END.search(text[-_END_CHARACTERS:])
        or asks_to_forget_exchange(text)
    )


def asks_to_forget_exchange(text: str) -> bool:
    """Return whether a whole turn asks not to remember the exchange before.

    >>> said = ("Please don't remember that.", "Bitte merk dir das nicht.", "Don't save that, I want to review it.")
    >>> [asks_to_forget_exchange(text) for text in said]
    [True, True, False]
    """
    text = " ".join(text[: _REQUEST_CHARACTERS + 1].replace("’", "'").split())
    return len(text) <= _REQUEST_CHARACTERS and bool(
        _PRIVATE_REQUEST.fullmatch(text) or _PRIVATE_END.fullmatch(text)
    )
