"""Entity discovery: find the names that texts themselves introduce.

Evidence is gathered for each word or phrase over all passages at once, counted and judged. A wiki link, a link whose
text names its target, a tag, and a long form with its abbreviation count at once; capitals count within a sentence
(not in German), code when several passages show it, an ordinary word when the texts define it and use it far more
often than English does. Weekdays, months, generic headings and common words never count.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Final

import ahocorasick

from scrubjay.entities.normalization import (
    CALENDAR_WORDS,
    WORDS_APART,
    blot_addresses,
    is_common,
    is_everyday,
    is_generic,
    level_text,
    name_objection,
    normalize_name,
    to_plural,
    to_singular,
)
from scrubjay.frozen import frozen
from scrubjay.text.language import detect_language
from scrubjay.text.tokenizer import UNKNOWN_RANK, keyness, word_rank

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(slots=True)
class NameEvidence:
    """Evidence that one phrase is a name.

    Attributes:
        spellings: Spelling to how often it was found.
        found: Kind of evidence to how often: ``capital`` (within a sentence), ``odd`` (``macOS``, ``HTTP``),
            ``code``, ``bare`` (code without backticks), ``title`` (capitalised words that open a sentence or an item),
            ``italic``, ``heading`` (a whole one), ``link`` (whose address holds the name), ``page`` (a wiki link, or a
            link whose text names its page), ``tag``.
        separated: Normalized spellings whose words are separated by more than a space (``std::io``).
        aliases: Abbreviations that follow it in brackets.
        headings: Headings with it, each once a document.
        capital: Those in which it begins with a capital outside code.
        closing: Share of its occurrences outside code that end a phrase: a third to two thirds for nouns, a tenth for
            adjectives and verbs.
    """

    spellings: dict[str, int] = field(default_factory=dict)
    found: dict[str, int] = field(default_factory=dict)
    separated: set[str] = field(default_factory=set)
    aliases: list[str] = field(default_factory=list)
    headings: int = 0
    occurrences: int = 0
    passages: int = 0
    capital: int = 0
    lowercase: int = 0
    code: int = 0
    closing: float = 0.0


@frozen
class DiscoveredName:
    """A name that texts use.

    Attributes:
        aliases: Its abbreviation, and itself in lower case if it is also written so; sorted.
    """

    name: str
    aliases: tuple[str, ...]
    kind: str
    support: int


PASSAGE_BREAK: Final = "\n\x1e\n"
"""Separates passages; no pattern matches across it."""
CODE_SPAN: Final = re.compile(r"`([^`\n]{2,60})`")
CODE_MARK: Final = "\x04"
_FENCE: Final = re.compile(
    r"\n[ \t]*(?:- )?(`{3,}+|~{3,}+)[^`\n]*+\n.*?(?:\n[ \t]*\1(?=[ \t]*\n)|(?=\n\x1e)|\Z)", re.DOTALL
)
_COMMENT: Final = re.compile(r"<!--[^<>]{0,2000}+>")
_ESCAPE: Final = re.compile(r"\\[nrt](?![a-z])")
r"""A line break in program text: there is no "nHuman" in "\nHuman"."""


@frozen
class JoinedPassages:
    """Passages as one text; all three have the same length.

    Attributes:
        prose: Also without code spans, which become ``CODE_MARK``.
    """

    listed: str
    whole: str
    prose: str


def join_passages(texts: Sequence[str]) -> JoinedPassages:
    listed = _COMMENT.sub(_blank_out, _FENCE.sub(_blank_out, "\n" + PASSAGE_BREAK.join(texts)))
    text = blot_addresses(_ESCAPE.sub("  ", listed), " ")
    return JoinedPassages(listed, text, CODE_SPAN.sub(_mask_code, text))


def select_passages(text: str, texts: Sequence[str], chosen: Sequence[bool]) -> str:
    parts, start = [], 1
    for passage, wanted in zip(texts, chosen, strict=True):
        if wanted:
            parts.append(text[start : start + len(passage)])
        start += len(passage) + len(PASSAGE_BREAK)
    return PASSAGE_BREAK.join(parts)


def _blank_out(match: re.Match[str]) -> str:
    return "\n".join(" " * len(line) for line in match.group().split("\n"))


def _mask_code(match: re.Match[str]) -> str:
    return f"`{CODE_MARK * len(match[1])}`"


_LINK: Final = re.compile(r"\[(?<!!\[)([^\[\]\n]{2,60})\]\(([^()\s]{1,500})")
_URL_START: Final = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:|//")
_FOLDER_FILES: Final = ("index.", "readme.")
"""Files that are named after their folder."""


def count_link_names(text: str) -> tuple[Counter[str], Counter[str]]:
    """Return how often the texts of links name their page, and how often their web address."""
    links = [(name, address) for name, address in _LINK.findall(text) if "://" not in name]
    pages = Counter(name for name, address in links if _names_page(name, address))
    return pages, Counter(name for name, address in links if _names_site(name, address))


def _names_site(name: str, address: str) -> bool:
    return address.startswith("http") and _bare_name(name) in _bare_name(address)


def _names_page(name: str, address: str) -> bool:
    """Return whether a link's text names its file; an everyday word does so by chance ("see our [team](team.md)")."""
    if _URL_START.match(address) or (name.islower() and is_everyday(name) and not is_generic(name)):
        return False
    *folders, file = address.partition("#")[0].split("/")
    if folders and file.lower().startswith(_FOLDER_FILES):
        file = folders[-1]
    return bool(file) and to_singular(_bare_name(name)) == to_singular(_bare_name(file.partition(".")[0]))


