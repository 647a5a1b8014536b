# ruff: noqa: E501
"""Fact extractor: find the lasting statements of a person's turn, without a model.

It keeps sentences that the person marks ("remember", "from now on", "always") and clauses whose features weigh enough
(`features`). Precision comes first: a missed fact is still in its turn, a wrong one becomes a rule.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise
from typing import Final, NamedTuple

from scrubjay.facts import vocabulary
from scrubjay.facts.clauses import (
    BETWEEN_BIT,
    CONDITION_BIT,
    ENGLISH_BIT,
    FEATURE_MASK,
    FLEETING_BIT,
    HEARSAY_BIT,
    ING_BIT,
    IS_BIT,
    LIFE_BIT,
    PAST_BIT,
    VERBAL_BIT,
    Clause,
    WordSequence,
    is_question,
    own_prose,
    read_words,
    sentence_ranges,
    split_clauses,
    tells_hearsay,
)
from scrubjay.facts.exclusive_values import announces_state
from scrubjay.facts.features import (
    FEATURE_BITS,
    IMPERATIVES,
    SUBJECT_BITS,
    earnest_end,
    is_hearsay,
    is_kept,
    is_retraction,
    is_unreal,
    turn_features,
)
from scrubjay.facts.ownership import introduces_person
from scrubjay.facts.vocabulary import (
    CHOOSING,
    CHOSE,
    CONJUNCTIONS,
    FIRST_PERSON,
    LASTING_HAD,
    LIKE,
    load_words,
)
from scrubjay.text.normalize import word_set
from scrubjay.text.sentences import bracketed_ranges, ends_sentence, sentence_ends

_CORRECTION_WORDS: Final = word_set("no nope nah wrong actually correction nein non")
_PREFERENCE_WORDS: Final = (LIKE - {"like"}) | word_set("rather favourite favorite want")
_DECISION_WORDS: Final = (CHOSE - {"committed"}) | CHOOSING | word_set("let's lets decision voted agree")
_HOWTO_WORDS: Final = word_set("to before after when whenever once every each any if")
_NORM_WORDS: Final = word_set("always never don't please pls only stop")


def statement_kind(words: Sequence[str]) -> str:
    """Return the kind of a statement with these lower-case words.

    >>> [statement_kind(said.split()) for said in ("i prefer tabs", "we chose tabs", "no, it's tabs", "to deploy, run make")]
    ['preference', 'decision', 'correction', 'howto']
    """
    first, distinct = words[0].strip(",:"), frozenset(words)
    if first in _CORRECTION_WORDS:
        return "correction"
    if not _PREFERENCE_WORDS.isdisjoint(distinct) or (first in ("i", "i'm") and "like" in words[1:3]):
        return "preference"
    if not _DECISION_WORDS.isdisjoint(distinct) or ("with" in distinct and "went" in distinct):
        return "decision"
    if first in _HOWTO_WORDS:
        return "howto"
    if first in IMPERATIVES or first in _NORM_WORDS:
        return "howto" if not _HOWTO_WORDS.isdisjoint(words[1:]) else "preference"
    return "correction" if "not" in distinct and any(word[-1:] == "," for word in words) else "fact"


MAX_WORDS_WITHOUT_ENGLISH: Final = 3
"""Words of a clause that needs no English function word."""
CLAUSE_VERB_REACH: Final = 8
"""Words within which a clause has its verb."""
LONG_CLAUSE: Final = 13
"""Words of a long clause."""

_INTRODUCTORY: Final = CONJUNCTIONS | load_words("leading")
"""Introductory words, which are skipped."""
_OF_SPEAKER: Final = FEATURE_BITS["of i"] | FEATURE_BITS["of we"]
_OF_SPEAKER_OR_ORDER: Final = _OF_SPEAKER | FEATURE_BITS["of order"]
_OF_POSSESSION: Final = FEATURE_BITS["of my"] | FEATURE_BITS["of our"]
_BE_BITS: Final = FEATURE_BITS["is"] | FEATURE_BITS["was"]
_CONTRAST_BITS: Final = FEATURE_BITS["denies"] | FEATURE_BITS["rather"]
_MARK_BITS: Final = {
    "!": FEATURE_BITS["exclaims"],
    ",": FEATURE_BITS["goes on"],
    ":": FEATURE_BITS["heads"],
}
_LENGTH_BITS: Final = tuple(
    (FEATURE_BITS["under 3"] if count < 3 else 0)
    | (FEATURE_BITS["under 5"] if count < 5 else 0)
    | (FEATURE_BITS["over 12"] if count == LONG_CLAUSE else 0)
    for count in range(LONG_CLAUSE + 1)
)


def clause_features(text: str, sequence: WordSequence, clause: Clause, sentence_start: int) -> int:
    """Return the feature bits of a clause; `sentence_start` is the first word of its sentence."""
    words, bits, starts, last = sequence.words, sequence.bits, sequence.starts, clause.last
    at = clause.first
    while at + 1 < last and words[at] in _INTRODUCTORY:
        at += 1
    union, count = 0, last - at
    for own in bits[at:last]:
        union |= own
    capital = text[starts[at]].isupper()
    subject = SUBJECT_BITS.get(words[at], 0)
    if subject:
        subject &= -subject  # of two classes the first of `_SUBJECTS` holds
    else:
        name = capital and words[at] not in vocabulary.WELL_KNOWN
        subject = FEATURE_BITS["of name"] if name else FEATURE_BITS["of other"]
    mine = subject & _OF_SPEAKER
    features = subject | union & FEATURE_MASK | _MARK_BITS.get(sequence.raw[last - 1][-1], 0)
    features |= _LENGTH_BITS[min(count, LONG_CLAUSE)]
    verb = next((own for own in bits[at + 1 : min(at + CLAUSE_VERB_REACH, last)] if own & VERBAL_BIT), 0)
    if _begins_with_fragment(sequence, at, last):
        verb = 0
    if not verb and not mine and subject != FEATURE_BITS["of order"]:
        features |= FEATURE_BITS["no verb"]
    elif verb & PAST_BIT and not verb & IS_BIT:
        features |= FEATURE_BITS["past"]
    if mine and count > 1:
        predicate = next((own for own in bits[at + 1 : min(at + 6, last)] if not own & BETWEEN_BIT), 0)
        features |= FEATURE_BITS["fleeting"] if predicate & FLEETING_BIT else 0
        lived = bits[at + 1] | bits[min(at + 2, last - 1)] | bits[min(at + 3, last - 1)]
        features |= FEATURE_BITS["lived"] if lived & LIFE_BIT else 0
    if not text[starts[at] + 1 : sequence.ends[last - 1]].islower() and any(
        text[starts[later]].isupper() and words[later] not in FIRST_PERSON for later in range(at + 1, last)
    ):
        features |= FEATURE_BITS["named"]
    if count > MAX_WORDS_WITHOUT_ENGLISH and not union & ENGLISH_BIT:
        features |= FEATURE_BITS["foreign"]
    if union & ING_BIT and union & _BE_BITS:
        features |= FEATURE_BITS["ing"]
    if union & _CONTRAST_BITS and sequence.text.find(",", starts[at], sequence.ends[last - 1]) > 0:
        features |= FEATURE_BITS["not but"]
    features |= FEATURE_BITS["first"] if clause.first == sentence_start else 0
    features |= FEATURE_BITS["opens turn"] if clause.first == 0 else 0
    return features | (FEATURE_BITS["ends turn"] if last == len(words) else 0)


def _begins_with_fragment(sequence: WordSequence, first: int, last: int) -> bool:
    """Return whether a clause begins with words without a verb: "Boxes everywhere, but the flat is nice".

    In "my sister, but not my brother, is allergic" the verb follows an aside.
    """
    for at in range(first, min(first + CLAUSE_VERB_REACH, last) - 1):
        states = SUBJECT_BITS.get(sequence.words[at], 0) & _OF_SPEAKER_OR_ORDER
        if states or (at > first and sequence.bits[at] & VERBAL_BIT):
            return False
        if sequence.raw[at][-1] == "," and sequence.words[at + 1] in CONJUNCTIONS:
            return not _verb_follows_aside(sequence, at + 1, last)
    return False


def _verb_follows_aside(sequence: WordSequence, first: int, last: int) -> bool:
    for at in range(first, min(first + CLAUSE_VERB_REACH, last)):
        if sequence.bits[at] & VERBAL_BIT and not SUBJECT_BITS.get(sequence.words[at], 0) & _OF_POSSESSION:
            return False
        if sequence.raw[at][-1] == ",":
            return any(own & VERBAL_BIT for own in sequence.bits[at + 1 : min(at + CLAUSE_VERB_REACH, last)])
    return False


MIN_CHARACTERS: Final = 8
"""Characters of the shortest statement: "I'm vegan"."""
MAX_CHARACTERS: Final = 400
"""Characters of the longest statement."""
MIN_STATEMENT_WORDS: Final = 2
"""Words that stay when a leading "and" is left out."""

_SETTING_SUBJECTS: Final = frozenset(("the", "a", "an", "he", "she", "they"))
"""Subjects of a statement that only prepares a question: "the train leaves at 9, when do I get up?"."""
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement in a turn, in code points.

    Attributes:
        kind: One of ``STATEMENT_KINDS`` of `consolidation.llm`.
        text: Its words, with single blanks.
        rule: The rule that found it.
    """

    start: int
    end: int
    kind: str
    text: str
    rule: str


