"""Paths: folders, documents and headings that hold enough are categories, the same from any order."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from scrubjay.categories.folders import PassageLocation, folder_nodes
from scrubjay.text.tokenizer import index_terms

NOTES = [
    *(
        PassageLocation(f"a{n}", "notes", "garden/beds.md", "Beds", ("Beds", "Tulips"), f"Tulip {n}")
        for n in range(3)
    ),
    PassageLocation("b0", "notes", "garden/beds.md", "Beds", ("Beds", "Roses"), "Roses"),
    PassageLocation("c0", "notes", "garden/tools.md", "Tools", ("Tools",), "Tools"),
    PassageLocation("d0", "notes", "kitchen/bread.md", "Bread", (), "Bread"),
]


def test_a_memory_belongs_to_the_deepest_category_above_it() -> None:
    home = {member: node.trail for node in folder_nodes(NOTES) for member in node.members}
    assert home["a0"] == ("notes", "garden", "beds.md", "Tulips")
    assert home["b0"] == ("notes", "garden", "beds.md")
    assert home["c0"] == ("notes", "garden")
    assert home["d0"] == ("notes",)


def test_a_heading_that_is_the_documents_title_is_no_level_of_its_own() -> None:
    assert all("Beds" not in node.trail for node in folder_nodes(NOTES))


def test_l0_and_l1_name_what_is_below() -> None:
    nodes = {node.trail: node for node in folder_nodes(NOTES)}
    assert nodes["notes", "garden"].abstract == "garden: beds.md; Tools"
    assert nodes["notes", "garden", "beds.md", "Tulips"].overview == "Tulips: Tulip 0; Tulip 1; Tulip 2"


def test_a_single_document_of_many_passages_makes_its_folders_too() -> None:
    spots = [PassageLocation(f"m{n}", "s", "deep/er/one.md") for n in range(3)]
    assert [node.trail[-1] for node in folder_nodes(spots)] == ["s", "deep", "er", "one.md"]


def test_few_passages_make_no_category() -> None:
    assert folder_nodes([]) == ()
    assert folder_nodes(NOTES[:2]) == ()


names = st.sampled_from(["a", "b", "c c", "数据", "x" * 300])
spots = st.lists(
    st.tuples(names, st.lists(names, max_size=2), names, st.lists(names, max_size=3)), max_size=30
)


@settings(max_examples=60, deadline=None)
@given(spots, st.randoms())
def test_every_category_has_its_parent_and_growth_removes_none(
    drawn: list[tuple[str, list[str], str, list[str]]], random: object
) -> None:
    made = [
        PassageLocation(f"m{n:02}", source, "/".join([*folders, f"{file}.md"]), "", tuple(headings), file)
        for n, (source, folders, file, headings) in enumerate(drawn)
    ]
    nodes = folder_nodes(made)
    assert folder_nodes(made[::-1]) == nodes
    trails = {node.trail for node in nodes}
    assert all(node.parent is None or node.parent in trails for node in nodes)
    assert len(trails) == len(nodes)
    homes = [member for node in nodes for member in node.members]
    assert len(homes) == len(set(homes))
    assert {node.trail for node in folder_nodes(made[: len(made) // 2])} <= trails
    assert all(
        index_terms(node.abstract).length <= 30 and index_terms(node.overview).length <= 120 for node in nodes
    )
