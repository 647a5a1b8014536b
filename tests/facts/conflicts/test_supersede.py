"""What takes the place of a statement says so, of the same subject and attribute; all else stays."""

from __future__ import annotations

import pytest

from scrubjay.facts.supersession import supersedes

CHANGES = [
    ("My terminal is wezterm.", "My terminal is ghostty."),
    ("I live in Porto.", "I moved to Lisbon."),
    ("The build runs on Jenkins.", "The build runs on GitHub Actions."),
    ("We use npm in this repo.", "We switched from npm to pnpm in this repo."),
    ("The retry limit is 3.", "The retry limit is 5."),
    ("My editor is vim.", "I no longer use vim, my editor is helix."),
    ("Our main branch is called master.", "We renamed master to main."),
    ("我住在上海。", "我搬到北京了。"),
    ("我们用 MySQL。", "我们不再用 MySQL，改用 PostgreSQL。"),
    ("Ich wohne in Köln.", "Ich bin nach Bremen umgezogen."),
    ("Die Sitzung ist um 9 Uhr.", "Die Sitzung wurde auf 10 Uhr verschoben."),
    ("J'habite à Lyon.", "J'ai déménagé à Nantes."),
    ("Nous utilisons Jenkins.", "Nous n'utilisons plus Jenkins, mais GitLab CI."),
    ("Vivo en Madrid.", "Ahora vivo en Bilbao."),
    ("The choir rehearses on Tuesdays at 19:30.", "The choir rehearses on Thursdays at 19:30."),
    ("Our office in Ghent is on the third floor.", "The Ghent office is on the fifth floor."),
    ("The boiler is serviced by Kemp & Sons.", "The boiler is serviced by Thermacare."),
    ("Service contracts run for two years.", "New rule: service contracts run for one year."),
    ("Use British spelling in the handbook.", "Use American spelling in the handbook instead."),
    ("Parking permits cost 90 a year.", "Parking permits went up, they're 120 a year."),
    ("Wir nutzen Slack im Team.", "Wir sind von Slack auf Mattermost umgestiegen."),
    ("缓存用的是 Memcached。", "缓存已经从 Memcached 换成 Redis 了。"),
    ("周会在每周三上午十点。", "周会在每周四下午两点。"),
    ("I live in Kiel.", "I no longer live in Kiel, I moved to Eckernförde."),
    ("Ich wohne in Kiel.", "Ich wohne nicht mehr in Kiel."),
    ("I work for Brandt in Kiel.", "I no longer work for Brandt."),
    ("We release every second Thursday.", "We release daily, there are no release Thursdays any more."),
    ("The branch is cut on the first Monday.", "We no longer cut a branch at all."),
]
BOTH_HOLD = [
    ("Room A seats 8.", "Room B seats 12."),
    ("The May invoice is 212 euros.", "The June invoice is 238 euros."),
    ("Port 5432 is the primary.", "Port 5433 is the replica."),
    ("ann private 0", "ann private 59"),
    ("I like tea.", "I now like coffee."),
    ("Ella is allergic to nuts.", "Ella is now allergic to milk."),
    ("We use npm in the backend.", "We no longer use npm in the frontend."),
    ("I live in Porto.", "My parents moved to Lisbon."),
    ("I live in Rome.", "I moved to the design team."),
    ("I work in Berlin.", "I moved to Berlin."),
    ("Tom is the backup for Ana.", "Ana is now the backup for Tom."),
    ("Paul likes chess.", "Paul no longer likes poker."),
    ("The heating is set to 20 degrees.", "At night the heating is set to 17 degrees."),
    ("The server has 16 GB.", "The server has 8 cores."),
    ("The timeout is 30 s.", "The upload timeout is 300 s."),
    ("The branch has 40 commits.", "We renamed the branch."),
    ("Our database is Postgres.", "Our database is sharded."),
    ("Bob lent Alice 50 euros.", "Alice lent Bob 50 euros."),
    ("Meine Mutter wohnt in Ulm.", "Ich bin nach Ulm umgezogen."),
    ("我住在上海。", "我妹妹搬到北京了。"),
    ("小王负责前端。", "小李现在负责后端。"),
    ("The ferry to Naxos leaves at 07:15.", "The ferry from Naxos leaves at 17:15."),
    ("El tren a Sevilla sale a las 8:00.", "El tren desde Sevilla sale a las 19:00."),
    ("Bob owes me 20 euros.", "I owe Bob 35 euros."),
    ("The bakery is closed on Mondays.", "The bakery is closed on Tuesdays."),
    ("I work from home on Mondays.", "I work from home on Fridays."),
    ("Max has a lesson at 15:00.", "Max has a lesson at 17:00."),
    ("The kids go to the Oakfield school.", "Sam dropped the kids at school."),
    ("The standup notes are written by Omar.", "Nina moved the standup notes to the wiki."),
    ("Herr Adam wohnt in Celle.", "Herr Adam ist im Ruhestand."),
    ("Sue's locker is number 47.", "My locker is number 41."),
    ("The gym bag costs 45 euros.", "Our gym costs 30 euros."),
    ("The forum is moderated by Eva.", "We migrated the forum to Discourse."),
    ("Kim is on the board.", "Kim is now on the jury."),
    ("老王每周三打球。", "老王每周五打球。"),
    ("Ticket prices are in euros.", "Ticket prices went up."),
    ("The rent for the flat is 900 euros.", "The rent for the shop went up to 1,500 euros."),
    ("图书馆周六开门。", "图书馆周日开门。"),
    ("一号会议室有8个座位。", "二号会议室有12个座位。"),
    ("My dentist is in Kiel.", "I no longer live in Kiel, I moved to Eckernförde."),
    ("My dentist is in Kiel.", "I no longer live in Kiel, my dentist is still there."),
    ("My dentist is in Kiel.", "I moved the Jira board to Kiel-Nord."),
    ("My dentist is in Kiel.", "I switched to the Kiel office on Mondays."),
    ("My dentist is in Kiel.", "I left Kiel."),
    ("I work in Kiel.", "I moved away from Kiel."),
    ("I live in Kiel.", "I saw the dentist, she no longer lives in Kiel."),
    ("Mein Zahnarzt ist in Kiel.", "Ich wohne nicht mehr in Kiel."),
    ("My editor is vim.", "I no longer teach vim."),
    ("Our CI runs on Hetzner.", "I no longer host my blog on Hetzner."),
    ("I play chess with Tom.", "I don't work with Tom any more."),
    ("Mi dentista está en Madrid.", "Ya no vivo en Madrid."),
    ("我的牙医在上海。", "我不再住在上海。"),
]


