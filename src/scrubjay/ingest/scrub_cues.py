"""Cues: a text -> the words in it that name a secret, in three dozen languages, alone or as parts of names in code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from scrubjay.ingest.scrub_values import Places

MARK: Final = 48
"""Characters of the longest mark."""
# Looked for as bytes in lower case; then one expression says whether it is the word or a part of another.
_CUES: Final[dict[bytes, bool]] = {
    b"pass": True, b"kennwort": True, b"contra": True, b"wachtwoord": True, b"parola": True, b"pw": True,
    b"senha": True, b"clave": True, b"mdp": True, b"psk": True, b"cred": True, b"zugang": True,
    b"login": True, b"admin": True, b"hesl": True, b"hasl": True, b"gesl": True, b"wifi": True,
    b"wi-fi": True, b"salasana": True, b"sandi": True,
    b"jelsz": True, b"adgangskode": True, b"kodeord": True, b"memorable": True, b"rcon": True,
    b"lozink": True, b"losenord": True, b"tunnussana": True, b"cyfrinair": True, b"pasfhocal": True, b"pasahitz": True,
    b"sifre": True, b"klucz": True, b"parool": True, b"sleutel": True, b"chiave": True,
    b"token": False, b"secret": False, b"key": False, b"schl\xfcssel": False, b"code": False,
}  # fmt: skip
# In texts that are not ASCII alone.
_CUES_ABROAD: Final = (
    b"wlan", b"anahtar", b"chave", b"kulcs", b"avain", b"parool", b"l\xf6sen", b"palavra-chave",
    b"lykilor", b"slapta", b"salas\xf5na", b"fjal\xebkalim", b"mat khau",
)  # fmt: skip
_ALL_CUES: Final = _CUES | dict.fromkeys(_CUES_ABROAD, True)
_WORD: Final = re.compile(
    r"(?:(?<![^\W\d_])|(?-i:(?<=[a-z])(?<!Last)(?<!Kee)(?=[A-Z])))"
    r"(?:passcodes?|(?:(?<=mot de )|(?<=mot_de_)|(?<=palavra-))passe|pass|psk|pwd?s?|mdp|creds?|credentials?"
    r"|claves?"
    r"|parola\w{0,5}|senhas?|wi-?fi|wlan|log-?ins?|admin|h[ae]sl(?:o|a|u|e|em|y|ami|ech)"
    r"|gesl(?:o|a|u|om)|sifre\w{0,4}|anahtar\w{0,3}|sleutel"
    r"|chiave|klucz|kulcs|avain"
    r"|chave|lozink\w{1,2}|parool|kata sandi|sandi(?= |:)|contra(?= del?\b| es\b)|contrase[nñ]ya|contrasinal"
    r"|salas[aõ]n\w{1,5}|tunnussan\w{1,5}|cyfrineiriau|cyfrinair|pasfhocail?|fjalëkalim\w{0,4}"
    r"|salis|jelsz[oóa]\w{0,5}|adgangskode\w{0,3}|kodeord\w{0,3}|lösen(?:ord\w{0,3})?"
    r"|losenord\w{0,3}"
    r"|lykilor\w{1,4}"
    r"|slapta[zž]od\w{1,4}|pasahitz\w{1,4}|mat khau|memorable (?:word|name|phrase)|rcon"
    r"|zugang(?:sdaten|scode)?|keys?|codes?)(?![a-z])"
    r"|(?<!1)(?:passw(?:or[dt]|\xf6rter|d)s?|passphrase|passord(?:et|ene|er)?|kennwort|contrase\xf1as?"
    r"|wachtwoord(?:en)?|schl\xfcssel"
    r"|tokens?|secrets?)(?![a-z])"
    r"|(?:(?<=aktivierungs)|(?<=freischalt)|(?<=registrierungs)|(?<=zugangs)|(?<=einladungs)"
    r"|(?<=activerings))codes?(?![a-z])"
    r"|(?<=.[a-z])(?<!by)(?<!get)(?<!Last)(?<!Kee)(?<!com)(?<!sur)(?<!tres)(?<!over)(?<!under)"
    r"(?<!tur)(?<!mon)(?<!don)(?<!joc)(?<!hoc)(?<!whis)"
    r"(?:pass|keys?)(?=\\?[\"']?[ \t]{0,3}[=:])",
    re.IGNORECASE,
)
# What the word ends in, where words are parted by spaces.
_REST: Final = re.compile("[^\\W\\d_\u0e00-\uffff]{0,8}")
# In texts that are not ASCII alone; each is looked for by itself.
_ABROAD: Final[dict[str, bool]] = {
    "parolă": True, "mot de passe": True, "clé ": False, "llave": False, "nyckel": False,
    "nøkkel": False, "nøgle": False,
}  # fmt: skip
_FOREIGN: Final[dict[str, bool]] = _ABROAD | {
    "密码": True, "口令": True, "パスワード": True, "暗証": True, "비밀번호": True, "암호": True,
    "비번": True, "패스워드": True, "パスコード": True, "лозинк": True, "гасло": True, "رمز عبور": True,
    "hasł": True, "Hasł": True, "haśle": True, "şifre": True, "Şifre": True, "ŞİFRE": True,
    "mật khẩu": True, " mk ": True, " mk:": True,
    "κωδικό": True, "κωδικο": True, "κωδικώ": True,
    "Κωδικό": True, "Κωδικο": True, "ΚΩΔΙΚ": True, "συνθηματικ": True,
    "كلمة المرور": True, "كلمة السر": True, "كلمة سر": True, "كلمه السر": True,
    "الرقم السري": True, "باسورد": True, "باسوورد": True, "گذرواژه": True, "סיסמ": True, "הסיסמ": True,
    "पासवर्ड": True, "कूटशब्द": True, "পাসওয়ার্ড": True, "கடவுச்சொல்": True, "రహస్యపదం": True, "पास कोड": True,
    "รหัสผ่าน": True, "พาสเวิร์ด": True, "รหัสไวไฟ": True, "รหัส wifi": True, "รหัสเข้า": True, "парол": True,
    "Парол": True, "шифра": True, "գաղտնաբառ": True, "პაროლ": True, "құпия сөз": True,
    "slaptažod": True, "密碼": True, "通行碼": True, "通行码": True, "비밀 번호": True, "암구호": True,
    "合言葉": True, "ログインパス": True, "cheie": False, "atslēg": False, "raktas": False,
    "密钥": False, "金鑰": False, "密鑰": False, "令牌": False, "トークン": False, "キー": False, "토큰": False,
    "ключ": False, "Ключ": False, "klucz": False, "Klucz": False, "klíč": False, "Klíč": False,
    "токен": False, "מפתח": False, "مفتاح": False, "κλειδί": False,
}  # fmt: skip


def cues(text: str, low: bytes, places: Places) -> Iterator[tuple[int, int, bool]]:
    """Where a word begins and ends that names a secret, and whether people make that up.

    Args:
        text: The text.
        low: It in Latin-1 and lower case, one byte a character.
        places: Where what stands in ``low``.
    """
    ascii_alone = text.isascii()
    marks = _CUES if ascii_alone else _ALL_CUES
    for mark in places.present(marks):
        password = marks[mark]
        for at in places(mark):
            match = _WORD.match(text, at)
            if match and not _in_mark(text, at):
                yield at, match.end(), password
    if not ascii_alone:
        wide = low.count(b"?") > text.count("?")  # letters that Latin-1 does not have
        words = _FOREIGN if wide else _ABROAD
        for word in places.spelt(text, words):
            password = words[word]
            at = text.find(word)
            while at >= 0:
                end = _REST.match(text, at + len(word)).end()  # type: ignore[union-attr]
                yield at, end, password
                at = text.find(word, end)


def _in_mark(text: str, at: int) -> bool:
    """Whether a word stands in the mark of a secret that is gone."""
    mark = text.rfind("[secret:", max(0, at - MARK), at + len("secret:"))
    return mark >= 0 and text.find("]", mark, at) < 0