def _bare_name(name: str) -> str:
    return "".join(filter(str.isalnum, name.lower()))


_MAX_PHRASE: Final = 4
"""Words of a heading's phrase, and of most names; longer ones are clauses."""

_MAX_MARKED: Final = 12
"""Words of the name of a page or of code: claude-3-5-sonnet-20241022 has five."""

_ITALICS: Final = (
    re.compile(r"\*(?<![\w*]\*)([^\W_][^*_\n,;:!?/]{1,40}?)\*(?![\w*])"),
    re.compile(r"_(?<![\w_]_)([^\W_][^*_\n,;:!?/]{1,40}?)_(?![\w_])"),
)
_NAME: Final = r"[A-Z]\w*+(?>(?:[.+&'\u2019-]\w++)*)(?:\+\+)?"
_GAP: Final = r"[ \n](?:(?<= )|(?<=[^\n]{40}\n))"
"""Between words of one sentence: a line end only in a wrapped paragraph."""
_MARKS: Final = r"[\[(*_\"\u201c']{0,3}"
_CAPITALS: Final = re.compile(
    rf"[ \n](?<=[a-z0-9,;)\]][ \n])(?:(?<= )|(?<=[^\n]{{40}}\n)){_MARKS}"
    rf"({_NAME}(?:{_GAP}(?:(?:of|of the|for|de|&){_GAP})?{_NAME})*)"
)
_TITLES: Final = re.compile(rf"[\n.:!?|-](?:(?<=\n)[ \t]*(?:[-*+] |\d+\. )?| ){_MARKS}({_NAME}(?: {_NAME})+)")
# Possessive and bounded: an unbroken megabyte of base64 must take linear time.
_ODD: Final = re.compile(r"[A-Z](?<![A-Za-z0-9_].)(?:[a-z0-9]{0,40}[A-Z]|[A-Z0-9])[A-Za-z0-9]{0,40}+(?!\w)")
_CAMEL_TAIL: Final = re.compile(r"[A-Z](?<=[a-z].)[A-Za-z0-9]{0,40}+(?!\w)")
_CAMEL_HEAD: Final = re.compile(r"(?<!\w)[a-z]{1,20}$")
_BARE: Final = re.compile(
    r"[_-](?:(?<=[A-Za-z0-9]_)[A-Za-z0-9_]{1,60}+|(?<=[a-z]-)\d[a-z0-9]{0,20}+(?>(?:[.-][a-z0-9]{1,20}+){0,9})"
    r"|(?<=[ \n(]-)-[a-z][a-z-]{1,30}+)(?:\(\))?(?![\w/])"
)
"""End of code without backticks, as in text from the web."""
_BEFORE_BARE: Final = re.compile(r"(?<![\w/.:=&?{#-])(?:[A-Za-z][A-Za-z0-9]{0,39}|[a-z]+(?:-[a-z]+){1,5})$")
_BRACKETED: Final = re.compile(r"\(([A-Z][A-Za-z&]{1,7}?)s?\)")
_SMALL_WORDS: Final = frozenset(("of", "and", "for", "the", "de", "to", "in"))
"""Words that an abbreviation skips."""
_IDENTIFIER: Final = re.compile(r"[@$.]?[A-Za-z_][\w.:!+#-]*(?:<[^<>]*>)?(?:\(\))?|[a-z][\w-]+ [a-z][\w-]+")
_NUMBERING: Final = re.compile(
    r"^(?:(?:chapter|part|section|step|appendix|day|week|phase|lesson|exercise)\s+)?[\dIVX.]*[.:)]?\s*[-\u2013\u2014:]?\s+",
    re.I,
)
_POSSESSIVE: Final = re.compile(r"['\u2019]s?$")


