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
from scrubjay.ingest.scrub_forms import GROUPED, UUID
from scrubjay.ingest.scrub_other import another
from scrubjay.ingest.scrub_talk import BESIDE, OF_ANOTHER, SIGNED, set_pass, talk_of_words
from scrubjay.ingest.scrub_values import MADE_UP

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
    r"(?:[er]c?dsa|eddsa|rsa|gpg|pgp|host|site|ssh|pub|map|foreign|primary|cache|idempotency|partition"
    r"|object|sort"
    r"|row|hash|storage|verification|websocket|routing|search|file|team|shard|group|dedup\w*|recv|unique"
    r"|composite)"
    r"[-_ ]?\Z|arn:\S*\Z",
    re.IGNORECASE,
)
_PUBLIC_NAME: Final = re.compile(
    r"(?:public|publishable|anon)(?:(?!secret|priv|pass)[\w-]){0,40}[-_ ]?\Z|arn:\S*\Z", re.IGNORECASE
)
# A parameter of an address, the place of a variable.
_LINKED: Final = re.compile(r"[&?]\w[\w.-]*=\Z|\$[{(]\s*\Z|\{\{\s*\Z")
# Assigned to another name: "token.create policy=read accessor=…", 'type="password" placeholder="…"'.
_OTHER: Final = re.compile(r"[\s,;{(][\"']?([\w.-]{2,40})=[\"']?\Z|,\s{0,8}\"([\w.-]{2,40})\":\s{0,2}\"?\Z")
_ITS_VALUE: Final = re.compile(r"val|pass|secret|token|key|pw|cred|str|data|body", re.IGNORECASE)
# Behind "password rules" no password stands.
_RULES: Final = re.compile(
    r"rule|regel|règle|regole|regla|regras|kural|polic|require|tips|guideline|criteri|правил", re.IGNORECASE
)
_CALL: Final = re.compile(r"[(\[]|\.[a-z]")
FAR_KEY: Final = 20
"""Characters of a key that may stand far from its name without a sign between."""
MOST_APART: Final = 2
"""Spaces between a shorter one and its name."""
_CACHE: Final = re.compile(r"\bcache\b", re.IGNORECASE)
# The codes that let somebody in; those of countries, errors and doors are no secrets.
_CODES: Final = re.compile(
    r"(?:access|activation|unlock|recovery|backup|scratch|emergency|invite|invitation|registration"
    r"|licen[cs]e|2fa"
    r"|zugangs|wiederherstellungs|notfall|aktivierungs|freischalt|registrierungs|einladungs)[-_ ]?\Z",
    re.IGNORECASE,
)
# "The password for X is …": X is none.
_GOES_ON: Final = re.compile(r"[\"'`)]?\s+(?:is|ist|lautet|est|es|was|war|are|sind|has|hat)\b")
_BRACKET: Final = re.compile(r"[()\[\]{};=]")
_LABEL: Final = re.compile(r"[\w .-]+(?:[:=]\Z|: |=[^=]|://)")
# Behind the word a flag, a comparison, a call: what follows is of that.
_ELSEWHERE: Final = re.compile(r"\s--?[a-zA-Z]|[=!]=|\w\([^()]*,")
_PROSE: Final = re.compile(r"[:=(){}\[\]/;]|[.,!?](?: |\Z)")
# A password that is a number: only just behind what says that it is one.
_PAUSED: Final = re.compile(r"[.,;!?] ")
# The name of who logs in has no such signs.
_STRONG: Final = re.compile(
    r"(?!\$)(?=[^@/{}()]{8,64}\Z)(?!.*%[0-9A-F]{2})(?=.*[A-Za-z])"
    r"(?:.*[!#$%&*+^~]+[A-Za-z0-9].*|(?=.*[0-9])(?=.*[a-z])(?=.*[A-Z]).{10,}"
    r"|(?=.*[0-9]).*[a-z][-_.].*[-_.].*)\Z"
)
_NET_WORD: Final = re.compile(r"[a-z]{3,}[a-z-]*[0-9]{1,4}!?\Z")
_TOLD_OF: Final = re.compile(r"(?:[:=]|\b(?:is|ist|es|est)|[èé])[ \t]\Z")
_LOGINS: Final = ("login", "log-in", "admin")
MOST_GAP: Final = 12
"""Characters between a login and its password."""
_LABELS: Final = re.compile(r":(?:[\s*]|\Z)")
_BY_PLACE: Final = frozenset(("mail", "pair", "turn", "late turn", "verb"))


def hopeless(one: Candidate) -> bool:
    """Whether it is none whatever else there is."""
    if one.password:
        word = one.word.lower()
        if word.startswith(NETS) and one.place not in _BY_PLACE:
            return not _of_net(one) or _elsewhere(one)
        if word.startswith(_LOGINS) and one.place not in _BY_PLACE:
            return not _of_login(one) or _elsewhere(one) or (one.place in LISTED and another(one))
        if _no_password(one) or talk_of_words(one):
            return True
    elif _no_key(one):
        return True
    return _elsewhere(one) or another(one)


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
    if one.word.lower() == "pass" and one.place not in {"turn", "late turn", "column"} and not set_pass(one):
        return True
    return OTHER_NAME.search(one.gap) is not None


def _no_key(one: Candidate) -> bool:
    """Whether it is none of the things that are drawn by lot, or one that opens nothing."""
    word = one.word.lower()
    apart = one.place in {"after", "later"} and not SIGNED.search(one.gap) and " " in one.gap.strip()
    return bool(
        len(one.value) < LEAST_KEY
        or not (DIGIT.search(one.value) or FOURS.fullmatch(one.value))
        or (" " in one.value and not GROUPED.match(one.value))
        or PUBLIC.search(one.gap)
        or (apart and UUID.fullmatch(one.value))
        or (word.startswith("code") and not _CODES.search(one.lead))
        or (word.startswith("key") and _CACHE.search(one.around))
    )


def _elsewhere(one: Candidate) -> bool:
    """Whether its place is that of another thing: a call, an argument of an address, a flag, a public key."""
    if _RULES.search(one.lead[-30:] + one.gap[:60]) and one.place in LISTED:
        return True
    if (other := _OTHER.search(one.gap)) and not _ITS_VALUE.search(other[1] or other[2]):
        return True
    if _CALL.match(one.rest) or _LINKED.search(one.gap) or _PUBLIC_NAME.search(one.lead[-60:]):
        return True
    if not one.password and _OPEN.search(one.lead[-60:]):
        return True
    if one.place in {"below", "under", "alone", "output"}:
        return _LABEL.match(one.value) is not None or _BRACKET.search(one.value.strip("=")) is not None
    if one.place == "entry":
        return BESIDE.search(one.lead) is not None or _BRACKET.search(one.value) is not None
    another = one.place == "later" or _PAUSED.search(one.gap)
    if another and OF_ANOTHER.search(_PAUSED.split(one.gap)[-1][-40:]):
        return True
    if one.place in {"after", "later"}:
        far = (
            len(one.value) < FAR_KEY
            and not one.password
            and not SIGNED.search(one.gap)
            and one.gap.count(" ") > MOST_APART
        )
        return (
            far
            or _LABELS.match(one.rest) is not None
            or (_GOES_ON.match(one.rest) is not None and not SIGNED.search(one.gap))
            or _ELSEWHERE.search(one.gap) is not None
        )
    return False
