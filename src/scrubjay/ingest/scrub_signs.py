"""Signs: a candidate -> what speaks for and against its being a secret, each a name with a plain meaning."""

from __future__ import annotations

import re
from typing import Final

from scrubjay.ingest.scrub_below import LISTED
from scrubjay.ingest.scrub_cues import Candidate
from scrubjay.ingest.scrub_forms import form
from scrubjay.ingest.scrub_hopeless import OTHER_NAME, PUBLIC
from scrubjay.ingest.scrub_words import binds, chats, said

_HARMLESS: Final = re.compile(
    r"sha-?\d|md5|commit|uuid|checksum|public|publi[ck]|fingerprint|hash|digest|\bid\b|_id\b|Id\b|\bids"
    r"\b|version"
    r"|serial|anon"
    r"|integrity|etag|placeholder|example|type|name|field|policy|length|\blen|file|path|ur[li]\b|endpoint"
    r"|expir|ttl"
    r"|\bmin|\bmax|count|limit|size|bits|usage|algorithm|header|provider|manager|foreign|primary|cache|sort"
    r"|index"
    r"|host|known|verif|valid|test|mock|fake|dummy|sample|site",
    re.IGNORECASE,
)
_SHOUTED: Final = re.compile(r"(?:^|[\s;\"'-])[A-Z][A-Z0-9_]*\Z")
_USER: Final = re.compile(
    r"\b(?:user(?:name|[-_ ]?id)?|login|logged in|e-?mail|account|admin|root|benutzer(?:name)?|konto|usuario"
    r"|utilisateur|identifiant|utente|gebruiker|cuenta|compte|wlan|wi-?fi|ssid)\b|用户|账号|帐号|ユーザー|логин"
    r"|пользовател",
    re.IGNORECASE,
)
_COPULA: Final = re.compile(
    r"\b(?:is|are|was|be|now|ist|war|auf|lautet|est|es|era|er|är|è|é|e|és|je|jest|adalah|ialah|là|este"
    r"|ir|yra|είναι|это|це|е|هي|هو|הוא|היא|है|হল|คือ)\W*\Z"
    r"|\b(?:changed|set|reset|updated|geändert|gesetzt)\b[^.]*\b(?:to|auf|zu)\W*\Z"
    r"|(?:[は是为為がを了는은]|改成|改为|改為|設定|c'est)[\s「:：]*\Z",
    re.IGNORECASE,
)
_SENTENCE: Final = re.compile(r"[.!?;](?:\s|\Z)")
_CODE_AROUND: Final = re.compile(r"\(|\)|;\s*\Z|=>|->|\bdef\b|\breturn\b|\bif\b|\{\{|::|==|!=|&&|\|\|")
_WHOLE: Final = re.compile(r"[\"'`\]),;.\s*<>/|」]*\Z")
_WORDS: Final = re.compile(r"\w+")
_AROUND: Final = (("harmless near", _HARMLESS, 30), ("public near", PUBLIC, 40), ("code", _CODE_AROUND, 120))
_LINKS: Final = ("copula", "sign", "bare gap", "sole turn", "shouted name")
_NAMES: Final = (
    "pass",
    "pw",
    "kennwort",
    "contra",
    "wachtwoord",
    "senha",
    "mdp",
    "lösen",
    "hesl",
    "hasł",
    "salas",
    "parol",
)
LEAST_TOLD: Final = 6
"""Letters of a plain word that is told to be a password."""
_AGAINST: Final = frozenset(
    (
        "harmless near",
        "public near",
        "code",
        "plural",
        "other name",
        "sentence ends",
        "words 4+",
        "talk",
        "bound",
    )
)
_PAUSE: Final = re.compile(r"[\"'`」”“»]?(?:\s*\Z|[.,!;)。，]|\s[(–—-])")
_ABROAD: Final = re.compile(
    r"(?!pass|pwd?s?\b|psk|cred|secret|token|key|code|log|admin|wi-?fi|wlan|unlock|memorable|rcon)",
    re.IGNORECASE,
)
_OTHER_SCRIPT: Final = re.compile(
    "[\u0370-\u03ff\u0400-\u04ff\u0590-\u06ff\u0900-\u0e7f\u3040-\u9fff\uac00-\ud7af]"
)
_CUES: Final = ("key", "token", "secret", "code", "login", "admin", "cred", "unlock")
_KEYS: Final = re.compile(r"cl[ée]|chiave|chave|llave|anahtar|sleutel|ключ|キー|schlüssel|キ", re.IGNORECASE)


