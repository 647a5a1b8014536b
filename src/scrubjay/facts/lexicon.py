"""Lexicon: synonyms, opposites, negation and function words for comparing facts, from the tables in ``data/``.

A line of ``meanings.txt`` lists words of one meaning, and behind a bar their opposites; a word is read as the first of
its line. ``phrases.txt`` makes one word of several. Finer rules exist for English only; other languages are compared
word by word, with denials, numbers and dates.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Final, NamedTuple

from scrubjay.facts.vocabulary import table_lines
from scrubjay.text.language import function_words
from scrubjay.text.normalize import strip_accents, word_set
from scrubjay.text.tokenizer import stem_word

DETERMINERS: Final = word_set(
    "the a an this that these those my our your his her their its another each every some any no"
)
PERSONS: Final = {
    **dict.fromkeys(("i", "me", "my", "mine", "myself", "we", "us", "our", "ours"), "i"),
    **dict.fromkeys(("you", "your", "yours"), "you"),
    **dict.fromkeys(("he", "him", "his", "she", "her", "hers", "they", "them", "their"), "they"),
}
"""Pronoun -> grammatical person; "I" and "we" are one."""
BE: Final = word_set(
    "be is are am was were been being isn't aren't wasn't weren't 's 're 'm sits lies stands"
)
AUXILIARY: Final = word_set(
    "have has had do does did 've 'd would could should can may might must shall will having doing ought"
)
STOP: Final = (
    DETERMINERS
    | BE
    | AUXILIARY
    | frozenset(PERSONS)
    | word_set(
        """of to in on at by for with from as into onto about it itself there here who which what where how so
        such very quite really basically just please simply also too well and or but if then than per via
        ok okay yes hey hi oh um btw fyi note remember reminder know think believe guess say said recently
        lately newly generally usually typically normally currently presently still always overall mostly
        mainly especially essentially both all own during within around approximately apiece roughly
        exactly precisely about only even ever least most more much many lot lots bit kind sort thing
        things etc get gets got getting let lets ourselves themselves himself herself one ones some right?
        please,? everyone everybody anyone anybody someone somebody something anything everything people
        set up out over off upon down that's it's need has-been value equals entire whole total currently,
        definitely certainly truly absolutely own personally honestly located situated using when while
        because because since though although until till between through across time times oclock o'clock
        approx ca circa date keep keeps kept way apparently obviously clearly luckily unfortunately already
        yet now anymore again mind note, thanks thank shortly fairly rather teh adn sinse again happen
        happens take takes place taking taken took every each like-to go-to different various other"""
    )
) - word_set("no like-to right? please,? but when while because need")
"""Words that a statement may gain or lose and say the same."""

NEGATORS: Final = word_set(
    """not n't never no none nobody nothing neither nor nowhere without cannot hardly barely scarcely rarely
    seldom unable lack lacks lacking nah fails fail refuse refuses refused refusing avoid avoids avoiding
    minus zero-tolerance anything-but"""
)
"""Words that turn a statement round. Two of them turn it back."""

CHANGE: Final = word_set(
    """now actually instead switch switched switching moved moving changed migrated migrating replaced
    replaces replacing upgraded downgraded updated renamed rescheduled postponed pushed bumped raised
    increased lowered reduced cut became becomes become relocated transferred converted swapped adopted
    correction nope nowadays turned shifted rebranded extended shortened grew rose dropped fell went nudged
    promoted rewrote ported delayed brought-forward amended revised corrected meanwhile switches moves
    again returned fixed repaired resolved solved reopened resumed restored re-enabled meant sorry oops
    scratch wrong reverted changing anymore finally transitioned upped slipped slid adjusted expanded
    shrank doubled halved tripled traded edited rebooked preponed"""
)
"""Words by which a speaker says that what follows took the place of something."""

STEPS: Final = word_set("fell rose grew dropped went cut lost pushed turned became climbed fallen")
"""Words of change only where they say from what or to what: a price fell to 5, a vase fell."""

MOVES: Final = word_set(
    """switch move change migrat replac upgrad downgrad updat renam reschedul postpon push bump rais increas
    lower reduc cut becom reloc transfer convert swap adopt turn shift rebrand extend shorten go drop grow
    rise fall promot port rewrit revert settl settle land delay transit trade rebook expand shrink adjust
    up slip slid leav came come decid decided pick chose choos opt"""
)
"""Stems of verbs of change: they stand for whatever verb the old statement had."""

ENDS: Final = word_set(
    """stopped stop quit quits left resigned retired sold ended cancelled canceled dropped ditched abandoned
    scrapped ceased gave-up discontinued removed deleted closed-down shut-down divorced broke-up formerly
    former ex ex- used-to previously finished expired-since no-longer retired decommissioned deprecated
    outgrew lost died sunset dissolved done completed disbanded unsubscribed uninstalled revoked phased-out"""
)
"""Words by which a state is over."""

FUTURE: Final = word_set(
    """will 'll shall going-to gonna planning plans plan planned intend intends intending considering consider
    hoping hopes hope thinking wants want upcoming about-to awaiting probably hiring soon tomorrow due-to
    aim aims might may-be supposed-to scheduled-to wanna"""
)
"""Marks of a plan, not of a fact."""
PLANS: Final = word_set(
    """plan plans planning planned intend intends intending considering consider hoping hopes hope thinking
    wants want aim aims gonna wanna"""
)

ALSO: Final = word_set("also too another additionally besides as-well additional")
"""Marks of one more beside the old ones."""

IRREGULAR: Final = {
    form: verb for verb, *forms in map(str.split, table_lines("irregular.txt")) for form in forms
}
"""Form of an irregular verb -> the verb."""
PLURALS: Final = {
    "goes": "go",
    "children": "child",
    "men": "man",
    "women": "woman",
    "feet": "foot",
    "teeth": "tooth",
    "mice": "mouse",
    "lives": "live",
    "wives": "wife",
    "knives": "knife",
}
"""Plurals that no stemmer knows."""
PAST: Final = word_set(
    """was were bought went got wrote met left made took gave had did said saw knew thought found came became
    began ran spoke taught sold told kept led paid drove flew ate drank built brought chose won lost held
    sent spent slept sang swam broke grew drew wore fell felt heard sat stood shot rose rode caught fought
    stole threw hid forgot understood froze bit shrank"""
)

VERBS: Final = word_set(
    """live reside purchas inhabit work use like love hate prefer own play speak eat drink run start begin end
    finish close open cost weigh measur store keep call name drive park commut studi attend teach meet
    visit buy sell read watch listen write make take give need want hold support allow serv host deploy
    expir pay earn rent stay sleep walk swim cycl cook bake grow travel fli arriv leav return join report
    belong contain includ requir accept charg deliv ship send receiv return handl log scale backup sync
    pull push merg build compil test fail pass crash lead manag own coach train practis practic rehears
    perform sing danc paint collect wear smoke suffer celebr move switch chang migrat becom plan go come
    get have do know think say enjoy dislik adopt marri graduat sign releas launch offer show open expect
    default listen point connect depend seat fit last sit stand lie face produc generat print display
    accept render learn vote donat volunt borrow order book schedul happen subscrib restart remov add avoid
    ensur check tri avoid peel break climb expos encrypt treat leak trigger block fetch emit save load pars
    validat retri reject die feed water tutor help carri bring follow see find tell ask sell decid choos
    pick win lose spend updat instal process ride say"""
)
"""Stems of common verbs, which divide a statement into subject and predicate."""

ADDITIVE: Final = word_set(
    """like love enjoy hate have own buy visit see read watch speak know learn play eat drink cook bake try
    travel meet talk discuss fix add write make finish want need support collect wear bring go attend order
    listen ask find grow studi help follow offer includ contain accept sing hear sell do show tell borrow
    volunt donat subscrib climb serv win allow reject handl get"""
)
"""Stems of verbs that hold of many things at once: who likes tea may like coffee."""

STATIC: Final = word_set(
    """be call name hang sit stand lie keep store base host locat park mount instal stay live belong label
    titl say read"""
)
"""Stems of verbs that say no more than what or where a thing is: one may stand for another."""

ONCE: Final = word_set(
    """bear found launch join graduat marri die releas hire sign start begin open end close born schedul book
    expir"""
)
"""Stems of verbs of what happens once to a thing: another date is a correction, not another occasion."""

SEVERAL_KIN: Final = word_set(
    """sister brother cousin uncle aunt friend neighbour neighbor colleague son daughter child kid nephew
    niece grandmother grandfather flatmate roommate coworker teammate student customer client"""
)
"""People one may have several of."""

LIGHT: Final = word_set(
    "be have get do make take give go put keep includ seem current happen stay new recent final actual lot"
)
"""Stems of words that carry little: two statements are not about the same because they share one."""

SINGLE: Final = STATIC | word_set(
    """work weigh cost drive sleep studi earn pay rent commut park report deploi deploy run use expir default
    lead practis practic rehears wear vote found launch graduat marri die releas hire sign born schedul
    book prefer"""
)
"""Stems of verbs with one object at a time: who works at one place has left the other."""

FOR: Final = word_set("use run lead sign hire wear vote book")
"""Those of ``SINGLE`` with one object for each purpose: one tool for mail, another for accounts."""

WEAK: Final = STATIC | word_set(
    """take run come go find see feature offer provid have get remain occur happen exist use contain includ
    hold consist compris involv total amount measur serv work give"""
)
"""Stems of verbs that stand for one another where all else is the same: a bus runs, or comes, every hour."""

WEIGHTLESS: Final = word_set(
    """number be have get do make happen occur exist seem matter case fact point type kindli appreci sure
    ensur detail overal process activ gener basi regard concern period"""
)
"""Stems of words that a paraphrase gains or loses and that tell nothing of their own."""


ARTICLES: Final = word_set("the a an der die das dem den ein eine le la les un une el los las my our")
"""Articles of several languages, with the possessives of a speaker, as they are written."""
OWNERS: Final = word_set("your his her their its einem einer mein meine unser unsere")
"""Other words that stand where an article does."""
ADVERBS: Final = word_set(
    """now nowadays currently instead henceforth jetzt nun mittlerweile inzwischen stattdessen künftig
    maintenant désormais actuellement ahora actualmente"""
)
"""Adverbs that announce a change."""
TITLES: Final = word_set("dr mr mrs ms prof herr frau mme")


PhraseTable = dict[str, list[tuple[tuple[str, ...], str]]]


@cache
def word_meanings() -> dict[str, tuple[str, bool]]:
    """Return each word's base word, and whether it means the opposite of it."""
    table: dict[str, tuple[str, bool]] = {}
    for line in table_lines("meanings.txt"):
        same, _, opposite = line.partition("|")
        first = same.split()[0]
        for word in same.split():
            table.setdefault(word, (first, False))
        for word in opposite.split():
            table.setdefault(word, (first, True))
    return table


