"""Entity dictionary: the entities of one visibility key, which of them a text mentions, and how new texts extend it.

A new process reads a dictionary of 100,000 names without further work: each name is stored under its stem, which it
shares with its plural and singular, and words and phrases of a text are looked up one by one. A name counts within a
longer one too: "Docker" also finds Docker Compose (bench/LOG.md: recall +.02).
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate, chain, compress, count
from typing import Final

from scrubjay.entities.discovery import DiscoveryPassage, discover_names
from scrubjay.entities.normalization import (
    NUMBER_ENDS,
    bound_words,
    is_common,
    level_text,
    normalize_name,
    number_ending,
    number_stem,
    other_number,
    required_case,
    search_pattern,
    spread_text,
    text_offset,
    text_offset_after,
)
from scrubjay.frozen import frozen
from scrubjay.models.graph import Edge, Entity, EntityRow, entity_from_row, entity_to_row, merge_entities
from scrubjay.models.ids import entity_id
from scrubjay.models.records import MARK_TAGS, STATUSES, Record, RecordFilter
from scrubjay.storage.interface import Reader, in_batches
from scrubjay.text.markdown import extract_links
from scrubjay.text.normalize import has_unspaced
from scrubjay.text.tokenizer import TermGroup, query_groups

MAX_CACHED_WORDS: Final = 1 << 15
"""Distinct words that are cached, about 3 MB."""
MAX_CACHED_WORD: Final = 40


class NameIndex:
    """Stems of names with the ids of their entities, which may have dropped the name since: none is removed."""

    __slots__ = ("_bearers", "_first_words", "_phrases", "_unspaced")

    def __init__(self) -> None:
        self._bearers: dict[str, str | tuple[str, ...]] = {}
        self._phrases: dict[str, int] = {}
        """First word of names to the number of spaces in the longest."""
        self._unspaced: dict[str, tuple[int, ...]] = {}
        """First character to the lengths of names that may begin or end within a run of letters."""
        self._first_words = _FirstWords(self._bearers, self._phrases)

    def copy(self) -> NameIndex:
        other = NameIndex()
        other._bearers, other._phrases = self._bearers.copy(), self._phrases.copy()
        other._unspaced = self._unspaced.copy()
        other._first_words = _FirstWords(other._bearers, other._phrases)
        return other

    def learn(self, spellings: Iterable[tuple[str, str]]) -> None:
        """Add names, each with the id of its entity."""
        bearers, phrases = self._bearers, self._phrases
        self._first_words.clear()
        for spelling, concept in spellings:
            # `is_plain` and `number_stem` inlined: a new process does this for every name of the dictionary.
            if spelling.isascii() and spelling.replace(" ", "").isalnum() and "  " not in spelling:
                body = spelling.strip().lower()
            else:
                folded, body = _forms(spelling)
                if folded != body:
                    self._add(number_stem(folded), concept)
                if not body:
                    continue
                self._learn_unspaced(body)
            stem = body.rstrip(NUMBER_ENDS)
            if bearers.setdefault(stem, concept) is not concept:
                self._add(stem, concept)
            first, space, rest = body.partition(" ")
            if space and phrases.get(first, 0) <= rest.count(" "):
                phrases[first] = rest.count(" ") + 1

    def bearers(self, stem: str) -> tuple[str, ...]:
        """Return the ids of the entities that have or had a name of a stem."""
        bearers = self._bearers.get(stem, ())
        return (bearers,) if isinstance(bearers, str) else bearers

    def places(self, spaced: str) -> list[tuple[int, int, str, str]]:
        """Return where names may occur in a text of ``spread_text``: start, end, stem and search pattern."""
        bearers, phrases = self._bearers, self._phrases
        words = spaced.split(" ")
        found: list[tuple[int, int, str, str]] = []
        # No Python loop over all words: most of them begin no name.
        hits = list(compress(count(), map(self._first_words.__getitem__, words)))
        letters = list(accumulate(map(len, words))) if hits else []
        for at in hits:
            word = words[at]
            start, end, stem = letters[at] + at - len(word), letters[at] + at, word.rstrip(NUMBER_ENDS)
            if stem in bearers:
                found.append((start, end, stem, f" {word} "))
            for spaces, more in enumerate(letters[at + 1 : at + 1 + phrases.get(word, 0)], at + 1):
                body = spaced[start : more + spaces]
                stem = body.rstrip(NUMBER_ENDS)
                if stem in bearers:
                    found.append((start, more + spaces, stem, f" {body} "))
        if self._unspaced and not spaced.isascii():
            found += self._unspaced_places(spaced)
        return found

    def _unspaced_places(self, spaced: str) -> Iterator[tuple[int, int, str, str]]:
        for start, char in enumerate(spaced):
            for length in self._unspaced.get(char, ()):
                body = spaced[start : start + length]
                stem = number_stem(body)
                if len(body) == length and stem in self._bearers:
                    key = bound_words(body)
                    begin, end = start - (key[0] == " "), start + length + (key[-1] == " ")
                    if len(key) < length + 2 and spaced[begin:end] == key:
                        yield start, start + length, stem, key

    def _add(self, stem: str, concept: str) -> None:
        bearers = self.bearers(stem)
        if concept not in bearers:
            self._bearers[stem] = (*bearers, concept)

    def _learn_unspaced(self, body: str) -> None:
        key = bound_words(body)
        if len(key) < len(body) + 2:
            change = number_ending(body[body.rfind(" ") + 1 :]) if key[-1] == " " else None
            other = len(body) - change[0] + len(change[1]) if change else len(body)
            lengths = {*self._unspaced.get(body[0], ()), len(body), other}
            self._unspaced[body[0]] = tuple(sorted(lengths))


class _FirstWords(dict[str, bool]):
    def __init__(self, bearers: Mapping[str, object], phrases: Mapping[str, int]) -> None:
        super().__init__()
        self._bearers = bearers
        self._phrases = phrases

    def __missing__(self, word: str) -> bool:
        known = bool(word) and (word.rstrip(NUMBER_ENDS) in self._bearers or word in self._phrases)
        if len(word) <= MAX_CACHED_WORD:
            if len(self) >= MAX_CACHED_WORDS:
                self.clear()
            self[word] = known
        return known


def name_stems(spelling: str) -> tuple[str, ...]:
    return tuple({number_stem(form) for form in _forms(spelling)})


def _forms(spelling: str) -> tuple[str, str]:
    words = level_text(spelling)
    return " ".join(words.split()), (search_pattern(spelling) if has_unspaced(spelling) else words).strip(" ")


# In place of a spelling: any that begins with a capital, is in a link or a tag, or is all of a code span.
_CAPITAL: Final = ""
_MARKED: Final = "["
_CODED: Final = "`"
_SPELLINGS: Final = {"capital": _CAPITAL, "coded": _CODED, "marked": _MARKED}

_MARKUP: Final = " \t-*+>#_\"'([|"
"""Markup before the first word of a sentence or a line."""


@frozen
class Mention:
    concept: str
    count: int
    start: int
    end: int


@frozen
class NameOwners:
    """Which entity each spelling means.

    Attributes:
        loose: Search pattern to the entity that it means in any case.
        written: Search pattern to spellings, each with its entity.
    """

    loose: dict[str, str]
    written: dict[str, dict[str, str]]


def name_owners(concepts: Iterable[Entity]) -> NameOwners:
    """Resolve which entity each name means, whatever their order: a name goes before an alias, then the smallest id."""
    ranked = sorted(concepts, key=lambda concept: concept.id)
    loose: dict[str, str] = {}
    written: dict[str, dict[str, str]] = {}
    names = [(concept.name, concept) for concept in ranked]
    aliases = [(alias, concept) for concept in ranked for alias in concept.aliases]
    for name, concept in names + aliases:
        pattern = search_pattern(name)
        if pattern:
            case = required_case(name, concept.kind)
            if case == "any":
                loose.setdefault(pattern, concept.id)
            else:
                written.setdefault(pattern, {}).setdefault(_SPELLINGS.get(case, name), concept.id)
    _add_other_numbers(loose, written)
    return NameOwners(loose, written)


def _add_other_numbers(loose: dict[str, str], written: dict[str, dict[str, str]]) -> None:
    """Add plurals and singulars where no name is spelled so."""
    for key, concept in list(loose.items()):
        change = _number_change(key)
        if change is not None:
            loose.setdefault(f"{key[: -1 - change[0]]}{change[1]} ", concept)
    for key, spellings in list(written.items()):
        change = _number_change(key)
        if change is not None:
            cut, end = change
            table = written.setdefault(f"{key[: -1 - cut]}{end} ", {})
            for spelling, concept in spellings.items():
                if spelling == _CODED:
                    continue
                if spelling not in (_CAPITAL, _MARKED):
                    spelling = spelling[: len(spelling) - cut] + end
                table.setdefault(spelling, concept)


def _number_change(key: str) -> tuple[int, str] | None:
    return number_ending(key[key.rfind(" ", 0, -1) + 1 : -1]) if key[-1] == " " else None


def _owner_of(written: dict[str, str], text: str, start: int, end: int) -> str:
    """Return the entity of an occurrence as it is written, or "".

    A capitalised common word ("Go") means none where every word would be capitalised.
    """
    if _MARKED in written and _is_marked(text, start, end):
        return written[_MARKED]
    if _CODED in written and text[start - 1 : start] == "`" == text[end : end + 1]:
        return written[_CODED]
    spelling = " ".join(text[start:end].split())
    concept = written.get(spelling, "") or (written.get(_CAPITAL, "") if text[start].isupper() else "")
    if concept and spelling[1:].islower() and is_common(spelling.lower()) and _opens_sentence(text, start):
        return ""
    return concept


def _is_marked(text: str, start: int, end: int) -> bool:
    before, after = text[start - 1 : start], text[end : end + 1]
    if before == "#":
        return after not in ("-", "_", "/")
    return after in ("]", "|", "#") if before == "[" else before in ("", "\n") and after in ("", "\n")


def _opens_sentence(text: str, start: int) -> bool:
    before = text[max(0, start - 80) : start].rstrip(_MARKUP)
    return not before or before[-1] in ".!?:\n\u2026"


MAX_EARLIER: Final = 500
"""Stored memories that are searched for the name of a new entity."""
EVERY_STATUS: Final = RecordFilter(statuses=STATUSES)
LOOKUP_BATCH: Final = 200
"""Words that are looked up together."""
MAX_REFERENCES: Final = 32
"""Entities that one memory references; more are a list of names."""

DictionaryCache = dict[str, tuple[int, "EntityDictionary"]]
"""Visibility key to the store's mark and the dictionary of that state."""

