"""Evidence: words that name a secret, and whether a span that the tagger proposes may be replaced.

Without a word for a secret nearby only a random string is replaced; beside one also what is mixed as passwords are. A
word, a name or a number is replaced only if the sentence says that it is the secret: "PIN: …". Paths, addresses, dates
and versions never are.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import chain, product
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from scrubjay.redaction.values import NAME_FORM, is_placeholder, looks_random, trim_span

if TYPE_CHECKING:
    import ahocorasick

MAX_MARK: Final = 48
"""Characters of the longest mark."""
# Searched in lower case, then checked by one expression; whether people choose the secret.
_CUES: Final[dict[str, bool]] = {
    "pass": True, "kennwort": True, "contra": True, "wachtwoord": True, "parola": True, "pw": True,
    "senha": True, "clave": True, "mdp": True, "psk": True, "cred": True, "zugang": True,
    "login": True, "admin": True, "hesl": True, "hasl": True, "gesl": True, "wifi": True,
    "wi-fi": True, "salasana": True, "sandi": True,
    "jelsz": True, "adgangskode": True, "kodeord": True, "memorable": True, "rcon": True,
    "lozink": True, "losenord": True, "tunnussana": True, "cyfrinair": True, "pasfhocal": True, "pasahitz": True,
    "sifre": True, "klucz": True, "parool": True, "sleutel": True, "chiave": True,
    "token": False, "secret": False, "key": False, "schlüssel": False, "code": False,
}  # fmt: skip
# In texts beyond ASCII.
_CUES_BEYOND_ASCII: Final = (
    "wlan", "anahtar", "chave", "kulcs", "avain", "parool", "lösen", "palavra-chave",
    "lykilor", "slapta", "salasõna", "fjalëkalim", "mat khau",
)  # fmt: skip
_ALL_CUES: Final = _CUES | dict.fromkeys(_CUES_BEYOND_ASCII, True)
_CUE_WORD: Final = re.compile(
    r"(?:(?<![^\W\d_])|(?-i:(?<=[a-z])(?<!Last)(?<!Kee)(?=[A-Z])))"
    r"(?:passcodes?|(?:(?<=mot de )|(?<=mot_de_)|(?<=palavra-))passe|pass|psk|pwd?s?|mdp|creds?|credentials?|claves?"
    r"|parola\w{0,5}|senhas?|wi-?fi|wlan|log-?ins?|admin|h[ae]sl(?:o|a|u|e|em|y|ami|ech)"
    r"|gesl(?:o|a|u|om)|sifre\w{0,4}|anahtar\w{0,3}|sleutel|chiave|klucz|kulcs|avain"
    r"|chave|lozink\w{1,2}|parool|kata sandi|sandi(?= |:)|contra(?= del?\b| es\b)|contrase[nñ]ya|contrasinal"
    r"|salas[aõ]n\w{1,5}|tunnussan\w{1,5}|cyfrineiriau|cyfrinair|pasfhocail?|fjalëkalim\w{0,4}"
    r"|salis|jelsz[oóa]\w{0,5}|adgangskode\w{0,3}|kodeord\w{0,3}|lösen(?:ord\w{0,3})?|losenord\w{0,3}|lykilor\w{1,4}"
    r"|slapta[zž]od\w{1,4}|pasahitz\w{1,4}|mat khau|memorable (?:word|name|phrase)|rcon"
    r"|zugang(?:sdaten|scode)?|keys?|codes?)(?![a-z])"
    r"|(?<!1)(?:passw(?:or[dt]|\xf6rter|d)s?|passphrase|passord(?:et|ene|er)?|kennwort|contrase\xf1as?"
    r"|wachtwoord(?:en)?|schl\xfcssel|tokens?|secrets?)(?![a-z])"
    r"|(?:(?<=aktivierungs)|(?<=freischalt)|(?<=registrierungs)|(?<=zugangs)|(?<=einladungs)"
    r"|(?<=activerings))codes?(?![a-z])"
    r"|(?<=.[a-z])(?<!by)(?<!get)(?<!Last)(?<!Kee)(?<!com)(?<!sur)(?<!tres)(?<!over)(?<!under)"
    r"(?<!tur)(?<!mon)(?<!don)(?<!joc)(?<!hoc)(?<!whis)"
    r"(?:pass|keys?)(?=\\?[\"']?[ \t]{0,3}[=:])",
    re.IGNORECASE,
)
# The ending of a word, in scripts with spaces.
_WORD_ENDING: Final = re.compile("[^\\W\\d_\u0e00-\uffff]{0,8}")
# In texts beyond ASCII; each is searched by itself.
_LATIN1_WORDS: Final[dict[str, bool]] = {
    "parolă": True, "mot de passe": True, "clé ": False, "llave": False, "nyckel": False,
    "nøkkel": False, "nøgle": False,
}  # fmt: skip
_UNICODE_WORDS: Final[dict[str, bool]] = _LATIN1_WORDS | {
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
_WORDS_IN_LATIN1: Final = tuple(
    word for word in _UNICODE_WORDS if word.encode("latin-1", "replace").decode("latin-1") == word
)
_NOUN_PARTS: Final = (
    "pin", "puk", "otp", "2fa", "unlock", "mnemonic", "seed", "recovery", "backup", "wallet", "sessionid",
    "session_id", "authid", "auth_id", "sessid", "cookie", "bearer", "kod", "keypad", "combination", "tunnusluku",
    "community",
)  # fmt: skip
"""Each further noun (`_SECRET_NOUN`) holds one of these or a cue."""
_NOUN_PARTS_BEYOND_LATIN1: Final = (
    "暗証番号", "验证码", "識別番号", "コード", "인증", "코드", "رمز", "קוד",
    *map("".join, product("пП", "иИ", "нН")), *map("".join, product("кК", "оО", "дД")),
)  # fmt: skip
_NOUN_BEGINNINGS: Final = frozenset((*_NOUN_PARTS, "secret", *_NOUN_PARTS_BEYOND_LATIN1))
_NOUN_ENDS: Final = frozenset(("code", "pass", "pw"))
"""Cues that end a noun, so that a letter stands before them."""
_WORD_CHARACTER: Final = re.compile(r"\w")
_CASE_EQUIVALENT_LETTERS: Final = "\u0130\u0131\u017f\u212a\u1c81\u1c82"
"""Letters beyond Latin-1 that equal letters of nouns if case is ignored."""
NOUN_LENGTH: Final = 28
"""More than the characters of a noun before or behind its part."""
Mark: TypeAlias = tuple[int, str]
"""Offset and text of a part of a word that may name a secret: in lower case, or as it is written beyond Latin-1."""


@cache
def _latin1_parts() -> ahocorasick.Automaton:
    return _automaton({*_ALL_CUES, *map(str.lower, _WORDS_IN_LATIN1), *_NOUN_PARTS})


@cache
def _other_parts() -> ahocorasick.Automaton:
    return _automaton({*_UNICODE_WORDS, *_NOUN_PARTS_BEYOND_LATIN1} - {*_WORDS_IN_LATIN1})


def _automaton(parts: Iterable[str]) -> ahocorasick.Automaton:
    import ahocorasick

    automaton = ahocorasick.Automaton()
    for part in parts:
        automaton.add_word(part, (len(part) - 1, part))
    automaton.make_automaton()
    return automaton


def find_marks(text: str, low: bytes) -> list[Mark]:
    """Return the parts of words that may name a secret, in order; ``low`` is the text as in `Reading`."""
    marks = [(last - before, part) for last, (before, part) in _latin1_parts().iter(low.decode("latin-1"))]
    if _has_wide_characters(text, low):
        marks += [(last - before, part) for last, (before, part) in _other_parts().iter(text)]
    return sorted(marks)


def _has_wide_characters(text: str, low: bytes) -> bool:
    """Tell whether the text has characters that Latin-1 does not have."""
    return not text.isascii() and low.count(b"?") > text.count("?")


def find_cues(text: str, low: bytes, marks: Iterable[Mark]) -> Iterator[tuple[int, int, bool]]:
    """Yield the spans of words that name a secret, and whether people choose that secret; arguments as in `Reading`."""
    cues, words = _CUES, dict[str, bool]()
    if not text.isascii():
        cues, words = _ALL_CUES, _UNICODE_WORDS if _has_wide_characters(text, low) else _LATIN1_WORDS
    ends: dict[str, int] = {}
    for at, part in marks:
        if part in cues and (match := _CUE_WORD.match(text, at)) and not _is_in_mark(text, at):
            yield at, match.end(), cues[part]
        word = text[at : at + len(part)]
        if word in words and at >= ends.get(word, 0):
            ends[word] = _WORD_ENDING.match(text, at + len(word)).end()  # type: ignore[union-attr]
            yield at, ends[word], words[word]


def _is_in_mark(text: str, at: int) -> bool:
    mark = text.rfind("[secret:", max(0, at - MAX_MARK), at + len("secret:"))
    return mark >= 0 and text.find("]", mark, at) < 0


LINE_REACH: Final = 120
"""Characters between a word for a secret and a value on its line."""
BLOCK_REACH: Final = 400
"""Characters before a value in which a heading, an earlier row or an earlier turn may name it."""
MIN_PIN: Final = 4
SENTENCE_REACH: Final = 48
"""Characters between a word for a secret and its value in the sentence."""
SURE_LOG_ODDS: Final = 0.5
"""Log odds below which only the sentence decides."""
NAME_LOG_ODDS: Final = 3.0
"""Log odds from which a word, a name or a hash is replaced if it is listed below a word for a secret."""
CERTAIN_LOG_ODDS: Final = 7.0
"""Log odds from which a name with a number is replaced near a word for a secret."""
MIXED_LOG_ODDS: Final = 4.0
"""Log odds from which mixed characters are replaced without a word for a secret."""
MIN_RANDOM: Final = 16
"""Characters of a random string that is replaced without a word for a secret."""

SEED_PHRASE_WORDS: Final = (12, 15, 18, 21, 24)
"""BIP 39."""

_SECRET_NOUN: Final = re.compile(
    r"(?<![^\W_])(?:pins?|puk|pin[ -]?(?:code|kod|kode|nummer|number|number)\w{0,3}|\w{2,12}pin|otp|totp|2fa|unlocks?"
    r"|mnemonic|seed|(?:recovery|backup|secret|wallet)[ -](?:phrase|words?|codes?)|(?:session|auth)_?(?:id|cookie)"
    r"|sessid|\w{1,12}sessid|(?:set-)?cookie|bearer|\w{2,20}code|\w{2,20}kod(?:e|u|en)?|keypad|combination|tunnusluku"
    r"|\w{2,20}(?:passwor[dt]|pass|pwd)|community)(?![^\W\d_])"
    r"|ПИН|пин-?код|код|(?<![a-z])PIN(?![a-z])|暗証番号|验证码|識別番号|認証コード|コード|인증|코드|رمز|الرمز|קוד",
    re.IGNORECASE,
)
_PASSWORD_FLAG: Final = re.compile(
    r"(?:[ \t](?:-[upwaPXAk]|--?(?:user|store|key)?pass\w*|-pw)[ \t=]?[\"']?(?:[\w.@%\\-]{0,40}[:%,/])?"
    r"|(?i:\bauth|identified by|requirepass)[ \t]+[\"']?"
    r"|[\w.+-]{1,64}@[\w.-]{1,80}[ \t]*(?:/|\||//|:|,|;)[ \t]*)\Z"
)
"""A flag of a command, or an account's name, directly before its password."""
GOODS: Final = (
    r"(?:articles?|artikel|artículos?|products?|produkte?|produits?|productos?|colou?rs?|farben?|couleurs?|paint"
    r"|stain|fabric|stoff|lack)"
)
"""Words for things that are ordered by a code."""
_HARMLESS_CODES: Final = re.compile(
    r"(?:\b(?:zip|postal|post|cost cent(?:re|er)|area|country|currency|error|status|exit|return|promo|discount|coupon"
    r"|voucher|procedure|school|product|source|colou?r|dress|tax|airport|response|http|reason|commodity|order"
    r"|language|unicode|qr|bar|tracking)[ -]?(?:code|pin)s?"
    r"|\b(?:(?:item|film|booking|reservation|flight|bus(?: stop)?|bestell|farb|buchungs|reservierungs"
    r"|rabatt|gutschein|aktions|fehler|länder|flug)[ -]?"
    rf"|{GOODS}(?:[ -]?| is | was | ist ))codes?"
    r"|\b(?:barcode|zipcode|refcode|unicode|decode|encode|opcode|bytecode|geocode|transcode|keycode))\Z",
    re.IGNORECASE,
)
"""Codes that are no secrets."""
COMPOUND: Final = re.compile(
    r"-[^\W\d_]{3,}|(?<=code)[ -]?names?\b"
    r"|(?<=code) (?:d[eu] |d')?(?:article|produit|couleur|peinture|tissu|commande|r[ée]servation|réduction|promo|erreur"
    r"|postal|pays|vol)\b"
    rf"|(?<=\b(?:the|der) code) (?:for|of|für) (?:the|den|die|das) {GOODS} (?:is|was|ist|war)\b"
    r"| (?:hints?|polic(?:y|ies)|managers?|resets?|rotation|rules?|length|counts?|boards?|fees?|freezes?|prices?"
    r"|levels?|badges?|headers?|reviews?|coverage|sizes?)\b"
    r"|(?:(?<=\bpin)|(?<=\bcode)|(?<=\bkey)|(?<=\bunlock)) (?!(?:codes?|pins?|number|pattern|phrase|words?|here|there"
    r"|below|above|now|today|again|still|inside|outside|upstairs|downstairs|she|they|you|that|which)\b)"
    r"[a-z]{3,} (?:is|was|are|were)\b|(?<=\bpin) [a-z]\w*(?<!ed)(?<!set) to\b"
    r"|(?:(?<=\Apin)|(?<=[.;:!?(\n]pin)|(?<=[.;:!?(\n] pin)|(?<=\b(?:to|we) pin)|(?<=\bi pin)|(?<=\bplease pin)"
    r"|(?<=\b(?:must|then) pin)|(?<=\bshould pin)) (?:the|our|my|your|its|their|this|each|every|all)\b"
    r"(?:(?!\b(?:is|was|has|had|uses|set|reset|changed)\b)[^.:;=?!\n0-9]){1,40}? to\b"
    r"|(?<=\bpin) [0-9]{1,8} (?:is|was) (?:the|an?|connected|wired|tied)\b",
    re.IGNORECASE,
)
"""The rest of a term that only begins with such a word: key-derivation, password policy, "pin numpy to"."""
_COMBINATION: Final = re.compile(r"\bcombination\b[^.!?\n]*\Z", re.IGNORECASE)
_DIGIT_GROUPS: Final = re.compile(r"[0-9]+(?:[ -][0-9]+)*")
"""A combination in figures: of a lock, or of a blend."""
LOCK: Final = re.compile(
    r"door|gate|alarm|safe\b|lock|garage|keypad|entry|entrance|building|phone|tablet|card\b|one-time"
    r"|authenticator|two.?factor"
    r"|recovery|backup|2fa|storage|shed|bike|cottage|t[üu]r|\btor\b|schloss|tresor|handy|karte|haus|porte"
    r"|portail|cadenas|coffre"
    r"|immeuble|carte|digicode|puerta|candado|caja|cajero|tarjeta|edificio|porta|cassaforte|lucchetto|bancomat"
    r"|carta|cofre|portão"
    r"|cartão|deur|slot|kluis|poort|drzwi|zamek|zamka|sejf|bram|kart|dveř|zámek|trezor|ajtó|kapu|zár|ovi|oven"
    r"|lukko|dörr|lås|dør"
    r"|πόρτα|κάρτα|χρηματοκιβώτιο|двер|сейф|домофон|подъезд|карт|门|锁|保险|ドア|金庫|ロック|カード|문|금고|kapı|kilit|kasa",
    re.IGNORECASE,
)
"""Things that a combination or a code opens."""
_TABLE_CELL: Final = re.compile(r"[^\s|][ \t]*[|:][ \t]*\Z")
_TEST_RESULT: Final = re.compile(r"pass[ \t]*(?:\||$)", re.IGNORECASE | re.MULTILINE)
"""A cell, not the first of its row, with the result of a test."""
_EQUATES: Final = re.compile(
    r"(?:^|[:=：→>–—-]|\b(?:is|are|was|be|to|now|it's|that's|mine's|ist|sind|war|lautet|auf|est|es|era|er|är|è|é|on"
    r"|jest|to|je|byl|este|van|zijn|adalah)\b|[是为為は이가])[\s\"'`„“”«»‘’「『(*_|]{0,6}\Z",
    re.IGNORECASE,
)
"""Equates the word before with the value that follows."""
_NAME_BEFORE_PASSWORD: Final = re.compile(r"[\w.@+-]{2,40}[ \t]*(?:/|→|👉|·)[ \t]*\Z")
_ANAPHOR: Final = re.compile(
    r"\b(?:it'?s|it is|that'?s|(?:new|old) one(?: is|:)?|changed (?:it )?to|(?:neu|neue[rs]?)(?: ist|:)?|es ist)"
    r"[ \t]+[\"'`]?\Z",
    re.IGNORECASE,
)
_NAMED_AFTER: Final = re.compile(
    r"[\s\"'`“”«»‘’*_)]{0,4}(?:(?:is|as|ist|als|est|es|è|é|comme|como|come|was|war)\b|\()[^\n.!?]{0,24}\Z",
    re.IGNORECASE,
)
_SENTENCE_END: Final = re.compile(r"[.!?](?=\s)|\n\s*\n|[。！？]|\[secret:|\|\s*\n")
_LINE_OR_MARK: Final = re.compile(r"\n|\[secret:")
_LONG_WORD: Final = re.compile(r"[^\W\d_]{3,}")
NEVER_SECRET: Final = re.compile(
    r"[\w./-]{0,255}[\w-]\.(?:py|md|txt|js|ts|tsx|rs|go|c|h|cpp|java|rb|sh|ya?ml|json|toml|ini|cfg|conf|html?|css|png|jpe?g|pdf|csv|sql"
    r"|log|lock|zip|tar|gz|com|org|net|io|dev|local|internal|example)"
    r"|https?://\S+|[\w.+-]+@[\w-]+(?:\.[\w-]+)+"
    r"|v?[0-9]+(?:\.[0-9]+){1,3}(?:[-+.]?(?:rc|a|b|alpha|beta|dev|post)?[0-9]*)"
    r"|[0-9]{4}-[0-9]{2}(?:-[0-9]{2})?|[0-9]{1,2}[./][0-9]{1,2}[./][0-9]{2,4}|[0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?"
    r"|[0-9.,]+(?:[mµn]?s|min|h|[kmgtKMGT]i?[bB]|[kcm]?m|kg|px|x|st|nd|rd|th)"
    r"|[$€£¥][0-9.,]+|[0-9.,]+[$€£¥%]|<[^>]*>|\.{3,}",
    re.ASCII,
)
"""Files, hosts, addresses, versions, dates, times, quantities and prices."""
UNIT_REACH: Final = 20
"""Characters after a number in which its unit may stand."""
_PIN_CODE: Final = re.compile(r"\bpin ?code\b[^.!?\n]*\Z", re.IGNORECASE)
_POSTAL_PLACE: Final = re.compile(
    r"(?<=(?<![0-9])[1-8][0-9]{5})(?:,| in| for) (?:"
    "india|andhra|arunachal|assam|bihar|chhattisgarh|goa|gujarat|haryana|himachal|jharkhand|karnataka|kerala|madhya"
    "|maharashtra|manipur|meghalaya|mizoram|nagaland|odisha|punjab|rajasthan|sikkim|tamil nadu|telangana|tripura"
    "|uttar|uttarakhand|west bengal|(?:new )?delhi|mumbai|bengaluru|bangalore|chennai|kolkata|hyderabad|pune|ahmedabad"
    r")(?: pradesh)?(?=[.,;)\n]|\Z)",
    re.IGNORECASE,
)
"""A place before which the six digits of a "pin code" are a postal code."""