def find_statements(text: str) -> tuple[Statement, ...]:
    """Return the statements of a person's turn whose features weigh enough, in order, without overlap.

    >>> [(found.kind, found.text) for found in find_statements("My sister Ana lives in Porto, what should I see there?")]
    [('fact', 'My sister Ana lives in Porto')]
    """
    found: list[Statement] = []
    for candidate in find_candidates(text):
        if is_kept(candidate.features):
            found += trimmed_statement(text, candidate)
    return tuple(found)


class FactCandidate(NamedTuple):
    """A clause that may be kept: the words of the turn, its first and end, and its feature bits."""

    sequence: WordSequence
    first: int
    last: int
    features: int


def find_candidates(text: str) -> Iterator[FactCandidate]:
    """Yield the clauses of a turn that may be kept, in order, without sentences that the next one retracts."""
    plain = own_prose(text)
    sequence = read_words(plain, len(plain))
    limit = earnest_end(plain, frozenset(sequence.words))
    turn = turn_features(text, plain, sequence.words)
    ranges = list(sentence_ranges(sequence))
    retracted = [
        is_retraction(plain, sequence.starts[first], sequence.ends[last - 1]) for first, last, _ in ranges[1:]
    ]
    for (first, last, question), taken_back in zip(ranges, [*retracted, False], strict=False):
        if sequence.starts[first] >= limit:
            break
        if taken_back:
            continue
        for candidate in _sentence_candidates(text, sequence, first, last, question, turn):
            if sequence.ends[candidate.last - 1] <= limit:
                yield candidate


