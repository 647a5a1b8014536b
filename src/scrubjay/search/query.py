"""Query understanding: terms, phrases and exclusions of the query text, and the times and events that it names.

Words that name a time or an event are still searched for as typed; quoted text is not interpreted. "Before the
migration" takes the time of the memory that reports the migration, where one clearly does.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, time, timedelta, tzinfo
from typing import Final

from scrubjay.frozen import frozen
from scrubjay.models.dates import DAY, local_micros, stored_day, to_local
from scrubjay.models.records import NO_FILTER, Record
from scrubjay.models.results import Notice, round_score
from scrubjay.storage.interface import Reader
from scrubjay.storage.scoring import idf
from scrubjay.text.display import escape_markup
from scrubjay.text.language import asks_for_all, is_uninformative
from scrubjay.text.normalize import fold, word_set
from scrubjay.text.snippets import best_snippet
from scrubjay.text.temporal import TimeExpression, find_times, looks_ahead, names_date
from scrubjay.text.tokenizer import query_groups, split_words

MAX_QUERY_LENGTH: Final = 4_000
"""Characters of a query that are read: a longer one is a pasted text with a question before it."""
MAX_PHRASES: Final = 8
"""Maximum number of quoted, and of excluded, parts: pasted code has more, and each is looked for in every candidate."""
MIN_SENTENCE_WORDS: Final = 4
"""Words outside the quotes from which on a query is a sentence that quotes, not a search for the quote: half of
HotpotQA's evidence does not contain the question's quotation."""
_QUOTED: Final = '"([^"]*)"|[“„]([^“”„]*)[“”]|«([^«»]*)»|»([^«»]*)«|「([^「」]*)」'
"""Quotes as keyboards and word processors of several languages set them."""
_QUOTED_PART: Final = re.compile(rf'(?<!\S)-(?:{_QUOTED})|{_QUOTED}|(?<!\S)-([^\s"“„«»「-][^\s"]*)')
_SEARCHABLE: Final = re.compile(r"[^\W_]|[\u2190-\u2bff\U0001f000-\U0001faff]")
"""A letter, digit or picture: to a model, punctuation alone is near to anything."""
_QUOTE_FORMS: Final = 5
"""Forms of quotes, each a group in the expression: first of exclusions, then of phrases."""


@frozen
class ParsedQuery:
    """A query split into its parts.

    Attributes:
        text: The query without exclusions and quote marks.
        phrases: Quoted texts that a result must contain.
        excluded: Words and phrases that a result must not contain.
        truncated: Whether the query was too long.
        preferred: Quotations in a sentence, which a result should contain.
        surplus: Number of quoted or excluded parts beyond the limit; the quoted ones are plain words.
    """

    text: str
    phrases: tuple[str, ...]
    excluded: tuple[str, ...]
    truncated: bool
    preferred: tuple[str, ...] = ()
    surplus: int = 0

    @property
    def partial(self) -> tuple[str, ...]:
        notes = []
        if self.truncated:
            cut = f"The question was cut: only its first {MAX_QUERY_LENGTH:,} characters were read."
            notes.append(Notice(cut))
        if self.surplus:
            most = f"the first {MAX_PHRASES} quoted and the first {MAX_PHRASES} excluded parts"
            notes.append(Notice(f"Only {most} were read as such."))
        return tuple(notes)


def parse_query(query: str) -> ParsedQuery:
    """Split a query. An odd quote is an ordinary character; nothing here is an error.

    >>> found = parse_query('deploy "blue bunny" -staging')
    >>> found.text, found.phrases, found.excluded, found.truncated, found.preferred, found.surplus
    ('deploy blue bunny', ('blue bunny',), ('staging',), False, (), 0)
    >>> parse_query('who directed "Blue Bunny" and when did it open?').preferred
    ('Blue Bunny',)
    >>> parse_query('what is -5 minus "x').phrases
    ()
    """
    text = query.replace("\x00", " ")[:MAX_QUERY_LENGTH]
    phrases: list[str] = []
    excluded: list[str] = []

    def collect_part(match: re.Match[str]) -> str:
        *quoted, word = match.groups()
        excluded_text = next((text for text in (*quoted[:_QUOTE_FORMS], word) if text is not None), None)
        if word is not None and not re.search(r"[^\W\d]", word):
            return match.group()  # -5 is a number
        if excluded_text is not None:
            excluded.append(excluded_text.strip())
            return " "
        phrase = next((text for text in quoted[_QUOTE_FORMS:] if text is not None), "").strip()
        if phrase:
            phrases.append(phrase)
        return f" {phrase} "

    rest = _QUOTED_PART.sub(collect_part, text)
    if not _SEARCHABLE.search(rest):
        rest = ""
    outside = len(rest.split()) - sum(len(phrase.split()) for phrase in phrases)
    sentence = outside >= MIN_SENTENCE_WORDS
    quoted, unwanted = tuple(dict.fromkeys(phrases)), tuple(dict.fromkeys(filter(None, excluded)))
    return ParsedQuery(
        text=" ".join(rest.split()),
        phrases=() if sentence else quoted[:MAX_PHRASES],
        preferred=quoted[:MAX_PHRASES] if sentence else (),
        excluded=unwanted[:MAX_PHRASES],
        truncated=len(query) > MAX_QUERY_LENGTH,
        surplus=len(quoted[MAX_PHRASES:]) + len(unwanted[MAX_PHRASES:]),
    )


def without_quotes(query: str) -> str:
    """Return a query with its quoted phrases as plain words; empty if it has none, no other words, or excludes any.

    >>> without_quotes('deploy "blue bunny"'), without_quotes('"blue bunny"'), without_quotes('a "bunny" -staging')
    ('deploy blue bunny', '', '')
    """
    parsed = parse_query(query)
    if not parsed.phrases or parsed.excluded or not _SEARCHABLE.search(_QUOTED_PART.sub(" ", query)):
        return ""

    def unquote_part(match: re.Match[str]) -> str:
        phrase = next((text for text in match.groups()[_QUOTE_FORMS:-1] if text is not None), None)
        return match.group() if phrase is None else re.sub(r"(?<!\S)-+", "", phrase)

    return _QUOTED_PART.sub(unquote_part, query)


@frozen
class QueryTime:
    """A time that a question names.

    Attributes:
        words: The characters that name it.
        start: First moment, UTC microseconds; None for unbounded.
        end: First moment after it; None for unbounded.
        length: Microseconds that the words themselves name: a day of "before 3 May".
        relation: As of a `TimeExpression`.
        shown: The time in words.
        start_day: The first day as stored (`scrubjay.models.dates.stored_day`).
        end_day: The first day after it as stored.
        anchor: The memory that dates the event that time is counted from; else empty.
    """

    words: str
    start: int | None
    end: int | None
    length: int
    relation: str
    shown: str
    anchor: str = ""
    start_day: int | None = None
    end_day: int | None = None


_UP_TO: Final = re.compile(r"\bup to\b", re.IGNORECASE)
"""Of "what were we up to": unlike "up" alone ("who is up?"), it names nothing."""


@frozen
class QueryMeaning:
    """The times a query names, and the last moment (UTC microseconds) of the time to answer as of.

    ``time_only`` is true where it names nothing but a time ("what did we do yesterday?"), ``ahead`` where it asks about
    the future and names a date. ``naming_days`` are memories whose texts name a coming day of that time.
    """

    times: tuple[QueryTime, ...] = ()
    as_of: int | None = None
    notes: tuple[str, ...] = ()
    time_only: bool = False
    ahead: bool = False
    naming_days: tuple[str, ...] = ()

    @property
    def names_date(self) -> bool:
        """Whether one of its times is a month, a weekday or a date, which texts name too."""
        return any(names_date(period.words) for period in self.times)

    @property
    def window(self) -> tuple[int | None, int | None]:
        """The common range of its times; None for unbounded."""
        starts = [period.start for period in self.times]
        ends = [period.end for period in self.times]
        first = None if None in starts else min((at for at in starts if at is not None), default=None)
        last = None if None in ends else max((at for at in ends if at is not None), default=None)
        return first, last


NO_MEANING: Final = QueryMeaning()


def interpret_query(query: ParsedQuery, now: int, zone: tzinfo | None) -> QueryMeaning:
    """Return the meaning of a query asked at ``now`` (UTC microseconds) in ``zone`` (None for local)."""
    quoted = [text for text in (*query.phrases, *query.preferred) if text]
    quoted_spans = [(at, at + len(text)) for text in quoted if (at := query.text.find(text)) >= 0]
    times: list[QueryTime] = []
    for span in find_times(query.text, to_local(now, zone)):
        query_time = resolve_time(span, query.text[span.first : span.last], zone)
        is_quoted = any(first < span.last and span.first < last for first, last in quoted_spans)
        if query_time is not None and not is_quoted:
            times.append(query_time)
    as_of = [period for period in times if period.relation == "as_of"]
    time_only = bool(times) and not (as_of or query.phrases or query.preferred or query.excluded)
    return QueryMeaning(
        tuple(times),
        as_of[-1].end - 1 if as_of and as_of[-1].end is not None else None,
        tuple(dict.fromkeys(f"Read as a time: {period.words} = {period.shown}." for period in times)),
        time_only
        and asks_for_all(
            [word.text for word in split_words(_UP_TO.sub(" ", without_times(query.text, times)))]
        ),
        any(names_date(period.words) for period in times) and looks_ahead(query.text),
    )


def without_times(text: str, times: Sequence[QueryTime]) -> str:
    """Return a query's text without the words that name these times."""
    for period in times:
        text = text.replace(period.words, " ", 1)
    return text