def is_postal_code(text: str, start: int, end: int) -> bool:
    """Return whether the number at ``text[start:end]`` is an Indian postal code."""
    near = max(0, start - UNIT_REACH)
    return bool(_POSTAL_PLACE.match(text, end) and _PIN_CODE.search(text, near, start))


COUNTED_UNIT: Final = re.compile(
    r"[ \t]?(?:[€£¥$%]|(?:euros?|eur|usd|gbp|chf|dollars?|pounds?|francs?|cents?|kronor|yen"
    r"|bytes?|s?loc|[kmgt]i?b|[cmk]?m|kg|grams?|ms|seconds?|minutes?|hours?|days?|weeks?|months?|years?"
    r"|per|times?|points?|people|words?|characters?|digits?|tokens?|lines?|pages?|rows?|items?)\b)",
    re.IGNORECASE,
)
_MONEY: Final = re.compile(r"(?:[$€£¥]|\b(?:EUR|USD|GBP|CHF))[ \t]?\Z")
_YEAR: Final = re.compile(r"(?:19|20)[0-9]{2}")
HASH_FORM: Final = re.compile(
    r"[0-9a-f]{7,64}|[0-9A-F]{7,64}|(?i:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})"
)
_RANDOM_SEPARATOR: Final = re.compile(r"[^A-Za-z0-9+/]+")
_INSIDE_URL: Final = re.compile(r"://(?>(?:[^\s\"'`<>?:]|:(?!//))*)\Z")
_NAME_WITH_NUMBER: Final = re.compile(
    r"@?[A-Za-z]++(?>(?:[0-9]{1,4}+[a-z]{0,4}+)?)(?>(?:[._@-]++(?:[A-Za-z]++(?>(?:[0-9]{1,4}+[a-z]{0,4}+)?)|[0-9]{1,4}+))*)"
)
"""Names such as ChaCha20-Poly1305, nDCG@10, teamx0x."""
_SEED_PHRASE: Final = re.compile(r"(?:[0-9]{0,2}[.)]?\s*[a-z]{3,8}[\s,]+){11,24}[a-z]{3,8}")
EDGE_CHARACTERS: Final = " \t\n\r.,;:-*|\"'`()[]<>"
_ITEM_LEAD: Final = re.compile(
    r"[\s>*•#|—–-]*(?:[0-9]{1,2}[.)][ \t]*|\[?[0-9][0-9:., /-]{3,20}\]?[ \t]*)?"
    r"(?:\[?[^\n:：\]]{1,30}\]?[^\n:：]{0,20}[:：][ \t]*)?[\"'`(]*"
)
"""The beginning of an item or a turn: a bullet, a number or a time, a name and a colon."""
MIXED_FORM: Final = re.compile(r"[0-9]|(?<=\w)[!#$%&*+@^~=?](?=\w)|\w[!$%&*^]\Z")
"""Digits, or symbols as in passwords."""
_GENERATED_SECRET: Final = re.compile(
    r"(?i:keys?|tokens?|secrets?|admin|log-?ins?|cred|cookie|set-cookie|bearer|session|auth|schlüssel|zugang)(?![^\W\d_])"
)
"""Words for generated secrets, or for things that are no secrets themselves."""
_LOGIN_WORD: Final = re.compile(r"log-?ins?\b", re.IGNORECASE)