def gather_candidates(
    texts: Sequence[str],
    capitals_count: Sequence[bool],
    headings: Iterable[Collection[str]],
    passages: Sequence[tuple[str, str]],
) -> tuple[JoinedPassages, dict[str, NameEvidence]]:
    """Return the joined passages, and the evidence of possible names by normal form, their last word in the singular.

    Args:
        texts: The passages.
        capitals_count: Whether capitals within sentences are evidence in each.
        headings: The distinct headings of each document.
        passages: Names that people marked, each with its kind, ``page`` or ``tag``.
    """
    joined = join_passages(texts)
    prose = joined.prose
    pages, addressed = count_link_names(joined.listed)
    phrases, wholes = _heading_phrases(headings)
    surfaces = {
        "code": Counter(span for span in CODE_SPAN.findall(joined.whole) if _IDENTIFIER.fullmatch(span)),
        "bare": Counter(_bare_identifiers(prose)),
        "italic": Counter(phrase for italic in _ITALICS for phrase in italic.findall(prose)),
        "capital": Counter(
            _CAPITALS.findall(prose if all(capitals_count) else select_passages(prose, texts, capitals_count))
        ),
        "title": Counter(_TITLES.findall(prose)),
        "odd": Counter((*_ODD.findall(prose), *_camel_case_names(prose))),
        "heading": wholes,
        "link": addressed,
        "page": pages + Counter(name for name, kind in passages if kind == "page"),
        "tag": Counter(name for name, kind in passages if kind == "tag"),
    }
    evidence = _group_evidence(surfaces)
    _add_abbreviations(evidence, prose)
    for form, count in phrases.items():
        if form in evidence:
            evidence[form].headings += count
    return joined, evidence


def _heading_phrases(documents: Iterable[Collection[str]]) -> tuple[Counter[str], Counter[str]]:
    listed = [
        _NUMBERING.sub("", heading, count=1).strip(" .:!?") for headings in documents for heading in headings
    ]
    wholes = Counter(listed)
    phrases: Counter[str] = Counter()
    for form, count in zip(_normalize_all(list(wholes)), wholes.values(), strict=True):
        words = form.split()
        for size in range(1, _MAX_PHRASE + 1):
            for at in range(len(words) - size + 1):
                phrases[to_singular(" ".join(words[at : at + size]))] += count
    return phrases, wholes


