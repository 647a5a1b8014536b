"""Cues: a text -> the words in it that name a secret, in two dozen languages, alone or as parts of names in code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from scrubjay.ingest.scrub_values import Places

MARK: Final = 48
"""Characters of the longest mark."""
LONGEST: Final = 512
"""Characters of a token that are looked at, and of a line below a label."""


class Candidate(NamedTuple):
    """A token that may be a secret.

    Attributes:
        start, end: Where it stands.
        word: The word that names it.
        password: Whether the word names what people make up, or else what is drawn by lot.
        place: ``after``, ``before``, ``below`` or ``column``.
        gap: What stands between the word and the token; of a token below or in a column what its label goes on with.
        lead: What stands before the word on its line.
        value: The token.
        quoted: Whether it stands in quotes, or in an element.
        rest: What follows on its line.
        around: What stands before the word, over the ends of lines, and on the next line; of a column its cell.
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


class Cue(NamedTuple):
    """A word that names a secret; its fields are those of the candidates near it."""

    word: str
    password: bool
    lead: str
    around: str

    def candidate(self, start: int, value: str, place: str, gap: str, rest: str = "") -> Candidate:
        """A token near the word."""
        end = start + len(value)
        return Candidate(
            start, end, self.word, self.password, place, gap, self.lead, value, False, rest, self.around
        )


# Looked for as bytes in lower case; then one expression says whether it is the word or a part of another.
_CUES: Final[dict[bytes, bool]] = {
    b"pass": True, b"kennwort": True, b"contrase": True, b"wachtwoord": True, b"parola": True, b"pw": True,
    b"senha": True, b"clave": True, b"mdp": True, b"psk": True, b"cred": True, b"zugang": True,
    b"token": False, b"secret": False, b"key": False, b"schl\xfcssel": False, b"code": False,
}  # fmt: skip
_WORD: Final = re.compile(
    r"(?:(?<![^\W\d_])|(?-i:(?<=[a-z])(?<!Last)(?<!Kee)(?=[A-Z])))"
    r"(?:passcodes?|(?<=mot de )passe|pass|psk|pwd?s?|mdp|creds?|credentials?|clave|parola|senha"
    r"|zugang(?:sdaten|scode)?|keys?|codes?)(?![a-z])"
    r"|(?<!1)(?:passw(?:or[dt]|\xf6rter|d)s?|passphrase|passord|kennwort|contrase\xf1a|wachtwoord|schl\xfcssel"
    r"|tokens?|secrets?)(?![a-z])"
    r"|(?<=.[a-z])(?<!by)(?<!get)(?<!Last)(?<!Kee)(?<!com)(?<!sur)(?<!tres)(?<!over)(?<!under)"
    r"(?<!tur)(?<!mon)(?<!don)(?<!joc)(?<!hoc)(?<!whis)"
    r"(?:pass|keys?)(?=\\?[\"']?[ \t]{0,3}[=:])",
    re.IGNORECASE,
)
# In texts that are not ASCII alone; each is looked for by itself.
_ABROAD: Final[dict[str, bool]] = {
    "lösenord": True, "adgangskode": True, "salasana": True, "heslo": True, "mot de passe": True, "clé ": False,
    "chiave": False, "chave": False, "llave": False,
}  # fmt: skip
_FOREIGN: Final[dict[str, bool]] = _ABROAD | {
    "密码": True, "密碼": True, "口令": True, "パスワード": True, "暗証": True, "비밀번호": True, "암호": True,
    "ароль": True, "asło": True, "şifre": True, "Şifre": True, "jelszó": True, "mật khẩu": True, "κωδικός": True,
    "كلمة المرور": True, "كلمة السر": True, "סיסמה": True, "סיסמא": True, "पासवर्ड": True, "รหัสผ่าน": True,
    "密钥": False, "金鑰": False, "密鑰": False, "令牌": False, "トークン": False, "キー": False, "토큰": False,
    "ключ": False, "Ключ": False, "токен": False, "מפתח": False, "مفتاح": False, "κλειδί": False,
}  # fmt: skip


def cues(text: str, low: bytes, places: Places) -> Iterator[tuple[int, int, bool]]:
    """Where a word begins and ends that names a secret, and whether people make that up.

    Args:
        text: The text.
        low: It in Latin-1 and lower case, one byte a character.
        places: Where what stands in ``low``.
    """
    for mark, password in _CUES.items():
        for at in places(mark):
            match = _WORD.match(text, at)
            if match and not _in_mark(text, at):
                yield at, match.end(), password
    if not text.isascii():
        wide = low.count(b"?") > text.count("?")  # letters that Latin-1 does not have
        for word, password in (_FOREIGN if wide else _ABROAD).items():
            at = text.find(word)
            while at >= 0:
                yield at, at + len(word), password
                at = text.find(word, at + 1)


def _in_mark(text: str, at: int) -> bool:
    """Whether a word stands in the mark of a secret that is gone."""
    mark = text.rfind("[secret:", max(0, at - MARK), at + len("secret:"))
    return mark >= 0 and text.find("]", mark, at) < 0
