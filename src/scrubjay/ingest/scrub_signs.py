"""Signs: a candidate -> what speaks for and against its being a secret, each a name with a plain meaning."""

from __future__ import annotations

import re
from typing import Final

from scrubjay.ingest.scrub_below import MOST_SPACES
from scrubjay.ingest.scrub_cues import Candidate
from scrubjay.ingest.scrub_near import LEAST_KEY
from scrubjay.ingest.scrub_values import ABOUT, NAME, drawn, entropy, stands_for_nothing, talk

_HARMLESS: Final = re.compile(
    r"sha-?\d|md5|commit|uuid|checksum|public|publi[ck]|fingerprint|hash|digest|\bid\b|_id\b|Id\b|\bids\b|version"
    r"|serial|anon"
    r"|integrity|etag|placeholder|example|type|name|field|policy|length|\blen|file|path|ur[li]\b|endpoint|expir|ttl"
    r"|\bmin|\bmax|count|limit|size|bits|usage|algorithm|header|provider|manager|foreign|primary|cache|sort|index"
    r"|host|known|verif|valid|test|mock|fake|dummy|sample|site",
    re.IGNORECASE,
)
_PUBLIC: Final = re.compile(
    r"public|publish|fingerprint|host[-_ ]?key|site[-_ ]?key|\bcert|encrypted|sealed|\bENC\b|hash|digest"
    r"|checksum|sha-?\d|md5|integrity|commit|\bkid\b|\biv:|\btag:|_?id\b|[a-z]I[dD]\b|uuid|trace|request|session-id",
    re.IGNORECASE,
)
# Just before the word: a public key is none, whatever it looks like.
_OPEN: Final = re.compile(
    r"(?:public|publishable|anon|host|site|ssh|pub|map|foreign|primary|cache|idempotency|partition|object|sort|row|hash"
    r"|storage|verification|websocket|routing|shard|group|dedup\w*|recv|unique|composite)[-_ ]?\Z|arn:\S*\Z",
    re.IGNORECASE,
)
# A parameter of an address, the place of a variable.
_LINKED: Final = re.compile(r"[&?]\w[\w.-]*=\Z|\$[{(]\s*\Z|\{\{\s*\Z")
_OTHER_NAME: Final = re.compile(
    r"(?:[=:：>][^=:：]*\w[\"'\]]*\s*|[,;}]\s*[\"']?\w+[\"']?\s?)[=:：][\s\"'>{]*\Z"
)
_SHOUTED: Final = re.compile(r"(?:^|[\s;\"'-])[A-Z][A-Z0-9_]*\Z")
_USER: Final = re.compile(
    r"\b(?:user(?:name|[-_ ]?id)?|login|logged in|e-?mail|account|admin|root|benutzer(?:name)?|konto|usuario"
    r"|utilisateur|identifiant|utente|gebruiker|cuenta|compte|wlan|wi-?fi|ssid)\b|用户|账号|帐号|ユーザー|логин|пользовател",
    re.IGNORECASE,
)
_COPULA: Final = re.compile(
    r"\b(?:is|are|was|be|now|ist|war|auf|lautet|est|es|era|er|är|è|é)\W*\Z"
    r"|\b(?:changed|set|reset|updated|geändert|gesetzt)\b[^.]*\b(?:to|auf|zu)\W*\Z"
    r"|[は是为為がを了][\s「:：]*\Z",
    re.IGNORECASE,
)
_SENTENCE: Final = re.compile(r"[.!?;](?:\s|\Z)")
_CODE_AROUND: Final = re.compile(r"\(|\)|;\s*\Z|=>|->|\bdef\b|\breturn\b|\bif\b|\{\{|::|==|!=|&&|\|\|")
_CALL: Final = re.compile(r"[(\[]|\.[a-z]")
_UUID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_HEX: Final = re.compile(r"(?:0x)?[0-9a-f]{16,}", re.IGNORECASE)
_PATHLIKE: Final = re.compile(
    r"(?:~|\.{1,2})/|[A-Za-z]:\\|[\w./@-]+\.(?:[a-z]{2,4}|toml|yaml|json|html|java|jsonl)\Z"
)
_ADDRESS: Final = re.compile(r"\w+:(?://|%2F%2F)|www\.|[\w.+-]+@[\w-]+\.\w|\d+(?:\.\d+){3}|urn[:%]")
_DOTTED: Final = re.compile(r"[\w-]+(?:(?:\.|::)[\w-]+)+\Z")
_NUMERIC: Final = re.compile(r"[£$€]?[\d.,:/%+xX-]+[a-zA-Z]{0,3}\Z")
_WORDLIKE: Final = re.compile(r"[^\W\d_]+\Z")
_SHOUT: Final = re.compile(r"[A-Z]+(?:_[A-Z0-9]+)*\Z")
_SNAKE: Final = re.compile(r"[a-z0-9]+(?:_[a-z0-9]+)+\Z")
_CAMEL: Final = re.compile(r"[A-Za-z]?[a-z]+(?:[A-Z][a-z]+)+\d?\Z")
_KEBAB: Final = re.compile(r"[a-z]+(?:-[a-z]+)+\Z")
_TITLED: Final = re.compile(r"[^\W\d_]+(?:[-_.!&$+#][^\W\d_]+)+\d*!?\Z")
_WORD_NUMBER: Final = re.compile(r"[^\W\d_]{4,}[-_.!#]?\d{1,4}!?\Z")
_GROUPED: Final = re.compile(r"([A-Za-z0-9]{4,8})(?:[ -]([A-Za-z0-9]{4,8}))+\Z")
_SPECIAL: Final = re.compile(r"[!#$%^&*+@~]")
_LETTERS: Final = re.compile(r"[A-Za-z]")
_VOWELS: Final = re.compile(r"[aeiouyAEIOUY]")
_RUNS: Final = re.compile(r"[a-z]+|[A-Z]+|\d+")
_WHOLE: Final = re.compile(r"[\"'`\]),;.\s*<>/|」]*\Z")
_DIGIT: Final = re.compile(r"[0-9]")
_WORDS: Final = re.compile(r"\w+")
_AROUND: Final = (("harmless near", _HARMLESS, 30), ("public near", _PUBLIC, 40), ("code", _CODE_AROUND, 120))
FAR_KEY: Final = 20
"""Characters of a key that may stand far from its name without a sign between."""
MOST_APART: Final = 2
"""Spaces between a shorter one and its name."""
_SIGNED: Final = re.compile(r"[=:：/]|=>|\b(?:is|ist|es|est|lautet)\b")
_ASSIGNED: Final = re.compile(r"[=:：>]")
# Of the key that git signs with the id alone is told: PGP's keys are known by their last digits.
_KEY_ID: Final = re.compile(r"(?:0x)?[0-9A-F]{8,40}\Z")
# The codes that let somebody in; those of countries, errors and doors are no secrets.
_CODES: Final = re.compile(
    r"(?:access|activation|unlock|recovery|backup|scratch|emergency|invite|licen[cs]e|2fa"
    r"|zugangs|wiederherstellungs|notfall)[-_ ]?\Z",
    re.IGNORECASE,
)
# "The password for X is …": X is none.
_GOES_ON: Final = re.compile(r"[\"'`)]?\s+(?:is|ist|lautet|est|es|was|war|are|sind|has|hat)\b")
# A pass is for a tram, too.
_MADE_UP: Final = re.compile(r"[0-9!#$%&*+@^~]|[a-z][A-Z]|\w[._-]\w")
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
    r"|SHA\d+:|sha\d+[-:]|arn:|pk[._](?:eyJ|live|test)|age1|ssh-|AAAA[BCE]3|AgB|MI(?:GfMA|IBIjAN|I[CDEFG])|MFkwEwYH"
    + f"|{_ADDRESS.pattern}|{_PATHLIKE.pattern}|{_NUMERIC.pattern}|{_SHOUT.pattern}"
)
_PROSE: Final = re.compile(r"[:=(){}\[\]/;]|[.,!?](?: |\Z)")
_SIZES: Final = (8, 12, 20, 32)
_CUES: Final = ("key", "token", "secret", "code")
_SHAPES: Final = (
    ("uuid", re.compile(_UUID.pattern + r"\Z", re.IGNORECASE)),
    ("hex", re.compile(_HEX.pattern + r"\Z", re.IGNORECASE)),
    ("dotted", _DOTTED),
    ("word", _WORDLIKE),
    ("snake", _SNAKE),
    ("kebab", _KEBAB),
    ("camel", _CAMEL),
    ("word number", _WORD_NUMBER),
    ("joined", _TITLED),
    ("groups", _GROUPED),
)


