"""Words: a word -> whether it is one of those that follow "the password is" and are none: "required", "not", "the".

Passwords of plain words are told like everything else that is told of passwords. What tells them apart is the word
itself: nobody has "incorrect" for a password, and "in", "stored" and "always" go on with a sentence.
"""

from __future__ import annotations

import re
from typing import Final

# Words that bind a sentence, in the languages that passwords are told in most.
_BINDING_TEXT: Final = (
    "a an the and or but not no yes nor if in on at to of for from by with without as so than then that "
    "this these those it its he she they we you i my your our their his her me us them who whose what "
    "which where when why how there here is are was were be been being has have had do does did can could "
    "may might must shall should will would only just also still even too very more most less least all "
    "any some each every both either neither never always already now again soon later ever once per via "
    "about above after before behind below between during into like near off out over since through under "
    "until up upon down because while though let make made get got set use used see say says said ask "
    "asks try tell need needs want wants know known think same other another new old own first last der "
    "die das den dem des ein eine einen einem einer und oder aber nicht kein keine im am auf aus bei mit "
    "nach von vom zu zum zur für um als wie wenn dass noch nur schon sehr auch hier dort ich du er sie es "
    "wir ihr mein dein sein unser euer dasselbe gleich derselbe immer nie wieder bitte le la les un une "
    "et ou mais pas ne de au aux en dans sur sous par pour avec sans que qui ce cette il elle nous vous "
    "ils je tu mon ma mes ton ta sa son notre votre leur toujours jamais déjà même el los las una unos "
    "unas y o pero del al por con sin se su sus mi está muy siempre nunca ya mismo misma lo gli uno e non "
    "di da nel nella che sempre mai già stessa stesso os uma mas não dos na nos nas com sem seu sua já "
    "mesma het een maar niet van voor met op bij naar te zijn nog altijd nooit w jest "
    # Nordic, Finnish, Hungarian; Czech, Polish, Romanian; Turkish, Indonesian, Vietnamese; Catalan; Cyrillic, Greek.
    "og på til ikke inte är det som har av för från om jag vi kan skal ska den ett eller men hvis når ja ei"
    " se että "
    "tai kun niin mutta vain az és nem hogy van ez csak soha minden vagy je se v z do pro není si už také"
    " nie się po "
    "jak już tylko przez și nu este cu în din pe sau mai ve bir bu için değil ile çok her ya dan di ke dari"
    " yang untuk "
    "tidak jangan ini itu atau dengan pada juga sudah belum saya anda và không là của cho qua els amb per és"
    " i ni "
    "и не на в с это для по что как от у та і що або для до не з за то же или если только και δεν το η ο να"
    " με για "
    "από στο στη τον την"
)
BINDING: Final = frozenset(_BINDING_TEXT.split())
# What passwords are said to be.
_PREDICATES_TEXT: Final = (
    "wrong right correct incorrect valid invalid empty blank missing unknown public private secret safe "
    "unsafe secure insecure weak strong long short easy hard simple complex random unique different "
    "identical plain clear plaintext default optional mandatory compulsory important necessary null none "
    "nil true false undefined unset hidden visible sent kept held lost gone broken stolen given shown "
    "written taken chosen forgotten known built bound out ok okay fine good bad better best due old stale "
    "current temporary permanent case-sensitive sensitive available unavailable readable read-only ready "
    "present absent active inactive local global static dynamic text string bytes int integer bool "
    "boolean array list object hash bcrypt argon2 md5 sha256 base64 hex utf-8 ascii json yaml import "
    "please enter type choose select confirm forgot show hide copy paste provide specify retype repeat "
    "click password passwords username user admin root guest login token key keys secrets code account "
    "email falsch richtig leer abgelaufen gültig ungültig sicher unsicher schwach stark geheim öffentlich "
    "bekannt unbekannt zu nötig erforderlich notwendig vergessen weg anders neu alt lang kurz faux "
    "incorrecte vide expiré oublié nécessaire obligatoire requis invalide incorrecta obligatoria "
    "necesaria inválida vacía sbagliata corretta scaduta obbligatoria necessaria incorreta errada "
    "obrigatória verkeerd onjuist verplicht leeg return pass raise continue break yield users benutzer "
    "benutzername nutzer utilisateur identifiant usuario utente gebruiker lupa buka klik ganti ubah baru"
    " lama salah "
    "benar masukkan pilih glemt glömt ändra byt bytt endre endret gammelt nytt felaktigt unohtunut"
    " vanhentunut vaihda "
    "väärä elfelejtett lejárt hibás zapomenuté zapomniane zmień zmieniono nieprawidłowe błędne nowe stare"
    " uitata "
    "schimbă greșită unutulan yanlış değiştir yeni gerekli opcional obligatoria obligatorio facultatif"
    " vingerafdruk "
    "administrateur administrador amministratore administrator maître maestro requirements authenticate "
    "niepoprawne wymagane неверный неправильный забыли изменить обязательно требуется устарел истёк невірний"
    " змінити"
)
_PREDICATES: Final = frozenset(_PREDICATES_TEXT.split())
# What is said in a talk, alone in a turn.
_CHAT_TEXT: Final = (
    "thanks thank thankyou cheers great awesome perfect perfectly excellent brilliant amazing lovely "
    "wonderful sorry hello goodbye goodnight morning tomorrow yesterday tonight absolutely definitely "
    "exactly congratulations understood noted interesting seriously hilarious lifesaver whatever anyway "
    "welcome lol haha okay sure done later moment danke bitte genau super klar natürlich verstanden "
    "notiert merci gracias vale perfecto grazie prego perfetto obrigado obrigada valeu tamam tamamdır "
    "bedankt alsjeblieft dzięki dziękuję спасибо хорошо понятно"
)
_CHAT: Final = frozenset(_CHAT_TEXT.split())
_DERIVED: Final = re.compile(
    r"[a-z]{2,}(?:ed|ing|ly|able|ible|ful|less|ous|ment|tion|sion|ness|iert|lich|bar)\Z"
)
_GERMAN: Final = re.compile(
    r"ge[a-zäöüß]{3,}(?:t|en)\Z|(?:ver|be|ent|er|ab|an|zurück)[a-zäöüß]{3,}(?:t|en)\Z"
)


def binds(word: str) -> bool:
    """Whether it goes on with a sentence."""
    return word.lower() in BINDING


def said(word: str) -> bool:
    """Whether it is what is said of a password; words in capitals are none."""
    return (
        word.lower() in _PREDICATES
        or _DERIVED.match(word) is not None
        or (word.islower() and _GERMAN.match(word) is not None)
    )


def predicates(word: str) -> bool:
    """Whether it is one of the words that are said of passwords most; no form of a word counts."""
    return word.lower() in _PREDICATES


def chats(word: str) -> bool:
    """Whether it is what a turn of a talk often is."""
    return word.lower().strip("!?.") in _CHAT