normal_form = lru_cache(maxsize=4_096)(normalize_name)


def named_text(record: Record) -> str:
    """Return the text in which a memory's entities are found: its headings, content and tags."""
    headings = [
        name for name in dict.fromkeys((*record.heading_path, record.title)) if name not in record.content
    ]
    return "\n\n".join((*headings, record.content, *_topic_tags(record)))


def _topic_tags(record: Record) -> tuple[str, ...]:
    return tuple(tag for tag in record.tags if tag not in MARK_TAGS)


def earlier_mentions(reader: Reader, rows: Sequence[Entity]) -> list[Record]:
    """Return stored memories that may mention new entities."""
    languages = reader.languages()
    if not languages:
        return []
    # In its normal form: "docker-compose" is also meant by "Docker Compose".
    names = {normalize_name(name) for row in rows for name in (row.name, *row.aliases)}
    frequencies = (name_frequency(reader, name, languages) for name in names)
    rarest = {word: count for word, count in frequencies if word is not None}
    rare = [word for word, count in rarest.items() if count <= MAX_EARLIER]
    # All memories with a rare word are wanted, so many such words are looked up at once.
    lookups = [(batch, LOOKUP_BATCH * MAX_EARLIER) for batch in in_batches(rare, LOOKUP_BATCH)]
    lookups += [([word], MAX_EARLIER) for word, count in rarest.items() if count > MAX_EARLIER]
    found: dict[str, None] = {}
    for words, limit in lookups:
        found |= dict.fromkeys(hit.id for hit in reader.words(words, RecordFilter()).top(limit))
    return list(reader.get(list(found)).values())


