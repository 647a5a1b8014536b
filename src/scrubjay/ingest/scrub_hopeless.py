"""Hopeless: a candidate -> whether it is no secret whatever else there is.

A name in code, a date, an address, what is told to be public, the value of another name, talk about passwords. What is
left is judged by its signs (`scrub_signs`); what goes out here needs no weight and costs little.
"""

from __future__ import annotations

import re
from typing import Final

from scrubjay.ingest.scrub_behind import DIGIT, FOURS, LEAST_KEY
from scrubjay.ingest.scrub_below import LISTED, MOST_SPACES
from scrubjay.ingest.scrub_cues import NETS, Candidate
from scrubjay.ingest.scrub_forms import DOTTED, GROUPED, PARTS, PHRASE, SNAKE, UUID
from scrubjay.ingest.scrub_values import ABOUT, MADE_UP, NAME, drawn, stands_for_nothing, talk
from scrubjay.ingest.scrub_words import binds, said

OTHER_NAME: Final = re.compile(
    r"(?:[=:：>][^=:：]*\w[\"'\]]*\s*|[,;}]\s*[\"']?\w+[\"']?\s?)[=:：][\s\"'>{]*\Z"
)
PUBLIC: Final = re.compile(
    r"public|publish|fingerprint|host[-_ ]?key|site[-_ ]?key|\bcert|encrypted|sealed|\bENC\b|hash|digest"
    r"|checksum|sha-?\d|md5|integrity|commit|хэш|хеш|коммит|提交|コミット|ハッシュ|해시|커밋"
    r"|\b[iI][dD](?![a-z])|\bkid\b|\biv:|\btag:|(?<!ss)_?id\b|[a-z]I[dD]\b|uuid|trace|request|session-id",
    re.IGNORECASE,
)
# Just before the word: a public key is none, whatever it looks like.
_OPEN: Final = re.compile(
    r"(?:[er]c?dsa|eddsa|rsa|gpg|pgp|host|site|ssh|pub|map|foreign|primary|cache|idempotency|partition|object|sort"
    r"|row|hash|storage|verification|websocket|routing|search|file|team|shard|group|dedup\w*|recv|unique|composite)"
    r"[-_ ]?\Z|arn:\S*\Z",
    re.IGNORECASE,
)
_PUBLIC_NAME: Final = re.compile(
    r"(?:public|publishable|anon)(?:(?!secret|priv|pass)[\w-]){0,40}[-_ ]?\Z|arn:\S*\Z", re.IGNORECASE
)
# A parameter of an address, the place of a variable.
_LINKED: Final = re.compile(r"[&?]\w[\w.-]*=\Z|\$[{(]\s*\Z|\{\{\s*\Z")
# Assigned to another name: "token.create policy=read accessor=…", 'type="password" placeholder="…"'.
_OTHER: Final = re.compile(r"[\s,;{][\"']?([\w.-]{2,40})=[\"']?\Z|,\s{0,8}\"([\w.-]{2,40})\":\s{0,2}\"?\Z")
_ITS_VALUE: Final = re.compile(r"val|pass|secret|token|key|pw|cred|str|data|body", re.IGNORECASE)
# Of values parted by commas another one.
_CELLS: Final = re.compile(r"^\S*,[^\s,]*,\S*\Z")
# Behind "password rules" no password stands.
_RULES: Final = re.compile(
    r"rule|regel|règle|regole|regla|regras|kural|polic|require|tips|guideline|criteri|правил", re.IGNORECASE
)
_CALL: Final = re.compile(r"[(\[]|\.[a-z]")
_PATHLIKE: Final = re.compile(
    r"(?:~|\.{1,2})/|[A-Za-z]:\\|[\w./@-]+\.(?:[a-z]{2,3}|toml|yaml|json|html|java|jsonl|conf|jpeg|lock|info|docx|xlsx)\Z"
)
_ADDRESS: Final = re.compile(r"\w+:(?://|%2F%2F)|www\.|[\w.+-]+@[\w-]+\.\w|\d+(?:\.\d+){3}|urn[:%]")
_NUMERIC: Final = re.compile(r"[£$€]?[\d.,:/%+xX-]+[a-zA-Z]{0,3}\Z")
_SHOUT: Final = re.compile(r"[A-Z]+(?:_[A-Z0-9]+)*\Z")
FAR_KEY: Final = 20
"""Characters of a key that may stand far from its name without a sign between."""
MOST_APART: Final = 2
"""Spaces between a shorter one and its name."""
_SIGNED: Final = re.compile(r"[=:：/]|=>|\b(?:is|ist|es|est|lautet)\b")
_ASSIGNED: Final = re.compile(r"[=:：>]")
# Of the key that git signs with the id alone is told: PGP's keys are known by their last digits.
_KEY_ID: Final = re.compile(r"(?:0x)?[0-9A-F]{8,40}\Z")
_CACHE: Final = re.compile(r"\bcache\b", re.IGNORECASE)
_PROCEDURE: Final = re.compile(
    r"argon2\w*|bcrypt|scrypt|pbkdf2\w*|aes[-_]?\d+[-\w]*|[a-z]{2}\d{3}|wpa\d?(?:-\w+)*", re.IGNORECASE
)
_NUMBERED: Final = re.compile(r"[0-9]{1,4}[a-z]{5,}\Z")
_TYPE: Final = re.compile(r"(?:[A-Z][a-z]\w*\.){3,}[A-Z]\w*\Z|\*|\d+ [^\W\d_]+\Z")
# What stands below a label beside the secret and says by its name that it is none.
_BESIDE: Final = re.compile(
    r"user|login|mail|host|url|\bid\b|identif|port\b|region|name|number|phone|date|server|address|\bip\b|version|expir|until"
    r"|note|benutz|konto|gültig|nummer|adresse|hash|algo|store|file|branch|output|min|max|len|path|type|hint|msg|mens"
    r"|error|rule|ttl|polic",
    re.IGNORECASE,
)
# The codes that let somebody in; those of countries, errors and doors are no secrets.
_CODES: Final = re.compile(
    r"(?:access|activation|unlock|recovery|backup|scratch|emergency|invite|licen[cs]e|2fa"
    r"|zugangs|wiederherstellungs|notfall)[-_ ]?\Z",
    re.IGNORECASE,
)
# "The password for X is …": X is none.
_GOES_ON: Final = re.compile(r"[\"'`)]?\s+(?:is|ist|lautet|est|es|was|war|are|sind|has|hat)\b")
_PASS_IS: Final = re.compile(r"[=:：/]|=>|\b(?:is|ist|es|est|lautet)[\s\"'`]*\Z")
_BRACKET: Final = re.compile(r"[()\[\]{};=]")
_LABEL: Final = re.compile(r"[\w .-]+(?:[:=]\Z|: |=[^=]|://)")
# Behind the word a flag, a comparison, a call: what follows is of that.
_ELSEWHERE: Final = re.compile(r"\s--?[a-zA-Z]|[=!]=|\w\([^()]*,")
_BASE64: Final = re.compile(r"(?=.*[a-z].*\d)(?=.*[A-Z])/[A-Za-z0-9+/]{32,}={0,2}")
_NEVER: Final = re.compile(
    # Markdown's links, places of pages, other parts of addresses, managers of passwords, commands, names in code, times
    # and dates, what says by its beginning that it is public.
    r"[\[(]|\+|[^\s]*\]\(|\S*%20|(?:[a-z0-9-]+\.){2,}[a-z]{2,}/|\S+\.html?#|(?i:1password|(?:last|kee|proton|en)pass|bitwarden)"
    r"|(?:ConvertTo|New|Get|Set|Read|Import|Invoke)-[A-Z]|[a-z]+:#?\w+\Z|\w+(?:\.\w+)*::\w"
    r"|\d{4}-\d\d-\d\d|\d\d?:\d\d|\d{8}T\d{6}Z|\d\d?[./]\d\d?[./]\d{2,4}"
    r"|SHA\d+:|sha\d+[-:]|arn:|pk[._](?:eyJ|live|test)|age1|ssh-|AAAA[BCE]3|Ag[A-D]|MI(?:GfMA|IBIjAN|I[CDEFG])|MFkwEwYH"
    + f"|{_ADDRESS.pattern}|{_PATHLIKE.pattern}|{_NUMERIC.pattern}|{_SHOUT.pattern}"
)
_PROSE: Final = re.compile(r"[:=(){}\[\]/;]|[.,!?](?: |\Z)")
# Between a secret and what follows it: that is of a network, or of who logs in.
_OF_ANOTHER: Final = re.compile(
    r"\b(?:ssid|network|netz(?:werk)?|rete|red|réseau|sieć|nätverk|netwerk|rede|user(?:name)?|benutzer(?:name)?|usuario"
    r"|utente|utilisateur|identifiant|login|host|server|port|named?|heißt|called|chiama|appelle|llama|chama|nazywa|email)\b",
    re.IGNORECASE,
)
# A password that is a number: only just behind what says that it is one.
_PAUSED: Final = re.compile(r"[.,;!?] ")
_DIGITS: Final = re.compile(r"[0-9]{4,20}\Z")
_TOLD: Final = re.compile(
    r"^[^\W\d_]{0,4}[ \t]{1,2}\Z"
    r"|^[^\n0-9.]{0,40}(?:[=:：]|\b(?:is|ist|lautet|est|es|era|was|war)|[èéは是为為])[\s\"'`*「]*\Z"
)
# The name of who logs in has no such signs.
_STRONG: Final = re.compile(
    r"(?!\$)(?=[^@/{}()]{8,64}\Z)(?!.*%[0-9A-F]{2})(?=.*[A-Za-z])"
    r"(?:.*[!#$%&*+^~]+[A-Za-z0-9].*|(?=.*[0-9])(?=.*[a-z])(?=.*[A-Z]).{10,}|(?=.*[0-9]).*[a-z][-_.].*[-_.].*)\Z"
)
_NET_WORD: Final = re.compile(r"[a-z]{3,}[a-z-]*[0-9]{1,4}!?\Z")
_TOLD_OF: Final = re.compile(r"(?:[:=]|\b(?:is|ist|es|est)|[èé])[ \t]\Z")
_LOGINS: Final = ("login", "log-in", "admin")
_QUOTES: Final = ("”", "“", '"', "»")
MOST_GAP: Final = 12
"""Characters between a login and its password."""
_NAMELIKE: Final = re.compile(r"[a-z]+(?:-[a-z]+)+\Z|[A-Z]?[a-z]+[0-9]{1,2}\Z")
_PLAIN_USER: Final = re.compile(r"(?:^|\s)(?!admin|root|user)[A-Za-z]+[\"'`]?\Z")
_OPENER: Final = re.compile(r"[!#$%&*+=^~]\w|[0-9].*[._-]|[._-].*[0-9]|[a-z][0-9]{3,}|\w[._-]\w+[._-]\w")
_NET_LINE: Final = re.compile(r"wi-?fi|wlan|hotspot|\blogin", re.IGNORECASE)
_LABELS: Final = re.compile(r":(?:[\s*]|\Z)")
_BY_PLACE: Final = frozenset(("mail", "pair", "turn", "late turn", "verb"))


