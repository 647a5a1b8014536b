"""An Obsidian vault and a Logseq graph, read as their users expect."""

from __future__ import annotations

import json
import sys
import unicodedata
from collections.abc import Callable
from types import FrameType

import pytest
from notes_folder import Notes
from web import edges, scope_of, store_of

from scrubjay import Memory
from scrubjay.errors import NotFoundError
from scrubjay.models.records import Record

NOTES = {
    "Home.md": "Start: [[Engine]], [[The Hoist]], [[2026-03-01|first of March]].\n",
    "Boat/Engine.md": (
        "---\naliases:\n  - Motor\n  - Old Smoky\ntags: [boat/engine]\nup: \"[[Home]]\"\n---\n"
        "# Engine\n\nThe diesel needs a new impeller every spring. ^impeller\n\n"
        "## Service\n\n### Oil\n\nTwelve litres of oil go in. #maintenance/oil\n\n"
        "%% check [[Hidden]] and #secret-tag later %%\n"
    ),
    "Boat/Log.md": (
        "# Log\n\n| day | note |\n| --- | --- |\n| 1 | [[Engine\\|the motor]] |\n\n"
        "![[Engine#Service]] and ![[chart.png]] and ![[Engine^impeller]]\n"
    ),
    "Boat/Rig.md": (
        "---\naliases: The Hoist, Crane\n---\n# Rig\n\n> [!warning] Mind the boom\n> It swings low #danger\n"
    ),
    "Garden/Index.md": "# Garden\n\nSee [[Plan]] and [[Boat/Plan]] and [old smoke]([[Motor]]).\n",
    "Garden/Plan.md": "# Plan of the garden\n\nBeans first. topic:: beans\n",
    "Boat/Plan.md": "# Plan of the boat\n\nPaint first.\n",
    "Archive/2024/Deep/Plan of old.md": "# Old plan\n\nNothing to do. [[Deep/Sibling]]\n",
    "Archive/2024/Deep/Sibling.md": "# Sibling\n\nBeside it. [[#^here]]\n\nA remark. ^Here\n",
    "Recipes/Bread.md": "# Bread\n\nBlock: [[Engine#^impeller]]. Anchor: [[Engine#Engine#Service#Oil]].\n",
    "Recipes/Soup.md": (
        "# Soup\n\n[service](Engine.md#Service) `#notatag [[Bread]]` https://x.org/#frag a#b #42 #2026plan\n"
    ),
    "Templates/Daily.md": "---\ndate: {{date}}\n---\n# {{title}}\n\n[[Home]]\n",
}  # fmt: skip


@pytest.fixture
def memory(opened: Callable[..., Memory]) -> Memory:
    return opened()


def vault(notes: Notes) -> Notes:
    """Sixty notes, in the folders and with the habits of a real vault."""
    for path, text in NOTES.items():
        notes.write(path, text)
    for day in range(1, 25):
        notes.write(f"Journal/2026/March/{day:02}-03-2026.md", f"# A day\n\nDay {day}: calm, [[Log]].\n")
    for number in range(24):
        notes.write(f"Zettel/note {number}.md", f"# Thought {number}\n\nIt leads to [[note {number + 1}]].\n")
    config = {"folder": "Journal", "format": "YYYY/MMMM/DD-MM-YYYY"}
    notes.write(".obsidian/daily-notes.json", json.dumps(config))
    notes.write(".obsidian/plugins/x/readme.md", "# A plugin's page\n")
    notes.write(".trash/Bread.md", "# Bread that was thrown away\n")
    notes.write("Boat/chart.png", b"\x89PNG")
    notes.write("Boat/board.canvas", '{"nodes": []}')
    return notes


def passages(memory: Memory) -> list[Record]:
    with store_of(memory).reader(scope_of(memory)) as reader:
        return [
            record
            for source in reader.sources()
            for path in reader.documents(source.id)
            for record in reader.passages(source.id, path)
        ]


def of(memory: Memory, path: str) -> list[Record]:
    return [record for record in passages(memory) if record.place and record.place.path == path]


def links(memory: Memory, path: str) -> set[str]:
    """File and nearest heading of the passages that a file links to."""
    where = {one.id: one for one in passages(memory)}
    ends = [where[edge.dst] for edge in edges(memory, "links") if where[edge.src].place.path == path]  # type: ignore[union-attr]
    return {
        f"{one.place.path}#{one.heading_path[-1] if one.heading_path else ''}" for one in ends if one.place
    }


def test_settings_trash_attachments_and_canvases_are_no_notes(memory: Memory, notes: Notes) -> None:
    report = memory.sync(vault(notes).root)
    assert report.files == 60
    assert [problem.path.rpartition("/")[2] for problem in report.problems] == [
        "Daily.md"
    ]  # not YAML, and read


