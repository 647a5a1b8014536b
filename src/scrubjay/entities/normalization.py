"""Name normalization: the form under which two spellings are one name, and how it is searched in a text.

Unlike tokens of the word index a name must be whole: ``latest`` does not contain ``test``, nor ``README.md``
``README``. Dashes and apostrophes become spaces, markup and punctuation two spaces, and addresses are blotted out.
Every character keeps its place, so offsets in the normalized text are those of the text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import cache
from typing import Final, Literal

from scrubjay.text.language import function_words
from scrubjay.text.normalize import fold, has_unspaced, strip_accents, word_set
from scrubjay.text.tokenizer import word_rank

_ADDRESSES: Final = (
    ("http", re.compile(r"https?://[^\s<>)\]]+")),
    ("://", re.compile(r"://[^\s<>)\]]+")),
    ("./", re.compile(r"\.{1,2}/[^\s(){}\[\]]+")),
    ("](", re.compile(r"\]\([^()\s]+")),
    ("][", re.compile(r"\]\[[^\]\n]+")),
    ("]: ", re.compile(r"^\[[^\]\n]+\]: [^\n]+", re.MULTILINE)),
    ('="', re.compile(r"<\w{1,40}+\s[^<>=]{0,200}+=\"[^<>]{0,2000}+>")),
)
"""Addresses, paths, link targets and HTML tags; each with a string that it contains."""
_LONG_TEXT: Final = 4_000
"""Characters from which a text is translated by paragraphs: ASCII is ten times as fast."""
_BLOT: Final = "\x03"
WORDS_APART: Final = "\x1f"
"""Unchanged by `level_text`: separates many names that are normalized at once."""

_KATAKANA = "\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
_HANGUL = "\u1100-\u11ff\u3130-\u318e\uac00-\ud7fb"
_UNBOUND = (
    "\u0e01-\u0e4e\u0e81-\u0ece\u1000-\u103f\u1780-\u17d3"  # Thai, Lao, Burmese, Khmer
    "\u3005-\u3007\u3041-\u309f\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"  # hiragana, Han
)


# Each takes 2 ms to compile, and a sync that finds nothing new has no use for them.
@cache
def _run_pattern() -> re.Pattern[str]:
    return re.compile(f"[{_KATAKANA}]+|[{_HANGUL}]+|[{_UNBOUND}]+|[^{_KATAKANA}{_HANGUL}{_UNBOUND}]+")


@cache
def _open_ended_pattern() -> re.Pattern[str]:
    return re.compile(f"[{_HANGUL}{_UNBOUND}]")


@cache
def _anywhere_pattern() -> re.Pattern[str]:
    return re.compile(f"[{_UNBOUND}]")


class _Table(dict[int, str]):
    def __missing__(self, code: int) -> str:
        char = chr(code)
        folded = strip_accents(fold(char))
        if len(folded) != 1:  # ß, ligatures: to keep offsets they stay one
            folded = char.lower()
        word = folded.isalnum() or folded in "_.+\x02\x03\x1f" or unicodedata.category(folded[0])[0] == "M"
        self[code] = level = folded if word and len(folded) == 1 else " "
        return level


_TABLE: Final = _Table()
_ASCII: Final = {code: _TABLE[code] for code in range(128)}


def level_text(text: str, *, blotted: bool = False) -> str:
    """Return a text of the same length in which words are folded and everything else is a space.

    ``blotted``: ``blot_addresses`` was applied already.

    Example:
        >>> level_text("Docker's `vector-store`, in README.md.")
        'docker s  vector store   in readme.md '
    """
    typed = text if text.isascii() else _ascii_quotes(text)
    return _level_words(typed if blotted else blot_addresses(typed, _BLOT))


def blot_addresses(text: str, ink: str) -> str:
    """Return a text of the same length in which addresses, link targets and HTML tags are blotted out."""
    for sign, pattern in _ADDRESSES:
        if sign in text:
            text = pattern.sub(lambda match: f"{match.group()[0]}{ink * (len(match.group()) - 1)}", text)
    return text


def spread_text(text: str) -> tuple[str, Sequence[int] | None]:
    """Return the normalized text between spaces, and each character's offset in the text, unless it is one less.

    Spaces separate scripts that have none: a name may stand anywhere within Han and Thai; a run of katakana is one
    word; a Hangul word must begin with the name, since particles follow it.
    """
    typed = text if text.isascii() else _ascii_quotes(text)
    if not typed.isascii() and (has_unspaced(typed) or not unicodedata.is_normalized("NFC", typed)):
        return _spread_runs(typed)
    return f" {_level_words(blot_addresses(typed, _BLOT))} ", None


def text_offset(at: int, origins: Sequence[int] | None) -> int:
    """Return the offset in the text of a character of the spread text."""
    return at - 1 if origins is None else origins[at]


def text_offset_after(last: int, origins: Sequence[int] | None) -> int:
    """Return the offset in the text after a word that ends at ``last``."""
    return last if origins is None else max(origins[last] + 1, origins[last + 1])


def is_plain(name: str) -> bool:
    """Return whether a name holds only ASCII letters, digits and single spaces, as most do."""
    return name.isascii() and name.replace(" ", "").isalnum() and "  " not in name


def search_pattern(name: str) -> str:
    """Return what to search for in a spread text to find a name; "" for a name without a word."""
    if is_plain(name):
        return f" {name.strip().lower()} "
    words = (level_text(name) if name.isascii() or not has_unspaced(name) else _spread_runs(name)[0]).strip(
        " "
    )
    return bound_words(words) if words else ""


def bound_words(words: str) -> str:
    """Add a space at each side where a normalized name must not continue."""
    first = "" if _anywhere_pattern().match(words) else " "
    return f"{first}{words}{'' if _open_ended_pattern().match(words[-1]) else ' '}"


def _ascii_quotes(text: str) -> str:
    text = text.replace("\u2019", "'").replace("\u2018", "'").replace("\u201c", '"').replace("\u201d", '"')
    return text.replace("\u2014", ";").replace("\u2013", ";").replace("\u2026", ";")


def _level_words(text: str) -> str:
    text = text.replace("--", "__").replace("n't", "n_t").replace("C#", "C\x02").replace("F#", "F\x02")
    level = _translate(text)
    level = level.replace(". ", "  ").replace("..", "  ").replace(" _", "  ").replace("_ ", "  ")
    return level[:-1] + " " if level.endswith(".") else level


def _translate(text: str) -> str:
    if text.isascii():
        return text.translate(_ASCII)
    if len(text) < _LONG_TEXT:
        return text.translate(_TABLE)
    parts = text.split("\n\n")
    return "  ".join([part.translate(_ASCII if part.isascii() else _TABLE) for part in parts])


def _spread_runs(text: str) -> tuple[str, list[int]]:
    composed: list[str] = []
    origins: list[int] = []
    for at, char in enumerate(text):
        joined = unicodedata.normalize("NFC", composed[-1] + char) if composed else ""
        if len(joined) == 1:
            composed[-1] = joined
        else:
            composed.append(char)
            origins.append(at)
    spaced, places = [" "], [0]
    for run in _run_pattern().finditer(level_text("".join(composed))):
        spaced.append(run.group() + " ")
        places += origins[run.start() : run.end()]
        places.append(origins[run.end()] if run.end() < len(origins) else len(text))
    return "".join(spaced), places


MIN_WORD: Final = 3
"""Letters of a word that may have a plural."""

MIN_PLURAL: Final = 5
"""Letters of a plural: shorter words (AWS, news, bus) are too often singular."""

_SINGULAR_IN_S: Final = word_set("alias always atlas bias canvas pandas perhaps rails series species windows")
"""Singular words that end in s."""

NUMBER_ENDS: Final = "seiy"
"""Every letter that ``number_ending`` removes or appends."""
_SIBILANTS: Final = ("ss", "x", "ch", "sh")
_SIBILANT_PLURALS: Final = ("sses", "xes", "ches", "shes")


def number_ending(word: str) -> tuple[int, str] | None:
    """Return how to make a plural of a folded word, or a singular of what looks like a plural.

    Returns:
        How many characters to cut off and what to append; None if there is nothing to do.

    Example:
        >>> [number_ending(word) for word in ("memory", "memories", "crates", "class", "aws")]
        [(1, 'ies'), (3, 'y'), (1, ''), (0, 'es'), None]
    """
    if len(word) < MIN_WORD or not (word.isascii() and word.isalpha()):
        return None
    if word[-1] == "s" and word[-2] != "s":
        if len(word) < MIN_PLURAL or word in _SINGULAR_IN_S or word[-2] in "ui":
            return None
        return (3, "y") if word.endswith("ies") else (2 if word.endswith(_SIBILANT_PLURALS) else 1, "")
    if word[-1] == "y" and word[-2] not in "aeiou":
        return 1, "ies"
    return 0, "es" if word.endswith(_SIBILANTS) else "s"


def number_stem(form: str) -> str:
    """Return the part that a form shares with its other number.

    >>> number_stem("rust memory"), number_stem("rust memories")
    ('rust memor', 'rust memor')
    """
    return form.rstrip(NUMBER_ENDS)


def other_number(form: str) -> str:
    """Return a normal form with its last word in the other number, or itself if there is none.

    >>> other_number("rust crates"), other_number("crate"), other_number("aws")
    ('rust crate', 'crates', 'aws')
    """
    change = number_ending(form[form.rfind(" ") + 1 :])
    return form[: len(form) - change[0]] + change[1] if change else form


def to_singular(form: str) -> str:
    """Return a normal form with its last word in the singular, if it looks like a plural."""
    return min(form, other_number(form), key=len) if form.endswith("s") else form


def to_plural(form: str) -> str:
    """Return a normal form with its last word in the plural, or itself if it has none."""
    return max(form, other_number(form), key=len)


_COMMON = """
a able about above access across act active actual actually add added additional after afterwards again
against age ago ahead all allow almost alone along already also although always am amazing among an and
another answer any anybody anyone anything anyway anywhere apply are area aren around art as ask at author
available avoid away awesome back bad based basic basically be bear beat because become been before begin
behind being believe below best better between big bit both bottom break bring build built but buy by call
called came can cannot case cause certain change check choose clean clear close cold come comes coming
common complete congrats congratulations consider cool copy could couldn course create current currently cut
date day days deal decide deep definitely did didn difference different difficult do does doesn doing don
done down draft drive drop due during each early easily easy edit either else end enjoy enough especially
etc even ever every everybody everyone everything exactly except expect extra fact false far fast feel felt
few fewer fill final finally find fine first fit five follow following for force form former forward found
four free fresh from front full fully fun further future gave general generally get getting give given glad
go goes going gone good got great group guess had hand happen happy hard has hasn have haven having he hear
held hello help helpful hence her here hers herself hey hi high him himself his hit hold home hope hour
hours how however huge i idea ideal if ignore image important in include included including indeed inside
instead interesting into is isn it its itself job join just keep key kind know known large last late later
latest lead learn least leave left less let lets level life light like likely line little live ll local long
longer look looking lose lot love low lower made main mainly maintain make makes making man many may maybe
me mean means meanwhile meet might mind minor miss moment month more moreover most mostly move much multiple
must my myself name near nearly necessary need needed neither never nevertheless new next nice no nobody
none nor normal not nothing notice now number of off offer often oh ok okay old on once one ones only onto
open optional or order original other others otherwise our ours ourselves out outside over overall own part
parts past pay people perfect perhaps person pick place plan play please plenty plus point possible post
pretty previous prior probably problem provide pull purpose push put question quick quickly quite rather
read ready real really reason receive recent recently recommended red regardless related remember remove
required rest result return right role room rule run running safe said same save saw say second see seem
seen self send sense set several shall share she short should shouldn show side similar similarly simple
simply since single sit six size slow small so some somebody someone something sometimes somewhere soon
sorry sort speak special specific start started state stay step still stop strong stuff such suggest super
sure take taken talk tell ten test than thank thanks that the their theirs them themselves then there
therefore these they thing things think third this those though thought three through throughout thus time
times to today together told tomorrow tonight too took top toward towards tried true try trying turn two
under unfortunately unless unlike until up upon us use used useful user uses using usually various ve very
via view wait want warning was wasn watch way ways we welcome well went were weren what whatever when
whenever where whereas whether which while who whole whom whose why will wish with within without won word
words work working works would wouldn wow write wrong yeah year years yes yesterday yet you your yours
yourself yourselves zero
"""

_GENERIC = """
abstract account accounts acknowledgements action actions activities activity admin admins advanced
advantages agenda alt alternatives analysis announcement answers app appendix application applications
approach argument arguments article articles asap aspects audience authors background bar basics baz
behavior behaviour benefits best bin blog body book boolean bug bugs bullet button byte bytes cancel caption
caveats chapter character characters checklist child class classes client cmd code column columns com
command commands comment comments communication company comparison concept concepts conclusion conclusions
config configuration considerations constant contact content contents context contributing contribution
conventions cost count credits ctrl customer customers data database debug default defaults definition
definitions delete demo dependencies dependency deprecated description design detail details dev developer
development discussion docs document documentation documents download element elements email enter entry env
environment epilogue error errors esc evaluation event events exact exactly example examples exception
execute exercise exercises expectations experience expert explanation export expression false faq faqs
feature features feedback figure file files fix fixes folder folders foo footer foreword format function
functions further general getting glossary goal goals guide guidelines guides head header heading headings
help helper history host how howto href id img impact implementation import improvements index info
information init input inputs insert install installation instance integer integration interface interfaces
intro introduction issue issues item items keyword keywords label language languages layout learn length lib
library license limit limitations line link links list listing listings lists literal literals localhost log
loop loops main maintenance manager member members memo menu message messages meta metrics milestone
milestones misc miscellaneous mission mode model models more motivation name names next nonce none note
notes notice null object objectives objects open operation operations operator option options outcome
outcomes outline output outputs overview owner package packages page pages panel parameter parameters parent
part password path paths people performance permission permissions plan platform policy post preface
preferences preparation prerequisites priorities problem problems procedure process processes product
products profile program programs progress project projects proposal purpose quality query question
questions quick quickstart rationale reading readme reason recommendations redirect reference references
release releases remarks repo report reports repos repository request requests requirement requirements
research resource resources response responsibilities result results retrospective review roadmap role roles
root row rows rules running sample scenario schedule script search section security see server service
services setting settings setup shift site solution solutions source specification src standard start
statement statements status step steps storage strategy structure structures stuff style subject submit
success summary support syntax system table tables tag tags target team teams template templates term
terminology terms test testing tests text thanks theory thing timeline tip tips title tmp todo todos tool
tools topic topics troubleshooting true tutorial type types unit update updates upgrade upload url usage
user users validation value values variable variables variant version versions video videos view vision
warning website welcome what why window windows work workflow www
"""

_CALENDAR = """
monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri sat sun january
february march april may june july august september october november december jan feb mar apr jun jul aug
sep sept oct nov dec montag dienstag mittwoch donnerstag freitag samstag sonntag januar februar märz maerz
mai juni juli oktober dezember spring summer autumn fall winter am pm q1 q2 q3 q4
christmas easter
"""

COMMON_WORDS: Final = frozenset(_COMMON.split())
GENERIC_WORDS: Final = frozenset(_GENERIC.split())
CALENDAR_WORDS: Final = frozenset(_CALENDAR.split())


CaseRequirement = Literal["any", "capital", "coded", "marked", "written"]

MAX_NAME: Final = 100
"""Longest name in characters."""

ORDINARY_RANK: Final = 5_000
"""Rank below which a word in backticks is no name (``created``, ``stable``)."""

_LONGEST_COMMON: Final = max(map(len, COMMON_WORDS))

_GENERIC_SINGULARS: Final = frozenset(map(to_singular, GENERIC_WORDS))

_DIGITS = re.compile(r"[\W\d_]+")
_DATE = re.compile(
    r"\d{1,4}([./-])\d{1,2}\1\d{1,4}"
    r"|(?:[a-z]{3,9}\.? )?\d{1,2}(?:st|nd|rd|th)?,? (?:of )?[a-z]{3,9}\.?,? ?\d{2,4}"
    r"|[a-z]{3,9}\.? \d{1,2}(?:st|nd|rd|th)?(?:,? \d{4})?"
    r"|\d{1,2}:\d\d(?::\d\d)? ?(?:am|pm)?",
    re.IGNORECASE,
)
_MONTH = re.compile(
    r"(?:^|\W)(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mär|mai|okt|dez)", re.IGNORECASE
)


def normalize_name(name: str) -> str:
    """Return the normal form of a name: folded words joined by single spaces, "" if there are none.

    Case, accents and width are ignored, and a dash is a space. A code name, a file name, an option stay whole.

    Example:
        >>> normalize_name("**Retrieval-Augmented** Generation"), normalize_name("foo_bar()"), normalize_name("C++")
        ('retrieval augmented generation', 'foo_bar', 'c++')
    """
    return name.strip().lower() if is_plain(name) else " ".join(level_text(name).split())


def name_objection(name: str, *, given: bool = False, folded: str | None = None) -> str | None:
    """Return why a name cannot be an entity's, as a clause for a person, or None.

    One capital ("C") and capitals of a common word ("IT") are names only if a person gave them.
    """
    if len(name) > MAX_NAME:
        return f"it has {len(name)} characters; a name has at most {MAX_NAME}"
    folded = normalize_name(name) if folded is None else folded
    if not folded:
        return "it has no letters"
    if _DIGITS.fullmatch(folded):
        return "it has only digits"
    if _is_date(name.strip()):
        return "it is a date"
    if len(folded) == 1 and folded.isascii() and not (given and name.strip() == folded.upper()):
        return "it is one letter"
    return _common_word_objection(name.strip(), folded, given)


def required_case(name: str, kind: str = "given") -> CaseRequirement:
    """Return how much of a name's case an occurrence must have.

    ``written``: all of it: "IT" is not "it". ``capital``: the first letter: Slack is a product, slack is not.
    ``marked``: any, in a link or a tag, for a page or tag of a generic word. ``coded``: any, in backticks, for code
    that is an ordinary word (``match``). ``any``: none.
    """
    if kind in ("page", "tag") and " " not in name and is_generic(normalize_name(name)):
        return "marked"
    if kind == "code" and name.islower() and all(map(is_everyday, level_text(name).split())):
        return "coded"
    if name.islower():
        return "written" if len(name) == 1 else "any"
    if kind == "code" and name.isalpha() and name[1:].islower():
        return "written"
    long = name.isascii() and len(name) > _LONGEST_COMMON and name.isalpha()
    if not long and all(len(word) == 1 or is_common(word) for word in level_text(name).split()):
        return "written"
    careful = kind == "name" or (kind == "page" and name.isalpha())
    return "capital" if careful and name[:1].isupper() else "any"


def is_common(word: str) -> bool:
    """Return whether a folded word is a function word of a known language or an ordinary English word."""
    return word in COMMON_WORDS or word in function_words()


def is_generic(word: str) -> bool:
    """Return whether a folded word names nothing by itself: a common one, or a noun of computing and work."""
    return to_singular(word) in _GENERIC_SINGULARS or is_common(word)


def is_everyday(word: str) -> bool:
    """Return whether a folded word is generic or among the commonest of English."""
    return is_generic(word) or word_rank(word) <= ORDINARY_RANK


def _is_date(name: str) -> bool:
    found = _DATE.fullmatch(name)
    return found is not None and (not any(char.isalpha() for char in name) or _MONTH.search(name) is not None)


def _common_word_objection(name: str, folded: str, given: bool) -> str | None:
    words = folded.split(" ")
    if not all(word in function_words() or (not given and word in COMMON_WORDS) for word in words):
        return None
    capital = name != name.lower()
    odd = name[1:] != name[1:].lower()
    if given and (odd or (capital and not all(word in function_words("en") for word in words))):
        return None
    return "it is a common word" if len(words) == 1 else "it consists of common words"