def hopeless(one: Candidate) -> bool:
    """Whether it is none whatever else there is."""
    if one.password:
        word = one.word.lower()
        if word.startswith(NETS) and one.place not in _BY_PLACE:
            return not _of_net(one) or _elsewhere(one)
        if word.startswith(_LOGINS) and one.place not in _BY_PLACE:
            return not _of_login(one) or _elsewhere(one) or (one.place in LISTED and _another(one))
        if _no_password(one) or _talk_of_words(one):
            return True
    elif _no_key(one):
        return True
    return _elsewhere(one) or _another(one)


def _of_net(one: Candidate) -> bool:
    """Whether it may be a network's password, where only the network is named."""
    told = one.place in {"after", "later"} and _TOLD_OF.search(one.gap) is not None
    return told and _NET_WORD.match(one.value) is not None


def _of_login(one: Candidate) -> bool:
    """Whether it may be a password, where only logging in is spoken of: who logs in stands there more often."""
    if one.place in LISTED:
        return one.place != "column" and " " not in one.value and MADE_UP.search(one.value) is not None
    return one.place == "after" and len(one.gap) <= MOST_GAP and _STRONG.match(one.value) is not None


def _no_password(one: Candidate) -> bool:
    prose = one.gap != "=" and _PROSE.search(one.value)
    if " " in one.value and (one.value.count(" ") > MOST_SPACES or prose):
        return True
    # A pass is for a tram, too.
    if one.word.lower() == "pass" and not (
        one.place == "after" and _PASS_IS.search(one.gap) and MADE_UP.search(one.value)
    ):
        return True
    return OTHER_NAME.search(one.gap) is not None