def hopeless(one: Candidate) -> bool:
    """Whether it is none whatever else there is: a name, a date, an address, what is told to be public."""
    if one.password:
        if (" " in one.value and (one.value.count(" ") > MOST_SPACES or _PROSE.search(one.value))) or (
            one.word.lower() == "pass"
            and not (one.place == "after" and _SIGNED.search(one.gap) and _MADE_UP.search(one.value))
        ):
            return True
        if _OTHER_NAME.search(one.gap):
            return True
    elif (
        len(one.value) < LEAST_KEY
        or not _DIGIT.search(one.value)
        or (" " in one.value and not _GROUPED.match(one.value))
        or _PUBLIC.search(one.gap)
        or (one.word.lower().startswith("code") and not _CODES.search(one.lead))
    ):
        return True
    return _elsewhere(one) or _another(one)


def _elsewhere(one: Candidate) -> bool:
    """Whether its place is that of another thing: a call, an argument of an address, a flag, a public key."""
    if _CALL.match(one.rest) or _LINKED.search(one.gap) or _OPEN.search(one.lead[-60:]):
        return True
    if one.place == "below":
        return _LABEL.match(one.value) is not None or _BRACKET.search(one.value) is not None
    if one.place == "after":
        far = (
            len(one.value) < FAR_KEY
            and not one.password
            and not _SIGNED.search(one.gap)
            and one.gap.count(" ") > MOST_APART
        )
        return (
            far
            or (_GOES_ON.match(one.rest) is not None and not _SIGNED.search(one.gap))
            or _ELSEWHERE.search(one.gap) is not None
        )
    return False


