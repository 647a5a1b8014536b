from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrubjay.errors import NotFoundError
from scrubjay.models.records import Source
from scrubjay.models.sources import (
    escape_pattern,
    exclude_nested_sources,
    find_source,
    is_single_file,
    source_id,
    source_location,
)

NOTES = Source("src_aaaa000000000001", "/home/ann/notes")
WORK = Source("src_aabb000000000002", "/home/ann/work")
DIARY = Source("src_cccc000000000003", "/home/ann/notes", include=("/diary.md",))
ALL = [NOTES, WORK, DIARY]


def test_an_id_belongs_to_a_tenant_a_root_and_who_sees_it() -> None:
    assert source_id(b"k", "/a", "user:ann") == source_id(b"k", "/a", "user:ann")
    others = (b"k", "/b", "user:ann"), (b"j", "/a", "user:ann"), (b"k", "/a", "user:bob")
    assert source_id(b"k", "/a", "user:ann") not in {source_id(*other) for other in others}
    assert len({source_id(*other) for other in others}) == 3


def test_a_source_is_named_by_id_by_its_beginning_or_by_path() -> None:
    assert find_source(ALL, NOTES.id) is NOTES
    assert find_source(ALL, "src_c") is DIARY
    assert find_source(ALL, "/home/ann/work/") is WORK
    assert find_source(ALL, "/home/ann/../ann/work") is WORK
    assert find_source(ALL, "/home/ann/notes/diary.md") is DIARY


def test_a_path_may_start_from_here_or_from_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    here = Source("src_1", str(tmp_path / "n"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert find_source([here], "n") is here
    assert find_source([here], "~/n") is here


@pytest.mark.parametrize("name", ["src_", "src_aa", "s", "", "/home/ann", "nowhere", "src_aaaa0000000000019"])
def test_what_names_none_or_several_is_an_error_with_the_way_to_the_list(name: str) -> None:
    with pytest.raises(NotFoundError) as caught:
        find_source(ALL, name)
    assert "scrubjay sources" in caught.value.hint


def test_what_every_id_begins_with_names_no_source_though_there_is_only_one() -> None:
    for name in ("src_", "src", ""):
        with pytest.raises(NotFoundError):
            find_source([NOTES], name)


def test_a_source_that_is_one_file_lies_where_the_file_lies() -> None:
    assert [is_single_file(source) for source in ALL] == [False, False, True]
    assert [source_location(source) for source in ALL] == [
        "/home/ann/notes",
        "/home/ann/work",
        "/home/ann/notes/diary.md",
    ]


def test_patterns_are_not_files() -> None:
    for include in ((), ("*.md",), ("/*.md",), ("/a.md", "/b.md"), ("a.md",)):
        assert not is_single_file(Source("src_1", "/r", include=include))


NAMES = st.text(st.characters(exclude_characters="/\x00", exclude_categories=["Cs"]), min_size=1, max_size=12)


@given(NAMES.filter(lambda name: name not in (".", "..")))
def test_a_file_of_any_name_is_found_where_it_lies(name: str) -> None:
    source = Source("src_1", "/r", include=("/" + escape_pattern(name),))
    assert is_single_file(source)
    assert source_location(source) == os.path.join("/r", name)


def test_a_source_leaves_out_what_others_inside_it_hold() -> None:
    inner = Source("src_d", "/home/ann/notes/sub dir")
    beside = Source("src_e", "/home/ann/notes-old")
    found = exclude_nested_sources(NOTES, [*ALL, inner, beside])
    assert found.exclude == ("/diary.md", "/sub\\ dir")
    assert exclude_nested_sources(inner, [*ALL, inner]) is inner
    assert exclude_nested_sources(DIARY, [*ALL, inner]) is DIARY
