from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from scrubjay.ingest.transcripts.base import message_paths


def test_the_path_to_the_leaf_is_the_session_and_every_other_path_one_of_its_own() -> None:
    parents = {"a": "", "b": "a", "c": "b", "d": "a", "e": "d", "f": "d", "g": "f"}
    assert message_paths(parents, "g", "s") == [
        ("s", ["a", "d", "f", "g"]),
        ("s~b", ["b", "c"]),
        ("s~e", ["e"]),
    ]


def test_without_a_leaf_the_last_message_is_it() -> None:
    assert message_paths({"a": "", "b": "a", "c": "a"}, "gone", "s") == [("s", ["a", "c"]), ("s~b", ["b"])]
    assert message_paths({}, "a", "s") == []


def test_a_path_found_from_its_middle_goes_on_as_one() -> None:
    assert message_paths({"a": "", "b": "a", "d": "b", "x": "a", "y": "x"}, "y", "s") == [
        ("s", ["a", "x", "y"]),
        ("s~b", ["b", "d"]),
    ]


def test_a_second_root_is_a_session_of_its_own() -> None:
    assert message_paths({"a": "", "b": "a", "lost": "gone"}, "b", "s") == [
        ("s", ["a", "b"]),
        ("s~lost", ["lost"]),
    ]


def test_a_hundred_thousand_messages_in_a_row_are_one_session() -> None:
    parents = {str(number): str(number - 1) for number in range(100_000)}
    assert [(name, len(keys)) for name, keys in message_paths(parents, "99999", "s")] == [("s", 100_000)]


nodes = st.text("abcdef", min_size=1, max_size=1)


@given(st.dictionaries(nodes, nodes | st.just("")), nodes)
@settings(max_examples=150)
def test_every_message_is_in_one_session_whatever_circles_the_parents_go_in(
    parents: dict[str, str], leaf: str
) -> None:
    found = message_paths(parents, leaf, "s")
    assert sorted(key for _, keys in found for key in keys) == sorted(parents)
    for _, keys in found:
        assert all(parents[after] == before for before, after in pairwise(keys))
    if leaf in parents:
        assert found[0][1][-1] == leaf
