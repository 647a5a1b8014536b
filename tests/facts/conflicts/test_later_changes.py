"""A later change supersedes an earlier one of the same thing, in `add` and in what is learned from conversations."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from scrubjay import Memory

CHANGES = [
    ("I moved to Lisbon.", "I moved to Madrid."),
    ("i moved to lisbon in january", "i moved to madrid in june"),
    ("I moved from Porto to Lisbon last year.", "We've moved to Sheffield, so I'm there now."),
    ("I live in Lisbon.", "I've just moved back to Porto."),
    ("I moved to Lisbon.", "I live in Madrid now."),
    ("Ann lives in Lisbon.", "Ann moved to Madrid."),
    ("Ich bin nach Bremen gezogen.", "Ich bin nach Köln umgezogen."),
    ("J'ai déménagé à Nantes.", "J'ai déménagé à Lyon."),
    ("Me mudé a Bilbao.", "Me mudé a Madrid."),
    ("我搬到北京了。", "我搬到上海了。"),
    ("We switched to pnpm.", "We switched to bun."),
    ("we switched from npm to pnpm in web", "we switched to bun in web"),
    ("We switched to pnpm.", "We switched from pnpm to bun."),
    ("We use Poetry for dependencies.", "We've switched to uv for all the Python repos."),
    ("I use Firefox.", "I switched to Chrome."),
    ("we're on slack", "we moved to discord"),
    ("My editor is Vim.", "I've switched to Helix."),
    ("I moved to Lisbon last month.", "Just moved to Madrid!"),
    ("CI runs on Jenkins.", "CI moved to GitHub Actions."),
    ("We moved the docs to Read the Docs.", "The docs have moved to GitHub Pages."),
    ("Wir sind auf Slack umgestiegen.", "Wir sind auf Mattermost umgestiegen."),
    ("The build now runs on Jenkins.", "The build now runs on GitHub Actions."),
    ("My new phone number is 555 1234.", "My new phone number is 555 9876."),
    ("My phone number is +351 912 345 678.", "My new phone number is +34 612 345 678."),
    ("My new manager is Priscilla.", "My new manager is Anders."),
    ("The retry limit was raised to 20.", "The retry limit was raised to 50."),
    ("Decision: retention is 30 days.", "Retention raised to 90 days."),
    ("We raised the retention to 90 days.", "Retention was lowered to 60 days."),
    ("The deadline was moved to 15 April.", "The deadline was moved to 2 May."),
    ("My flight leaves at 7:40.", "My flight was rescheduled to 9:15."),
    ("We use Python 3.11.", "We upgraded to Python 3.13."),
    ("I work at Siemens.", "I now work at Bosch."),
    ("My doctor is Dr. Weber.", "My new doctor is Dr. Lang."),
    ("My boss is Priscilla.", "Anders is my new boss."),
    ("Always answer in English.", "Answer in German from now on."),
    ("Invoices go to ap@a.example.", "Invoices now go to ar@a.example."),
    ("Code reviews need one approval.", "Code reviews now need two approvals."),
    ("We host the docs on Read the Docs.", "Docs live on GitHub Pages instead, RTD is shut off."),
]
BOTH_HOLD = [
    ("I moved the meeting to Lisbon.", "I moved to Madrid."),
    ("Ann moved to Madrid.", "I moved to Lisbon."),
    ("We switched to pnpm in web.", "We switched to uv in api."),
    ("We switched to pnpm in web.", "We switched to bun in api."),
    ("We switched to pnpm in web.", "We switched to bun."),
    ("We switched to pnpm.", "We switched to Slack."),
    ("We switched to pnpm.", "We switched to bun for the scripts."),
    ("We switched to pnpm.", "I switched to bun."),
    ("We use npm.", "We will switch to bun."),
    ("We use npm.", "We're planning to switch to bun."),
    ("We use npm.", "We almost switched to bun."),
    ("We use npm.", "If we switched to bun, CI would be faster."),
    ("We switched to pnpm.", "The client switched to bun."),
    ("We switched to pnpm.", "We also switched to bun in some repos."),
    ("We use npm and yarn.", "We switched to pnpm."),
    ("I live in Porto.", "I moved to Fedora."),
    ("I moved to Lisbon.", "I moved to Fedora."),
    ("I moved to Lisbon.", "I moved to the sales team."),
    ("I moved to Spain.", "I moved to Madrid."),
    ("I moved to Lisbon.", "I moved to Madrid for the summer."),
    ("I live in Lisbon.", "I moved to Madrid for three months."),
    ("I live in Lisbon.", "I'm in Madrid now."),
    ("I work in Lisbon.", "I moved to Madrid."),
    ("I was born in Lisbon.", "I moved to Madrid."),
    ("My brother moved to Lisbon.", "My brother moved to Madrid."),
    ("A colleague lives in Lisbon.", "A colleague lives in Madrid."),
    ("We moved the forum to Discourse.", "We migrated the forum to Discourse."),
    ("A colleague moved to Lisbon.", "A colleague moved to Madrid."),
    ("A team moved to Lisbon.", "A team moved to Madrid."),
    ("Our office is in Porto.", "I moved to Lisbon."),
    ("The docs moved to GitHub Pages.", "The blog moved to Netlify."),
    ("The office moved to Lisbon.", "The office moved to Slack."),
    ("CI moved to GitHub Actions.", "The nightly CI moved to Jenkins."),
    ("My new phone number is 555 1234.", "My new work phone number is 555 9876."),
    ("My phone number is 555 1234.", "My old phone number is 555 9876."),
    ("My new phone number is 555 1234.", "Ann's new phone number is 555 9876."),
    ("My new phone number is 555 1234.", "My new phone number is for work only."),
    ("My car is a Golf.", "My new car is a Kia."),
    ("The retry limit was raised to 20.", "The upload limit was raised to 50."),
    ("The retry limit was raised to 20.", "The retry limit was raised to 50 on staging."),
    ("The deadline for papers was moved to 15 April.", "The deadline for posters was moved to 2 May."),
    ("The meeting was moved to Tuesday.", "The meeting was moved to room 5."),
    ("Prices were raised by 5 percent.", "Prices were raised by 3 percent."),
    ("I live in Lisbon in summer.", "I live in Porto in winter."),
    ("In summer I live in Lisbon.", "In winter I now live in Porto."),
    ("I speak English.", "I now speak German."),
    ("I'm learning Spanish.", "I'm now learning Dutch."),
    ("Please reply to Lea in French.", "From now on reply to Tim in Spanish."),
    ("Answer in English.", "From now on answer in German when Hans writes."),
    ("We use Python 3.11.", "We now use Node 22."),
    ("We support Python 3.11.", "We now support Python 3.12."),
    ("We use Python 3.11.", "We upgraded to Python 3.13 in the worker."),
    ("I work at Siemens.", "I now work at home."),
    ("I work at Siemens.", "I now work at Bosch on Fridays."),
    ("I use Firefox.", "I switched to Chrome for work."),
    ("We use npm.", "We switched to bun in all the scripts."),
    ("We use npm.", "We switched to bun, but only for the scripts."),
    ("There are issues in Jira.", "There are issues in Trello."),
    ("I have notes in Notion.", "I have notes in Obsidian."),
    ("Notes from meetings are in Notion.", "Notes from interviews are in Obsidian."),
    ("She moved to Lisbon.", "She moved to Madrid."),
    ("Ticket 12 was moved to 3 May.", "Ticket 14 was moved to 5 May."),
    ("Wir sind auf Slack umgestiegen.", "Wir sind im Support auf Zulip umgestiegen."),
    ("我搬到北京了。", "我妹妹搬到上海了。"),
    ("My dentist is Dr. Weber.", "My new doctor is Dr. Lang."),
    ("I live with Charlotte.", "I moved to Madrid."),
    ("I have to be in Lisbon.", "I moved to Madrid."),
    ("I moved to Lisbon.", "We moved to Kubernetes."),
    ("I live in Berlin during the week.", "I moved to Hamburg."),
    ("I have a flat in Lisbon.", "I moved to Madrid."),
    ("I'll live in Lisbon from May.", "I now live in Madrid."),
    ("The price was raised to 20 euros for students.", "The price was raised to 30 euros for members."),
    ("The timeout was changed to 30 s for reads.", "The timeout was changed to 60 s for writes."),
    ("The limit was raised to 20 requests.", "The limit was lowered to 10 workers."),
    ("The server runs Debian.", "The server now runs Postgres."),
    ("Our docs are in French.", "Our docs are now in Notion."),
    ("One team uses pnpm.", "One team switched to bun."),
    ("We tried pnpm.", "We switched to bun."),
    ("The first exam was moved to 3 May.", "The second exam was moved to 5 May."),
    ("My flight to Rome leaves at 7:40.", "My flight to Oslo was rescheduled to 9:15."),
    ("The kids eat at 18:00.", "The kids party was moved to 16:00."),
    ("We use npm.", "We switched to bun, then went back to npm."),
    ("We use npm.", "We switched to bun, which broke CI, and reverted to npm."),
    ("We use Postgres.", "We switched to SQLite, in dev."),
    ("We use Postgres.", "We switched to SQLite, at least locally."),
    ("We use Postgres.", "We switched to SQLite, in the mobile app."),
    ("We use npm.", "We switched to pnpm, the API team stays on npm."),
    ("I live in Lisbon.", "I moved to Madrid, then moved back to Lisbon."),
    ("I live in Lisbon.", "I moved to Madrid, then I came back."),
    ("I live in Lisbon.", "I moved to Madrid; my family stays in Lisbon."),
    ("I live in Lisbon.", "I moved to Madrid, so I'm there during the week."),
    ("I live in Lisbon.", "I moved to Madrid, so I'm there until June."),
    ("I live in Lisbon.", "I've moved to Madrid - back in Lisbon by June."),
    ("I live in Lisbon.", "I moved to Madrid (just for a term)."),
    ("We use npm.", "We switched to bun and then back to npm."),
    ("We use npm.", "We switched to bun as an experiment."),
    ("We use npm.", "We switched to bun, so that the demo starts faster."),
    ("We use npm.", "We switched to bun, as a trial."),
    ("We use npm.", "We switched to bun. It broke CI, so we went back."),
    ("We use npm.", "We switched to bun: on my machine."),
    ("We use npm.", "I wish we switched to bun."),
    ("We use npm.", "We never switched to bun."),
    ("We use npm.", "We switched to bun once."),
    ("We use npm.", "Once we switched to bun, CI failed."),
    ("We use npm.", "Have we switched to bun?"),
    ("We use npm.", "Tim said we switched to bun."),
    ("We use npm.", 'Tim wrote: "We switched to bun."'),
    ("We use npm.", "We briefly switched to bun."),
    ("We use npm.", "Half of us switched to bun."),
    ("We use npm.", "Some of us moved to bun."),
    ("We use Slack.", "Support moved to Zulip."),
    ("We use Slack.", "We moved support to Zulip."),
    ("We use Slack.", "We switched to Zulip, for incidents."),
    ("Our CI runs on Jenkins.", "We moved the nightly CI to Buildkite."),
    ("I use Firefox.", "I switched to Chrome, on the work laptop."),
    ("I use Firefox.", "I switched to Chrome during the outage."),
    ("My phone number is +351 912 345 678.", "My new phone number is +34 612 345 678, from September on."),
    ("My manager is Priscilla.", "My new manager is Anders, from May."),
    ("My manager is Priscilla.", "My new manager is Anders while Priscilla is on leave."),
    ("The retry limit is 20.", "The retry limit was raised to 50, then lowered to 20 again."),
    ("The retry limit is 20.", "The retry limit was raised to 50, on staging."),
    ("The deadline is 15 April.", "The deadline was moved to 2 May, for posters."),
    ("I moved to Lisbon in 2019.", "I moved to Madrid in 2010."),
    ("I moved to Lisbon in 2019.", "In 2015 I moved to Madrid."),
    ("I moved to Lisbon in 2019.", "Back in 2015 I moved to Madrid."),
    ("I moved to Lisbon last month.", "I moved to Madrid last year."),
    ("I moved to Lisbon in May.", "I moved to Madrid in 2010."),
    ("I live in Lisbon.", "I moved to Madrid in 2010."),
    ("I live in Lisbon.", "I moved to Madrid ten years ago."),
    ("I live in Lisbon.", "Years ago I moved to Madrid."),
    ("I moved to Lisbon.", "I moved to Madrid once."),
    ("I moved to Lisbon.", "I moved to Madrid when I was ten."),
    ("I moved to Lisbon.", "I moved to Madrid after school."),
    ("I moved to Lisbon.", "I first moved to Madrid."),
    ("I moved to Lisbon.", "I moved to Madrid before Lisbon."),
    ("We use npm.", "We switched to bun in 2022."),
    ("We use npm.", "We switched to bun last year."),
    ("Notes are in Notion.", "Notes are in Obsidian."),
    ("My notes are in Notion.", "My notes are in Obsidian."),
    ("Issues are in Jira.", "Issues are on Trello."),
    ("Wir nutzen Slack.", "Wir sind auf Zulip umgestiegen, nur im Support."),
    ("Ich wohne in Bremen.", "Ich bin nach Köln gezogen, aber wieder zurück."),
    ("Ich wohne in Bremen.", "Ich bin 2010 nach Köln gezogen."),
    ("Ich wohne in Bremen.", "Ich bin als Kind nach Köln gezogen."),
    ("J'habite à Nantes.", "J'ai déménagé à Lyon, puis je suis revenue."),
    ("J'habite à Nantes.", "J'ai déménagé à Lyon en 2010."),
    ("Vivo en Bilbao.", "Me mudé a Madrid en 2010."),
    ("Vivo en Bilbao.", "Me mudé a Madrid, pero volví."),
    ("我住在北京。", "我2010年搬到上海。"),
    ("我住在北京。", "我搬到上海，后来又回来了。"),
]


@pytest.fixture
def memory() -> Iterator[Memory]:
    with Memory.open("memory://") as opened:
        yield opened


def _statuses(memory: Memory, old: str, new: str) -> list[str]:
    added = [memory.add(old, date="2026-01-10"), memory.add(new, date="2026-06-10")]
    by_id = {one.id: one.status for one in memory.get([one.id for one in added]).records}
    return [by_id[one.id] for one in added]


@pytest.mark.parametrize(("old", "new"), CHANGES)
def test_a_later_change_of_the_same_thing_supersedes(memory: Memory, old: str, new: str) -> None:
    assert _statuses(memory, old, new) == ["superseded", "active"]


@pytest.mark.parametrize(("old", "new"), BOTH_HOLD)
def test_a_change_of_another_thing_supersedes_nothing(memory: Memory, old: str, new: str) -> None:
    assert _statuses(memory, old, new) == ["active", "active"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("I now live in Lisbon.", "I now live in Madrid."),
        ("ok. I moved to Lisbon.", "By the way, I moved to Madrid."),
        ("We switched to pnpm.", "We've switched to bun. Please fix the lockfile."),
        ("My new phone number is 555 1234.", "My new phone number is 555 9876."),
        ("The build now runs on Jenkins.", "The build now runs on GitHub Actions."),
    ],
)
def test_changes_said_in_two_conversations_leave_the_later_one(memory: Memory, old: str, new: str) -> None:
    turns = [
        memory.add(text, date=date, session=date, role="user", turn=0)
        for text, date in ((old, "2026-01-10"), (new, "2026-06-10"))
    ]
    learned = [fact for one in turns for fact in one.learned]
    assert [len(one.learned) for one in turns] == [1, 1]
    by_id = {one.id: one.status for one in memory.get(learned).records}
    assert [by_id[fact] for fact in learned] == ["superseded", "active"]