def may_hold_secret(text: str, start: int, end: int, names: Sequence[tuple[int, int]]) -> bool:
    """Tell, at little cost, whether `SecretWords.allows` could accept a span between two offsets.

    It needs a word for a secret, a flag or an account nearby, or a value that is mixed as passwords are. Without the
    former, parts of names, dates and hosts are left out, which it would accept if the tagger were very sure of them.
    """
    first_name = bisect_left(names, (start - BLOCK_REACH,))
    return (
        (first_name < len(names) and names[first_name][0] <= end + LINE_REACH)
        or any(map(_may_be_password, _BETWEEN_VALUES.split(text[start:end])))
        or _MAY_BE_FLAG.search(text, max(0, start - 160), end) is not None
    )


def _may_be_password(value: str) -> bool:
    value = value.strip(EDGE_CHARACTERS)
    if len(value) < MIN_PIN or not _MAY_BE_MIXED.search(value):
        return False
    plain = _PLAIN_VALUE.fullmatch(value) or NEVER_SECRET.fullmatch(value)
    return not plain or has_random_part(value)


def find_names(
    text: str, cues: Iterable[tuple[int, int, bool]], marks: Sequence[Mark]
) -> list[tuple[int, int]]:
    """Return the spans of cues and of further words that may name a secret, in order."""
    return sorted({*((at, end) for at, end, _ in cues), *_find_nouns(text, marks)})