def name_frequency(reader: Reader, name: str, languages: Sequence[str]) -> tuple[TermGroup | None, int]:
    """Return the rarest word of a name and how many stored memories hold it; None and 0 if any word is in none."""
    rarest, least = None, 0
    for group in query_groups(name, languages):
        (count,) = reader.frequencies([group])
        if count == 0:
            return None, 0
        if rarest is None or count < least:
            rarest, least = group, count
    return rarest, least


class NameStats:
    """Counts the connected memories that may mention a name; ``apart`` are ids of the other stored ones."""

    def __init__(self, reader: Reader, unconnected: Collection[str], connected: int) -> None:
        self._reader = reader
        self._unconnected = unconnected
        self._connected = connected
        self._languages = reader.languages() or ("en",)
        self._counts: dict[TermGroup, int] = {}

    def count(self, names: Sequence[str]) -> list[int]:
        """Return how many memories have the rarest word of each name."""
        return [self._count(name) if self._connected else 0 for name in names]

    def _count(self, name: str) -> int:
        group, count = name_frequency(self._reader, name, self._languages)
        if group is None or not self._unconnected:
            return count
        if group not in self._counts:
            # All of a common word's memories would take long to list.
            certain = min(count - len(self._unconnected), self._connected)
            if certain < MAX_EARLIER:
                hits = self._reader.words([group], EVERY_STATUS).top(count)
                certain = sum(hit.id not in self._unconnected for hit in hits)
            self._counts[group] = certain
        return self._counts[group]