@pytest.mark.parametrize(
    ("path", "ends"),
    [
        ("Home.md", {"Boat/Engine.md#Engine", "Boat/Rig.md#Rig"}),
        ("Boat/Engine.md", {"Home.md#"}),  # a link of front matter; none of a comment
        ("Boat/Log.md", {"Boat/Engine.md#Engine", "Boat/Engine.md#Oil"}),  # a table's, and embeds
        (
            "Garden/Index.md",
            {"Garden/Plan.md#Plan of the garden", "Boat/Plan.md#Plan of the boat", "Boat/Engine.md#Engine"},
        ),
        ("Archive/2024/Deep/Plan of old.md", {"Archive/2024/Deep/Sibling.md#Sibling"}),
        ("Recipes/Bread.md", {"Boat/Engine.md#Engine", "Boat/Engine.md#Oil"}),
        ("Recipes/Soup.md", {"Boat/Engine.md#Oil"}),
    ],
)  # fmt: skip
def test_links_lead_where_obsidian_leads(memory: Memory, notes: Notes, path: str, ends: set[str]) -> None:
    memory.sync(vault(notes).root)
    assert links(memory, path) == ends


def test_a_note_is_linked_by_an_alias_that_it_gets_later_and_no_more_once_it_lost_it(
    memory: Memory, notes: Notes
) -> None:
    for number in range(120):
        notes.write(f"z/{number}.md", f"# Z {number}\n\nNumber {number}.\n")
    notes.write("a.md", "# A\n\nSee [[Old Smoky]].\n")
    notes.write("b.md", "# B\n\nA diesel.\n")
    memory.sync(notes.root)
    assert links(memory, "a.md") == set()
    notes.write("b.md", "---\nalias: Old Smoky\n---\n# B\n\nA diesel.\n")
    memory.sync()
    assert links(memory, "a.md") == {"b.md#B"}
    notes.write("c.md", "# C\n\nAlso [[old smoky]].\n")  # the page with the alias is not read anew
    memory.sync()
    assert links(memory, "c.md") == {"b.md#B"}
    notes.write("b.md", "# B\n\nA diesel.\n")
    memory.sync()
    assert links(memory, "a.md") == links(memory, "c.md") == set()


@pytest.mark.parametrize("page", ["", "---\naliases: [nick{}]\n---\nA page.\n"], ids=["empty", "alias"])
def test_links_to_empty_pages_and_to_aliases_take_as_many_steps_as_links_to_files(
    memory: Memory, notes: Notes, page: str
) -> None:
    """Counted in calls, not seconds."""

    def steps_of_links(folder: str, text: str) -> int:
        for number in range(150):
            notes.write(f"{folder}/page{number}.md", text.format(number))
            notes.write(f"{folder}/note{number}.md", f"Number {number}.\n")
        memory.sync(notes.root / folder)
        name = "nick" if "alias" in text else "page"
        notes.write(f"{folder}/note0.md", " ".join(f"[[{name}{number}]]" for number in range(40)))
        steps = 0

        def step(frame: FrameType, event: str, _: object) -> None:
            nonlocal steps
            steps += event == "call" and frame.f_code.co_filename.endswith("enrichment.py")

        sys.setprofile(step)
        try:
            memory.sync()
        finally:
            sys.setprofile(None)
        return steps

    assert steps_of_links("one", page) < 2 * steps_of_links("other", "A page.\n") + 2_000


def test_a_note_is_found_by_its_alias(memory: Memory, notes: Notes) -> None:
    memory.sync(vault(notes).root)
    assert memory.search("old smoky").results[0].path.endswith("Boat/Engine.md")  # type: ignore[union-attr]


def test_in_a_vault_tags_count_anywhere_and_nested_ones_are_found_by_their_parent(
    memory: Memory, notes: Notes
) -> None:
    memory.sync(vault(notes).root)
    assert set(of(memory, "Boat/Engine.md")[0].tags) == {
        "boat",
        "boat/engine",
        "maintenance",
        "maintenance/oil",
    }
    assert of(memory, "Boat/Rig.md")[0].tags == ("danger",)
    assert of(memory, "Recipes/Soup.md")[0].tags == ("2026plan",)
    assert memory.search("oil", tags=["maintenance"]).results


def test_outside_a_vault_a_hash_in_a_sentence_is_no_tag(memory: Memory, notes: Notes) -> None:
    notes.write("a.md", "# A\n\nSee #foo.\n")
    memory.sync(notes.root)
    assert of(memory, "a.md")[0].tags == ()


@pytest.mark.parametrize(
    ("config", "path"),
    [
        ('{"folder": "Journal", "format": "YYYY/MMMM/DD-MM-YYYY"}', "Journal/2026/March/05-03-2026.md"),
        ('{"folder": "/Daily/", "format": "dddd, MMMM Do YYYY"}', "Daily/Thursday, March 5th 2026.md"),
        ('{"format": "[Day] D.M.YY"}', "Day 5.3.26.md"),
        ('{"folder": "Daily", "format": "YYYYMMDD"}', "Daily/20260305.md"),
        ('{"folder": "x"}', "elsewhere/2026-03-05.md"),
        ("{broken", "2026-03-05.md"),
    ],
)
def test_a_daily_note_has_the_day_that_its_vaults_format_names(
    memory: Memory, notes: Notes, config: str, path: str
) -> None:
    notes.write(".obsidian/daily-notes.json", config)
    notes.write(path, "Calm.\n")
    memory.sync(notes.root)
    (record,) = of(memory, path)
    assert record.event is not None
    assert record.event.precision == "day"
    assert memory.search("calm", since="2026-03-05", until="2026-03-05").results