def _no_key(one: Candidate) -> bool:
    """Whether it is none of the things that are drawn by lot, or one that opens nothing."""
    word = one.word.lower()
    apart = one.place in {"after", "later"} and not _SIGNED.search(one.gap) and " " in one.gap.strip()
    return bool(
        len(one.value) < LEAST_KEY
        or not (DIGIT.search(one.value) or FOURS.fullmatch(one.value))
        or (" " in one.value and not GROUPED.match(one.value))
        or PUBLIC.search(one.gap)
        or (apart and UUID.fullmatch(one.value))
        or (word.startswith("code") and not _CODES.search(one.lead))
        or (word.startswith("key") and _CACHE.search(one.around))
    )


def _talk_of_words(one: Candidate) -> bool:
    """Whether it is talk, or where no word names a password too little like one."""
    if one.place == "after" and one.gap.startswith(_QUOTES) and not _SIGNED.search(one.gap):
        return True  # what a button or a field is called
    if one.place in {"mail", "pair"}:
        plain = _NAMELIKE.match(one.value) and _PLAIN_USER.search(one.lead)
        named = one.value.isalpha() and _NET_LINE.search(one.lead)
        return bool(one.place == "pair" and plain) or not (MADE_UP.search(one.value) or named)
    if one.place == "verb":
        return not (one.value.isdigit() or _OPENER.search(one.value) or " to " in one.gap)
    if one.place in {"turn", "late turn"} and _OF_ANOTHER.search(one.gap[-40:]):
        return True
    if one.value.isalpha() and ")" in one.gap and "(" not in one.gap:
        return True
    return not one.quoted and PHRASE.match(one.value) is not None and _goes_on(one)