@cache
def phrase_openings() -> PhraseTable:
    """Return the first word of each phrase with its continuations, longest first, and the word it becomes."""
    table: PhraseTable = {}
    for line in table_lines("phrases.txt"):
        phrase, _, word = line.partition(" = ")
        first, *rest = phrase.split()
        table.setdefault(first, []).append((tuple(rest), word))
    return {first: sorted(rest, key=lambda one: -len(one[0])) for first, rest in table.items()}


_SETTINGS: Final = (
    ("stage", "production prod", "staging stage preprod", "development dev", "test testing", "qa", "canary"),
    ("stage", "preview", "sandbox", "local localhost"),
    ("system", "linux ubuntu debian fedora", "macos mac osx", "windows", "android", "ios", "freebsd"),
    (
        "side",
        "left",
        "right",
        "front",
        "back rear",
        "upper",
        "lower",
        "upstairs",
        "downstairs",
        "inner",
        "outer",
    ),
    ("side", "top", "bottom", "north northern", "south southern", "east eastern", "west western"),
    ("daypart", "morning mornings", "afternoon afternoons", "evening evenings", "night nights"),
    ("daypart", "weekday weekdays", "weekend weekends"),
    ("season", "summer summers", "winter winters", "spring", "autumn"),
    ("end", "frontend front-end", "backend back-end"),
    ("way", "read reads", "write writes", "input", "output", "incoming inbound", "outgoing outbound"),
    ("way", "minimum min", "maximum max"),
)
SETTINGS: Final = {
    word: (kind, said.split()[0]) for kind, *names in _SETTINGS for said in names for word in said.split()
}
"""Word -> the kind of circumstance and its name in one spelling: the same thing elsewhere is another thing."""