def _sentence_candidates(
    text: str, sequence: WordSequence, first: int, last: int, question: bool, turn: int
) -> Iterator[FactCandidate]:
    if is_question(sequence.words, first, last):
        return
    before: set[str] = set()
    for clause in split_clauses(sequence, first, last, question):
        before.update(sequence.words[clause.first : clause.last + 1])
        words, start, end = (
            sequence.words[clause.first : clause.last],
            sequence.starts[clause.first],
            sequence.ends[clause.last - 1],
        )
        union = 0
        for bits in sequence.bits[clause.first : clause.last]:
            union |= bits
        if (
            clause.asked
            or union & CONDITION_BIT
            or (union & HEARSAY_BIT and is_hearsay(sequence.text, start, end, words))
        ):
            return
        if is_unreal(sequence.text, sequence.starts[first], end, before):
            return
        if not (question and words[0] in _SETTING_SUBJECTS):
            yield FactCandidate(
                sequence, clause.first, clause.last, clause_features(text, sequence, clause, first) | turn
            )


def trimmed_statement(text: str, candidate: FactCandidate) -> Iterator[Statement]:
    """Yield the statement of a clause without leading conjunctions and marks."""
    sequence, first, last = candidate.sequence, candidate.first, candidate.last

    def is_punctuation(at: int) -> bool:
        return not any(char.isalnum() for char in text[sequence.starts[at] : sequence.ends[at]])

    while first < last and is_punctuation(first):
        first += 1
    while first + MIN_STATEMENT_WORDS < last and sequence.words[first] in CONJUNCTIONS:
        first += 1
    while last > first and is_punctuation(last - 1):
        last -= 1
    if first >= last:
        return
    start = sequence.starts[first]
    end = start + len(text[start : sequence.ends[last - 1]].rstrip(",;:- "))
    if MIN_CHARACTERS <= end - start <= MAX_CHARACTERS:
        yield Statement(
            start,
            end,
            statement_kind(sequence.words[first:last]),
            _SPACE.sub(" ", text[start:end]),
            "weighed",
        )