def _find_nouns(text: str, marks: Iterable[Mark]) -> Iterator[tuple[int, int]]:
    """Yield the matches of `_SECRET_NOUN`, searched only around parts of nouns: a tenth of the time."""
    first = last = 0
    ranges: Iterator[tuple[int, int]] = (
        (max(0, at - NOUN_LENGTH), at + NOUN_LENGTH)
        for at, part in marks
        if part in _NOUN_BEGINNINGS or (part in _NOUN_ENDS and at and _WORD_CHARACTER.match(text, at - 1))
    )
    if not text.isascii() and any(letter in text for letter in _CASE_EQUIVALENT_LETTERS):
        ranges = iter([(0, len(text))])
    for start, end in chain(ranges, [(len(text) + NOUN_LENGTH + 1, 0)]):
        if start > last:
            yield from (match.span() for match in _SECRET_NOUN.finditer(text, first, last))
            first = start
        last = end


_MAY_BE_MIXED: Final = re.compile(r"[0-9]|\w[!#$%&*+@^~=?](?=\w)|\w[!$%&*^]")
_MAY_BE_FLAG: Final = re.compile(
    r"[ \t]-[upwaPXAk]|@[\w.-]{1,80}[ \t]*[/|:,;]|\bauth[ \t]|identified by[ \t]", re.IGNORECASE
)
_PLAIN_VALUE: Final = re.compile(
    r"[./]*+[A-Za-z]++(?>(?:[0-9]{1,4}+[a-z]{0,4}+)?)"
    r"(?>(?:[./_-]++(?:[A-Za-z]++(?>(?:[0-9]{1,4}+[a-z]{0,4}+)?)|[0-9]{1,4}+))*)[./]*+"
    r"|[A-Za-z][a-z']{1,9}[!*%]|(?:19|20)[0-9]{2}"
)
"""Names, each with a number at most; a short word with a sign behind it; a year."""
_BETWEEN_VALUES: Final = re.compile(r"[\s\"`(){}\[\]<>]+")


