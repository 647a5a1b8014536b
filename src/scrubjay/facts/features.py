"""Clause features: word classes, features of turns and clauses, and their weights. Each feature is one bit.

Also finds text that is not meant in earnest: fiction, hypotheses, jokes, hearsay, retractions.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from functools import cache
from typing import Final

from scrubjay.facts import vocabulary
from scrubjay.facts.vocabulary import load_words, table_lines
from scrubjay.text.normalize import word_set

_FICTION_NOUNS: Final = (
    r"story|stories|tale|novel|poem|haiku|sonnet|limerick|scene|dialogue|monologue|screenplay|script for|"
    r"sketch|song|lyrics"
    r"|rap|fanfic\w*|fiction|fable|jokes?|short film|diary entry|backstory|villanelle|ballad|parody|vignette|"
    r"role-?play"
)
_FICTION_WORDS: Final = load_words("triggers")
_FICTION_OPENING = re.compile(
    r"\b(?:"
    r"(?:you are|you're|you will be|you'll be|act like|act as|(?<![\w',] )be|behave as|respond as|answer "
    r"as|talk like|"
    r"speak as|speak like) "
    r"(?:now |no longer |going to be )?(?:an? (?!bit|little|lifesaver|star|legend|genius|gem|hero|champ|saint|"
    r"angel|king|queen|treasure)"
    r"|the (?:narrator|captain|hero|main|dungeon|king|queen|interviewer))"
    rf"|(?:write|tell|compose|make up|invent|continue|create|draft|generate|"
    rf"give)\b[^.?!\n]{{0,60}}\b(?:{_FICTION_NOUNS})\b"
    r"|you (?:are|'re) now \w|you will (?:play|act)|i (?:am|'m) your (?:first|new|old|loyal|humble|captain|"
    r"knight|patient|client|boss|king|queen|[a-z]+master|squire|student|servant|apprentice|pupil)\b"
    r"|in (?:the|this|my) (?:poem|story|novel|song|book|scene|game|dream)\b"
    r"|role-?play|pretend\b|act as\b|in character\b|in the (?:voice|style|role|persona) of|dungeon master|"
    r"your character"
    r"|(?:the |my |our )?(?:protagonist|narrator|main character|heroine)\b|once upon a time"
    r"|(?<!i )suppose\b|imagine\b|let's (?:say|pretend|imagine|assume)|assume (?:that |i|we|my|you)|"
    r"assuming (?:that )?(?:i|we|my)"
    r"|(?:stell(?:t|en sie)? (?:dir|euch|sich) (?:mal )?vor|angenommen|nehmen wir (?:mal )?an)\b"
    r"|hypothetical\w*|thought experiment|what if\b|in a world where|(?:exercise|homework|practice|riddle|"
    r"quiz|word problem)s?:"
    r")"
)
HEARSAY_VERBS: Final = load_words("tells")
_OWN_REPORT = re.compile(
    r"\b(?:(?:i|we) (?:should|want to|wanted to|forgot to|have to|must|will|meant to)? ?(?:also )?(?:say|"
    r"mention|add|tell you|told you|said|mentioned)"
    r"|i(?:'ve| have) (?:told you|said|mentioned)|being told"
    r"|i(?:'ve| have|'m| am| was) (?:just |now )?(?:been )?told|(?:wrote|got|said) back"
    r"|(?:never|don't|not|stop) (?:ever )?(?:suggest|mention|say|tell|explain|quote|recommend)\w*"
    r"|did i mention|forgot to (?:say|mention)|"
    r"that said)\b"
)
_JOKE_WORDS: Final = load_words("jokes")
_DROPPED_PLAN = re.compile(
    r"\b(?:scrapped|abandoned|(?:dropped|cancell?ed) (?:that|it|this|the (?:idea|plan|trip|project|whole))|"
    r"(?:called|calling) (?:it |that )?off|changed (?:my|our) minds?|fell through"
    r"|yeah right|in my dreams|as a joke|as (?:if|though))\b|[😂🤣😜🙃😉😏🤪]"
)
_DROP_WORDS: Final = load_words("drops")
_TEMPORARY = re.compile(
    r"\b(?:right now|at the moment|this (?:minute|second|instant|morning|afternoon|evening|lunch)|tonight|"
    r"for now|in a (?:minute|sec|second|bit|hurry|rush)"
    r"|rn|atm|today|just now|tomorrow|in (?:an|one|two|ten|\d+) (?:hours?|minutes?|mins?)|for the moment|"
    r"temporarily)\b"
)
_JEST: Final = (
    r"\W*(?:\b(?:ha|haha|hihi|lol|no|oh|ok|nein|ach|actually|and|but|well)\b\W*)*"
    r"(?:jk|(?:(?:i'?m|i was) )?(?:only |just )?(?<!no )(?:kidding|joking)"
    r"|(?:(?:das|es) )?(?:war |ist )?(?:doch )?(?:(?:nur|bloß) (?:ein )?(?:kleiner )?|(?:ein )?kleiner )"
    r"(?:scherz|witz|spaß))(?:\W+(?:haha|lol)\b)*[^\w?]*(?:(?<=[.!…\n])|$)"
)
"""A sentence like "just kidding"."""
_RETRACTION = re.compile(
    rf"{_JEST}|\W*(?:\b(?:ha|haha|lol|no|oh|ok|actually|and|but|well)\b\W*)*(?:never ?mind|nvm|scratch that"
    r"|forget (?:that|it|what i)|ignore that|strike that|not really|not!)(?!\w)"
)


def earnest_end(text: str, words: frozenset[str]) -> int:
    """Return where fiction, a role or a hypothesis begins; the length of the text where none does."""
    if words.isdisjoint(_FICTION_WORDS):
        return len(text)
    found = _FICTION_OPENING.search(text)
    return found.start() if found else len(text)


def is_unreal(text: str, start: int, end: int, words: Collection[str]) -> bool:
    """Return whether a sentence jokes or reports a dropped plan."""
    if not _JOKE_WORDS.isdisjoint(words):
        return True
    may_drop = not (_DROP_WORDS.isdisjoint(words) and text.isascii())
    return may_drop and _DROPPED_PLAN.search(text, start, end) is not None


def is_retraction(text: str, start: int, end: int) -> bool:
    """Return whether a sentence retracts the one before it."""
    return _RETRACTION.match(text, start, end) is not None


def is_hearsay(text: str, start: int, end: int, words: Sequence[str]) -> bool:
    """Return whether a clause reports what others say."""
    return not HEARSAY_VERBS.isdisjoint(words) and not _OWN_REPORT.search(text, start, end)


def is_temporary(text: str, start: int, end: int) -> bool:
    """Return whether a clause says that it holds only for now."""
    return _TEMPORARY.search(text, start, end) is not None


IMPERATIVES: Final = load_words("imperatives")
_FOREIGN_WORDS: Final = {
    "i": word_set(
        """ich je j'ai j'habite j'utilise yo eu vivo trabajo soy tengo moro trabalho sou tenho me m'appelle
        llamo chamo"""
    ),
    "kin": word_set(
        """mutter vater mama papa schwester bruder sohn tochter frau mann freundin freund kinder kind eltern
        oma opa hund katze mère père sœur frère fils fille femme mari enfants chien chat madre padre
        hermana hermano hijo hija hijos esposa marido abuela abuelo perro gato mãe pai irmã irmão filho
        filha filhos mulher cão"""
    ),
    "trait": word_set(
        """allergisch vegetarier vegetarierin veganer veganerin schwanger verheiratet diabetiker zöliakie
        allergique végétarien végétarienne végane enceinte diabétique alérgico alérgica vegetariano
        vegetariana vegano vegana celíaco celíaca diabético diabética"""
    ),
    "stays": word_set(
        """wohne wohnt wohnen lebe lebt leben arbeite arbeitet heiße heißt spreche läuft nutzen verwenden
        habite habitons j'habite vit travaille m'appelle s'appelle parle tourne utilisons vivo vive vivimos
        trabajo trabaja llamo llama hablo corre usamos moro mora trabalho trabalha chamo chama falo seit
        depuis desde gekauft acheté compré comprei"""
    ),
    "is": word_set(
        """bin ist sind suis est sommes soy es somos sou é somos hat habe haben ai j'ai a avons tengo tiene
        tenho tem"""
    ),
}
"""Words of German, French, Spanish and Portuguese by feature."""
_SUBJECTS: Final = {
    "i": word_set("i im ive i'm i've i'd i'll") | _FOREIGN_WORDS["i"],
    "we": word_set("we we're we've we'd we'll wir nous on usamos"),
    "my": word_set("my mein meine meinen meiner mon ma mes mi mis meu minha meus minhas"),
    "our": word_set("our unser unsere notre nos nuestro nuestra nosso nossa"),
    "the": word_set("the"),
    "he": word_set("he she his her he's she's"),
    "they": word_set("they their they're they've"),
    "it": word_set("it that this these those there it's that's there's its thats"),
    "you": word_set("you your you're you've you'll"),
    "a": word_set("a an"),
    "asks": vocabulary.QUESTION_LEADS | word_set("if when whenever"),
    "order": IMPERATIVES | load_words("subjects"),
}
_CLASSES: Final = {
    "moment": vocabulary.MOMENT,
    "at hand": vocabulary.AT_HAND,
    "passes": vocabulary.PASSING,
    "talks": vocabulary.TALKED,
    "fault": word_set(
        """error errors bug bugs fails fail failed failing crash crashes crashed broken stuck throws throw
        traceback 404 403 401 500 502 503 getting trouble flickers recognized exception warning warnings
        timeout"""
    ),
    "others": word_set(
        """users people customers author authors paper study article students company countries world
        government model function method everyone someone somebody they them"""
    ),
    "trait": vocabulary.TRAITS
    | vocabulary.LASTING_HAD
    | word_set("allergy allergies stroke surgery pronouns diagnosed dyslexic")
    | _FOREIGN_WORDS["trait"],
    "kin": vocabulary.KIN | _FOREIGN_WORDS["kin"],
    "own": vocabulary.OWN_THINGS,
    "world": vocabulary.WORLD,
    "now": word_set("now today tonight yesterday tomorrow currently still yet again just already keeps"),
    "denies": vocabulary.NEGATIVE,
    "wish": word_set("i'd we'd i'll let realize realise knew aware managed"),
    "coming": word_set("coming will going gonna i'll we'll about soon"),
    "begs": word_set("please pls"),
    "habit": vocabulary.HABITUAL,
    "time": word_set(
        """since year years month months every each always never usually ago weekly daily anymore next last
        spring summer autumn winter january february march april june july august september october
        november december monday tuesday wednesday thursday friday saturday sunday mondays tuesdays
        wednesdays thursdays fridays saturdays sundays"""
    ),
    "of today": word_set(
        "tonight today tomorrow rn atm temporarily moment morning afternoon evening minute second"
    ),
    "rather": word_set("instead rather over only everywhere throughout whenever anything everything"),
    "you": word_set("you your yours you're you've you'll u ur yourself"),
    "me": word_set("i we my our i'm i've we're we've me us mine ours i'd i'll we'll im ive myself"),
    "here": word_set("this that these those here it there"),
    "the": word_set("the"),
    "a": word_set("a an"),
    "is": word_set("is are isn't aren't he's she's they're we're i'm it's") | (_FOREIGN_WORDS["is"] - {"a"}),
    "was": word_set("was were"),
    "from": word_set("from by until since via"),
    "for": word_set("for"),
    "in": word_set("in at on"),
    "to": word_set("to"),
    "with": word_set("with"),
    "and": word_set("and"),
    "because": word_set("because since so as cause cuz"),
    "if": word_set("if when whenever unless"),
    "plans": word_set("i'll i'd we'll will going gonna planning want need trying looking"),
    "settles": word_set(
        """born grew lives live works work married moved own owns runs run use uses called named based speaks
        play plays since until"""
    ),
    "doubt": word_set(
        """would could might should wouldn't couldn't shouldn't maybe perhaps probably possibly wish wished
        hope hoping hopefully unsure dunno wonder wondering guess almost nearly tempted considering planned
        thinking supposed"""
    ),
    "likes": vocabulary.LIKE | word_set("favourite favorite fan allergic vegan vegetarian"),
    "chose": vocabulary.CHOSE | word_set("moved relocated switched adopted migrated went"),
    "stays": vocabulary.LIVE
    | word_set("lives works working based called named born owns uses speaks teaches runs prefers")
    | _FOREIGN_WORDS["stays"],
    "does": frozenset(one for one in vocabulary.STATES if one[-1] == "s") - vocabulary.AUXILIARY,
}
FOREIGN_SELF_WORDS: Final = frozenset[str]().union(
    *_FOREIGN_WORDS.values(), *(_SUBJECTS[name] for name in ("we", "my", "our"))
)
LIFE_WORDS: Final = vocabulary.HABIT | vocabulary.LIVE | vocabulary.LIFE | vocabulary.LIKE | vocabulary.CHOSE

FEATURE_NAMES: Final = (
    *(f"of {name}" for name in (*_SUBJECTS, "name", "other")),
    *_CLASSES,
    *("no verb", "past", "fleeting", "lived", "number", "named", "code"),
    *("under 3", "under 5", "over 12", "long turn", "short turn", "pasted", "first", "foreign"),
    *("ing", "ed", "not but", "exclaims", "goes on", "heads", "opens turn", "ends turn"),
    *("asked turn", "informs", "lines", "lists", "marked up", "quotes"),
)
FEATURE_BITS: Final = {name: 1 << number for number, name in enumerate(FEATURE_NAMES)}
"""Feature -> its bit."""


def _bits_by_word(classes: dict[str, frozenset[str]], prefix: str) -> dict[str, int]:
    found: dict[str, int] = {}
    for name, members in classes.items():
        for word in members:
            found[word] = found.get(word, 0) | FEATURE_BITS[prefix + name]
    return found


SUBJECT_BITS: Final = _bits_by_word({name: _SUBJECTS[name] for name in reversed(_SUBJECTS)}, "of ")
WORD_BITS: Final = _bits_by_word(_CLASSES, "")
"""Word -> its feature bits."""


def turn_features(text: str, plain: str, words: list[str]) -> int:
    """Return the feature bits of a whole turn."""
    features = (
        FEATURE_BITS["long turn"]
        if len(words) > LONG_TURN
        else FEATURE_BITS["short turn"]
        if len(words) < SHORT_TURN
        else 0
    )
    if _count_nonblank(plain) < PASTED_SHARE * _count_nonblank(text):
        features |= FEATURE_BITS["pasted"]
    if not _INFORMING.isdisjoint(words):
        features |= FEATURE_BITS["informs"]
    for mark, name in _TURN_MARKS:
        if mark in text:
            features |= FEATURE_BITS[name]
    return features


_INFORMING: Final = load_words("informing")
_TURN_MARKS: Final = (
    ("?", "asked turn"),
    ("\n", "lines"),
    (":", "lists"),
    ("`", "marked up"),
    ("{", "marked up"),
    ('"', "quotes"),
)
LONG_TURN: Final = 60
"""Words of a turn from which most of it was pasted."""
SHORT_TURN: Final = 15
PASTED_SHARE: Final = 0.85
"""Minimum share of the writer's own characters; below it a turn is about pasted text."""


