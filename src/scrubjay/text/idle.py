"""Idle: str -> whether it is a greeting, thanks, yes or no, "next": nothing that says anything by itself."""

from __future__ import annotations

import re
from typing import Final

from scrubjay.text.reworded import bag

MOST_WORDS: Final = 7
"""Words of such a text; a longer one says more than its words of politeness."""
_CORE: Final = bag(
    """hi hello hey heya hiya howdy yo greetings morning evening goodnight bye goodbye cheers welcome
    thanks thank thx ty tysm ok okay okey kay yes yeah yep yup yea no nope nah sure fine great good cool nice perfect
    awesome excellent wonderful amazing brilliant lovely alright agreed correct exactly right absolutely definitely
    continue proceed next go ahead please sorry hmm hm um uh oh ah wow lol haha understood noted done lgtm sgtm
    hallo guten tag moin servus tschüss danke dankeschön bitte ja nein jep nö klar genau gut super prima weiter passt
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
_WITH: Final = bag(
    """a an the you u so very much lot bunch many for that this it is it's that's there all to and my me i'm i am again
    everyone everybody folks team friend then just do on not at problem worries sounds looks works
    job work one day afternoon night really too also help your got how are doing today
    dir ihnen ihr euch vielen sehr schön das ist es mal
    muchas mucho muy usted tardes noches días beaucoup bien le la vous toi très c'est tante mille molto
    muito dia tarde noite você"""
)
"""Words that add nothing to one of those."""
_MARKS: Final = re.compile(r"[^\w']+")


def idle(text: str) -> bool:
    """Tell whether a text says nothing by itself: no memory answers it, and it answers nothing.

    >>> [idle(text) for text in ("Hi there!", "Thanks a lot :-)", "yes, please", "lgtm, next", "👍", "谢谢！")]
    [True, True, True, True, True, True]
    >>> [idle(text) for text in ("no, it was Porto", "who is on call?", "thanks, and where is it?", "4711")]
    [False, False, False, False]
    """
    found = [word for word in _MARKS.split(text.casefold().replace("’", "'")) if word.strip("_'")]
    if len(found) > MOST_WORDS:
        return False
    return not found or (
        any(word in _CORE for word in found) and all(word in _CORE or word in _WITH for word in found)
    )