def _normalize_all(surfaces: Sequence[str]) -> Iterator[str]:
    joined = f" {WORDS_APART} ".join(surface.replace(WORDS_APART, " ") for surface in surfaces)
    return (part.strip() for part in level_text(joined).split(WORDS_APART)) if surfaces else iter(())


def _group_evidence(surfaces: dict[str, Counter[str]]) -> dict[str, NameEvidence]:
    evidence: dict[str, NameEvidence] = {}
    for kind, counted in surfaces.items():
        for levelled, (surface, count) in zip(_normalize_all(list(counted)), counted.items(), strict=True):
            form = " ".join(levelled.split())
            longest = _MAX_MARKED if kind in ("bare", "code", "page") else _MAX_PHRASE
            if not form or form.count(" ") >= longest:
                continue
            bare = _POSSESSIVE.sub("", " ".join(surface.split())).strip("_`*").rstrip(".:-")
            own = form.removesuffix(" s") if _POSSESSIVE.search(surface) else form
            if surface[-2:].islower() or (surface[-2:-1].isupper() and surface[-1:] == "s"):
                own = to_singular(own)
            item = evidence.setdefault(own, NameEvidence())
            item.spellings[bare] = item.spellings.get(bare, 0) + count
            item.found[kind] = item.found.get(kind, 0) + count
            if "  " in levelled:
                item.separated.add(levelled)
    return evidence


def _add_abbreviations(evidence: dict[str, NameEvidence], prose: str) -> None:
    for match in _BRACKETED.finditer(prose):
        letters = match[1].upper()
        words = prose[max(0, match.start() - 100) : match.start()].split()
        for count in range(2, min(len(words), len(letters) + 3) + 1):
            tail = words[-count:]
            parts = [
                part for word in tail for part in word.split("-") if part and part.lower() not in _SMALL_WORDS
            ]
            if "".join(part[0] for part in parts).upper() == letters:
                long = " ".join(tail).strip("*_\"'[(")
                item = evidence.setdefault(to_singular(normalize_name(long)), NameEvidence())
                item.spellings[long] = item.spellings.get(long, 0) + 1
                item.aliases.append(match[1])
                break


def _camel_case_names(prose: str) -> Iterator[str]:
    for match in _CAMEL_TAIL.finditer(prose):
        before = _CAMEL_HEAD.search(prose, max(0, match.start() - 21), match.start())
        if before is not None:
            yield before.group() + match.group()


def _bare_identifiers(prose: str) -> Iterator[str]:
    for match in _BARE.finditer(prose):
        start = match.start()
        before = _BEFORE_BARE.search(prose, max(0, start - 41), start)
        if match[0].startswith("--") or before is not None:
            yield (before.group() if before else "") + match.group()


_MAX_PHRASE_END: Final = 4
_PHRASE_ENDS: Final = (
    "is are was and or to in of that for with on from has have can will as by at but if so than "
    "may must do not when who"
)
"""English words before which a noun phrase ends."""