@pytest.mark.parametrize(("old", "new"), CHANGES)
def test_what_says_that_it_changed_supersedes(old: str, new: str) -> None:
    assert supersedes(old, new)


@pytest.mark.parametrize(("old", "new"), BOTH_HOLD)
def test_what_holds_beside_another_never_supersedes(old: str, new: str) -> None:
    assert not supersedes(old, new)


def test_a_correction_counts_within_one_conversation() -> None:
    old, new = "The metrics endpoint is on 9090.", "No sorry, it's 9464, 9090 is Prometheus itself."
    assert supersedes(old, new, together=True)
    assert not supersedes(old, new)


def test_what_holds_only_at_times_leaves_what_holds_otherwise() -> None:
    assert (
        supersedes("I go to the gym on weekdays.", "On Saturdays I go climbing instead of going to the gym.")
        == ""
    )
    assert supersedes("I go to the gym.", "I go climbing instead of going to the gym.") != ""


@pytest.mark.parametrize(
    "template",
    [
        "ann private {n}",
        "Quince and pear number {n} want water, said the gardener of bed {m}.",
        "The kayak number {n} leaks in bay {m}.",
        "Note {n} about jays and {m} owls.",
        "Task {n} takes {m} hours.",
        "Sensor {n} in hall {m} reads 20 degrees.",
        "Row {n}: the ferry had {m} passengers.",
        "Server web-{n} runs version {m}.",
        "user{n} likes {m} cats",
        "The {n}th lamp of corridor {m} is broken.",
    ],
)
def test_texts_of_one_template_never_supersede_one_another(template: str) -> None:
    texts = [template.format(n=n, m=n % 7) for n in range(30)]
    assert [(old, new) for old in texts for new in texts if old != new and supersedes(old, new)] == []
