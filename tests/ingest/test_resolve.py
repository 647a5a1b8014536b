"""Links by name: as the notes stand now, whatever came first, moved, went or was called otherwise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as examples
from hypothesis import strategies as st
from notes_folder import Notes
from web import edges, scope_of, store_of

from scrubjay import Memory
from scrubjay.config.settings import Settings
from scrubjay.ingest import enrichment
from scrubjay.ingest.enrichment import finalize_source
from scrubjay.models.records import DUE_LINKS, Source

Open = Callable[..., Memory]


@pytest.fixture
def memory(opened: Open) -> Memory:
    return opened()


def spots(memory: Memory) -> dict[str, str]:
    """Id of each passage to its file and nearest heading."""
    with store_of(memory).reader(scope_of(memory)) as reader:
        return {
            record.id: f"{path}#{record.title}"
            for source in reader.sources()
            for path in reader.documents(source.id)
            for record in reader.passages(source.id, path)
        }


def linked(memory: Memory) -> set[tuple[str, str]]:
    """File of each linking passage, and file with heading of what it links to."""
    where = spots(memory)
    return {(where[edge.src].partition("#")[0], where[edge.dst]) for edge in edges(memory, "links")}


def page(*links: str, heading: str = "", text: str = "Some words.") -> str:
    return f"{f'# {heading}' if heading else ''}\n\n{text} {' '.join(links)}\n"


def test_a_link_leads_to_a_page_that_is_written_after_it(memory: Memory, notes: Notes) -> None:
    notes.write("a.md", page("[[zeta]]"))
    notes.write("zeta.md", page(heading="Zeta"))
    memory.sync(notes.root)
    assert linked(memory) == {("a.md", "zeta.md#Zeta")}
    (edge,) = edges(memory, "links")
    assert (edge.origin, edge.rule, edge.weight, edge.key) == ("found", "wikilink", 1.0, "user:ann")


@pytest.mark.parametrize("link", ["[[The Seeds]]", "[seeds](garden/the-seeds.md)", "[[the-seeds#Winter]]"])
@pytest.mark.parametrize(("before", "beside"), [(60, 0), (4, 80)], ids=["one page", "many pages"])
def test_a_page_that_comes_in_a_later_sync_is_linked_from_notes_that_spoke_of_it(
    memory: Memory, notes: Notes, link: str, before: int, beside: int
) -> None:
    for n in range(before):
        notes.write(f"other/{n}.md", page(text=f"The seeds of day {n}."))
    notes.write("a.md", page(link))
    memory.sync(notes.root)
    assert linked(memory) == set()
    for n in range(beside):
        notes.write(f"new/{n}.md", page(text=f"A page of day {n}."))
    notes.write("garden/the-seeds.md", page(heading="Winter"))
    memory.sync()
    assert linked(memory) == {("a.md", "garden/the-seeds.md#Winter")}


def test_a_page_found_by_its_title_is_linked_when_it_is_called_so_later(memory: Memory, notes: Notes) -> None:
    notes.write("a.md", page("[[Zeta]]"))
    notes.write("b.md", page(heading="Alpha"))
    memory.sync(notes.root)
    notes.write("b.md", page(heading="Zeta"))
    memory.sync()
    assert linked(memory) == {("a.md", "b.md#Zeta")}
    notes.write("b.md", page(heading="Alpha"))
    memory.sync()
    assert linked(memory) == set()


def test_a_link_names_a_heading_also_one_that_comes_later(memory: Memory, notes: Notes) -> None:
    notes.write("a.md", page("[[b#Winter sowing]]", "[there](b.md#summer)"))
    notes.write("b.md", page(heading="Spring"))
    memory.sync(notes.root)
    assert linked(memory) == {("a.md", "b.md#Spring")}
    notes.write("b.md", page(heading="Spring") + page(heading="Summer") + page(heading="Winter sowing"))
    memory.sync()
    assert linked(memory) == {("a.md", "b.md#Summer"), ("a.md", "b.md#Winter sowing")}
    notes.write("b.md", page(heading="Early") + page(heading="Spring"))
    memory.sync()
    assert linked(memory) == {("a.md", "b.md#Early")}


def test_a_link_within_a_page_leads_to_a_heading_that_comes_later(memory: Memory, notes: Notes) -> None:
    notes.write("a.md", page("[[#Winter]]", heading="Top"))
    memory.sync(notes.root)
    assert linked(memory) == set()
    notes.write("a.md", page("[[#Winter]]", heading="Top") + page(heading="Winter"))
    memory.sync()
    assert linked(memory) == {("a.md", "a.md#Winter")}


def test_a_renamed_page_is_linked_by_its_new_name_and_no_more_by_its_old(
    memory: Memory, notes: Notes
) -> None:
    notes.write("old.md", page(text="What it is about."))
    notes.write("a.md", page("[[old]]"))
    notes.write("b.md", page("[[new]]"))
    memory.sync(notes.root)
    assert linked(memory) == {("a.md", "old.md#old.md")}
    (notes.root / "old.md").rename(notes.root / "new.md")
    memory.sync()
    assert linked(memory) == {("b.md", "new.md#new.md")}


def test_links_of_a_page_that_moves_are_read_from_its_new_folder(memory: Memory, notes: Notes) -> None:
    notes.write("x/a.md", page("[up](../b.md)", "[here](c.md)", text="Long enough to be itself."))
    notes.write("b.md", page(heading="Top"))
    notes.write("x/c.md", page(heading="Inner"))
    notes.write("c.md", page(heading="Outer"))
    memory.sync(notes.root)
    assert linked(memory) == {("x/a.md", "b.md#Top"), ("x/a.md", "x/c.md#Inner")}
    (notes.root / "x" / "a.md").rename(notes.root / "a.md")
    memory.sync()
    assert linked(memory) == {("a.md", "c.md#Outer")}


def test_a_page_that_goes_takes_its_links_and_gives_them_back_when_it_is_restored(
    memory: Memory, notes: Notes
) -> None:
    notes.write("a.md", page("[[b]]"))
    file = notes.write("b.md", page("[[a]]", heading="B"))
    memory.sync(notes.root)
    assert linked(memory) == {("a.md", "b.md#B"), ("b.md", "a.md#a.md")}
    file.unlink()
    memory.sync()
    assert linked(memory) == set()
    notes.write("b.md", page("[[a]]", heading="B"))
    memory.sync()
    assert linked(memory) == {("a.md", "b.md#B"), ("b.md", "a.md#a.md")}


def test_of_two_pages_of_one_name_the_one_nearest_the_root_is_meant_as_long_as_it_is_there(
    memory: Memory, notes: Notes
) -> None:
    notes.write("a.md", page("[[seeds]]"))
    notes.write("old/seeds.md", page(heading="Old seeds"))
    memory.sync(notes.root)
    assert linked(memory) == {("a.md", "old/seeds.md#Old seeds")}
    file = notes.write("seeds.md", page(heading="New seeds"))
    memory.sync()
    assert linked(memory) == {("a.md", "seeds.md#New seeds")}
    file.unlink()
    memory.sync()
    assert linked(memory) == {("a.md", "old/seeds.md#Old seeds")}


def test_links_in_a_ring_are_all_there_and_none_leads_to_itself(memory: Memory, notes: Notes) -> None:
    for one, other in ("ab", "bc", "ca"):
        notes.write(f"{one}.md", page(f"[[{other}]]", f"[[{one}]]", heading=one))
    memory.sync(notes.root)
    assert linked(memory) == {("a.md", "b.md#b"), ("b.md", "c.md#c"), ("c.md", "a.md#a")}


def test_a_link_that_is_taken_out_leaves_with_the_edit_and_one_that_was_given_stays(
    memory: Memory, notes: Notes
) -> None:
    notes.write("a.md", page("[[b]]", heading="A"))
    notes.write("b.md", page(heading="B"))
    notes.write("c.md", page(heading="C"))
    memory.sync(notes.root)
    where = {spot: one for one, spot in spots(memory).items()}
    memory.link(where["a.md#A"], where["c.md#C"])
    notes.write("a.md", page(heading="A"))
    memory.sync()
    assert linked(memory) == {("a.md", "c.md#C")}


def test_a_file_of_data_beside_the_notes_takes_no_pages_name(memory: Memory, notes: Notes) -> None:
    (notes.root / "s.jsonl").write_text('{"type":"session_meta","payload":{"id":"1"}}\n')
    notes.write("seeds.json", '{"seeds": 1}')
    notes.write("deep/seeds.md", page(heading="Seeds"))
    notes.write("a.md", page("[[seeds]]"))
    memory.sync(notes.root)
    assert linked(memory) == {("a.md", "deep/seeds.md#Seeds")}


def test_a_private_page_is_linked_from_a_shared_note_for_those_who_see_both(
    memory: Memory, notes: Notes
) -> None:
    notes.write("a.md", f"---\nvisibility: public\n---\n{page('[[b]]', heading='A')}")
    notes.write("b.md", page(heading="B"))
    memory.sync(notes.root, share=True)
    assert linked(memory) == {("a.md", "b.md#B")}
    bob = replace(scope_of(memory), user="bob")
    assert edges(memory, "links", scope=bob) == []


NAMES = ("a", "b", "c", "d")
HEADINGS = ("One", "Two")
WRITTEN = st.tuples(
    st.sampled_from(["", "x/", "y/x/"]),
    st.sampled_from(NAMES),
    st.lists(st.sampled_from([*NAMES, *HEADINGS, "x/a", "a#Two", "#One", "Alt"]), max_size=3),
    st.sampled_from(HEADINGS),
    st.sampled_from(["", "Alt", "b"]),
)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("write"), WRITTEN),
        st.tuples(st.just("remove"), WRITTEN),
        st.tuples(st.just("move"), st.tuples(WRITTEN, WRITTEN)),
        st.tuples(st.just("sync"), st.none()),
    ),
    min_size=4,
    max_size=14,
)


@pytest.mark.parametrize("a_look", [0, 50], ids=["by words", "by reading all"])
@examples(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS)
def test_after_any_changes_the_links_are_those_that_all_notes_looked_at_anew_would_give(
    tmp_path_factory: pytest.TempPathFactory,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    a_look: int,
    steps: list[tuple[str, object]],
) -> None:
    monkeypatch.setattr(enrichment, "DOCUMENTS_PER_LOOKUP", a_look)
    notes = Notes(tmp_path_factory.mktemp("notes"))
    notes.write("stays.md", page("[[a]]", "[[Two]]", "[b](x/b.md)"))
    with Memory.open(settings=replace(settings, store="memory://")) as memory:
        memory.sync(notes.root)
        for kind, value in [*steps, ("sync", None)]:
            _do(memory, notes, kind, value)
        before = linked(memory)
        with store_of(memory).reader(scope_of(memory)) as reader:
            sources = reader.sources()
        for source in sources:
            relink(memory, source)
        assert before == linked(memory)


def relink(memory: Memory, source: Source) -> None:
    store, scope = store_of(memory), scope_of(memory)
    with store.reader(scope) as reader:
        due = dict.fromkeys(reader.documents(source.id), DUE_LINKS)
        changes = finalize_source(reader, store.secret(scope), scope, source, due, ("links",))
    store.write(scope, changes)


def _do(memory: Memory, notes: Notes, kind: str, value: object) -> None:
    if kind == "sync":
        memory.sync()
        return
    if kind == "move":
        (one, other) = value  # type: ignore[misc]
        source, target = (notes.root / f"{folder}{name}.md" for folder, name, *_ in (one, other))
        if source.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            source.replace(target)
        return
    folder, name, links, heading, alias = value  # type: ignore[misc]
    path = f"{folder}{name}.md"
    if kind == "write":
        front = f"---\naliases: [{alias}]\n---\n" if alias else ""
        text = page(*(f"[[{link}]]" for link in links), heading=heading, text=f"About {name}.")
        notes.write(path, front + text)
    elif (notes.root / path).exists():
        (notes.root / path).unlink()