def _goes_on(one: Candidate) -> bool:
    """Whether several words are the rest of a sentence: one of them is said of secrets, or too many bind it."""
    words = one.value.split()
    if one.place in LISTED:
        return any(map(said, words))
    bound = sum(map(binds, words))
    if len(words) > 2 and one.gap.strip(" \t*_") in {":", "=", "："}:
        return 2 * bound >= len(words)
    return 3 * bound >= len(words) or any(map(said, words)) or any(talk(_raw(word)) for word in words)


def _elsewhere(one: Candidate) -> bool:
    """Whether its place is that of another thing: a call, an argument of an address, a flag, a public key."""
    if _RULES.search(one.lead[-60:] + one.gap[:60]) and one.place in LISTED:
        return True
    if (other := _OTHER.search(one.gap)) and not _ITS_VALUE.search(other[1] or other[2]):
        return True
    if _CALL.match(one.rest) or _LINKED.search(one.gap) or _PUBLIC_NAME.search(one.lead[-60:]):
        return True
    if not one.password and _OPEN.search(one.lead[-60:]):
        return True
    if one.place in {"below", "under", "alone", "output"}:
        return _LABEL.match(one.value) is not None or _BRACKET.search(one.value) is not None
    if one.place == "entry":
        return _BESIDE.search(one.lead) is not None or _BRACKET.search(one.value) is not None
    another = one.place == "later" or _PAUSED.search(one.gap)
    if another and _OF_ANOTHER.search(_PAUSED.split(one.gap)[-1][-40:]):
        return True
    if one.place in {"after", "later"}:
        far = (
            len(one.value) < FAR_KEY
            and not one.password
            and not _SIGNED.search(one.gap)
            and one.gap.count(" ") > MOST_APART
        )
        return (
            far
            or _LABELS.match(one.rest) is not None
            or (_GOES_ON.match(one.rest) is not None and not _SIGNED.search(one.gap))
            or _ELSEWHERE.search(one.gap) is not None
        )
    return False


def _may_be_number(one: Candidate) -> bool:
    """Whether a number may be a password where it stands; behind "code" it is a door's, as likely as not."""
    if one.place == "verb":
        return True
    if "code" in one.word.lower() or one.word.lower().startswith("zugang"):
        return False
    return one.place in {"column", "entry", "turn"} or _TOLD.search(one.gap) is not None


def _another(one: Candidate) -> bool:
    """Whether its form is that of another thing: a name in code, a file, a date, what stands in for a secret."""
    raw = _raw(one.value)
    if one.password and _DIGITS.match(one.value):
        return not _may_be_number(one)
    if _PROCEDURE.fullmatch(one.value) or _TYPE.match(one.value) or _CELLS.match(one.gap):
        return True
    if _NEVER.match(one.value) or (one.lead.endswith(("?", "&")) and UUID.match(one.value)):
        return True
    if NAME.fullmatch(raw) and (b"/" in raw or not one.password or (_talks(one.value) and not raw.isalpha())):
        return True
    if one.word.lower() in one.value.lower() and (DOTTED.match(one.value) or SNAKE.match(one.value)):
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


def _talks(value: str) -> bool:
    """Whether joined words are a name in code: most of them, or two, are of talk about secrets."""
    parts = PARTS.split(value)
    about = sum(talk(_raw(part)) for part in parts)
    last = bool(parts[-1]) and talk(_raw(parts[-1]))
    return about > 1 or (about > 0 and (last or len(parts) < 3))


def _raw(value: str) -> bytes:
    return value.encode("latin-1", "replace")