def _another(one: Candidate) -> bool:
    """Whether its form is that of another thing: a name in code, a file, a date, what stands in for a secret."""
    raw = one.value.encode("latin-1", "replace")
    if _NEVER.match(one.value) or (one.lead.endswith(("?", "&")) and _UUID.match(one.value)):
        return True
    if NAME.fullmatch(raw) and (b"/" in raw or not one.password or (talk(raw) and not raw.isalpha())):
        return True
    if ABOUT.fullmatch(raw) and not _ASSIGNED.search(one.gap):
        return True
    if one.lead.lower().endswith("signing") and _KEY_ID.match(one.value):
        return True
    return (stands_for_nothing(raw) and not (_BASE64.fullmatch(one.value) and drawn(raw))) or (
        talk(raw) and _DOTTED.match(one.value) is not None
    )


def signs(candidate: Candidate) -> list[str]:
    """What speaks for and against a candidate's being a secret."""
    kind = "p" if candidate.password else "k"
    return [f"{kind} {sign}" for sign in (*_form(candidate.value), *_place(candidate))]


def _place(one: Candidate) -> list[str]:
    word = one.word.lower()
    out = ["cue " + next((name for name in _CUES if name in word), "other")]
    gap = one.gap
    words = len(_WORDS.findall(gap))
    if one.place in {"below", "column"}:
        colon = gap.rstrip(" \t\r*_`").endswith((":", "："))
        out += [
            one.place,
            "ends line",
            "sign" if colon or (one.place == "column" and words <= 1) else "no link",
        ]
    elif one.place == "before":
        out.append("before")
    else:
        end = gap.rstrip(" \t\"'`*(\\")
        signed = end.endswith(("=", ":", "：", "=>", ">"))
        out.append(
            "sign" if signed else "copula" if _COPULA.search(gap) else "no link" if words else "bare gap"
        )
        if _WHOLE.match(one.rest):
            out.append("ends line")
    out.append("words 0" if not words else "words 1-3" if words <= 3 else "words 4+")
    out += [name for name, form, far in _AROUND if form.search(gap) or form.search(one.lead[-far:])]
    if _SENTENCE.search(gap):
        out.append("sentence ends")
    if _OTHER_NAME.search(gap):
        out.append("other name")
    if one.word.isupper() and _SHOUTED.search(one.lead):
        out.append("shouted name")
    if word.endswith("s") and not word.endswith(("pass", "ss")):
        out.append("plural")
    if _USER.search(one.around):
        out.append("user near")
    if one.quoted:
        out.append("quoted")
    return out


def _form(value: str) -> list[str]:
    out = []
    size = len(value)
    out.append(next((f"size <{most}" for most in _SIZES if size < most), "size 32+"))
    raw = value.encode("latin-1", "replace")
    letters, digits = len(_LETTERS.findall(value)), sum(c.isdigit() for c in value)
    if talk(raw):
        out.append("talk")
    if " " in value and not _GROUPED.match(value):
        out.append("spaces")
    shape = _shape(value)
    out.append(shape)
    if shape == "odd":
        runs = len(_RUNS.findall(value))
        if digits and letters:
            out.append("digits in letters" if runs >= 4 and size / runs < 3.5 else "digits beside letters")
        if any(c.islower() for c in value) and any(c.isupper() for c in value):
            out.append("mixed case")
        if _SPECIAL.search(value):
            out.append("special")
        if letters >= 6 and len(_VOWELS.findall(value)) / letters < 0.2:
            out.append("unsayable")
        if size >= 12 and entropy(raw) >= 3.2:
            out.append("spread")
    return out


def _shape(value: str) -> str:
    """The first harmless or telling form that fits."""
    for name, form in _SHAPES:
        if form.match(value):
            return name
    return "odd"
