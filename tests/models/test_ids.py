from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrubjay.models.ids import memory_id, memory_key, parse_id, text_hash, tombstone_hash
from scrubjay.models.records import STATUSES, TIER_PREFIXES, TIERS


@given(st.sampled_from(TIERS), st.integers(0, 2**64 - 1))
def test_an_id_says_its_tier_and_number(tier: str, key: int) -> None:
    assert parse_id(memory_id(tier, key)) == (tier, key)


@pytest.mark.parametrize(
    "text",
    [
        "", "obs_", "obs_00000000000000f", "obs_00000000000000fff", "obs_00000000000000FF", "obs_zz000000000000ff",
        "mem_00000000000000ff", "_00000000000000ff", "00000000000000ff", "obs_00000000000000f ", "OBS_00000000000000ff",
        "obs_０0000000000000ff",
    ],
)  # fmt: skip
def test_what_is_no_whole_id_is_none(text: str) -> None:
    assert parse_id(text) is None


def test_the_order_of_tiers_is_the_order_of_their_ids() -> None:
    assert [TIER_PREFIXES[tier] for tier in TIERS] == sorted(TIER_PREFIXES.values())
    assert set(TIER_PREFIXES) == set(TIERS)
    assert len(set(TIER_PREFIXES.values())) == len(TIERS)
    assert STATUSES[0] == "active"


@given(st.lists(st.text(st.characters(exclude_characters="\x1f"), max_size=5), max_size=4))
def test_a_number_depends_on_every_part_and_on_the_tenants_key(parts: list[str]) -> None:
    number = memory_key(b"k", ("x", *parts))
    assert number == memory_key(b"k", ("x", *parts))
    assert 0 <= number < 2**64
    assert number != memory_key(b"j", ("x", *parts))
    assert number != memory_key(b"k", ("x", *parts, ""))


def test_parts_do_not_run_into_one_another() -> None:
    assert memory_key(b"k", ("ab", "c")) != memory_key(b"k", ("a", "bc"))


def test_a_text_hash_is_sha256_and_takes_halves_of_characters() -> None:
    assert text_hash("tide") == hashlib.sha256(b"tide").hexdigest()
    assert len(text_hash("\ud800")) == 64


def test_a_forgotten_text_is_known_though_its_blanks_changed_and_by_nobody_elses_key() -> None:
    assert tombstone_hash(b"k", "The tide\n turns.\n") == tombstone_hash(b"k", " The tide turns.")
    assert tombstone_hash(b"k", "The tide turns.") != tombstone_hash(b"k", "The tide turns")
    assert tombstone_hash(b"k", "The tide turns.") != tombstone_hash(b"j", "The tide turns.")
    assert "tide" not in tombstone_hash(b"k", "tide")
    assert tombstone_hash(b"k", "tide") != text_hash("tide")