_REMEMBER_REQUEST: Final = re.compile(
    r"^\s*(?:and |but |also |please |bitte |ok,? |oh,? )*(?:remember|note|keep in mind|merk(?:e)? dir|merk(?:en sie sich|t euch)|notier(?:e)? dir|notieren sie(?: sich)?|nicht vergessen|retiens|retenez|noter?"
    r"|recuerda|ten en cuenta|记住|请记住|记一下)(?![a-zà-ÿ])\s*(?:that|this|bitte|auch|dass|aussi|también|que|：|:|,|，)*\s*"
)
"""Requests to remember something."""
_REMEMBER_MARKS: Final = re.compile(
    r"\b(?:from now on|going forward|from the next|for the record|please remember|as a rule|in general|generally|by default we|no more(?! than)|anymore|everywhere"
    r"|for everything|everything is|wichtig|merk dir|merken sie sich|ab sofort|ab jetzt|künftig|generell|grundsätzlich|in zukunft|nur noch|ab (?:januar|februar|märz|april"
    r"|mai|juni|juli|august|september|oktober|november|dezember)|désormais|dorénavant|à partir de maintenant|retenez|retiens|a partir de ahora|recuerda"
    r"|en adelante)\b|记住|以后都|以后请|从现在起|今后|一律|都要|必须|不要再|就这样定"
)
_SELF_STATEMENT: Final = re.compile(
    r"\W*(?:(?:since (?:[\w'-]+ ){1,6}?)?i prefer (?!this|that|the |it\b|these|those|one\b|option)|my name is (?!not\b)|(?:i|we) (?:have |just )?(?:moved|relocated) to "
    r"(?!this|that|the |it\b|[a-d]\b)|no,? we use (?!this|that|it\b)"
    r"|(?:my|our) (?:\w+ ){1,3}(?:is|are) (?:\w+ ){0,3}(?:called|named) "
    r"(?!(?:this|that|it|too|to|by|on|off|up|out|back|in|into|from|for|with|at|when|if|as|and|or|but|again|twice|once|often|every|after|before)\b))\S"
    rf"|\W*i(?: have|'ve got) (?:(?:an?|mild|severe|chronic|type [12]) ){{0,2}}(?:{'|'.join(sorted(LASTING_HAD - {'kids', 'twins', 'children', 'siblings'}))})"
    r"(?=[.,;!]|$| and )"
)
"""Beginnings of plain statements about oneself."""
_PREFERS_NOW: Final = re.compile(
    r"(?<=i prefer )(?!to\b)([^,;.]{3,60}?)(?<!right)(?<!just)(?<!for) now(?=[,.;!]|$)"
)
""""I prefer tea now" tells of a change that lasts; "I prefer to stop now" does not."""
_NEW_CONTACT: Final = re.compile(
    r"\W*(?:(?:my|our|mein\w*|unser\w*) )?(?:(?:new|neue) (?:(?:phone|mobile|cell) )?(?:number|address|e-?mail(?: address)?|(?:handy|telefon|mobil)?nummer"
    r"|(?:mail)?adresse)(?:(?: is| ist)(?: now| jetzt)?|:)|(?:phone|mobile) number is(?: now)?) "
    r"(?:\+?\d(?:[ ()/-]{0,2}\d){6,14}(?![\w.,]\d)|[^\s@]{1,60}@[^\s@]{1,60}|[^,;:@\d]{2,40} \d{1,4}[a-z]?, (?:\d{4,5} )?[^\W\d_]{3,30}\b)"
)
"""Sentences such as "New number: 0151 444 8811" and "New address is Hafenweg 3, Kiel"."""
_ONLY_ANNOUNCES: Final = re.compile(
    r"\W*(?:i|we)(?:'ve| have)?(?: finally| just| recently| now)? (?:moved|relocated|switched|changed)(?: house| home| flats?| jobs?)?"
    r"(?: (?:last|this) \w+| yesterday| today| on \w+day)?\W*$",
    re.IGNORECASE,
)
""""We moved last Saturday!": the next sentence says where."""
_UNNAMED_OWNER: Final = re.compile(r"(?:her|his|their)\b", re.IGNORECASE)
_OF_ANOTHER: Final = re.compile(r"[,;:(–-]\s*(?:(?:and|but|so|because) )?(?:he|she)(?:'s)?\b[^,;:]*$")
"""A clause about somebody named before it: "Ben is jealous, he has asthma and never"."""
_NOW_RUNS_ON: Final = re.compile(
    r"\W*(?:[Tt]he|[Oo]ur|[Mm]y) (?:[\w-]+ ){1,2}now (?:runs? on|lives? (?:in|on)|is hosted (?:on|by|at)|uses?) "
    r"(?:[A-Z][\w.-]+|\S{0,20}\d\S{0,20}|port \d+)(?: [A-Z\d][\w.-]*){0,2}[.!]?\s*$"
)
"""Sentences such as "The build now runs on Jenkins"."""
_RAISED: Final = r"(?:raised|increased|lowered|reduced|cut|changed|extended|shortened|doubled|halved)"
_RAISED_DE: Final = r"(?:erhöht|angehoben|gesenkt|reduziert|geändert|verlängert|verkürzt|verdoppelt|halbiert)"
_OWNED_THING: Final = r"(?:the|my|our|d(?:er|ie|as|en)|mein(?:e|en)?|unser(?:e|en)?)(?: [\w-]{1,30}){1,4}"
_AMOUNT: Final = r" (?:at |about |bei |etwa )?[€$£]?\d[\d.,:]{0,12}%?"
_IS_NOW: Final = (
    r"(?:(?:'s| is| are| costs?| takes?) now| now (?:is|are|costs?|takes?)"
    r"| (?:ist|sind|kostet|beträgt|dauert) (?:jetzt|nun))"
)
_AMOUNT_NOW: Final = re.compile(
    rf"\W*(?:(?:(?:i|we)(?:'ve| have)? {_RAISED} {_OWNED_THING}|(?:ich habe|wir haben) {_OWNED_THING} {_RAISED_DE}),"
    rf"(?: so| and| und)? (?:it|they|er|sie|es){_IS_NOW}{_AMOUNT}"
    rf"|{_OWNED_THING}{_IS_NOW}{_AMOUNT}[^,;:.!?]{{0,30}} (?:instead of|rather than|statt|anstatt){_AMOUNT})"
)
"""Sentences such as "I raised the rate, it is now 90" and "Die Miete ist jetzt 950 Euro statt 900"."""
_DECISION_OPENING: Final = re.compile(
    r"\W*(?:(?:so|and|ok|okay|then|also|finally|right|well),? )?(?:decided: "
    r"|(?:i(?:'ve| have) decided|we(?:'ve| have| all| finally)? (?:decided|agreed|chose|chosen|opted|settled|went with)"
    r"|we(?:'re| are) (?:all )?going with) (?!(?:on |to |for )?(?:it|this|that|these|those|option|[a-d])\b))"
)
"""Beginnings of sentences that state a decision."""
_NORMS: Final = re.compile(
    r"^\W*(?:in|for|on|with|für|bei|auf) (?:this|these|our|all|every|each|my|dies\w+|unser\w+|allen?|jede\w) (?:[\w-]+ )"
    r"(?:always|never|immer|nie|niemals)\b|"
    r"(?:^|[,;:(]|\b(?:please|we|i|and|is|are|must|should|but|also|goes|bitte|ich|wir|man|immer|on|nous|je|siempre|then)\b)[^,;:.]{0,3}?\s*"
    r"\b(?:always|never|dont ever|don't ever|do not ever|immer|niemals|nie|toujours|jamais|siempre|nunca|总是|永远|从不)\b|\b(?:dont|don't) ever\b"
    r"|\b\w{4,} never on\b|\b\w+e (?:mails|externe)[^,.]* immer\b"
)
"""Norms: something is always or never done."""
_NO_NORM: Final = re.compile(
    r"[?？]\s*+$|^\W*+(?:(?:ok|okay|yes|sure|fine|yep|no)\W*+)?(?:always|never) (?:is|was|works?)\b|\b(?:always|never) (?:is|was) (?:fine|ok|okay|good)\b|\bnever ?mind\b|\bas always\b|\bas ever\b|\bremember (?:when|how|the time)\b|\bcan't remember\b|\bdon't remember\b|\bdo you\b"
    r"|\b(?:never|always) (?:got|had|saw|was|were|did|works?|worked|finish\w*|fail\w*|crash\w*|hang\w*|heard|seen|been|happen\w*|comes? back|returns?)\b|\balways (?:the|there|a|an|in|on|at)\b"
    r"|\b(?:is|are|be) (?:always|never) \w+(?:ed|ing)\b|\b(?:we|i|you) (?:always|never) (?:get|see|hit|have|end up)\b"
    r"|\bi (?:always|never) (?:forget|wonder|know|knew|thought)\b|\b(?:once|ever) more\b"
    r"|(?:'d|\b(?:would|could|should|might)) (?:always|never) have\b|\b(?:nie|niemals) hätte\b|\balways (?:love|loved|enjoy) (?:your|waiting|it when|when|how)\b"
    r"|\b(?:ha(?:ha)+h?|hehe|lol|lmao|rofl|jk)\b\W*$"
)
"""Sentences that only look like norms: "as always", "it always works", "I'd never have believed it", and jokes."""
_DEPENDENT: Final = re.compile(
    r"^\W*(?:(?:and|but|so|ok|yes|no|oh|hm+|uh|ah|wow|then|ja|nein|und|aber|also|et|mais|oui)\W+)*"
    r"(?:this|that|it|it's|that's|these|those|they|he|she|there|das|es|dies\w*|er|sie|ça|c'est|eso|esto|这|那|它)\b"
    r"|^\W*(?:the |our |my )?(?!(?:no|every|any|some|each|phase|stage|step|part|day|week|level|version|room|team|zone)\b)[a-z]+ ones? (?:is|are|was|goes|go|has|have|needs?|gets?|lives?|stays?)\b"
    r"|^\W*(?:yes|yeah|yep|no|nope)\W+(?:because|from when|until|till)\b"
)
"""Sentences whose subject is in another one, or that only give a reason."""
_TRANSIENT: Final = re.compile(
    r"\b(?:today|tomorrow|tonight|yesterday|(?<!is )(?<!are )now|now[.!]?$|right now|currently|at the moment|just|this (?:morning|week|afternoon|evening|time|one)|next (?:week|time)"
    r"|last (?:week|night|time)|(?:on|by|until) (?:mon|tues|wednes|thurs|fri|satur|sun)day|heute|morgen|gestern|gerade|aujourd'hui|demain|hier|hoy|mañana"
    r"|ayer|still|again|want(?:s|ed)? (?:to|an?|another|some)|need to|going to|trying|looking|please|can you)\b|今天|明天|昨天|刚才|现在"
)
"""Signs of a statement that holds for a day, or of a request."""
_TRAILING_UNIT: Final = re.compile(r"(?>(?:[ \t]*+(?:[%‰€$£¥°]\w{0,3}+|\([^()\n]{1,80}\)))+)")
"""Units and remarks in brackets that belong to the word before them."""
_FINAL_VALUE: Final = re.compile(r":[ \t]{1,3}(?=[\w/-]{0,30}\d)[\w/-]{1,60}")
"""A value that a statement names at its end: "on every invoice: PO-7781-B"."""
_CONTINUATION: Final = re.compile(
    r"[ \t]{1,3}(?:and|or|und|oder|sowie|et|ou|y|o|but not|aber nicht|nor|except|außer)[ \t]"
    r"(?!(?:i|i'm|i've|we|you|he|she|it|they|please|ich|wir|bitte|je|yo)\b)[^,;:.?!()\n]{1,60}(?=[,;.!\n]|\Z)",
    re.IGNORECASE,
)
"""A statement that continues after brackets: "I'm allergic to penicillin (severe) and to nuts"."""
_CONDITION: Final = re.compile(
    r"[\s,;:(–-]{0,4}(?:(?:but|and|though|aber|und) )?(?:only|just for|except|unless|until|as long as|if|not for|at least|nur|außer|bis|solange|falls|wenn)\b"
)
"""Openings of a clause that limits the statement before it."""
_NO_LONGER: Final = re.compile(
    r"\b(?:no longer|not .{0,30}any ?more|n't .{0,60}any ?more|stopped|nicht mehr|kein\w{0,2} .{0,30}mehr)\b"
)
_LIMIT: Final = (
    r"(?:(?:only|just|nur|erst) (?:this|these|for|until|till|during|while|on|in|at|(?:the )?next|temporar\w+|diese\w*|für|bis|während|vorübergehend"
    r"|noch|im|am|an|bei)|at least|temporarily|for now|zumindest|vorübergehend|bis auf weiteres|fürs erste)\b"
)
_CONTAINS_LIMIT: Final = re.compile(rf"\b{_LIMIT}")
_LIMIT_OPENING: Final = re.compile(
    r"\W*(?:(?:but|and|though|well|aber|und|allerdings|jedoch|das|that's|that is|it's|this is|es|ist|gilt)\b\W*)*"
    rf"(?:{_LIMIT}|(?:except|unless|until|till|not for|außer|bis|nicht für)\b"
    r"(?! (?:later|then|next time|soon|später|bald|dann|gleich|nachher|demnächst|neulich|die tage|zum nächsten mal)\W*(?:dann|mal|wieder)?\W*$))"
)
"""Beginnings of a sentence that limits the one before it: "That's only for this week."."""
_MAX_LIMIT_WORDS: Final = 8
"""Words of the longest sentence that limits the one before it."""
_SHORT_LIMIT: Final = re.compile(
    r"\b(?:today|tonight|tomorrow|for now|this (?:morning|afternoon|evening|week|time)|heute|morgen|diese woche|diesmal|fürs erste)\b"
)
"""Limits to a short time."""
_MIN_WORDS: Final = 3
"""Words of a statement that stands alone; two characters of Chinese count for one."""
_CONTRACTED_SELF: Final = re.compile(r"^(?:i'm|i’m|i am|we're|we’re|ich bin|je suis|soy) ")
"""Contractions that count as two words: "I'm vegan" has three."""