def _count_nonblank(text: str) -> int:
    return len(text) - text.count(" ") - text.count("\n")


MIN_LOG_ODDS: Final = 2.5
"""Log odds from which a clause is kept (bench/LOG.md)."""
EXCLUDED_BITS: Final = FEATURE_BITS["foreign"] | FEATURE_BITS["of you"] | FEATURE_BITS["no verb"]
"""Features that nothing outweighs: no function word of a known language, about the assistant, no verb."""
FEATURE_GROUPS: Final = {
    **dict.fromkeys(("of i", "of we"), "I"),
    **dict.fromkeys(("of my", "of our"), "mine"),
    **dict.fromkeys(("of the", "of it", "of a"), "the"),
    **dict.fromkeys(("of he", "of they"), "they"),
    "of order": "order",
}
"""Subjects whose predicates share weights; all others are "other"."""
_SUBJECT_BITS: Final = (1 << sum(name.startswith("of ") for name in FEATURE_BITS if name != "of today")) - 1


def is_kept(bits: int) -> bool:
    """Return whether the features of a clause are those of a lasting statement (logistic regression)."""
    if bits & EXCLUDED_BITS:
        return False
    weights, log_odds = _weights(bits & _SUBJECT_BITS)
    while bits:
        bit = bits & -bits
        log_odds += weights.get(bit, 0)
        bits ^= bit
    return log_odds >= MIN_LOG_ODDS


@cache
def _weights(subject: int) -> tuple[dict[int, float], float]:
    """Return the weight of each bit in clauses about this subject, and the bias."""
    group = next((group for name, group in FEATURE_GROUPS.items() if subject & FEATURE_BITS[name]), "other")
    lines = (line.partition(" = ") for line in table_lines("statement_weights.txt"))
    table = {name: float(value) for name, _, value in lines}
    weights = {
        bit: table.get(name, 0) + table.get(f"{group}: {name}", 0) for name, bit in FEATURE_BITS.items()
    }
    return weights, table["always"]
