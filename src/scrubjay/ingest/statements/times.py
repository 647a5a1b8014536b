"""Times: patterns of when and how often something is, was or will be so."""

from __future__ import annotations

import re
from typing import Final

_MONTH: Final = "january|february|march|april|may|june|july|august|september|october|november|december"
_DAY: Final = "monday|tuesday|wednesday|thursday|friday|saturday|sunday"
_SEASON: Final = "spring|summer|autumn|fall|winter"

EVERY: Final = re.compile(
    rf"\b(?:every|each|daily|weekly|monthly|yearly|annually|(?:{_DAY})s|weekends|weekdays|in the mornings?|"
    rf"at night"
    r"|(?:once|twice|times|hours|days|nights|km|miles) (?:a|per|each) (?:day|week|month|year)"
    r"|most (?:days|mornings|weekends|evenings))\b"
)
"""Again and again."""
SPAN: Final = re.compile(
    r"\b(?:for|since|lately|recently|these days|all my life)\b"
    r"(?!.{0,300}\b(?:hours?|minutes?|all day|all morning|forever|ages|while now)\b)"
)
"""For long, and not for an hour."""
WHEN: Final = re.compile(
    rf"\b(?:in (?:19|20)\d\d|(?:in|on|since|last) (?:{_MONTH})|(?:last|this past|past) (?:year|month|week|"
    rf"weekend|{_SEASON}|{_DAY})"
    rf"|(?:years?|months?|weeks?|days) (?:ago|back)|on (?:the \d|(?:{_DAY}))|(?:19|20)\d\d|recently|lately|"
    rf"the other day"
    r"|\d+(?:st|nd|rd|th)|for my (?:birthday|anniversary)|[$€£]\d)(?![\w-])"
)
"""At a time one may ask for later; "yesterday" is none."""
COMING: Final = re.compile(
    r"\b(?:(?:in|on|this|next|from|by|until|of) (?:the )?(?:\d{1,2}(?:st|nd|rd|th)? )?(?:of )?"
    rf"(?:{_MONTH}|{_SEASON}|(?:19|20)\d\d)|\d{{1,2}}(?:st|nd|rd|th)?\b(?: of)? (?:jan|feb|mar|apr|may|jun|jul|"
    rf"aug|sep|oct|nov|dec)"
    r"|on the \d|next (?:month|year)|as an? )"
)
"""At a day that is settled."""
DATE: Final = re.compile(rf"(?:on|in) (?:the )?(?:\d|{_MONTH}|{_DAY})")
YEARS: Final = re.compile(r"\b(?:for|until|till|over) (?:[\w-]+ ){0,3}(?:years?|decades?|(?:19|20)\d\d)\b")
"""For years, or until one."""
TODAY: Final = re.compile(rf"\b(?:today|yesterday|this (?:month|week|year|morning|weekend|{_SEASON}))\b")
FROM_NOW: Final = re.compile(r"\b(?:from now on|going forward|from here on)\b")
LONG_AGO: Final = re.compile(r"\b(?:1[89]|20)\d\d\b|\b(?:ago|last year)\b")
ON_DAYS: Final = rf"on (?:{_DAY})s?"