def extract_facts(text: str) -> tuple[Statement, ...]:
    """Return the statements worth learning from a person's turn, in order, without overlap.

    >>> [one.text for one in extract_facts("Fix the build. From now on we squash every merge.")]
    ['From now on we squash every merge.']
    >>> extract_facts("ShipmentTimeline it is. This goes out on Tuesday.")
    ()
    """
    plain = own_prose(text)
    ranges, found = list(_sentence_spans(text)), list[Statement]()
    earnest = _earnest_ranges(plain, ranges)
    weighed = (_with_tail(text, one) for one in find_statements(text) if _is_lasting(one.text.lower()))
    for one in chain(_marked_statements(text, plain, earnest), weighed, _decisions(text, plain, earnest)):
        if _overlaps_none(one, found):
            named = _with_owner(text, plain, one, ranges)
            whole = _with_limit(text, plain, named if _overlaps_none(named, found) else one, ranges)
            if whole is not None and ends_sentence(text, whole.end) and _overlaps_none(whole, found):
                found.append(whole)
    found.sort(key=lambda one: one.start)
    announced = {
        one.start
        for one, after in pairwise(found)
        if _ONLY_ANNOUNCES.match(one.text) and not any(map(str.isalnum, text[one.end : after.start]))
    }
    return tuple(one for one in found if one.start not in announced)