def count_occurrences(
    evidence: dict[str, NameEvidence], joined: JoinedPassages, passage_sizes: Sequence[int]
) -> None:
    """Count how all phrases occur in the passages, in place."""
    import numpy as np

    if not evidence:
        return
    automaton = ahocorasick.Automaton(ahocorasick.STORE_INTS)
    sizes: list[int] = []
    owners: list[int] = []
    plurals = ((owner, (to_plural(form),)) for owner, form in enumerate(evidence))
    own = ((owner, (form, *item.separated)) for owner, (form, item) in enumerate(evidence.items()))
    # Names after plurals: macos is no plural of "maco".
    for owner, spellings in chain(plurals, own):
        for spelling in spellings:
            automaton.add_word(f" {spelling} ", len(sizes))
            sizes.append(len(spelling))
            owners.append(owner)
    automaton.make_automaton()
    hits = np.fromiter(
        chain.from_iterable(automaton.iter(f" {level_text(joined.whole, blotted=True)} ")), np.int64
    ).reshape(-1, 2)
    if not len(hits):
        return
    first = hits[:, 0] - np.array(sizes)[hits[:, 1]] - 1
    owner_of = np.array(owners)[hits[:, 1]]
    bounds = np.cumsum([size + len(PASSAGE_BREAK) for size in passage_sizes])
    passage = np.searchsorted(bounds, first - 1, side="right")
    padded = (joined.prose + " " * (_MAX_PHRASE_END + 2)).encode("utf-32-le", "surrogatepass")
    chars = np.frombuffer(padded, "<u4")[first]
    high = np.isin(chars, [int(char) for char in np.unique(chars) if chr(char).isupper()])
    case = np.where(chars == ord(CODE_MARK), 0, np.where(high, 1, 2))
    ends = _phrase_ends(np.frombuffer(padded, "<u4"), first + np.array(sizes)[hits[:, 1]]) & (case != 0)
    # Distinct by phrase, then passage, then case.
    occurrences = np.sort((owner_of * len(passage_sizes) + passage) * 3 + case)
    occurrences = occurrences[np.append(True, occurrences[1:] != occurrences[:-1])]
    phrases_seen, cases = occurrences // (3 * len(passage_sizes)), occurrences % 3
    first_of_passage = np.append(True, occurrences[1:] // 3 != occurrences[:-1] // 3)
    by_case = [phrases_seen[cases == value] for value in (0, 1, 2)]
    chosen = (owner_of, phrases_seen[first_of_passage], *by_case)
    plain = (owner_of[case != 0], owner_of[ends])
    columns = [np.bincount(owners, minlength=len(evidence)).tolist() for owners in (*chosen, *plain)]
    for item, *figures in zip(evidence.values(), *columns, strict=True):
        item.occurrences, item.passages, item.code, item.capital, item.lowercase = figures[:5]
        item.closing = figures[6] / max(1, figures[5])


def _phrase_ends(chars: NDArray[np.uint32], behind: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return for each end of a word whether a phrase ends there: at punctuation or before a function word."""
    import numpy as np

    ends: NDArray[np.bool_] = np.isin(chars[behind], [ord(mark) for mark in ".,;:)!?"])
    spaced = np.isin(chars[behind], (ord(" "), ord("\n")))
    for size in range(2, _MAX_PHRASE_END + 1):
        after = chars[behind[:, None] + np.arange(1, size + 2)].astype(np.int64)
        words = [f"{word} " for word in _PHRASE_ENDS.split() if len(word) == size]
        weights = 128 ** np.arange(size + 1)
        known = [
            sum(ord(char) * int(weight) for char, weight in zip(word, weights, strict=True)) for word in words
        ]
        ends |= spaced & np.isin((np.minimum(after, 127) * weights).sum(axis=1), known)
    return ends


MIN_PASSAGES: Final = 2
"""Passages with a name in capitals or code: one may be a slip, or an only mention."""
MIN_PASSAGES_WEAK: Final = 3
"""Passages with a plain word in backticks, or a phrase in lower case."""
TERM_KEYNESS: Final = 12
"""Use of a defined word (italic, and in a heading), relative to English."""
OWN_KEYNESS: Final = 100
"""Use relative to English from which a word is a name in any case."""
CLOSING_SHARE: Final = 0.25
"""Minimum share of a noun's occurrences that end a phrase: thread .63, string .27, immutable .23."""
LOWERCASE_PER_CAPITAL: Final = 4
"""Uses of a name in lower case for each capital or link: git is a name, flavor is none."""
RARE_RANK: Final = 8_000
"""Rank of a word that is rare in English."""
PLAIN_CODE_USES: Final = 10
"""Uses in backticks from which even ``Result`` is a name, as written."""
EVERYDAY_RANK: Final = 3_000
"""Rank below which capitals are often emphasis ("Director"): five of six uses must have one."""
_SHORT_NAME: Final = 3
_MAX_TERM: Final = 3

_NUMBERED: Final = re.compile(
    r"(?:listing|chapter|figure|step|part|section|appendix|table|phase|week|day|quarter|q|fy)s?(?: ?\d.*)?"
)

_HONORIFICS: Final = frozenset(("Dr", "Mr", "Mrs", "Ms", "Prof", "St"))


def is_possible_name(form: str, evidence: NameEvidence) -> bool:
    """Return whether a phrase could be an entity at all, before it is counted."""
    name = _commonest(evidence.spellings, evidence.spellings)
    often = evidence.found.get("code", 0) >= (MIN_PASSAGES_WEAK if name[:1].isupper() else PLAIN_CODE_USES)
    refusal = not often and name_objection(name, given=True, folded=form)
    if _NUMBERED.fullmatch(form) or name in _HONORIFICS or form.endswith("n_t") or refusal:
        return False
    marked = "page" in evidence.found or "tag" in evidence.found or evidence.aliases
    return bool(marked or often or not all(map(is_common, form.split(" "))))


def judge_phrase(form: str, evidence: NameEvidence, words: int, stored: int = 0) -> DiscoveredName | None:
    name = _commonest(evidence.spellings, evidence.spellings)
    if "page" in evidence.found:
        is_frequent = keyness(form, evidence.occurrences, words) >= OWN_KEYNESS
        return _discovered(name, "page", evidence, *((form,) if is_frequent and name.isalpha() else ()))
    if "tag" in evidence.found:
        return _discovered(name, "tag", evidence)
    may_be_site = evidence.lowercase <= LOWERCASE_PER_CAPITAL * evidence.found.get("link", 0) and not all(
        map(_is_plain, form.split(" "))
    )
    if "link" in evidence.found and may_be_site and (word_rank(form) > RARE_RANK or name != name.lower()):
        return _discovered(name, "name", evidence, *((form,) if evidence.lowercase else ()))
    if evidence.aliases:
        return _discovered(name, "name", evidence)
    if "bare" in evidence.found and _count_uses(evidence, "bare", "code") + stored >= MIN_PASSAGES:
        return _discovered(name, "code", evidence)
    if " " in form:
        return _judge_words(form, name, evidence, stored)
    return _judge_word(form, name, evidence, words, stored)


def _discovered(name: str, kind: str, evidence: NameEvidence, *more: str) -> DiscoveredName:
    aliases = sorted({*evidence.aliases, *more} - {name})
    return DiscoveredName(name, tuple(aliases), kind, evidence.passages)


def _judge_word(
    form: str, name: str, evidence: NameEvidence, words: int, stored: int
) -> DiscoveredName | None:
    times = keyness(form, evidence.occurrences, words)
    if _is_term(form, evidence, times) and evidence.lowercase > evidence.capital:
        return _discovered(_term_name(evidence), "heading", evidence)
    named, coded = _judge_capitals(form, evidence, times, stored), _judge_code(form, name, evidence, stored)
    if named and coded and form in evidence.spellings and evidence.code >= evidence.lowercase:
        return _discovered(named.name, "name", evidence, form)  # Cargo is what `cargo` runs
    return named or coded


def _judge_capitals(form: str, evidence: NameEvidence, times: float, stored: int) -> DiscoveredName | None:
    capitals = [spelling for spelling in evidence.spellings if spelling != spelling.lower()]
    capital = evidence.found.get("capital", 0) + evidence.found.get("odd", 0)
    if not capitals or not capital or _is_plain(form):
        return None
    name, place = _commonest(capitals, evidence.spellings), word_rank(form)
    odd_uses = min(evidence.found.get("odd", 0), evidence.passages) if name[0].islower() else 0  # macOS
    lowercase, code = max(0, evidence.lowercase - odd_uses), _code_uses(evidence)
    is_frequent = (
        place > RARE_RANK
        and times >= OWN_KEYNESS
        and lowercase <= LOWERCASE_PER_CAPITAL * capital
        and not name.isupper()
    )
    is_frequent = is_frequent or (place >= UNKNOWN_RANK and code > 0 and lowercase <= 2 * capital)
    known = min(capital, evidence.passages) + code + (stored if place > RARE_RANK else 0)
    share = 5 if place < EVERYDAY_RANK else 1
    if known < MIN_PASSAGES or (lowercase * share > capital and not is_frequent):
        return None
    short = name.isupper() and len(name) <= _SHORT_NAME  # TS is TypeScript, ts is somebody's variable
    loose = lowercase and not short and (is_frequent or (2 * lowercase <= capital and place > RARE_RANK))
    return _discovered(name, "name", evidence, *((form,) if loose else ()))


def _judge_code(form: str, name: str, evidence: NameEvidence, before: int) -> DiscoveredName | None:
    uses = _code_uses(evidence)
    if not uses:
        return None
    if name.isalpha() and name[0].isupper() and name[1:].islower():
        enough = PLAIN_CODE_USES if _is_plain(form) else MIN_PASSAGES_WEAK
    elif form.isalpha():
        if is_generic(form) and not is_common(form):
            return None
        if is_everyday(form):
            enough = PLAIN_CODE_USES
        elif word_rank(form) < UNKNOWN_RANK and evidence.lowercase > 2 * evidence.code:
            return None
        elif len(form) < _SHORT_NAME:
            enough = PLAIN_CODE_USES
        else:
            enough = MIN_PASSAGES if word_rank(form) > RARE_RANK else MIN_PASSAGES_WEAK
    else:  # user_name, index.html: often one example's own
        enough = MIN_PASSAGES_WEAK if name.islower() else MIN_PASSAGES
    # Stored memories hold the word, as code or not: of an everyday word that says nothing.
    stored = 0 if form.isalpha() and is_everyday(form) else before
    return _discovered(name, "code", evidence) if uses + stored >= enough else None


def _judge_words(form: str, name: str, evidence: NameEvidence, stored: int) -> DiscoveredName | None:
    words = form.split(" ")
    plain = [_is_plain(word) for word in words]
    capitals = [spelling for spelling in evidence.spellings if spelling != spelling.lower()]
    within = evidence.found.get("capital", 0) + evidence.found.get("odd", 0)
    written = within + (0 if any(plain) else evidence.found.get("title", 0))
    enough = MIN_PASSAGES_WEAK if all(plain) else MIN_PASSAGES
    # A part of longer headings that are quoted in full: "Run Code Simultaneously".
    quoted = len(words) > MIN_PASSAGES and evidence.headings and "heading" not in evidence.found
    if (
        capitals
        and not quoted
        and written
        and written + _code_uses(evidence) + stored >= enough
        and evidence.lowercase <= written
        and min(map(len, words)) > 1
    ):
        loose = (form,) if evidence.lowercase and within else ()
        return _discovered(_commonest(capitals, evidence.spellings), "name", evidence, *loose)
    if _code_uses(evidence) >= (MIN_PASSAGES_WEAK if " " in name else MIN_PASSAGES):
        return _discovered(name, "code", evidence)
    if (
        len(words) > _MAX_TERM
        or all(plain)
        or evidence.passages < MIN_PASSAGES_WEAK
        or evidence.closing < CLOSING_SHARE
    ):
        return None
    if not any(map(is_common, words)) and (
        "italic" in evidence.found or (evidence.headings and not plain[-1])
    ):
        return _discovered(_term_name(evidence), "heading", evidence)
    return None


def _term_name(evidence: NameEvidence) -> str:
    lowercase = [spelling for spelling in evidence.spellings if spelling.islower()]
    return _commonest(lowercase or evidence.spellings, evidence.spellings)


def _commonest(spellings: Iterable[str], counts: Mapping[str, int]) -> str:
    return max(spellings, key=lambda spelling: (counts[spelling], spelling))


def _count_uses(evidence: NameEvidence, *kinds: str) -> int:
    return min(sum(evidence.found.get(kind, 0) for kind in kinds), evidence.passages)


def _code_uses(evidence: NameEvidence) -> int:
    return min(evidence.found.get("code", 0), evidence.code)


def _is_plain(word: str) -> bool:
    return word in CALENDAR_WORDS or len(word) == 1 or word.isdigit() or is_generic(word)


def _is_term(form: str, evidence: NameEvidence, times: float) -> bool:
    """Return whether these texts define an ordinary-looking word."""
    if (
        _is_plain(form)
        or word_rank(form) < EVERYDAY_RANK
        or evidence.closing < CLOSING_SHARE
        or evidence.passages < MIN_PASSAGES_WEAK
    ):
        return False
    return bool(evidence.found.get("italic", 0) and evidence.headings and times >= TERM_KEYNESS)


LANGUAGE_SAMPLE: Final = 1_000
"""Characters of a document from which its language is detected."""
ENOUGH_MEMORIES: Final = 1_000
"""Stored mentions that would decide any doubtful name."""
PART_RATIO: Final = 1.1
"""Occurrences that a part ("Francisco") must have, relative to its whole, to be a name by itself."""
_LETTERS_A_WORD: Final = 6
"""Characters of an English word and its space."""


@frozen
class DiscoveryPassage:
    """One passage as discovery reads it.

    Attributes:
        title: Its nearest heading, or its document's name.
        heading_path: Headings above it, outermost first.
    """

    text: str
    title: str = ""
    heading_path: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    path: str = ""


def discover_names(
    passages: Sequence[DiscoveryPassage],
    stored_counts: Callable[[Sequence[str]], Sequence[int]] | None = None,
) -> tuple[DiscoveredName, ...]:
    """Return the names that passages use, the best supported first.

    Passages of a document come together; ``stored_counts`` returns how many stored memories mention each name, which
    adds to its support.
    """
    headings: dict[str, dict[str, None]] = {}
    for passage in passages:
        headings.setdefault(passage.path, {}).update(dict.fromkeys((*passage.heading_path, passage.title)))
    texts = [passage.text for passage in passages]
    joined, gathered = gather_candidates(
        texts,
        _are_capitals_evidence(passages),
        headings.values(),
        [
            *((name, "page") for passage in passages for name in passage.links),
            *((tag, "tag") for passage in passages for tag in passage.tags),
        ],
    )
    evidence = {form: own for form, own in gathered.items() if is_possible_name(form, own)}
    sizes = [len(text) for text in texts]
    count_occurrences(evidence, joined, sizes)
    words = sum(sizes) // _LETTERS_A_WORD
    found = {form: judge_phrase(form, own, words) for form, own in evidence.items()}
    if stored_counts is not None:
        doubtful = [
            form
            for form, judged in found.items()
            if judged is None and judge_phrase(form, evidence[form], words, ENOUGH_MEMORIES)
        ]
        for form, before in zip(doubtful, stored_counts(doubtful) if doubtful else (), strict=True):
            found[form] = judge_phrase(form, evidence[form], words, before)
    names = {form: judged for form, judged in found.items() if judged is not None}
    for form in list(names):
        for part in _subphrases(form):
            common = part in names and evidence[part].occurrences > PART_RATIO * evidence[form].occurrences
            if part in names and not common and names[part].kind == "name":
                del names[part]
    return tuple(sorted(names.values(), key=lambda name: (-name.support, name.name)))


def _are_capitals_evidence(passages: Sequence[DiscoveryPassage]) -> list[bool]:
    """Return for each passage whether capitals within a sentence are evidence; German capitalises all nouns."""
    german: dict[str, bool] = {}
    for passage in passages:
        if passage.path not in german:
            german[passage.path] = detect_language(passage.text[:LANGUAGE_SAMPLE]) == "de"
    return [not german[passage.path] for passage in passages]


def _subphrases(form: str) -> Iterator[str]:
    words = form.split(" ")
    for size in range(1, len(words)):
        for at in range(len(words) - size + 1):
            yield " ".join(words[at : at + size])
