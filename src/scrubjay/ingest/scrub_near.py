"""Near: the words that name a secret -> the tokens that stand where its value would.

A token stands behind such a word on its line (after a sign, a word like "is", or nothing), before it ("… is the
password"), on the lines below a label that ends its line, or in the column of a table below its heading.
Whether it is one is judged elsewhere (`scrub_judge`): here every token is a candidate that could be.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from scrubjay.ingest.scrub_values import Places

WINDOW: Final = 120
"""Characters of a line behind a word that are looked at, and before it."""
MOST_TOKENS: Final = 6
MOST_LINES: Final = 12
"""Lines below a label."""
MOST_ROWS: Final = 60
LONGEST: Final = 512
MOST_SPACES: Final = 5
"""Spaces in a password below its name."""
MARK: Final = 48
"""Characters of the longest mark."""
LEAST: Final = 6
"""Characters of what somebody made up, where it stands before its name."""
LEAST_KEY: Final = 8
"""Characters of what was drawn by lot."""


class Candidate(NamedTuple):
    """A token that may be a secret.

    Attributes:
        start, end: Where it stands.
        password: Whether the word names what people make up, or else what is drawn by lot.
        place: ``after``, ``before``, ``below`` or ``column``.
        gap: What stands between the word and the token; of a token below or in a column what its label goes on with.
        lead: What stands before the word on its line.
        value: The token.
        quoted: Whether it stands in quotes, or in an element.
        rest: What follows on its line.
    """

    start: int
    end: int
    word: str
    password: bool
    place: str
    gap: str
    lead: str
    value: str
    quoted: bool
    rest: str
    around: str


# Looked for as bytes in lower case; then one expression says whether it is the word or a part of another.
_CUES: Final[dict[bytes, bool]] = {
    b"pass": True, b"kennwort": True, b"contrase": True, b"wachtwoord": True, b"parola": True, b"pw": True,
    b"senha": True, b"clave": True, b"mdp": True, b"psk": True, b"cred": True, b"zugang": True,
    b"token": False, b"secret": False, b"key": False, b"schl\xfcssel": False, b"code": False,
}  # fmt: skip
_WORD: Final = re.compile(
    r"(?:(?<![^\W\d_])|(?-i:(?<=[a-z])(?<!Last)(?<!Kee)(?=[A-Z])))"
    r"(?:passcodes?|(?<=mot de )passe|pass|psk|pwd?s?|mdp|creds?|credentials?|clave|parola|senha|zugang(?:sdaten|scode)?"
    r"|keys?|codes?)(?![a-z])"
    r"|(?:passw(?:or[dt]|\xf6rter|d)s?|passphrase|passord|kennwort|contrase\xf1a|wachtwoord|schl\xfcssel"
    r"|tokens?|secrets?)(?![a-z])"
    r"|(?<=.[a-z])(?<!by)(?<!Last)(?<!Kee)(?<!com)(?<!sur)(?<!tres)(?<!over)(?<!under)(?<!tur)(?<!mon)(?<!don)(?<!joc)(?<!hoc)(?<!whis)"
    r"(?:pass|keys?)(?=\\?[\"']?[ \t]{0,3}[=:])",
    re.IGNORECASE,
)
# In texts that are not ASCII alone; each is looked for by itself.
_ABROAD: Final[dict[str, bool]] = {
    "lösenord": True, "adgangskode": True, "salasana": True, "heslo": True, "mot de passe": True, "clé ": False,
    "chiave": False, "chave": False, "llave": False,
}  # fmt: skip
_FOREIGN: Final[dict[str, bool]] = _ABROAD | {
    "密码": True, "密碼": True, "口令": True, "パスワード": True, "暗証": True, "ароль": True, "비밀번호": True, "암호": True,
    "asło": True, "ifre": True, "jelszó": True, "mật khẩu": True, "κωδικός": True, "كلمة المرور": True, "كلمة السر": True,
    "סיסמה": True, "סיסמא": True, "पासवर्ड": True, "รหัสผ่าน": True,
    "密钥": False, "金鑰": False, "密鑰": False, "令牌": False, "トークン": False, "キー": False, "люч": False, "токен": False,
    "토큰": False, "מפתח": False, "مفتاح": False, "κλειδί": False,
}  # fmt: skip
# What is called a key there is a password.
_WIRELESS: Final = re.compile(r"wi-?fi|wlan|ssid|hotspot", re.IGNORECASE)
_TAIL: Final = re.compile(r"[\w-]*(?:\.[\w-]+)*")
_STOPS: Final = "\\s\"'`,;<>()\\[\\]{}|\\\\=「」『』“”„«»：，。、！？（）→"
_TOKEN: Final = re.compile(
    "(?P<quote>[\"'`「“„«])(?P<quoted>[^\n\"'`」”“»]{4,128})[\"'`」”“»]"
    "|(?<=>)(?P<held>[^<>\n]{4,128})(?=</)"
    "|(?P<groups>(?<![\\w-])[A-Z0-9]{4,6}(?:[ -][A-Z0-9]{4,6}){3,12}(?![\\w-]))"
    f"|(?P<bare>[^{_STOPS}:][^{_STOPS}]{{3,{LONGEST - 1}}}={{0,2}})"
)
_TRAILING: Final = ".:?*_,"
_PARAMETER: Final = re.compile(r"&[\w.-]{1,40}=?\Z|&[\w.-]{1,40}=")
_TELLS: Final = re.compile(r"[0-9!#$%&*+@^~]|[a-z][A-Z]|[A-Z]{2}[a-z]|\w[._-]\w")
_DIRECT: Final = re.compile(
    r"(?:[=:：>]|\b(?:is|are|was|be|now|to|ist|war|auf|lautet|est|es|era|er|är|è|é)|[は是为為]|\s|^)[\s\"'`*(「“„]*\Z",
    re.IGNORECASE,
)
_LABEL_ENDS: Final = re.compile(r"[^\n]{0,80}?[:：]?[*_`]*\s*\Z")
_ITEM: Final = re.compile(r"[ \t>]*(?:[-*+•][ \t]+|[0-9]{1,2}[.)][ \t]+)?(?:\[[ x]\][ \t]+)?[`\"']?(?P<value>[^\n`\"']{4,512}?)[`\"',]*[ \t]*\r?\Z")
# Between a token and the word that says afterwards what it was: "… is our new password", "… (password)".
_LINKS: Final = frozenset(
    "is was are as als ist war es est son como comme the my our your a das der die dein mein unser le la el new old (".split()
)
# After that word nothing of which it could be a part: no "password manager", no "key effectors".
_SAID: Final = re.compile(
    r"[^\w\s-]|\s*\Z|\s+(?:for|of|to|on|from|in|at|now|and|but|until|today|since|für|von|zu|im|auf|und|aber|seit|jetzt|pour|del?|para)\b"
)
_PIECE: Final = re.compile(r"\S+")
_DIGIT: Final = re.compile(r"[0-9]")
_RULE: Final = re.compile(r"[ \t]*\|?[ \t]*:?-{2,}:?[ \t]*\|[ \t:|-]*\r?\Z")


def candidates(text: str, low: bytes, places: Places) -> Iterator[Candidate]:
    """The tokens near words that name a secret.

    Args:
        text: The text.
        low: It in Latin-1 and lower case, one byte a character.
        places: Where what stands in ``low``.
    """
    for mark, password in _CUES.items():
        for at in places(mark):
            match = _WORD.match(text, at)
            if match and not _in_mark(text, at):
                yield from _near(text, at, match.end(), password)
    if not text.isascii():
        wide = low.count(b"?") > text.count("?")  # letters that Latin-1 does not have
        for word, password in (_FOREIGN if wide else _ABROAD).items():
            at = text.find(word)
            while at >= 0:
                yield from _near(text, at, at + len(word), password)
                at = text.find(word, at + 1)


def _in_mark(text: str, at: int) -> bool:
    """Whether a word stands in the mark of a secret that is gone."""
    mark = text.rfind("[secret:", max(0, at - MARK), at + len("secret:"))
    return mark >= 0 and text.find("]", mark, at) < 0


class _Cue(NamedTuple):
    word: str
    password: bool
    lead: str
    around: str


def _near(text: str, at: int, end: int, password: bool) -> Iterator[Candidate]:
    start = max(text.rfind("\n", max(0, at - WINDOW), at) + 1, at - WINDOW, 0)
    stop = text.find("\n", end, end + WINDOW)
    whole = stop >= 0 or end + WINDOW >= len(text)
    stop = stop if stop >= 0 else min(len(text), end + WINDOW)
    lead = text[start:at]
    if not password:
        line = text[start:stop].lower()
        password = "wlan" in line or "wifi" in line or "wi-fi" in line or "ssid" in line
    cue = _Cue(text[at:end], password, lead, text[max(0, at - 100) : at] + "\n" + text[stop : stop + 60])
    found = False
    if password or _DIGIT.search(text, end, stop):
        for candidate in _after(text, end, stop, cue):
            found = found or _TELLS.search(candidate.value) is not None
            yield candidate
    yield from _before(text, start, end, stop, cue)
    if text.find("|", start, stop) >= 0:
        yield from _column(text, at, end, cue)
    elif whole and _opens_list(text, start, end, stop, found):
        yield from _below(text, end, stop, cue)


def _opens_list(text: str, start: int, end: int, stop: int, found: bool) -> bool:
    """Whether what the word names stands below: the line ends in a colon, or is a heading with no value in it."""
    rest = text[end:stop].rstrip(" \t\r*_`")
    return rest.endswith((":", "：")) or (not found and text.startswith("#", start))


def _before(text: str, start: int, end: int, stop: int, cue: _Cue) -> Iterator[Candidate]:
    if not cue.lead.endswith((" ", " (")) or not _TELLS.search(cue.lead) or not _SAID.match(text, end, stop):
        return
    pieces = list(_PIECE.finditer(cue.lead, max(0, len(cue.lead) - 90)))[-6:]
    links = 0
    while pieces and pieces[-1][0].lower().lstrip("(") in _LINKS | {""}:
        pieces.pop()
        links += 1
    if not pieces or not (links or cue.lead.endswith("(")):
        return
    value = pieces[-1][0].strip("\"'`*,;<>()[]{}")
    if len(value) >= LEAST and _TELLS.search(value) and not value.endswith((".", ":", "?")):
        first = start + pieces[-1].start() + pieces[-1][0].index(value)
        yield Candidate(
            first, first + len(value), cue.word, cue.password, "before", cue.lead[pieces[-1].end() :],
            cue.lead[: pieces[-1].start()], value, False, text[end:stop], cue.around,
        )  # fmt: skip


def _after(text: str, end: int, stop: int, cue: _Cue) -> Iterator[Candidate]:
    limit = min(len(text), stop + LONGEST) if stop - end == WINDOW else stop
    here, count = end, 0
    tail = _TAIL.match(text, end, stop)
    here = tail.end() if tail else end
    while count < MOST_TOKENS and (match := _TOKEN.search(text, here, limit)) and match.start() < stop:
        count += 1
        group = match.lastgroup or "bare"
        group = "quoted" if group in {"quote", "quoted"} else group
        first, last = match.span(group)
        value = match[group]
        if group == "bare":
            value = _PARAMETER.split(value, maxsplit=1)[0].rstrip(_TRAILING)
            last = first + len(value)
        here = match.end()
        if len(value) < 4 or not (cue.password or (len(value) >= LEAST_KEY and _DIGIT.search(value))):
            continue
        gap = text[end : match.start()]
        if _TELLS.search(value) or _DIRECT.search(gap):
            yield Candidate(first, last, cue.word, cue.password, "after", gap, cue.lead, value, group in {"quoted", "held"},
                            text[last:stop], cue.around)
        if group == "quoted" and " " in value:
            here = match.start() + 1  # the quote may close one that was open before


def _below(text: str, end: int, stop: int, cue: _Cue) -> Iterator[Candidate]:
    label = text[end:stop]
    here, blank, seen = stop + 1, 0, 0
    for _ in range(MOST_LINES):
        if here >= len(text):
            return
        line_end = text.find("\n", here, here + LONGEST)
        if line_end < 0:
            if len(text) - here > LONGEST:
                return
            line_end = len(text)
        line = text[here:line_end]
        if not line.strip():
            blank += 1
            if seen or blank > 1:
                return
        elif (match := _ITEM.match(line)) and (
            match["value"].count(" ") < MOST_SPACES if cue.password else _DIGIT.search(match["value"])
        ):
            seen += 1
            value = match["value"].rstrip()
            start = here + match.start("value")
            yield Candidate(start, start + len(value), cue.word, cue.password, "below", label, cue.lead, value, False, "", cue.around)
        else:
            return
        here = line_end + 1


def _column(text: str, at: int, end: int, cue: _Cue) -> Iterator[Candidate]:
    line_end = text.find("\n", end, end + LONGEST)
    if line_end < 0:
        return
    here = text.find("\n", line_end + 1, line_end + 1 + LONGEST)
    if here < 0 or not _RULE.match(text[line_end + 1 : here]):
        return
    start = text.rfind("\n", max(0, at - LONGEST), at) + 1
    column = text.count("|", start, at)
    cell = text[end:line_end].split("|")[0]
    here += 1
    for _ in range(MOST_ROWS):
        stop = text.find("\n", here, here + 4 * LONGEST)
        stop = len(text) if stop < 0 else stop
        cells = text[here:stop].split("|")
        if len(cells) <= column:
            return
        first = here + sum(len(one) + 1 for one in cells[: column])
        body = cells[column]
        value = body.strip(" \t`*\"'\r")
        if len(value) >= 4:
            first += body.index(value)
            yield Candidate(first, first + len(value), cue.word, cue.password, "column", cell, text[start:at].split("|")[-1], value, False, "",
                            body)
        here = stop + 1
        if here >= len(text):
            return