def signs(candidate: Candidate) -> list[str]:
    """What speaks for and against a candidate's being a secret."""
    kind = "p" if candidate.password else "k"
    known = [*form(candidate.value), *_place(candidate)]
    # A plain word is told otherwise than a made-up one: what speaks for the one says little of the other.
    shape = next((name for name in ("word", "phrase") if name in known), None)
    if shape and "said" not in known and _PAUSE.match(candidate.rest):
        known += [f"{shape} by {link}" for link in _LINKS if link in known]
    if "glued" in known and not any(link in known for link in _LINKS):
        known.remove("glued")
    return [f"{kind} {sign}" for sign in known]


def told(candidate: Candidate) -> bool:
    """Whether a plain word is told to be the password in so many words: "the wifi password is bluebird".

    Labelled texts have too few of them for a weight, and texts without secrets hardly one that is none: 1 in 97
    million characters.
    """
    if not candidate.password or len(candidate.value) < LEAST_TOLD:
        return False
    if candidate.place != "after":
        return _answers(candidate)
    known = {sign.split(" ", 1)[1] for sign in signs(candidate)}
    if not known.isdisjoint(("cue key", "cue code", "cue token", "cue login", "cue admin")):
        return False
    return ("word by copula" in known or "phrase by copula" in known) and known.isdisjoint(_AGAINST)


def _answers(one: Candidate) -> bool:
    """Whether a word alone in the next turn answers who asked: in small letters, and nobody says it in a talk."""
    word = one.word.lower()
    asked = one.place == "turn" and one.value.isalpha() and one.value.islower() and not (one.gap or one.rest)
    return asked and word.startswith(_NAMES) and not (said(one.value) or chats(one.value) or binds(one.value))


def _place(one: Candidate) -> list[str]:
    word, gap = one.word.lower(), one.gap
    words = len(_WORDS.findall(gap))
    out = ["cue " + next((name for name in _CUES if name in word), "other"), *_link(one, words)]
    out.append("words 0" if not words else "words 1-3" if words <= 3 else "words 4+")
    out += [
        name
        for name, expression, far in _AROUND
        if expression.search(gap) or expression.search(one.lead[-far:])
    ]
    abroad = one.password and _ABROAD.match(word) is not None
    known = {
        "key abroad": _KEYS.match(word),
        "abroad": abroad,
        "abroad by bare gap": abroad and "bare gap" in out,
        "other script": one.value.isascii() and _OTHER_SCRIPT.search(one.word + gap),
        "sentence ends": _SENTENCE.search(gap),
        "other name": OTHER_NAME.search(gap),
        "shouted name": one.word.isupper() and _SHOUTED.search(one.lead),
        "plural": word.endswith("s") and not word.endswith(("pass", "ss")),
        "user near": _USER.search(one.around),
        "quoted": one.quoted,
    }
    return [*out, *(name for name, there in known.items() if there)]


def _link(one: Candidate, words: int) -> list[str]:
    """What stands between a candidate and the word that names it."""
    if one.place in LISTED:
        colon = one.gap.rstrip(" \t\r*_`").endswith((":", "："))
        signed = colon or one.place == "entry" or (one.place == "column" and words <= 1)
        return [one.place, "ends line", "sign" if signed else "no link"]
    if one.place in {"before", "mail", "pair", "again", "verb"}:
        return [one.place]
    if one.place in {"turn", "late turn"}:
        return [one.place, "in turn" if one.gap or one.rest else "sole turn"]
    if one.place == "answer" and not words and not one.rest.strip(" .!\r"):
        return [one.place, "sole turn"]
    end = one.gap.rstrip(" \t\"'`*(\\")
    signed = end.endswith(("=", ":", "：", "=>", ">", "= b", "=b"))
    copula = not signed and _COPULA.search(one.gap)
    out = ["sign" if signed else "copula" if copula else "no link" if words else "bare gap"]
    out += ["ends line"] if _WHOLE.match(one.rest) else []
    return [*out, "later"] if one.place == "later" else out
