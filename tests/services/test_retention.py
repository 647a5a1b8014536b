"""What the settings no longer keep."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from scrubjay import Memory
from scrubjay.config.loader import load_settings
from scrubjay.config.settings import FactSettings, RetentionSettings, Settings
from scrubjay.errors import ConfigError

Open = Callable[..., Memory]
LATER = "2036-01-01"


@pytest.fixture
def keeping(opened: Open, settings: Settings) -> Callable[..., Memory]:
    """Open the test's store with settings of retention."""

    def open_(*, user: str = "ann", groups: tuple[str, ...] = (), **retention: object) -> Memory:
        wish = RetentionSettings(**retention)  # type: ignore[arg-type]
        plain = replace(settings, facts=FactSettings(stages=()), retention=wish)
        return opened(settings=plain, user=user, groups=groups)

    return open_


def statuses(memory: Memory, *ids: str) -> list[str]:
    return [memory.history(one).memory.status for one in ids]


def test_without_settings_everything_is_kept(keeping: Callable[..., Memory]) -> None:
    memory = keeping()
    memory.add("The keel was cleaned.")
    done = memory.retain(now=LATER)
    assert (done.archived, done.forgotten, done.undo) == ((), (), "")


def test_what_is_older_than_its_tier_is_kept_is_archived(keeping: Callable[..., Memory]) -> None:
    memory = keeping(days=("observation=365",))
    old = memory.add("The keel was cleaned.").id
    pinned = memory.add("The keel is made of lead.", pinned=True).id
    lesson = memory.add("Clean the keel in spring.", tier="lesson").id
    later = memory.add("The mast was painted.", date="2035-12-01").id
    assert memory.retain().archived == ()
    assert memory.retain(now=LATER, dry_run=True).archived == (old,)
    assert statuses(memory, old) == ["active"]
    done = memory.retain(now=LATER)
    assert done.archived == (old,)
    assert statuses(memory, old, pinned, lesson, later) == ["archived", "active", "active", "active"]
    memory.undo_audit(done.undo.split()[-1])
    assert statuses(memory, old) == ["active"]


def test_beyond_the_most_the_oldest_go_first(keeping: Callable[..., Memory]) -> None:
    memory = keeping(most=2)
    ids = [memory.add(f"The berth number {n} is free.", pinned=n == 0).id for n in range(4)]
    memory.feedback(ids[1], "used")
    assert set(memory.retain().archived) == {ids[2], ids[3]}
    assert memory.retain().archived == ()


def test_what_is_to_be_forgotten_is_gone_for_good(keeping: Callable[..., Memory]) -> None:
    memory = keeping(days=("observation=1",), action="forget")
    old, away = memory.add("The keel was cleaned.").id, memory.add("The rig was tuned.").id
    memory.archive(away)
    done = memory.retain(now=LATER)
    assert (set(done.forgotten), done.undo) == ({old, away}, "")
    assert memory.status().memories == 0


@pytest.mark.parametrize("pinned", [True, False])
def test_what_was_learned_from_a_forgotten_turn_is_kept_as_long_as_its_own_tier(
    opened: Open, settings: Settings, pinned: bool
) -> None:
    limits = RetentionSettings(days=("observation=30",), action="forget")
    memory = opened(settings=replace(settings, retention=limits))
    text = "Remember that I always prefer tabs over spaces in Go code."
    turn = memory.add(text, session="s", role="user", turn=1, date="2025-01-02T10:00:00Z")
    (fact,) = turn.learned
    if pinned:
        memory.update(fact, pinned=True)
    listed = memory.retain(now=LATER, dry_run=True).forgotten
    assert memory.retain(now=LATER).forgotten == listed == (turn.id,)
    assert statuses(memory, fact) == ["active"]
    assert [one.id for one in memory.search("tabs or spaces in Go").results] == [fact]


def test_a_dry_run_lists_the_earlier_texts_that_are_forgotten_with_a_memory(
    keeping: Callable[..., Memory],
) -> None:
    memory = keeping(most=1, action="forget")
    old = memory.add("The berth is number 12.").id
    before = memory.update(old, content="The berth is number 14.").before
    memory.add("The mast was painted.")
    listed = memory.retain(dry_run=True).forgotten
    assert set(memory.retain().forgotten) == set(listed) == {old, before}


@pytest.mark.parametrize("action", ["archive", "forget"])
def test_passages_of_files_are_left_alone(keeping: Callable[..., Memory], folder: Path, action: str) -> None:
    folder.mkdir()
    (folder / "a.md").write_text("# Engine\n\nThe engine of the boat wants new oil.\n")
    memory = keeping(days=("observation=1",), most=1, action=action)
    memory.sync(folder)
    done = memory.retain(now=LATER)
    assert (done.archived, done.forgotten) == ((), ())
    assert len(memory.search("engine oil").results) == 1


def test_what_others_wrote_is_theirs_to_keep(keeping: Callable[..., Memory]) -> None:
    bob = keeping(user="bob", groups=("dev",))
    shared = bob.add("The keel was cleaned.", visibility="group", group="dev").id
    ann = keeping(user="ann", groups=("dev",), days=("observation=1",), most=1)
    assert ann.retain(now=LATER).archived == ()
    assert statuses(ann, shared) == ["active"]


@pytest.mark.parametrize("item", ["observation", "notes=3", "lesson=0", "lesson=1.5", "lesson=36501"])
def test_a_life_that_is_none_is_refused_when_settings_are_read(item: str, tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text(f'[retention]\ndays = ["{item}"]\n')
    with pytest.raises(ConfigError, match="no tier") as caught:
        load_settings(file, environ={})
    assert repr(item) in str(caught.value)


def test_lives_are_read_from_the_environment() -> None:
    found = load_settings(environ={"SCRUBJAY_RETENTION_DAYS": "observation=30, lesson = 700"})
    assert found.retention.days_by_tier() == {"observation": 30, "lesson": 700}