def test_a_folder_of_a_vault_is_read_by_the_settings_of_the_vault(memory: Memory, notes: Notes) -> None:
    notes.write(".obsidian/daily-notes.json", '{"folder": "Daily", "format": "D-M-YYYY"}')
    notes.write("Daily/5-3-2026.md", "Calm. #weather\n")
    memory.sync(notes.root / "Daily")
    (record,) = passages(memory)
    assert record.event is not None
    assert record.tags == ("weather",)


def test_what_two_systems_spell_differently_is_one_name(memory: Memory, notes: Notes) -> None:
    notes.write(unicodedata.normalize("NFD", "Übersicht") + ".md", "# Ein\n\nText.\n")
    notes.write("a.md", "# A\n\n[[" + unicodedata.normalize("NFC", "übersicht") + "]]\n")
    memory.sync(notes.root)
    assert len(links(memory, "a.md")) == 1


ID = "64f1c2aa-9d3b-4c55-8a11-0123456789ab"


def graph(notes: Notes) -> Notes:
    notes.write("logseq/config.edn", '{:journal/file-name-format "yyyy_MM_dd"}\n')
    notes.write("logseq/bak/pages/boat/2026-01-01T00_00_00.md", "- An earlier boat\n")
    notes.write(
        "pages/boat.md", f"alias:: Ship, [[The Vessel]]\ntags:: water\n\n- The mast is oak\n  id:: {ID}\n"
    )
    notes.write("pages/boat___mast.md", "- About the mast, twelve metres\n")
    notes.write("pages/crew%2Fcook.md", "- The cook is Ann #people\n")
    notes.write("journals/2026_11_29.md", f"- Saw [[ship]], [[boat/mast]], [[crew/cook]], (({ID}))\n")
    notes.write("pages/diary.md", "- On [[Nov 29th, 2026]] we sailed\n")
    return notes


def test_a_logseq_graph_is_read_with_its_namespaces_aliases_journals_and_blocks(
    memory: Memory, notes: Notes
) -> None:
    report = memory.sync(graph(notes).root)
    assert report.files == 5  # earlier versions are left out
    assert {end.partition("#")[0] for end in links(memory, "journals/2026_11_29.md")} == {
        "pages/boat.md", "pages/boat___mast.md", "pages/crew%2Fcook.md",
    }  # fmt: skip
    assert {end.partition("#")[0] for end in links(memory, "pages/diary.md")} == {"journals/2026_11_29.md"}
    assert of(memory, "pages/crew%2Fcook.md")[0].tags == ("people",)
    (journal,) = of(memory, "journals/2026_11_29.md")
    assert journal.event is not None


def test_a_block_of_a_page_that_was_stored_earlier_is_linked(memory: Memory, notes: Notes) -> None:
    for number in range(120):
        notes.write(f"pages/{number}.md", f"- Number {number}\n")
    notes.write("pages/boat.md", f"- The mast is oak\n  id:: {ID}\n")
    memory.sync(notes.root)
    notes.write("pages/later.md", f"- As said: (({ID}))\n")
    memory.sync()
    assert {end.partition("#")[0] for end in links(memory, "pages/later.md")} == {"pages/boat.md"}


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("[[Engine]]", "Boat/Engine.md"),
        ("engine", "Boat/Engine.md"),
        ("![[Boat/Engine|the motor]]", "Boat/Engine.md"),
        ("Old smoky", "Boat/Engine.md"),
        ("Crane", "Boat/Rig.md"),
        ("Plan of the garden", "Garden/Plan.md"),
        ("Garden/Plan", "Garden/Plan.md"),
    ],
)
def test_a_note_is_read_by_name_title_alias_or_wiki_link(
    memory: Memory, notes: Notes, name: str, path: str
) -> None:
    memory.sync(vault(notes).root)
    found = memory.get(path=name)
    assert not found.unknown
    assert list(found.records) == of(memory, path)


def test_a_wiki_link_to_a_heading_reads_the_passage_below_it(memory: Memory, notes: Notes) -> None:
    memory.sync(vault(notes).root)
    (oil,) = memory.get(path="[[Engine#Oil]]").records
    assert oil.heading_path[-1] == "Oil"
    assert memory.get(path="[[Engine#^impeller]]").records == memory.get(path="Engine").records
    for missing in ("[[Engine#Sails]]", "[[Sails]]", "Sails", "[[]]", "[[chart.png]]", "ngine", "#Oil"):
        assert memory.get(path=missing).unknown == (missing,)


def test_a_name_of_several_notes_is_an_error_that_lists_them(memory: Memory, notes: Notes) -> None:
    memory.sync(vault(notes).root)
    with pytest.raises(NotFoundError) as raised:
        memory.get(path="[[Plan]]")
    for path in ("Boat/Plan.md", "Garden/Plan.md"):
        assert str(notes.root / path) in str(raised.value)
