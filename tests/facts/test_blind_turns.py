# ruff: noqa: E501
"""Turns written before the rules on words of others, on what not to remember, and on limits: half hold a statement."""

from __future__ import annotations

import pytest

from scrubjay.facts.extractor import extract_facts

LEFT = [
    "WG: Urlaubsregelung\n\nVon: Sabine Roth <s.roth@hollmann.example>\nGesendet: Montag, 2. November 2026 08:14\nAn: alle\nBetreff: Urlaubsregelung\n\nAb sofort bitte Urlaub immer vier Wochen vorher einreichen.\n\nViele Grüße\nSabine Roth",
    "can you make a ticket out of this?\n\npriya  09:41\nfrom now on releases go out on Wednesdays only\njonas  09:43\nok and never without a changelog",
    "my landlord says we always have to pay the heating by the 3rd. is that even legal",
    "Meine Chefin meint, ab sofort sollen alle Protokolle immer auf Englisch sein. Ich halte das für Quatsch.",
    "here is a message from our hoster:\n\nHello Team,\nplease remember that from now on backups are kept for 7 days only.\nKind regards\nSupport Nordhost\n\ndo we need to change anything?",
    "btw I'm off to Hamburg on the 9th for a job interview, please don't save that anywhere",
    "Bitte nicht merken: mein Gehalt liegt bei 64.000 Euro.",
    "do not keep this in your memory. my therapist is Dr. Lund",
    "Don't note this down: my sister Ana is pregnant and nobody knows.",
    "Speicher das bitte nicht ab, ich wohne gerade wieder bei meinen Eltern.",
]
UNREAD = pytest.mark.xfail(reason="this statement is not learned even without its limit", strict=True)
LIMITED = [
    ("We moved the standup to 11, but only until Christmas.", "only until Christmas"),
    ("I live in Aarhus now. Just for this semester though.", "for this semester"),
    pytest.param("Wir nutzen jetzt Miro. Allerdings nur für diesen Workshop.", "nur für diesen Workshop", marks=UNREAD),
    ("our office is on the 4th floor, at least this month", "at least this month"),
    pytest.param("I switched to the night shift - only for the next two weeks.", "only for the next two weeks", marks=UNREAD),
]  # fmt: skip
MISSED = pytest.mark.xfail(reason="always and immer behind this noun are not read as a rule", strict=True)
LEARNED = [
    ("Remember this from Petra's mail: \"invoices go to accounts@velden.example\".", "\"invoices go to accounts@velden.example\"."),
    ("From now on please always sign mails with Mit besten Grüßen, Ines Brandt.", "From now on please always sign mails with Mit besten Grüßen, Ines Brandt."),
    ("Tom and I agreed: from now on we tag releases with the date.", "from now on we tag releases with the date."),
    ("I told Marek we always deploy on Tuesdays, never on Fridays.", "we always deploy on Tuesdays, never on Fridays."),
    pytest.param("Subject lines of our newsletter always start with the issue number.", "Subject lines of our newsletter always start with the issue number.", marks=MISSED),
    ("I don't remember who set it up, but our DNS is at Hetzner.", "our DNS is at Hetzner"),
    ("Don't forget: the VPN is called kestrel and I always use split tunnel.", "the VPN is called kestrel and I always use split tunnel."),
    ("Remember not to use mocks in the payment tests.", "not to use mocks in the payment tests."),
    ("Please never store passwords in plain text in our repo.", "never store passwords in plain text in our repo."),
    ("Please remember: we don't keep logs longer than 30 days.", "we don't keep logs longer than 30 days."),
    ("Remember: the gate code is 4711, not 4117. 4117 is the cellar.", "the gate code is 4711, not 4117."),
    ("We moved the retro to Thursday. Only Marek can't come.", "We moved the retro to Thursday"),
    ("I live in Aarhus with my wife Sofie. This week I'm in Kiel.", "I live in Aarhus with my wife Sofie"),
    pytest.param("Unsere Rechnungen gehen immer an buchhaltung@velden.example, nicht an Petra.", "Unsere Rechnungen gehen immer an buchhaltung@velden.example, nicht an Petra.", marks=MISSED),
    ("Our printer is at 10.0.4.21, not 10.0.4.20. 20 is the old one.", "Our printer is at 10.0.4.21, not 10.0.4.20"),
]  # fmt: skip


@pytest.mark.parametrize("turn", LEFT)
def test_others_words_and_what_shall_not_be_remembered_give_nothing(turn: str) -> None:
    assert extract_facts(turn) == ()


@pytest.mark.parametrize(("turn", "limit"), LIMITED)
def test_a_limit_stays_with_its_statement(turn: str, limit: str) -> None:
    found = extract_facts(turn)
    assert found
    assert all(limit in one.text for one in found)


@pytest.mark.parametrize(("turn", "statement"), LEARNED)
def test_ones_own_statement_beside_such_words_is_learned(turn: str, statement: str) -> None:
    found = [one.text for one in extract_facts(turn)]
    assert any(text.rstrip(".").endswith(statement.rstrip(".")) for text in found), found