class EntityDictionary:
    """The entities of one key's viewers, indexed by name; which entity a name means is resolved on first use."""

    def __init__(self, rows: Iterable[Entity] = ()) -> None:
        self._rows: dict[str, tuple[EntityRow, ...]] = {}
        """Id to the concept's rows, by key."""
        self._names = NameIndex()
        self._owners_by_stem: dict[str, NameOwners] = {}
        self._successor: tuple[int, Sequence[Entity], EntityDictionary] | None = None
        self.add(rows)

    def rows(self, concept: str) -> Sequence[Entity]:
        return [entity_from_row(row) for row in self._rows.get(concept, ())]

    def means(self, name: str) -> str | None:
        """Return the id of the entity that a name means, also of a removed one, or None."""
        return self._owner(normal_form(name))

    def _owner(self, folded: str) -> str | None:
        """Prefer entities that are not removed, then a name to an alias, then the smallest id."""
        rows = self._rows_of_stem(number_stem(folded))
        if not rows:
            return None
        shown = {concept.id for concept in merge_entities(rows)}
        ranked = [
            (row.id not in shown, place > 0, row.id)
            for row in rows
            for place, name in enumerate((row.name, *row.aliases))
            if normal_form(name) == folded
        ]
        return min(ranked)[2] if ranked else None

    def _rows_of_stem(self, stem: str) -> list[Entity]:
        return [row for concept in self._names.bearers(stem) for row in self.rows(concept)]

    def _owners(self, stem: str) -> NameOwners:
        if stem not in self._owners_by_stem:
            self._owners_by_stem[stem] = name_owners(merge_entities(self._rows_of_stem(stem)))
        return self._owners_by_stem[stem]

    def extended(self, rows: Iterable[Entity]) -> EntityDictionary:
        """Return a copy with more rows."""
        found = self._copy()
        found.add(rows)
        return found

    def updated(self, rows: Sequence[EntityRow]) -> EntityDictionary:
        """Return a copy with the current rows of the store."""
        current, old = _rows_by_id(rows), self._rows
        changed = {entity: own for entity, own in current.items() if old.get(entity) != own}
        found = self._copy()
        found._replace(changed, old.keys() - current.keys())
        return found

    def add(self, rows: Iterable[Entity]) -> None:
        """Add rows; each replaces that of its key and entity."""
        changed: dict[str, tuple[EntityRow, ...]] = {}
        for row in map(entity_to_row, rows):
            others = changed.get(row[0]) or self._rows.get(row[0], ())
            changed[row[0]] = tuple(sorted((*(other for other in others if other[1] != row[1]), row)))
        self._replace(changed)

    def _copy(self) -> EntityDictionary:
        found = copy.copy(self)
        found._rows = self._rows.copy()
        found._owners_by_stem = self._owners_by_stem.copy()
        found._names = self._names.copy()
        found._successor = None
        return found

    def _replace(self, changed: dict[str, tuple[EntityRow, ...]], gone: Iterable[str] = ()) -> None:
        before = [self._rows.pop(concept, ()) for concept in (*changed, *gone)] if self._rows else ()
        self._rows |= changed
        if self._owners_by_stem:  # which depend on all entities of a stem
            for spelling, _ in _names_with_ids(chain.from_iterable((*before, *changed.values()))):
                for of in name_stems(spelling):
                    self._owners_by_stem.pop(of, None)
        self._names.learn(_names_with_ids(chain.from_iterable(changed.values())))

    def set_successor(self, mark: int, rows: Sequence[Entity], successor: EntityDictionary) -> None:
        """Set the dictionary that replaces this one once these rows are written and the store has this mark."""
        self._successor = mark, rows, successor

    def successor(self, reader: Reader, mark: int) -> EntityDictionary | None:
        """Return the successor if the store has its mark and rows, since then nothing else has changed."""
        if self._successor is None or self._successor[0] != mark:
            return None
        _, rows, successor = self._successor
        stored = set(reader.concepts([row.id for row in rows]))
        return successor if stored.issuperset(rows) else None

    def discover(
        self,
        records: Sequence[Record],
        secret: bytes,
        key: str,
        at: int,
        stored_mentions: Callable[..., Sequence[int]],
    ) -> list[Entity]:
        """Return the entities that memories introduce, as rows of their key."""
        new: list[Entity] = []
        names: set[str] = set()
        for item in discover_names([_discovery_passage(record) for record in records], stored_mentions):
            name = normal_form(item.name)
            # A removed name is known, too, and one in the other number is found by the known one.
            is_known = name in names or self._owner(name) is not None
            other = other_number(name)
            is_known = is_known or other in names or self._owner(other) is not None
            if name and not is_known:
                aliases = {
                    alias
                    for alias in item.aliases
                    if alias != item.name and self.means(alias) is None and normal_form(alias) not in names
                }
                new.append(
                    Entity(entity_id(secret, name), key, item.name, tuple(sorted(aliases)), item.kind, at)
                )
                names.update(normal_form(spelling) for spelling in (item.name, *aliases))
        return new

    def match(self, text: str) -> tuple[Mention, ...]:
        """Return the entities that a text mentions, in the order of their first mention."""
        spaced, origins = spread_text(text)
        hits: list[tuple[int, int, int, int, str, dict[str, str] | None]] = []
        for start, end, stem, key in self._names.places(spaced):
            owners = self._owners(stem)
            concept, written = owners.loose.get(key, ""), owners.written.get(key)
            if concept or written:
                hits.append(
                    (end + (key[-1] == " "), start - (key[0] == " "), start, end - 1, concept, written)
                )
        hits.sort(key=lambda hit: hit[:2])
        mentions: dict[str, tuple[int, int, int]] = {}
        for _, _, first, last, concept, written in hits:
            start, end = text_offset(first, origins), text_offset_after(last, origins)
            if written:
                concept = _owner_of(written, text, start, end) or concept
            if concept:
                count, start, end = mentions.get(concept, (0, start, end))
                mentions[concept] = (count + 1, start, end)
        found = (Mention(concept, *mention) for concept, mention in mentions.items())
        return tuple(sorted(found, key=lambda mention: (mention.start, mention.end, mention.concept)))

    def references(self, record: Record, at: int, key: str | None = None) -> list[Edge]:
        """Return the edges from a memory to the entities it mentions; 1, 2, 3 mentions weigh 1/2, 3/4, 7/8."""
        ranked = sorted(
            self.match(named_text(record)), key=lambda mention: (-mention.count, mention.concept)
        )[:MAX_REFERENCES]
        edges = []
        for mention in ranked:
            weight = 1 - 0.5 ** min(mention.count, 20)
            edges.append(
                Edge(record.id, "references", mention.concept, key or record.key, weight, at, rule="name")
            )
        return edges


