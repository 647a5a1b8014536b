"""Labelled: a sentence that begins with a label -> the rule that keeps it, or None.

"Stack: Django, Postgres", "Allergies - nuts", "Name's Tobias": people fill in forms about themselves. Only labels
that name something lasting of a person or a project count; "Input:", "Task:" and "Error:" bring material along.
"""

from __future__ import annotations

import re
from typing import Final

from scrubjay.ingest.statements.words import bag

_MINE: Final = (
    "allerg(?:y|ies)|diet|dietary \\w+|intolerances?|medications?|meds|conditions?|diagnos[ie]s|blood type|"
    "pronouns|time ?zone|tz|location|based in|home(?:town| base)|occupation|profession|job|employer|"
    "languages? spoken|"
    "native language|mother tongue|height|weight|birthday|dob|date of birth|age|kids|children|pets|dogs?|cats?|"
    "hobbies|nickname|handle|likes|dislikes|loves|hates|favou?rite \\w+|shoe size|ring size|sizes?"
)
_OURS: Final = (
    "(?:tech |our |my |the )?stack|os|shell|editor|ide|keyboard(?: layout)?|setup|hardware|machine|laptop|"
    "phone|gpu|"
    "prod(?:uction)?|staging|backend|frontend|database|db|cache|queue|ci|hosting|registrar|provider|"
    "package manager|"
    "formatter|linter|test runner|runtime|build tool|deploy(?:s|ment)?(?: target)?|branch naming|main branch|"
    "opening hours|hours|address|on-?call|house (?:rules?|style)|naming|code style|commit(?: message)? "
    "style|units"
)
_LABEL: Final = re.compile(
    rf"(?:{_MINE}|{_OURS})(?: ?: ?| - | = )(?!none\b|n/a|unknown|https?:|\?|x+\b|to be|tbd|what|how|can |"
    rf"could )[^?]{{3,}}$"
)
_NAME: Final = re.compile(
    r"(?:the )?name(?:'s| is|s) (?!not|wrong|missing|too|the|a|an|of|what|it|this|that)[\w-]+"
)
LABELS: Final = bag(
    """allergy allergies diet dietary intolerance intolerances medication medications meds condition conditions
    diagnosis diagnoses blood pronouns timezone time tz location based home hometown occupation profession job
    employer language languages native mother height weight birthday dob date age kids children pets dog
    dogs cat cats
    hobbies nickname handle likes dislikes loves hates favourite favorite shoe ring size sizes tech our
    my the stack
    os shell editor ide keyboard setup hardware machine laptop phone gpu prod production staging backend
    frontend
    database db cache queue ci hosting registrar provider package formatter linter test runtime build
    deploy deploys
    deployment branch main opening hours address on-call oncall house naming code commit units name name's names"""
)


def labelled(text: str, start: int, end: int, words: list[str]) -> str | None:
    """Return the rule of a sentence that a label of something lasting begins.

    Args:
        text: The text.
        start: Where the sentence begins to say something.
        end: Where it ends.
        words: Its words from there.
    """
    if words[0] not in LABELS:
        return None
    if _LABEL.match(text, start, end):
        return "labelled"
    return (
        "labelled"
        if words[0] in ("name's", "names", "name", "the") and _NAME.match(text, start, end)
        else None
    )
