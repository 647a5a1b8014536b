"""Evidence: whether a stretch that the tagger proposes may be replaced, by its form and by what is said of it.

The tagger proposes; this decides. Without any word for a secret nearby only a random string goes. Beside such a word,
what is mixed as passwords are goes as well. A word, a name, a hyphenated term or a number goes only where the
sentence says that it is the secret: "the password is …", "PIN: …". Paths, files, addresses, dates and versions stay.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from typing import Final, NamedTuple

from scrubjay.ingest.scrub_values import NAME, drawn, placeholder

LINE: Final = 120
"""Characters between a word for a secret and what it names on its line."""
BLOCK: Final = 400
"""Characters before a token in which a heading, an earlier row or an earlier turn may name it."""
LEAST: Final = 4
"""Characters of the shortest PIN."""
SAID: Final = 48
"""Characters between a word for a secret and what the sentence says that it is."""
SURE: Final = 0.5
"""Log odds below which only what the sentence says is a secret goes."""
NAMES: Final = 3.0
"""Log odds from which a word, a name or a hash goes that is listed below a word for a secret."""
CERTAIN: Final = 7.0
"""Log odds from which a name with a number goes near a word for a secret."""
MIXED: Final = 4.0
"""Log odds from which letters and digits that no name has go, though no word says what they are."""
LEAST_RANDOM: Final = 16
"""Characters from which on a random string is taken for one without a word that says so."""

SEEDS: Final = (12, 15, 18, 21, 24)
"""Words of a phrase that restores a wallet (BIP 39)."""

_NOUN: Final = re.compile(
    r"(?<![^\W_])(?:pins?|puk|pin[ -]?(?:code|kod|kode|nummer|number|number)\w{0,3}|\w{2,12}pin|otp|totp|2fa|unlocks?"
    r"|mnemonic|seed|(?:recovery|backup|secret|wallet)[ -](?:phrase|words?|codes?)|(?:session|auth)_?(?:id|cookie)"
    r"|sessid|\w{1,12}sessid|(?:set-)?cookie|bearer|\w{2,20}code|\w{2,20}kod(?:e|u|en)?|keypad|combination|tunnusluku"
    r"|\w{2,20}(?:passwor[dt]|pass|pwd)|community)(?![^\W\d_])"
    r"|ПИН|пин-?код|код|(?<![a-z])PIN(?![a-z])|暗証番号|验证码|識別番号|認証コード|コード|인증|코드|رمز|الرمز|קוד",
    re.IGNORECASE,
)
_FLAG: Final = re.compile(
    r"(?:[ \t](?:-[upwaPXAk]|--?(?:user|store|key)?pass\w*|-pw)[ \t=]?[\"']?(?:[\w.@%\\-]{0,40}[:%,/])?"
    r"|(?i:\bauth|identified by|requirepass)[ \t]+[\"']?"
    r"|[\w.+-]{1,64}@[\w.-]{1,80}[ \t]*(?:/|\||//|:|,|;)[ \t]*)\Z"
)
"""A flag of a command, or an account's name, that stands right before its password."""
_OTHER_CODES: Final = re.compile(
    r"(?:\b(?:zip|postal|post|cost cent(?:re|er)|area|country|currency|error|status|exit|return|promo|discount|coupon"
    r"|voucher|procedure|school"
    r"|product|source|colou?r|dress|tax|airport|response|http|reason|commodity|order"
    r"|language|unicode|qr|bar|tracking)[ -]?"
    r"(?:code|pin)s?|\b(?:barcode|zipcode|refcode|unicode|decode|encode|opcode|bytecode|geocode|transcode|keycode))\Z",
    re.IGNORECASE,
)
"""Codes that open nothing."""
COMPOUND: Final = re.compile(
    r"-[^\W\d_]{3,}|(?<=code)[ -]?names?\b"
    r"| (?:hints?|polic(?:y|ies)|managers?|resets?|rotation|rules?|length|counts?|boards?|fees?|freezes?|prices?"
    r"|levels?|badges?|headers?|reviews?|coverage|sizes?)\b"
    r"|(?:(?<=\bpin)|(?<=\bcode)|(?<=\bkey)|(?<=\bunlock)) (?!(?:codes?|pins?|number|pattern|phrase|words?|here|there"
    r"|below|above|now|today|again|still|inside|outside|upstairs|downstairs|she|they|you|that|which)\b)"
    r"[a-z]{3,} (?:is|was|are|were)\b"
    r"|(?<=\bpin) [a-z]\w*(?<!ed)(?<!set) to\b"
    r"|(?<=\bpin) [0-9]{1,8} (?:is|was) (?:the|an?|connected|wired|tied)\b",
    re.IGNORECASE,
)
"""The rest of a term that only begins with such a word: key-derivation, password policy, pin count; "pin numpy to"."""
_COMBINATION: Final = re.compile(r"\bcombination\b[^.!?\n]*\Z", re.IGNORECASE)
_PARTS: Final = re.compile(r"[0-9]+(?:[ -][0-9]+)*")
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
"""What a combination, or a code, opens."""
_CELL: Final = re.compile(r"[^\s|][ \t]*[|:][ \t]*\Z")
_RESULT: Final = re.compile(r"pass[ \t]*(?:\||$)", re.IGNORECASE | re.MULTILINE)
"""A cell, not the first of its row, that says how a test went."""
_IS: Final = re.compile(
    r"(?:^|[:=：→>–—-]|\b(?:is|are|was|be|to|now|it's|that's|mine's|ist|sind|war|lautet|auf|est|es|era|er|är|è|é|on"
    r"|jest|to|je|byl|este|van|zijn|adalah)\b|[是为為は이가])[\s\"'`„“”«»‘’「『(*_|]{0,6}\Z",
    re.IGNORECASE,
)
"""What says that the word before is what follows, or nothing between the two."""
_PAIR: Final = re.compile(r"[\w.@+-]{2,40}[ \t]*(?:/|→|👉|·)[ \t]*\Z")
_ANAPHOR: Final = re.compile(
    r"\b(?:it'?s|it is|that'?s|(?:new|old) one(?: is|:)?|changed (?:it )?to|(?:neu|neue[rs]?)(?: ist|:)?|es ist)"
    r"[ \t]+[\"'`]?\Z",
    re.IGNORECASE,
)
_AFTER: Final = re.compile(
    r"[\s\"'`“”«»‘’*_)]{0,4}(?:(?:is|as|ist|als|est|es|è|é|comme|como|come|was|war)\b|\()[^\n.!?]{0,24}\Z",
    re.IGNORECASE,
)
_STOP: Final = re.compile(r"[.!?](?=\s)|\n\s*\n|[。！？]|\[secret:|\|\s*\n")
_GONE: Final = re.compile(r"\n|\[secret:")
_WORDS: Final = re.compile(r"[^\W\d_]{3,}")
NEVER: Final = re.compile(
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
UNIT: Final = 12
"""Characters behind a number in which its unit stands."""
COUNTED: Final = re.compile(
    r"[ \t]?(?:[€£¥$%]|(?:euros?|eur|usd|gbp|chf|dollars?|pounds?|francs?|cents?|kronor|yen"
    r"|bytes?|[kmgt]i?b|[cmk]?m|kg|grams?|ms|seconds?|minutes?|hours?|days?|weeks?|months?|years?"
    r"|per|times?|points?|people|words?|characters?|digits?|tokens?|lines?|pages?|rows?|items?)\b)",
    re.IGNORECASE,
)
"""The unit behind a number that is an amount."""
_MONEY: Final = re.compile(r"(?:[$€£¥]|\b(?:EUR|USD|GBP|CHF))[ \t]?\Z")
_YEAR: Final = re.compile(r"(?:19|20)[0-9]{2}")
"""A number that is a secret only where the sentence says so."""
HASH: Final = re.compile(
    r"[0-9a-f]{7,64}|[0-9A-F]{7,64}|(?i:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})"
)
_PART: Final = re.compile(r"[^A-Za-z0-9+/]+")
_ADDRESS: Final = re.compile(r"://(?>(?:[^\s\"'`<>?:]|:(?!//))*)\Z")
_NAMED: Final = re.compile(
    r"@?[A-Za-z]++(?>(?:[0-9]{1,4}+[a-z]{0,4}+)?)(?>(?:[._@-]++(?:[A-Za-z]++(?>(?:[0-9]{1,4}+[a-z]{0,4}+)?)|[0-9]{1,4}+))*)"
)
"""Names of things and people: ChaCha20-Poly1305, nDCG@10, teamx0x."""
_PHRASE: Final = re.compile(r"(?:[0-9]{0,2}[.)]?\s*[a-z]{3,8}[\s,]+){11,24}[a-z]{3,8}")
"""Twelve words or more, small ones, as they restore a wallet."""
EDGES: Final = " \t\n\r.,;:-*|\"'`()[]<>"
_LEAD: Final = re.compile(
    r"[\s>*•#|—–-]*(?:[0-9]{1,2}[.)][ \t]*|\[?[0-9][0-9:., /-]{3,20}\]?[ \t]*)?"
    r"(?:\[?[^\n:：\]]{1,30}\]?[^\n:：]{0,20}[:：][ \t]*)?[\"'`(]*"
)
"""The beginning of an item or a turn: a bullet, a number or a time, a name and a colon."""
MIXED_FORM: Final = re.compile(r"[0-9]|(?<=\w)[!#$%&*+@^~=?](?=\w)|\w[!$%&*^]\Z")
"""Digits, or signs as passwords have them."""
_DRAWN: Final = re.compile(
    r"(?i:keys?|tokens?|secrets?|admin|log-?ins?|cred|cookie|set-cookie|bearer|session|auth|schlüssel|zugang)(?![^\W\d_])"
)
"""Words for what a program draws by lot or what is no secret itself."""


_ACCOUNT: Final = re.compile(r"log-?ins?\b", re.IGNORECASE)


class Named(NamedTuple):
    """The words for a secret in a text, in order: where each begins and ends.

    Attributes:
        words: All of them.
        chosen: Those for what people make up and remember, which may be a word or a number.
    """

    words: Sequence[tuple[int, int]]
    chosen: Sequence[tuple[int, int]]

    @classmethod
    def of(cls, text: str, cues: Sequence[tuple[int, int]]) -> Named:
        """Those that the tagger knows, and others."""
        both = sorted({*cues, *(match.span() for match in _NOUN.finditer(text))})
        words = [
            (at, end)
            for at, end in both
            if not (
                _OTHER_CODES.search(text, max(0, at - 24), end)
                or COMPOUND.match(text, end)
                or (_CELL.search(text, max(0, at - 24), at) and _RESULT.match(text, at))
            )
        ]
        return cls(words, [(at, end) for at, end in words if not _DRAWN.match(text, at)])

    def allows(self, text: str, start: int, end: int, odds: float) -> bool:
        """Whether a stretch that the tagger proposes may be replaced.

        Args:
            text: The text.
            start: Where the stretch begins.
            end: Where it ends.
            odds: The tagger's log odds of its being a secret.
        """
        while start < end and text[start] in EDGES:
            start += 1
        while end > start and text[end - 1] in EDGES:
            end -= 1
        value = text[start:end]
        bare = value.encode("latin-1", "replace")
        if len(value) < LEAST or NEVER.fullmatch(value) or placeholder(bare):
            return False
        if value.isdigit() and (COUNTED.match(text, end) or _MONEY.search(text, max(0, start - 5), start)):
            return False
        if (
            _PARTS.fullmatch(value)
            and _COMBINATION.search(text, max(0, start - SAID), start)
            and not LOCK.search(text, max(0, start - LINE), end + LINE)
        ):
            return False
        named = NAME.fullmatch(bare) is not None
        if named and "/" in value:
            return False
        if self._said(text, start, end, odds) or self._told(text, start, end):
            return True
        if _YEAR.fullmatch(value):
            return False
        phrase = _PHRASE.fullmatch(value) is not None and len(_WORDS.findall(value)) in SEEDS
        if phrase and _before(self.words, start, BLOCK):
            return True
        if odds <= SURE:
            return False
        if named or " " in value or not MIXED_FORM.search(value):
            if odds > CERTAIN and MIXED_FORM.search(value) and _before(self.chosen, start, BLOCK):
                return True
            return odds > NAMES and (_listed(self.chosen, text, start, end) or self._paired(text, start))
        if HASH.fullmatch(value) and not value.isdigit():
            return odds > NAMES and _listed(self.words, text, start, end)
        if random(value):
            return True
        if _ADDRESS.search(text, max(0, start - BLOCK), start):
            return False
        counted = value.isdigit() and "|" in text[text.rfind("\n", 0, start) + 1 : start]  # a table's number
        if odds > MIXED and not counted and not _NAMED.fullmatch(value):
            return True
        words = self.chosen if _NAMED.fullmatch(value) else self.words
        beside = _on_line(words, text, start, end, cells=not value.isdigit()) or _listed(
            words, text, start, end
        )
        return beside or self._paired(text, start)

    def _said(self, text: str, start: int, end: int, odds: float) -> bool:
        """Whether a word for a secret, or the flag of a command, says of what follows that it is the secret."""
        if _FLAG.search(text, max(0, start - 80), start) or text.startswith(" -p", start - 2):
            return True
        for at, stop in reversed(_before(self.words, start, SAID + 24)):
            between = text[min(stop, start) : start]
            if len(between) > SAID or _STOP.search(between):
                break
            name = _DRAWN.match(text, at) and _NAMED.fullmatch(text, start, end)
            if name and (_WORDS.search(between) or _ACCOUNT.match(text, at)):
                continue  # "the token thread: …" names no token, "her login is ann7" an account
            if _IS.search(between):
                return True
            if odds > MIXED and not _DRAWN.match(text, at):
                return True
        return False

    def _paired(self, text: str, start: int) -> bool:
        """Whether it is the second of a pair, a name and its password, below a word for a secret."""
        return _PAIR.search(text, max(0, start - SAID), start) is not None and bool(
            _before(self.words, start, BLOCK)
        )

    def _told(self, text: str, start: int, end: int) -> bool:
        """Whether the words behind it say so: "… is the password", "… (PIN)"."""
        after = bisect_left(self.words, (end,))
        return after < len(self.words) and _AFTER.fullmatch(text, end, self.words[after][0]) is not None


def _on_line(words: Sequence[tuple[int, int]], text: str, start: int, end: int, *, cells: bool) -> bool:
    """Whether one of some words is on its line, be it in another cell, and its secret is not gone already."""
    before = _before(words, start, LINE)
    if before and not _GONE.search(text, before[-1][0], start):
        return cells or "|" not in text[before[-1][0] : start]
    after = bisect_left(words, (end,))
    if after == len(words) or words[after][0] - end > LINE:
        return False
    return not any(text.find(border, end, words[after][0]) >= 0 for border in ("\n" if cells else "\n|"))


def _listed(words: Sequence[tuple[int, int]], text: str, start: int, end: int) -> bool:
    """Whether it is all of a line, an item or a turn below one of some words, or what one of them is now."""
    if not _before(words, start, BLOCK):
        return False
    near = max(0, start - LINE)
    first = text.rfind("\n", near, start) + 1 or near
    last = text.find("\n", end, end + LINE)
    lead, rest = text[first:start], text[end : last if last >= 0 else end + LINE]
    if not rest.strip(EDGES) and _LEAD.fullmatch(lead):
        return True
    return _ANAPHOR.search(lead) is not None


def _before(words: Sequence[tuple[int, int]], start: int, far: int) -> Sequence[tuple[int, int]]:
    """Those of some words that begin not far before a place."""
    return words[bisect_left(words, (start - far,)) : bisect_left(words, (start,))]


def random(value: str) -> bool:
    """Whether a part of it is a random string, which no host, hash or slug has."""
    return any(
        len(part) >= LEAST_RANDOM and not HASH.fullmatch(part) and drawn(part.encode("latin-1", "replace"))
        for part in _PART.split(value)
    )