def _discovery_passage(record: Record) -> DiscoveryPassage:
    links = extract_links(record.content) if "[[" in record.content else ()
    pages = tuple(target.name for target in links if target.rule == "wikilink" and target.name)
    path = (
        f"{record.place.source}/{record.place.path}"
        if record.place is not None
        else record.session or record.id
    )
    return DiscoveryPassage(
        record.content, record.title, record.heading_path, _topic_tags(record), pages, path
    )


def _rows_by_id(rows: Sequence[EntityRow]) -> dict[str, tuple[EntityRow, ...]]:
    found: dict[str, tuple[EntityRow, ...]] = {row[0]: (row,) for row in rows}
    if len(found) < len(rows):  # several keys know of one
        found = {}
        for row in rows:
            found[row[0]] = tuple(sorted((*found.get(row[0], ()), row)))
    return found


def _names_with_ids(rows: Iterable[EntityRow]) -> Iterator[tuple[str, str]]:
    for concept, _, name, aliases, _, _ in rows:
        yield name, concept
        if aliases:
            for alias in aliases:
                yield alias, concept


def cached_dictionary(reader: Reader, key: str, cache: DictionaryCache) -> EntityDictionary:
    """Return the dictionary of a key's viewers, which is updated only if their entities have changed."""
    mark = reader.concept_mark()
    cached_mark, dictionary = cache.get(key, (None, EntityDictionary()))
    if cached_mark != mark:
        successor = dictionary.successor(reader, mark)
        dictionary = successor if successor is not None else dictionary.updated(reader.concept_rows())
        cache[key] = mark, dictionary
    return dictionary