def resolve_time(span: TimeExpression, words: str, zone: tzinfo | None) -> QueryTime | None:
    """Return a time in UTC; None where it is out of the calendar's range."""
    try:
        start, end = local_micros(span.start, zone), local_micros(span.end, zone)
    except (OverflowError, ValueError):  # the first and the last day that can be written
        return None
    bounds: Mapping[str, tuple[int | None, int | None]] = {
        "before": (None, start), "until": (None, end), "since": (start, None), "after": (end, None),
        "as_of": (None, end),
    }  # fmt: skip
    first, last = bounds.get(span.relation, (start, end))
    shown, start_day, end_day = _describe_time(span), stored_day(first, zone), stored_day(last, zone)
    return QueryTime(
        words, first, last, end - start, span.relation, shown, start_day=start_day, end_day=end_day
    )


def _describe_time(span: TimeExpression) -> str:
    if span.precision == "hour":
        first, last, after = (f"{at:%Y-%m-%d %H:%M}" for at in (span.start, span.end, span.end))
    else:
        first, last = span.start.date().isoformat(), (span.end - timedelta(days=1)).date().isoformat()
        after = span.end.date().isoformat()
    bounded = {
        "before": f"before {first}",
        "until": f"until {last}",
        "since": f"from {first} on",
        "after": f"from {after} on",
        "as_of": f"what was true on {last}, not what was stored then",
    }
    return bounded.get(span.relation, first if first == last else f"{first} to {last}")