_KINDS: Final = (
    "red blue green yellow orang purpl pink brown black white grey beig turquois teal navi silver gold",
    "small medium larg xl",
    "walk drive cycl bike bus tram train metro subway car ferri scooter",
    "daili weekli month year hour night quarter fortnight morn even weekday weekend",
    "alway usual often sometim",
    "vegetarian vegan pescatarian omnivor",
    "singl engag marri divorc widow",
    "beginn intermedi advanc expert",
    "pend draft approv accept merg close open ship paid",
)
KINDS: Final = {word: at for at, words in enumerate(_KINDS) for word in words.split()}
"""Stem -> group of words that exclude each other: a red thing is not blue."""


UNCOUNTED_HALVES: Final = frozenset(("ne", "n"))
"""The halves of French denials that are not counted, since the other half is."""
LANGUAGE_CACHE: Final = 2_000
"""Texts whose language is remembered."""
_LETTERS = re.compile(r"[^\W\d_]+")
MIN_FOREIGN_WORDS: Final = 1
"""Small words that only other languages have and that make a statement one of theirs."""
SHARED_WORD_WEIGHT: Final = 0.5
"""Weight, for another language, of a word that English has too."""


@cache
def _table() -> dict[tuple[str, str], list[str]]:
    split = (line.split() for line in table_lines("tongues.txt"))
    return {(code, part): words for code, part, *words in split}


