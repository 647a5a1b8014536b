"""Process: a clause that tells where things go and how they are done here -> the rule that keeps it, or None.

"Logs end up in Loki", "all dates are stored in UTC", "nothing ships without two reviews": said without an article or of
all of them, about the things of a project or a household.
"""

from __future__ import annotations

import re
from typing import Final

from scrubjay.ingest.statements.words import bag

_THINGS: Final = (
    "deploys?|deployments?|releases?|builds?|tests?|logs?|errors|metrics|alerts?|secrets?|keys|passwords|"
    "tokens|"
    "images|assets|uploads|files|migrations?|dates?|times|timestamps|amounts|prices|ids|payments?|"
    "invoices|orders|"
    "refunds|returns|deliveries|parcels|bookings|receipts|expenses|contracts|payroll|backups?|snapshots|dumps|"
    "prs?|pull requests|merges|reviews|hotfixes|bug ?fixes|features|branches|commits|tags|tickets|bugs|issues|"
    "requests|questions|complaints|emails|mails|newsletters|sessions|jobs|tasks|queues|events|webhooks|"
    "traffic|auth|"
    "billing|support|docs|documentation|translations|strings|config|configs|data|exports|imports|reports|"
    "samples|"
    "specimens|meetings|lessons|classes|homework|shoes|phones|keys|bins|recycling|compost|laundry|dishes|"
    "bread|dough|"
    "visitors|guests|patients|clients|customers|students|staff|volunteers|new \\w+"
)
_GOING: Final = (
    "go|goes|end up|ends up|live|lives|run|runs|happen|happens|come|comes|land|lands|sit|sits|stay|stays|"
    "belong|belongs|"
    "ship|ships|pay|pays|get|gets|are|is|must be|have to be|has to be|need to be|needs to be"
)
_DONE: Final = (
    "stored|kept|sent|reported|run|built|deployed|written|saved|logged|handled|made|signed|tracked|"
    "managed|hosted|"
    "served|named|tagged|merged|squashed|reviewed|approved|rotated|encrypted|backed up|archived|generated|"
    "rendered|"
    "formatted|paid|billed|invoiced|charged|printed|labelled|labeled|frozen|washed|taken|done|booked|scheduled"
)
_GO: Final = re.compile(
    rf"(?:all (?:the |our |of the )?|every |our |the |any )?(?:{_THINGS}) (?:only |always |never |all |also |"
    rf"(?:don't|do not|doesn't|does not) )*(?:{_GOING}) (?:(?:{_DONE}) )?(?:only |always |never |straight "
    rf"|out |up |"
    rf"first )*(?:in|on|to|through|via|into|from|by|at|with|under|using|behind|before|after|every|once|without|"
    rf"until|between) (?!it\b|that\b|this\b|me\b|you\b|time\b|fire\b|all\b|hold|progress|line \d|an? "
    rf"(?:bug|error))\S"
)
_NOTHING: Final = re.compile(
    r"(?:nothing|nobody|no one|no \w+(?: \w+)?|everything|everyone|anything|each \w+|every \w+(?: \w+)?) "
    r"(?:goes|gets|leaves|ships|is|are|may be|can be|must|has to|needs|touches|enters|deploys|merges|"
    r"pushes|lands) "
    r"(?!when|because|wrong|here|ok|fine|well|work|even|odd|on (?:fire|hold)|in (?:place|order|the "
    r"way))(?:[\w'-]+ ){0,5}?(?:without|until|unless|before|except|"
    r"through|via|by|on|in|to) (?!the (?:same|list|array|loop|set|output|table)|it\b|this\b|that\b|me\b|"
    r"time\b)\S"
)
STARTS: Final = frozenset(_THINGS.replace("?", "").split("|")) | bag(
    """all every our the any new nothing nobody no everything everyone anything each bug deploy deployment
    release build
    test log alert secret migration date payment backup pr pull"""
)


def process(text: str, start: int, end: int, words: list[str]) -> str | None:
    """Return the rule that finds where things go here."""
    if words[0] not in STARTS:
        return None
    if _GO.match(text, start, end) or _NOTHING.match(text, start, end):
        return "process"
    return None