MAX_EVENT_WORDS: Final = 6
"""Maximum number of informative words of an event's name."""
_RELATIONS: Final = {
    "before": "before", "prior to": "before", "after": "after", "since": "since", "until": "until", "till": "until",
    "vor": "before", "nach": "after", "seit": "since", "bis": "until", "bis zu": "until", "bis zum": "until",
    "bis zur": "until",
}  # fmt: skip
_RELATION: Final = re.compile(
    r"(?<!\S)[(\[\"'„“]?(?:(bis zu[mr])|"
    r"(before|prior to|after|since|until|till|vor|nach|seit|bis(?: zu)?) ([^\W\d_]{2,8})) (?=\S)",
    re.I,
)
_POSSESSIVES = ("mein", "dein", "sein", "ihr", "unser", "eur", "euer", "jen", "dies")
_ARTICLES: Final = word_set("the our my your his her their that this dem der den die das") | {
    stem + end for stem in _POSSESSIVES for end in ("em", "er", "en", "e")
}
_EVENT_JOINS: Final = word_set(
    "of to from in at by with on for into von vom zu zum zur nach mit in im am an aus auf für des der"
)
"""Words over which an event's name may go on (the migration *to* Postgres) or end: both readings are kept."""
_CLAUSE_STARTS: Final = word_set(
    "is are was were be been has have had will would can could may might must should ist sind war waren wird wurde "
    "wurden hat hatte haben hatten kann konnte"
)
"""Words that begin a clause instead of a name."""
_VAGUE_NOUNS: Final = word_set(
    "end beginning start time times moment fact rest day days week weeks weekend month months year years quarter hour "
    "hours minute minutes morning afternoon evening night date past future last next first second third other others "
    "same one ones way thing things ende anfang zeit tag tage tagen woche wochen wochenende monat monate monaten jahr "
    "jahre jahren quartal stunde stunden minuten morgen abend nacht datum nächste letzte erste zweite dritte andere "
    "anderen gleichen"
)
"""Nouns that name no particular event."""
_NOT_TEMPORAL: Final = re.compile(
    r"(?:^|\s)(?:look(?:s|ed|ing)? after|named after|(?:frag(?:e|en|t|te|ten)|gefragt|such(?:e|en|t|te|ten)|gesucht|"
    r"benannt) nach|(?:angst|respekt|warn(?:e|en|t|te|ten)|gewarnt|schütz(?:e|en|t|te|ten)|geschützt) vor)$",
    re.I,
)
"""Words after which *after*, *nach* and *vor* are not temporal."""
_LOOKBEHIND: Final = 24
"""Characters before the relation in which such a word is looked for."""
_EVENT_CHUNK: Final = re.compile(r"\S+")
_EVENT_MARKS: Final = "([{\"'`„“”‚‘’«»<>*_.,;:!?)]}…"
_EVENT_ENDS: Final = frozenset('.,;:!?)]}…"“”»')