@cache
def negation_words(language: str) -> frozenset[str]:
    return frozenset(_table()[language, "denial"])


@cache
def change_words(language: str) -> frozenset[str]:
    return frozenset(_table()[language, "change"])


@cache
def opposite_words(language: str) -> dict[str, tuple[str, bool]]:
    """Return each word's base word, and whether it means the opposite of it."""
    pairs = (pair.split("/") for pair in _table()[language, "opposite"])
    return {word: (first, word != first) for first, second in pairs for word in (first, second)}


@cache
def neutral_words(language: str) -> frozenset[str]:
    """Return the function words of a language that neither deny nor tell of change."""
    own = frozenset(_table()[language, "filler"])
    return (function_words(language) | own) - negation_words(language) - change_words(language)


@cache
def _codes() -> tuple[str, ...]:
    return "en", *dict.fromkeys(code for code, _ in _table())


@cache
def _owners() -> dict[str, tuple[str, ...]]:
    owners: dict[str, list[str]] = {word: ["en"] for word in function_words("en") | STOP}
    for code in _codes()[1:]:
        for word in neutral_words(code) | negation_words(code) | change_words(code):
            owners.setdefault(word, []).append(code)
    return {word: tuple(codes) for word, codes in owners.items()}


def shared_language(old: str, new: str) -> str:
    """Return the language of two statements: English unless another has more evidence.

    >>> shared_language("Der Kurs ist am Montag.", "Der Kurs ist am Freitag.")
    'de'
    """
    found = {
        code: one + other
        for code, one, other in zip(_codes(), language_evidence(old), language_evidence(new), strict=True)
    }
    best = max(found, key=lambda code: found[code])
    return best if found[best] >= MIN_FOREIGN_WORDS and found[best] > found["en"] else "en"


@lru_cache(LANGUAGE_CACHE)
def language_evidence(text: str) -> tuple[float, ...]:
    scores = dict.fromkeys(_codes(), 0.0)
    owners = _owners()
    for word in _LETTERS.findall(text.lower()):
        listed = owners.get(word, ())
        for code in listed:
            scores[code] += SHARED_WORD_WEIGHT if code != "en" and listed[0] == "en" else 1
    return tuple(scores.values())


MEANING_CACHE: Final = 20_000
"""Words whose level is remembered."""


class WordMeaning(NamedTuple):
    """The stem of a word's base word, and whether the word means the opposite of it."""

    key: str
    opposite: bool


