r"""Level: str -> str of the same length. Names and texts made comparable: folded words between spaces.

Not the tokens of the word index (``text.tokens``), which take a text apart so that every part of a word finds
it. Here a word is what must stand whole for a name to be meant: ``latest`` does not hold ``test``,
``README.md`` does not hold ``README``, ``foo_bar`` holds neither side, ``--release`` is no ``release``.

* A dash and an apostrophe are spaces: "docker-compose" and "Docker Compose" are one name, "Docker-based" and
  "Docker's" hold Docker; but ``don't`` is one word.
* One space stands between words of one phrase. Two or more stand where a mark, a bracket, markup or a blank line was,
  and no name reaches over them: in "the vector. Store it" there is no "vector store".
* ``::``, ``/`` and ``@`` separate. What stands only inside a URL is not meant, so URLs are blotted out.
* Accents and width are folded where that keeps one character one (all of Latin, Greek, Cyrillic; "ß" stays).

Every character stays where it was, so that a find in the level text is a find in the text. ``spread`` adds a
space at both ends and cuts unspaced scripts: within Han and Thai a name may stand anywhere; a run of katakana
is one word, since "テスト" in "ラテスト" is the same mistake as "test" in "latest"; a Hangul word must begin with
the name, for particles follow it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import Final

from scrubjay.text.folding import fold, plain
from scrubjay.text.scripts import holds_run

_UNREAD: Final = (
    ("http", re.compile(r"https?://[^\s<>)\]]+")),
    ("://", re.compile(r"://[^\s<>)\]]+")),
    ("./", re.compile(r"\.{1,2}/[^\s(){}\[\]]+")),
    ("](", re.compile(r"\]\([^()\s]+")),
    ("][", re.compile(r"\]\[[^\]\n]+")),
    ("]: ", re.compile(r"^\[[^\]\n]+\]: [^\n]+", re.MULTILINE)),
    ('="', re.compile(r"<\w{1,40}+\s[^<>=]{0,200}+=\"[^<>]{0,2000}+>")),
)
"""What stands in an address, a path, a link's target or an HTML tag; each after what must be there for it."""
_LONG: Final = 4_000
"""Characters from which on a text is levelled by paragraphs: ASCII is levelled ten times as fast."""
_BLOT: Final = "\x03"
APART: Final = "\x1f"
"""Stays what it is: to level many names at once."""

_KATAKANA = "\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
_HANGUL = "\u1100-\u11ff\u3130-\u318e\uac00-\ud7fb"
_FREE = (
    "\u0e01-\u0e4e\u0e81-\u0ece\u1000-\u103f\u1780-\u17d3"  # Thai, Lao, Burmese, Khmer
    "\u3005-\u3007\u3041-\u309f\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"  # hiragana, Han
)
_RUN: Final = re.compile(f"[{_KATAKANA}]+|[{_HANGUL}]+|[{_FREE}]+|[^{_KATAKANA}{_HANGUL}{_FREE}]+")
_OPEN_ENDED: Final = re.compile(f"[{_HANGUL}{_FREE}]")
_ANYWHERE: Final = re.compile(f"[{_FREE}]")


class _Table(dict[int, str]):
    """Each character's level one, learnt when it is first met."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        folded = plain(fold(char))
        if len(folded) != 1:  # ß, ligatures: to keep offsets they stay one
            folded = char.lower()
        word = folded.isalnum() or folded in "_.+\x02\x03\x1f" or unicodedata.category(folded[0])[0] == "M"
        self[code] = kept = folded if word and len(folded) == 1 else " "
        return kept


_TABLE: Final = _Table()
_ASCII: Final = {code: _TABLE[code] for code in range(128)}


def level(text: str, *, blotted: bool = False) -> str:
    """Return a text of the same length in which words are folded and everything else is a space.

    Args:
        text: Any string.
        blotted: Whether ``blot`` has already been here.

    Example:
        >>> level("Docker's `vector-store`, in README.md.")
        'docker s  vector store   in readme.md '
    """
    typed = text if text.isascii() else _typed(text)
    return _levelled(typed if blotted else blot(typed, _BLOT))


def blot(text: str, ink: str) -> str:
    """Return a text of the same length in which addresses, targets of links and HTML tags are blotted out."""
    for sign, unread in _UNREAD:
        if sign in text:
            text = unread.sub(lambda match: f"{match.group()[0]}{ink * (len(match.group()) - 1)}", text)
    return text


def spread(text: str) -> tuple[str, Sequence[int] | None]:
    """Return a level text between spaces, and where each character stood, if not one place before."""
    typed = text if text.isascii() else _typed(text)
    if not typed.isascii() and (holds_run(typed) or not unicodedata.is_normalized("NFC", typed)):
        return _spread_runs(typed)
    return f" {_levelled(blot(typed, _BLOT))} ", None


def place(at: int, origins: Sequence[int] | None) -> int:
    """Return where in the text the character at ``at`` of a spread text stands."""
    return at - 1 if origins is None else origins[at]


def behind(last: int, origins: Sequence[int] | None) -> int:
    """Return where in the text the first character after a word ending at ``last`` stands."""
    return last if origins is None else max(origins[last] + 1, origins[last + 1])


def is_plain(name: str) -> bool:
    """Tell whether a name holds ASCII letters, digits and single spaces only, as most do: nothing to level."""
    return name.isascii() and name.replace(" ", "").isalnum() and "  " not in name


def pattern(name: str) -> str:
    """Return what to look for in a spread text to find a name; "" for a name without a word."""
    if is_plain(name):
        return f" {name.strip().lower()} "
    words = (level(name) if name.isascii() or not holds_run(name) else _spread_runs(name)[0]).strip(" ")
    return bounded(words) if words else ""


def bounded(words: str) -> str:
    """Return level words with a space at each side where they must not go on, in a script that has spaces."""
    first = "" if _ANYWHERE.match(words) else " "
    return f"{first}{words}{'' if _OPEN_ENDED.match(words[-1]) else ' '}"


def _typed(text: str) -> str:
    """Return a text with the marks that word processors make as they are typed."""
    text = text.replace("\u2019", "'").replace("\u2018", "'").replace("\u201c", '"').replace("\u201d", '"')
    return text.replace("\u2014", ";").replace("\u2013", ";").replace("\u2026", ";")


def _levelled(text: str) -> str:
    text = text.replace("--", "__").replace("n't", "n_t").replace("C#", "C\x02").replace("F#", "F\x02")
    made = _translated(text)
    made = made.replace(". ", "  ").replace("..", "  ").replace(" _", "  ").replace("_ ", "  ")
    return made[:-1] + " " if made.endswith(".") else made


def _translated(text: str) -> str:
    if text.isascii():
        return text.translate(_ASCII)
    if len(text) < _LONG:
        return text.translate(_TABLE)
    parts = text.split("\n\n")
    return "  ".join([part.translate(_ASCII if part.isascii() else _TABLE) for part in parts])


def _spread_runs(text: str) -> tuple[str, list[int]]:
    """Compose what is decomposed, then put spaces where a script without them begins and ends."""
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
    for run in _RUN.finditer(level("".join(composed))):
        spaced.append(run.group() + " ")
        places += origins[run.start() : run.end()]
        places.append(origins[run.end()] if run.end() < len(origins) else len(text))
    return "".join(spaced), places
