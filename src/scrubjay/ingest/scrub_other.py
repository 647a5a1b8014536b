"""Other: a candidate -> whether its form is that of another thing: a name in code, a file, a date, a stand-in.

A part of `scrub_hopeless`; nothing is asked here of the sentence that it stands in.
"""

from __future__ import annotations

import re
from typing import Final

from scrubjay.ingest.scrub_cues import Candidate
from scrubjay.ingest.scrub_forms import DOTTED, PARTS, SNAKE, UUID
from scrubjay.ingest.scrub_values import ABOUT, NAME, drawn, stands_for_nothing, talk

# Of values parted by commas another one.
_CELLS: Final = re.compile(r"^\S*,[^\s,]*,\S*\Z")
_PATHLIKE: Final = re.compile(
    r"(?:~|\.{1,2})/|[A-Za-z]:\\|[\w./@-]+\.(?:[a-z]{2,3}|toml|yaml|json|html|java|jsonl|conf|jpeg|lock|info"
    r"|docx|xlsx)\Z"
)
_ADDRESS: Final = re.compile(r"\w+:(?://|%2F%2F)|www\.|[\w.+-]+@[\w-]+\.\w|\d+(?:\.\d+){3}|urn[:%]")
_NUMERIC: Final = re.compile(r"[£$€]?[\d.,:/%+xX-]+[a-zA-Z]{0,3}\Z")
_SHOUT: Final = re.compile(r"[A-Z]+(?:_[A-Z0-9]+)*\Z")
_ASSIGNED: Final = re.compile(r"[=:：>]")
# Of the key that git signs with the id alone is told: PGP's keys are known by their last digits.
_KEY_ID: Final = re.compile(r"(?:0x)?[0-9A-F]{8,40}\Z")
_PROCEDURE: Final = re.compile(
    r"argon2\w*|bcrypt|scrypt|pbkdf2\w*|aes[-_]?\d+[-\w]*|[a-z]{2}\d{3}|wpa\d?(?:-\w+)*", re.IGNORECASE
)
_NUMBERED: Final = re.compile(r"[0-9]{1,4}[a-z]{5,}\Z")
_TYPE: Final = re.compile(r"(?:[A-Z][a-z]\w*\.){3,}[A-Z]\w*\Z|\*|\d+ [^\W\d_]+\Z")
_BASE64: Final = re.compile(r"(?=.*[a-z].*\d)(?=.*[A-Z])/[A-Za-z0-9+/]{32,}={0,2}")
_NEVER: Final = re.compile(
    # Markdown's links, places of pages, other parts of addresses, managers of passwords, commands, names in code, times
    # and dates, what says by its beginning that it is public.
    r"[\[(]|\+|[^\s]*\]\(|\S*%20|(?:[a-z0-9-]+\.){2,}[a-z]{2,}/|\S+\.(?:html?|mdx?)#|(?i:1password|(?:last"
    r"|kee|proton|en)pass|bitwarden)"
    r"|(?:ConvertTo|New|Get|Set|Read|Import|Invoke)-[A-Z]|[a-z]+:#?\w+\Z|\w+(?:\.\w+)*::\w"
    r"|\d{4}-\d\d-\d\d|\d\d?:\d\d|\d{8}T\d{6}Z|\d\d?[./]\d\d?[./]\d{2,4}"
    # Templates of mail, products with their version, points of a curve: public keys of pushes.
    r"|d-[0-9a-f]{32}\Z|[A-Za-z-]+/v?\d+(?:\.\d+)*[a-z]?\Z|B[A-P][\w-]{85}\Z|(?:[a-z]\w*\.){2,}[A-Z][a-z]\w*\Z"
    r"|-?\d+\.\d+e[+-]\d+|[a-z_]+\d*=\Z|-[A-Z][a-z]+[A-Z]\w+\Z|h\.[a-z0-9]{10,14}\Z|(?:algorithm|pbkdf2"
    r"|scrypt|argon2)\w*\$|[a-z]+:\d+(?:\.\d+)+|0x[0-9a-f]{6,16}\Z|[A-Z]{1,4}/\d+"
    r"\Z|[a-z_]+\d*(?:\.\w+)+\.[A-Z]\w+\Z|[^'\s]+'@'"
    r"|SHA\d+:|sha\d+[-:]|arn:|pk[._](?:eyJ|live|test)|age1|ssh-|AAAA[BCE]3|Ag[A-D]|MI(?:GfMA|IBIjAN"
    r"|I[CDEFG])|MFkwEwYH" + f"|{_ADDRESS.pattern}|{_PATHLIKE.pattern}|{_NUMERIC.pattern}|{_SHOUT.pattern}"
)
_DIGITS: Final = re.compile(r"[0-9]{4,20}\Z")
_TOLD: Final = re.compile(
    r"^[^\W\d_]{0,4}[ \t]{1,2}\Z"
    r"|^[^\n0-9.]{0,40}(?:[=:：]|\b(?:is|ist|lautet|est|es|era|was|war)|[èéは是为為])[\s\"'`*「]*\Z"
)
_BEYOND: Final = re.compile("(?=[^!#$%&*+@^~_0-9]*\\Z).*[\u0370-\uffff]|.*[\u0e00-\uffff]")
_SENSITIVE: Final = frozenset(
    ("case-sensitive", "case-insensitive", "utf-8", "read-only", "up-to-date", "built-in")
)
_PASCAL: Final = re.compile(r"[A-Z][a-z]+(?:[A-Z][a-z]+)+\Z")