@lru_cache(MEANING_CACHE)
def meaning_of(word: str, language: str) -> WordMeaning:
    """Return the meaning of a folded word.

    >>> meaning_of("forbidden", "en")
    WordMeaning(key='allow', opposite=True)
    """
    if language != "en":
        same, opposite = opposite_words(language).get(word, (word, False))
        return WordMeaning(strip_accents(stem_word(same, language)), opposite)
    base = IRREGULAR.get(word) or PLURALS.get(word, word)
    found = word_meanings().get(word) or word_meanings().get(base) or _stems().get(stem_word(base, "en"))
    same, opposite = found or (base, False)
    return WordMeaning(stem_word(same, "en"), opposite)


@cache
def _stems() -> dict[str, tuple[str, bool]]:
    table: dict[str, tuple[str, bool]] = {}
    for word, found in sorted(word_meanings().items(), key=lambda one: len(one[0])):
        table.setdefault(stem_word(word, "en"), found)
    return table


_TOWARDS: Final = frozenset(("to", "from", "by", "into", "back"))
_PLANNING: Final = frozenset(("to", "on", "of", "about"))
_CONTENT: Final = frozenset(("cancelled", "canceled", "closed", "tomorrow", "additional", "reopened"))
"""Words that say something besides, and are compared like any other."""
_WAITING: Final = frozenset(("yet", "still", "not-yet"))

SIGNALS: Final = ALSO | CHANGE | ENDS | FUTURE | PLANS | _WAITING
"""Every word that may be a signal."""


def time_signal(low: str, following: str, sided: bool) -> tuple[str, bool] | None:
    """Return the signal of a word of ``SIGNALS``, and whether it says nothing else; None for an ordinary word.

    `sided` says that "left" would be the side here, not the verb.
    """
    used = low not in _CONTENT
    if low in ENDS and not (low == "left" and sided) and not (low == "dropped" and following in _TOWARDS):
        return "over", used
    if low in CHANGE and (low not in STEPS or following in _TOWARDS):
        return "changed", used and meaning_of(low, "en").key not in MOVES
    if low in PLANS:
        return ("planned", True) if following in _PLANNING or following.endswith("ing") else None
    if low in FUTURE:
        return "planned", used
    if low in _WAITING:
        return "waited", True
    return ("also", used) if low in ALSO else None


_WHERE: Final = DETERMINERS | {"in", "on", "to", "for", "from", "'s", ""}
_ALSO_OTHER: Final = frozenset(
    ("read", "reads", "write", "writes", "test", "local", "preview", "sandbox", "stage", "prod", "dev")
)
"""Names of circumstances that are ordinary words as often; they need a place where a circumstance stands."""
_OWNED: Final = DETERMINERS | {"'s"}


def is_side(before: str, at: int, verb_at: int) -> bool:
    """Return whether "left", "back" or "top" is a side here: behind "the", or first in the statement."""
    return before in _OWNED or (at == 0 and verb_at != 0)


def circumstance_of(low: str, raw: str, before: str, at: int, verb_at: int) -> tuple[str, str] | None:
    """Return the kind and the name of a circumstance, or None for an ordinary word."""
    found = SETTINGS.get(low)
    if found is None:
        return None
    kind = found[0]
    if kind == "side":
        return found if is_side(before, at, verb_at) else None
    if kind == "system":  # "is a Mac" is a thing one has
        return found if (raw[:1].isupper() or low != "windows") and before not in ("a", "an") else None
    if low in _ALSO_OTHER:
        return found if at != verb_at and before in _WHERE else None
    return found


PREFIXES: Final = ("un", "in", "im", "ir", "il", "non", "dis", "de", "mis")
"""Beginnings that turn a word into its opposite, where the other statement has the word without it."""


def is_prefix_opposite(one: str, other: str) -> bool:
    """Return whether a prefix makes one word the opposite of the other: "locked", "unlocked"."""
    short, long = sorted((one, other), key=len)
    return len(short) > 2 and long.endswith(short) and any(long == prefix + short for prefix in PREFIXES)


def is_abbreviation(word: str, parts: list[str]) -> bool:
    """Return whether a word joins others ("timezone", "time zone") or has their first letters ("ETA")."""
    low = word.lower().replace(".", "")
    return low == "".join(parts) or (word.isupper() and low == "".join(part[:1] for part in parts))