@frozen
class AnchorEvent:
    """An event that a text counts time from: its relation, its characters, and the informative words of its name.

    ``core`` are the words as far as the first preposition, ``full`` also those behind prepositions.
    """

    relation: str
    first: int
    last: int
    core: tuple[str, ...]
    full: tuple[str, ...]


def find_events(text: str, covered: Sequence[tuple[int, int]] = ()) -> tuple[AnchorEvent, ...]:
    """Return the events that a text counts time from; none overlaps a ``covered`` range of characters.

    >>> [(e.relation, e.core, e.full) for e in find_events("what ran before the migration to Postgres?")]
    [('before', ('migration',), ('migration', 'postgres'))]
    >>> find_events("since the server is slow, look after the dog until the end")
    ()
    """
    events: list[AnchorEvent] = []
    for match in _RELATION.finditer(text):
        fixed_relation, relation, article = match.groups()
        before = text[max(0, match.start() - _LOOKBEHIND) : match.end(2)] if relation else ""
        if _NOT_TEMPORAL.search(before) or (article is not None and article.casefold() not in _ARTICLES):
            continue
        event = _event_name(text, match, _RELATIONS[(relation or fixed_relation).casefold()], covered)
        if event is not None and all(event.last <= first or last <= event.first for first, last in covered):
            events.append(event)
    return tuple(events)


def _event_name(
    text: str, relation_match: re.Match[str], relation: str, covered: Sequence[tuple[int, int]]
) -> AnchorEvent | None:
    core: list[str] = []
    full: list[str] = []
    last, joined = relation_match.end(), False
    for word, end in _event_words(text, relation_match.end(), covered):
        if word in _CLAUSE_STARTS and not joined:
            return None
        if word in _EVENT_JOINS and core:
            joined = True
        elif not (joined and word in _ARTICLES):
            if word in _CLAUSE_STARTS or is_uninformative(word):
                break
            full.append(word)
            core, last = (core, last) if joined else ([*core, word], end)
        if len(full) == MAX_EVENT_WORDS:
            break
    if not core or core[-1] in _VAGUE_NOUNS or core[-1].isdigit():
        return None
    first = relation_match.start() + (relation_match.group()[0] in _EVENT_MARKS)
    return AnchorEvent(relation, first, last, tuple(core), tuple(full))


def _event_words(text: str, start: int, covered: Sequence[tuple[int, int]]) -> Iterator[tuple[str, int]]:
    for match in _EVENT_CHUNK.finditer(text, start):
        raw = match.group()
        bare = raw.rstrip(_EVENT_MARKS)
        word = fold(bare.lstrip(_EVENT_MARKS))
        if (
            not word
            or raw[0] in _EVENT_ENDS
            or any(a < match.end() and match.start() < b for a, b in covered)
        ):
            return
        yield word, match.start() + len(bare)
        if not _EVENT_ENDS.isdisjoint(raw[len(bare) :]):
            return


MAX_ANCHORS: Final = 2
"""Maximum number of events of one question that are looked for."""
ANCHOR_MAX_HOLDERS: Final = 50
"""Best memories with an event's words that may date it."""
RARE_SHARE: Final = 0.5
"""Share of the greatest idf from which on a word is rare: held by about the root of all memories. An event needs
one."""
MIN_STORE_SIZE: Final = 200
"""Minimum size that is assumed of a store: among ten memories every word is common or rare by chance, and an unknown
one outweighs all."""
ANCHOR_CLEAR_SHARE: Final = 0.8
"""Share of the best score from which on another memory may report the event as well."""
ANCHOR_AGREEMENT: Final = 7 * DAY
"""Span within which the times of all such memories must lie: reports of a week are of one event."""
ANCHOR_MAX_READ: Final = 4_000
"""Characters of a memory that are searched for the same event expression: more than a passage has."""
ANCHOR_MAX_SHOWN: Final = 60
"""Characters of the memory that a note quotes."""


