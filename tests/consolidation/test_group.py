"""What belongs together in one digest."""

from hypothesis import given, settings
from hypothesis import strategies as st
from observations import HOUR, NOW, observation, passage, turn

from scrubjay.consolidation.context import chronological_key
from scrubjay.consolidation.digest import MAX_GROUP, group_records
from scrubjay.models.records import EventTime, Record


def ids(groups: list[tuple[Record, ...]]) -> list[list[str]]:
    return sorted([record.id for record in group] for group in groups)


def test_a_conversation_is_one_group_in_order_of_its_turns() -> None:
    turns = [turn("b", 1), turn("a", 0), turn("x", 7, session="s2")]
    assert ids(group_records(turns, {})) == [["obs_0000", "obs_0001"], ["obs_0007"]]


def test_groups_never_mix_visibility_keys() -> None:
    records = [turn("a", 0), turn("b", 1, key="group:team")]
    records += [passage("c", "2026-01-14.md", 2), passage("d", "2026-01-14.md", 3, key="public")]
    found = group_records(records, {"obs_0002": ["con_1"], "obs_0003": ["con_1"]})
    assert [len({record.key for record in group}) for group in found] == [1, 1, 1, 1]


def test_other_observations_are_grouped_by_entity_and_month_else_by_month() -> None:
    records = [passage("n", f"2026-01-{n:02d}.md", n) for n in range(1, 7)]
    records += [passage("n", "2025-11-01.md", 8, days=90), passage("n", "2025-11-02.md", 9, days=90)]
    concepts = {
        "obs_0001": ["con_db"], "obs_0002": ["con_db"], "obs_0003": ["con_mail"], "obs_0004": ["con_mail"],
        "obs_0008": ["con_db"], "obs_0009": ["con_db"],
    }  # fmt: skip
    assert ids(group_records(records, concepts)) == [
        ["obs_0001", "obs_0002"],
        ["obs_0003", "obs_0004"],
        ["obs_0005", "obs_0006"],
        ["obs_0008", "obs_0009"],
    ]


def test_a_record_joins_its_most_informative_entity_not_the_commonest() -> None:
    records = [passage("n", "2026-01-14.md", n) for n in range(9)]
    concepts = {f"obs_{n:04d}": ["con_all", "con_tram"] if n < 3 else ["con_all"] for n in range(9)}
    concepts["obs_0000"] = ["con_all", "con_once", "con_tram"]
    assert ["obs_0000", "obs_0001", "obs_0002"] in ids(group_records(records, concepts))


def test_a_long_conversation_is_split_at_its_pause() -> None:
    def said(n: int) -> int:
        return NOW - 90 * 24 * HOUR + n * HOUR // 60 + (8 * HOUR if n >= 23 else 0)

    turns = [turn("a", n, event=EventTime(said(n), said(n))) for n in range(MAX_GROUP + 10)]
    first, second = group_records(turns, {})
    assert [len(first), len(second)] == [23, MAX_GROUP + 10 - 23]


def test_a_long_conversation_without_pauses_is_split_where_its_entities_change() -> None:
    turns = [turn("a", n) for n in range(MAX_GROUP + 10)]
    concepts = {one.id: ["con_boat"] if one.turn < 30 else ["con_cake"] for one in turns}
    first, second = group_records(turns, concepts)
    assert [len(first), len(second)] == [30, MAX_GROUP - 20]


def test_no_group_exceeds_the_limit() -> None:
    records = [observation("ran", n, origin="tool") for n in range(3 * MAX_GROUP)]
    sizes = [len(one) for one in group_records(records, {})]
    assert sum(sizes) == 3 * MAX_GROUP
    assert max(sizes) <= MAX_GROUP


RECORDS = st.lists(
    st.builds(
        lambda n, days, session, key: observation(
            "x", n, days=days, session=session, turn=n if session else None, key=key
        ),
        st.integers(0, 500), st.integers(0, 120), st.sampled_from([None, None, "s1", "s2"]),
        st.sampled_from(["user:ada", "public"]),
    ),
    max_size=60, unique_by=lambda record: record.id,
)  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(RECORDS, st.data())
def test_every_record_is_in_one_group_whatever_the_order(records: list[Record], data: st.DataObject) -> None:
    listed = st.lists(st.sampled_from(["con_a", "con_b", "con_c"]), max_size=3, unique=True)
    concepts = {record.id: data.draw(listed) for record in records}
    found = group_records(records, concepts)
    members = [record.id for one in found for record in one]
    assert sorted(members) == sorted(record.id for record in records)
    assert all(list(one) == sorted(one, key=chronological_key) for one in found)
    assert all(len({record.key for record in one}) == 1 for one in found)
    assert group_records(data.draw(st.permutations(records)), concepts) == found