class SecretWords(NamedTuple):
    """The words for a secret in a text, in order, as spans.

    Attributes:
        chosen: Those for secrets that people choose, which may be a word or a number.
    """

    words: Sequence[tuple[int, int]]
    chosen: Sequence[tuple[int, int]]

    @classmethod
    def of(cls, text: str, names: Sequence[tuple[int, int]]) -> SecretWords:
        """Choose among the spans that `find_names` returns."""
        words = [
            (at, end)
            for at, end in names
            if not (
                _HARMLESS_CODES.search(text, max(0, at - 24), end)
                or COMPOUND.match(text, end)
                or (_TABLE_CELL.search(text, max(0, at - 24), at) and _TEST_RESULT.match(text, at))
            )
        ]
        return cls(words, [(at, end) for at, end in words if not _GENERATED_SECRET.match(text, at)])

    def allows(self, text: str, start: int, end: int, log_odds: float) -> bool:
        """Tell whether a span that the tagger proposes may be replaced."""
        start, end = trim_span(text, start, end, EDGE_CHARACTERS)
        value = text[start:end]
        latin1 = value.encode("latin-1", "replace")
        if len(value) < MIN_PIN or NEVER_SECRET.fullmatch(value) or is_placeholder(latin1):
            return False
        if value.isdigit() and (
            COUNTED_UNIT.match(text, end)
            or _MONEY.search(text, max(0, start - 5), start)
            or is_postal_code(text, start, end)
        ):
            return False
        combination = _DIGIT_GROUPS.fullmatch(value) and _COMBINATION.search(
            text, max(0, start - SENTENCE_REACH), start
        )
        if combination and not LOCK.search(text, max(0, start - LINE_REACH), end + LINE_REACH):
            return False
        is_name = NAME_FORM.fullmatch(latin1) is not None
        if is_name and "/" in value:
            return False
        if self._is_stated(text, start, end, log_odds) or self._is_named_after(text, start, end):
            return True
        if _YEAR.fullmatch(value):
            return False
        is_seed_phrase = _SEED_PHRASE.fullmatch(value) and len(_LONG_WORD.findall(value)) in SEED_PHRASE_WORDS
        if is_seed_phrase and _words_before(self.words, start, BLOCK_REACH):
            return True
        if log_odds <= SURE_LOG_ODDS:
            return False
        if is_name or " " in value or not MIXED_FORM.search(value):
            if (
                log_odds > CERTAIN_LOG_ODDS
                and MIXED_FORM.search(value)
                and _words_before(self.chosen, start, BLOCK_REACH)
            ):
                return True
            return log_odds > NAME_LOG_ODDS and (
                _is_listed(self.chosen, text, start, end) or self._is_second_of_pair(text, start)
            )
        if HASH_FORM.fullmatch(value) and not value.isdigit():
            return log_odds > NAME_LOG_ODDS and _is_listed(self.words, text, start, end)
        if has_random_part(value):
            return True
        if _INSIDE_URL.search(text, max(0, start - BLOCK_REACH), start):
            return False
        is_table_number = value.isdigit() and "|" in text[text.rfind("\n", 0, start) + 1 : start]
        if log_odds > MIXED_LOG_ODDS and not is_table_number and not _NAME_WITH_NUMBER.fullmatch(value):
            return True
        words = self.chosen if _NAME_WITH_NUMBER.fullmatch(value) else self.words
        is_near_word = _is_on_line(words, text, start, end, cells=not value.isdigit()) or _is_listed(
            words, text, start, end
        )
        return is_near_word or self._is_second_of_pair(text, start)

    def _is_stated(self, text: str, start: int, end: int, log_odds: float) -> bool:
        if _PASSWORD_FLAG.search(text, max(0, start - 80), start) or text.startswith(" -p", start - 2):
            return True
        for at, word_end in reversed(_words_before(self.words, start, SENTENCE_REACH + 24)):
            between = text[min(word_end, start) : start]
            if len(between) > SENTENCE_REACH or _SENTENCE_END.search(between):
                break
            may_be_name = _GENERATED_SECRET.match(text, at) and _NAME_WITH_NUMBER.fullmatch(text, start, end)
            if may_be_name and (_LONG_WORD.search(between) or _LOGIN_WORD.match(text, at)):
                continue  # "the token thread: …" names no token, "her login is ann7" an account
            if _EQUATES.search(between):
                return True
            if log_odds > MIXED_LOG_ODDS and not _GENERATED_SECRET.match(text, at):
                return True
        return False

    def _is_second_of_pair(self, text: str, start: int) -> bool:
        """Tell whether it is the second of a name and its password, below a word for a secret."""
        return _NAME_BEFORE_PASSWORD.search(text, max(0, start - SENTENCE_REACH), start) is not None and bool(
            _words_before(self.words, start, BLOCK_REACH)
        )

    def _is_named_after(self, text: str, start: int, end: int) -> bool:
        next_word = bisect_left(self.words, (end,))
        if next_word == len(self.words):
            return False
        return _NAMED_AFTER.fullmatch(text, end, self.words[next_word][0]) is not None