def resolve_anchors(
    question: QueryMeaning,
    query: ParsedQuery,
    reader: Reader,
    languages: Sequence[str],
    zone: tzinfo | None,
    as_of: int | None,
) -> QueryMeaning:
    """Add the times of the events that a question counts from; they are looked for in all visible memories."""
    text = query.text
    known = [*query.phrases, *query.preferred, *(period.words for period in question.times)]
    covered = [(at, at + len(words)) for words in known if words and (at := text.find(words)) >= 0]
    times, notes = list(question.times), list(question.notes)
    for event in find_events(text, covered)[:MAX_ANCHORS]:
        anchor = _find_anchor(event, reader, languages, as_of)
        if anchor is None:
            continue
        record, at = anchor
        words = text[event.first : event.last]
        try:
            start, end = _event_range(record, at, zone)
        except OverflowError:  # the first and the last day that can be written
            continue
        query_time = resolve_time(
            TimeExpression(start, end, "day", event.relation, event.first, event.last), words, zone
        )
        if query_time is None:
            continue
        times.append(replace(query_time, anchor=record.id))
        groups = [group for word in event.core for group in query_groups(word, languages)]
        snippet = escape_markup(best_snippet(record.content, groups, ANCHOR_MAX_SHOWN).text)
        notes.append(f"Read as a time: {words} = {query_time.shown} ({record.id}: {snippet}).")
    return replace(question, times=tuple(times), notes=tuple(dict.fromkeys(notes)))


def _event_range(record: Record, at: int, zone: tzinfo | None) -> tuple[datetime, datetime]:
    own = record.event
    if own is not None and own.precision != "second":  # stored by midnight in this machine's zone
        return to_local(own.start), to_local(own.end)
    start = datetime.combine(to_local(at, zone).date(), time())
    return start, start + timedelta(days=1)


def _find_anchor(
    event: AnchorEvent, reader: Reader, languages: Sequence[str], as_of: int | None
) -> tuple[Record, int] | None:
    groups = {word: query_groups(word, languages) for word in dict.fromkeys(event.full)}
    scored = reader.words([group for word_groups in groups.values() for group in word_groups], NO_FILTER)
    places, first = {}, 0
    for word, word_groups in groups.items():
        places[word] = range(first, first + len(word_groups))
        first += len(word_groups)
    memories = max(scored.memories, MIN_STORE_SIZE)
    least = RARE_SHARE * idf(memories, 0)
    rare = {
        word
        for word, place in places.items()
        if any(scored.frequencies[at] and idf(memories, scored.frequencies[at]) >= least for at in place)
    }
    hits = [hit.id for hit in scored.top(ANCHOR_MAX_HOLDERS)]
    scores_by_memory = dict(zip(hits, scored.group_scores(hits), strict=True))
    for words in dict.fromkeys((event.full, event.core)):
        if rare.isdisjoint(words):
            continue
        scores = {
            memory: round_score(math.fsum(group_scores[at] for word in words for at in places[word]))
            for memory, group_scores in scores_by_memory.items()
            if all(_holds_word(group_scores, places[word]) for word in words)
        }
        if scores:
            return _unambiguous_anchor(scores, event, reader, as_of)
    return None


def _holds_word(scores: Sequence[float], place: range) -> bool:
    """Return whether a memory holds a word: itself, or all parts of it (``launch-party``)."""
    own, *rest = (scores[at] > 0 for at in place) if place else (False,)
    return own or (bool(rest) and all(rest))


def _unambiguous_anchor(
    scores: Mapping[str, float], event: AnchorEvent, reader: Reader, as_of: int | None
) -> tuple[Record, int] | None:
    """Return the best memory and its time, where all that score nearly as well lie within a week of it.

    Memories that count time from the event themselves (an earlier question, too), and undated passages or imports, do
    not date it.
    """
    heads, records = reader.ranking_metadata(list(scores)), reader.get(list(scores))

    def dates_it(memory: str) -> bool:
        if memory not in heads or memory not in records or (as_of is not None and heads[memory].at > as_of):
            return False
        record = records[memory]
        text = " ".join(record.content[:ANCHOR_MAX_READ].split())
        counts_from_it = any(set(event.core) <= set(other.full) for other in find_events(text))
        return record.is_dated and not counts_from_it

    reporters = sorted(filter(dates_it, scores), key=lambda memory: (-scores[memory], memory))
    least = ANCHOR_CLEAR_SHARE * scores[reporters[0]] if reporters else 0.0
    near = [memory for memory in reporters if scores[memory] >= least]
    if not near:
        return None
    at = [heads[memory].at for memory in near]
    return (records[near[0]], at[0]) if max(at) - min(at) <= ANCHOR_AGREEMENT else None
