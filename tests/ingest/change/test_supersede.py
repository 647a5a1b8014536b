"""What takes the place of a statement says so, of the same subject and attribute; all else stays."""

from __future__ import annotations

import pytest

from scrubjay.ingest.change.supersede import supersedes

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
    ("一号会议室有8个座位。", "二号会议室有12个座位。"),
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