def _is_on_line(words: Sequence[tuple[int, int]], text: str, start: int, end: int, *, cells: bool) -> bool:
    before = _words_before(words, start, LINE_REACH)
    if before and not _LINE_OR_MARK.search(text, before[-1][0], start):
        return cells or "|" not in text[before[-1][0] : start]
    next_word = bisect_left(words, (end,))
    if next_word == len(words) or words[next_word][0] - end > LINE_REACH:
        return False
    between = text[end : words[next_word][0]]
    return "\n" not in between and (cells or "|" not in between)


def _is_listed(words: Sequence[tuple[int, int]], text: str, start: int, end: int) -> bool:
    """Tell whether it is all of a line, an item or a turn below one of the words, or the new value of one."""
    if not _words_before(words, start, BLOCK_REACH):
        return False
    reach_start = max(0, start - LINE_REACH)
    first = text.rfind("\n", reach_start, start) + 1 or reach_start
    last = text.find("\n", end, end + LINE_REACH)
    lead, rest = text[first:start], text[end : last if last >= 0 else end + LINE_REACH]
    if not rest.strip(EDGE_CHARACTERS) and _ITEM_LEAD.fullmatch(lead):
        return True
    return _ANAPHOR.search(lead) is not None


def _words_before(words: Sequence[tuple[int, int]], start: int, reach: int) -> Sequence[tuple[int, int]]:
    return words[bisect_left(words, (start - reach,)) : bisect_left(words, (start,))]


def has_random_part(value: str) -> bool:
    """Tell whether a part of it is a random string, as no host, hash or slug has."""
    return any(
        len(part) >= MIN_RANDOM
        and not HASH_FORM.fullmatch(part)
        and looks_random(part.encode("latin-1", "replace"))
        for part in _RANDOM_SEPARATOR.split(value)
    )