def _earnest_ranges(plain: str, ranges: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the sentences before fiction or a hypothesis that the next one does not retract."""
    limit = earnest_end(plain, frozenset(read_words(plain, len(plain)).words))
    ranges = [one for one in ranges if not plain[slice(*one)].isspace()]
    retracted = [is_retraction(plain, *following) for following in ranges[1:]]
    return [
        one
        for one, taken_back in zip(ranges, [*retracted, False], strict=False)
        if one[0] < limit and not taken_back
    ]


def _overlaps_none(one: Statement, found: Sequence[Statement]) -> bool:
    return all(one.end <= other.start or other.end <= one.start for other in found)


def _is_lasting(sentence: str) -> bool:
    return _stands_alone(sentence) and not _TRANSIENT.search(sentence) and not _NO_NORM.search(sentence)


def _with_tail(text: str, one: Statement) -> Statement:
    unit = _TRAILING_UNIT.match(text, one.end)
    end = unit.end() if unit is not None else one.end
    if more := _FINAL_VALUE.match(text, end) or (text[end - 1] == ")" and _CONTINUATION.match(text, end)):
        end = more.end()
    return replace(one, end=end, text=" ".join(text[one.start : end].split()))


def _with_owner(text: str, plain: str, one: Statement, ranges: Sequence[tuple[int, int]]) -> Statement:
    """Return a statement with the sentence before it where only that says whose it is: "Her name is Mia"."""
    at = bisect_right(ranges, (one.start, len(text))) - 1
    before = plain[slice(*ranges[at - 1])] if at > 0 else ""
    if not (_UNNAMED_OWNER.match(one.text) and before.strip() and "?" not in before):
        return one
    if text[ranges[at][0] : one.start].strip() or len(before.split()) > _MAX_LIMIT_WORDS:
        return one
    start = ranges[at - 1][0] + len(before) - len(before.lstrip())
    return replace(one, start=start, text=" ".join(text[start : one.end].split()))


def _with_limit(text: str, plain: str, one: Statement, ranges: Sequence[tuple[int, int]]) -> Statement | None:
    """Return a statement with the rest of its sentence and the next one where they limit it.

    None where the whole is too long, or holds for a day.
    """
    at = bisect_right(ranges, (one.start, len(text))) - 1
    end = max(ranges[at][1], one.end)
    rest = plain[one.end : end]
    if "?" in rest:
        return one
    is_ended = _NO_LONGER.search(one.text.lower()) and any(map(str.isalnum, rest))
    if not (_CONDITION.match(rest) or _CONTAINS_LIMIT.search(rest) or is_ended):
        end = one.end
    for start, stop in ranges[at + 1 : at + 2]:
        after = plain[start:stop]
        if len(after.split()) <= _MAX_LIMIT_WORDS and "?" not in after and _LIMIT_OPENING.match(after):
            end = stop
    if end == one.end:
        return one
    whole = " ".join(text[one.start : end].split())
    is_lasting = is_ended or not _SHORT_LIMIT.search(plain, one.end, end)
    return replace(one, end=end, text=whole) if is_lasting and len(whole) <= MAX_CHARACTERS else None


def _decisions(text: str, plain: str, ranges: Sequence[tuple[int, int]]) -> Iterator[Statement]:
    for start, end in ranges:
        if _DECISION_OPENING.match(plain, start, end) and _is_lasting(plain[start:end]):
            yield from _marked_statement(text, start, end, "decision")


def _marked_statement(
    text: str, start: int, end: int, kind: str, shortest: int = MIN_CHARACTERS
) -> Iterator[Statement]:
    start += len(text[start:end]) - len(text[start:end].lstrip())
    sentence = " ".join(text[start:end].split())
    if shortest <= len(sentence) <= MAX_CHARACTERS:
        yield Statement(start, end, kind, sentence, "marked")


def _marked_statements(text: str, plain: str, ranges: Sequence[tuple[int, int]]) -> Iterator[Statement]:
    for start, end in ranges:
        sentence = plain[start:end]
        if not sentence.strip() or _NO_NORM.search(sentence):
            continue
        request, kind = _REMEMBER_REQUEST.match(sentence), "preference"
        if request:
            start += request.end()
        elif not _stands_alone(sentence):
            continue
        elif mark := _REMEMBER_MARKS.search(sentence) or _NORMS.search(sentence):
            words = read_words(sentence, len(sentence))
            if mark.re is _NORMS and _OF_ANOTHER.search(sentence, 0, mark.end()):
                continue
            if tells_hearsay(sentence, mark.end()) or _begins_with_fragment(words, 0, len(words.words)):
                continue
        else:
            lasting = _PREFERS_NOW.sub(r"\1", sentence)
            plainly = _SELF_STATEMENT.match(sentence) and not _TRANSIENT.search(lasting)
            given = _AMOUNT_NOW.match(sentence)
            plainly = plainly or (given and not _TRANSIENT.search(sentence, given.end()))
            own = " ".join(text[start:end].split())
            if len(own.split()) > len(sentence.split()):  # it quotes others
                continue
            plainly = plainly or introduces_person(own) or announces_state(own)
            if not (plainly or _NOW_RUNS_ON.match(own) or _NEW_CONTACT.match(sentence)):
                continue
            kind = statement_kind(sentence.split())
        yield from _marked_statement(text, start, end, kind, 2 if request else MIN_CHARACTERS)


def _sentence_spans(text: str) -> Iterator[tuple[int, int]]:
    start, brackets = 0, bracketed_ranges(text)
    for end in sentence_ends(text, brackets):
        if end > start:
            yield start, end
            start = end


def _stands_alone(sentence: str) -> bool:
    words = len(sentence.split()) + len(re.findall(r"[\u3040-\u30ff\u4e00-\u9fff]", sentence)) // 2
    return words + bool(_CONTRACTED_SELF.match(sentence)) >= _MIN_WORDS and not _DEPENDENT.match(sentence)