def _may_be_number(one: Candidate) -> bool:
    """Whether a number may be a password where it stands; behind "code" it is a door's, as likely as not."""
    if one.place == "verb":
        return True
    if "code" in one.word.lower() or one.word.lower().startswith("zugang"):
        return False
    return one.place in {"column", "entry", "turn"} or _TOLD.search(one.gap) is not None


def another(one: Candidate) -> bool:
    """Whether its form is that of another thing: a name in code, a file, a date, what stands in for a secret."""
    raw = latin(one.value)
    if one.password and _DIGITS.match(one.value):
        return not _may_be_number(one)
    if (
        _word_of_talk(one)
        or _PROCEDURE.fullmatch(one.value)
        or _TYPE.match(one.value)
        or _CELLS.match(one.gap)
    ):
        return True
    if _NEVER.match(one.value) or (one.lead.endswith(("?", "&")) and UUID.match(one.value)):
        return True
    if NAME.fullmatch(raw) and (b"/" in raw or not one.password or (_talks(one.value) and not raw.isalpha())):
        return True
    if one.word.lower() in one.value.lower() and (
        DOTTED.match(one.value) or SNAKE.match(one.value) or _PASCAL.match(one.value)
    ):
        return True
    if one.place in {"pair", "mail"} and _NUMBERED.match(one.value):
        return False
    if ABOUT.fullmatch(raw) and not _ASSIGNED.search(one.gap):
        return True
    if one.lead.lower().endswith("signing") and _KEY_ID.match(one.value):
        return True
    return (stands_for_nothing(raw) and not (_BASE64.fullmatch(one.value) and drawn(raw))) or (
        _talks(one.value) and DOTTED.match(one.value) is not None
    )


def _word_of_talk(one: Candidate) -> bool:
    """Whether it is said of passwords, or of letters that no password has: these are in Latin or have digits."""
    beyond = (
        not one.quoted and one.place not in {"turn", "late turn"} and _BEYOND.match(one.value) is not None
    )
    between = one.quoted and one.value.startswith(" ")  # the end of one quote and the beginning of another
    return beyond or between or one.value.lower() in _SENSITIVE


def _talks(value: str) -> bool:
    """Whether joined words are a name in code: most of them, or two, are of talk about secrets."""
    parts = PARTS.split(value)
    about = sum(talk(latin(part)) for part in parts)
    last = bool(parts[-1]) and talk(latin(parts[-1]))
    return about > 1 or (about > 0 and (last or len(parts) < 3))


def latin(value: str) -> bytes:
    """It in Latin-1; each letter that this does not have as one beyond ASCII, so that a word stays a word."""
    return bytes(ord(letter) if letter < "\u0100" else 0xC0 | ord(letter) & 0x1F for letter in value)
