"""Whatever strangers write: every read of mine is what it would be without them.

A history of several principals is lived twice: whole, and with those writes alone that one of them may see. All
that this one can read must be equal in both: results and scores, counts, suggestions, pages, errors, and what the
own writes answered.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from scope_reads import differences, plain, reads
from scope_world import ANN, BOB, CLEO, DAN, EVE, FAY, PLACES, READERS, WRITERS, Step, World, seen

from reference_store.store import ReferenceStore
from scrubjay.config.loader import load_settings
from scrubjay.config.settings import Settings
from scrubjay.models.records import Scope
from scrubjay.storage.interface import Store
from scrubjay.storage.sqlite.store import SQLiteStore

SECRET = bytes(range(32))
"""Both worlds of a history share it, so that a memory has one id in both."""
HISTORIES = 15
"""Random histories, and a fifth of it in files, unless `--rounds` asks for more; a thousand take six minutes."""

TEXTS = (
    "The Harbour Master of Blue Jay keeps the tide table of the old harbour beside the lantern every night.",
    "The Harbour Master of Blue Jay keeps the tide table of the new harbour beside the lantern each night.",
    "Blue Jay hides acorns; see [[Blue Jay]] and [[plan]] for the deployment of the quince.",
    "The Secret Lantern of Wren Lake burns for nobody but Blue Jay, says [[harbour#Page 1 harbour|the page]].",
    "Deployment of `quince_press` v2.3 is due on Friday; deployment waits for `tide_table`.",
    "Der Leuchtturm am Hafen brennt nicht mehr, und die Hafenmeisterin sucht den Schlüssel im Garten.",
    "Secret zygomatic words of #quince and Wren Lake: lantern, lantern, lantern.",
    "yes",
)
LINKING = TEXTS[2:3]
NAMES = ("Blue Jay", "Secret Lantern", "Wren Lake", "quince", "harbour master", "tide table")

texts = st.lists(st.sampled_from(TEXTS), min_size=1, max_size=2).map(tuple)
marks = st.tuples(st.integers(0, 9), st.integers(0, 9))
places = st.sampled_from(PLACES)
writers = st.sampled_from((ANN, ANN, BOB, BOB, *WRITERS))
options = st.fixed_dictionaries(
    {},
    optional={
        "tags": st.sampled_from((["red"], ["red", "blue"])),
        "title": st.sampled_from(("Blue Jay", "Harbour plan")),
        "session": st.sampled_from(("s0", "s1")),
        "turn": st.integers(0, 3),
        "role": st.sampled_from(("user", "assistant")),
        "project": st.sampled_from(("garden", "acme/boat")),
        "agent": st.just("codex"),
        "date": st.sampled_from(("2024-03", "2025-01-01")),
        "tier": st.just("lesson"),
        "pinned": st.booleans(),
        "confidence": st.just(0.5),
    },
).map(lambda found: tuple(found.items()))
names = st.lists(st.sampled_from(NAMES), min_size=1, max_size=3, unique=True).map(tuple)

pairs = st.permutations(NAMES).map(lambda some: tuple(some[:2]))


def step(kind: str, **given_: Any) -> st.SearchStrategy[Step]:
    """Return steps of one kind by a writer who may write what they hold."""
    found = st.builds(Step, who=writers, kind=st.just(kind), marks=marks, **given_)
    return found.filter(lambda s: not s.visibility.startswith("group:") or s.key in s.who.keys)


upkeep = st.one_of(
    step("embed"), step("rebuild"), step("common"), step("unlink", visibility=places), step("leave")
)
steps = st.one_of(
    *[step("add", visibility=places, texts=texts, options=options)] * 3,
    *[step("note", visibility=places, texts=texts, options=options)] * 4,
    step("many", visibility=places, texts=texts),
    step("talk", texts=texts),
    step("forget"),
    step("concept", visibility=places, texts=names),
    st.builds(Step, st.just(FAY), st.just("edit"), st.just("public"), pairs, marks),
    step("category", visibility=places, texts=st.sampled_from((("Birds",), ("Boats",)))),
    step("link", visibility=places),
    *[step("live", visibility=places)] * 2,
    step("read"),
    step("change", visibility=places, texts=texts),
    upkeep,
)


@st.composite
def forgotten(draw: st.DrawFn) -> list[Step]:
    """Draw somebody who forgets what somebody else writes down, too."""
    visibility = draw(st.sampled_from(("user", "user", "public", "group:dev")))
    who, other = draw(st.permutations((ANN, BOB, CLEO) if ":" not in visibility else (ANN, BOB)))[:2]
    first = Step(who, "note", visibility, draw(texts))
    return [first, Step(who, "forget", marks=(0, draw(st.integers(0, 1)))), replace(first, who=other)]


@st.composite
def pages(draw: st.DrawFn) -> list[Step]:
    """Draw pages of one name that are seen by some and by others, and notes that link to it."""
    who = draw(writers)
    mine = st.sampled_from([place for place in PLACES if place in ("user", "public", *who.keys)])
    notes = [Step(who, "note", draw(mine), LINKING, (1, 0))]
    notes += [Step(who, "note", draw(mine), draw(texts), (0, 0)) for _ in range(3)]
    return draw(st.permutations(notes))


episodes = st.one_of(
    steps.map(lambda one: [one]), st.lists(steps, min_size=2, max_size=4), forgotten(), pages()
)
histories = st.lists(episodes, min_size=9, max_size=16).map(
    lambda some: [one for episode in some for one in episode]
)
PHASES = (Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink)


@pytest.fixture(scope="module")
def nobodys(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    folder = tmp_path_factory.mktemp("settings")
    environ = {"SCRUBJAY_CONFIG": "", "XDG_CONFIG_HOME": str(folder)}
    # Both worlds look at their files to the end, or a busy machine would tell them apart.
    return load_settings(environ=environ | {"SCRUBJAY_SYNC_LOOK_SECONDS": "60"})


def store(kind: str, file: Path) -> Store:
    return ReferenceStore(SECRET) if kind == "memory" else SQLiteStore(file, SECRET)


def felt(kind: str, folder: Path, nobodys: Settings, history: list[Step], reader: Scope) -> list[str]:
    """Return what of a reader's reads the writes of others changed, a line for each."""
    root = folder / "files"
    own = seen(history, reader)
    answers: list[dict[str, Any]] = []
    probes: tuple[list[str], list[Path]] | None = None
    for number, chosen in enumerate((dict(enumerate(history)), own)):
        held = store(kind, folder / f"{number}.db")
        try:
            world = World(held, root, nobodys).live(history, chosen)
            probes = probes or (world.every_id(), world.files())
            written = {n: plain(world.outcomes[n]) for n in own if history[n].who == reader}
            answers.append(reads(world, reader, *probes) | {"written": written})
        finally:
            held.close()
    return list(differences(answers[0], answers[1]))


def unfelt(kind: str, tmp: pytest.TempPathFactory, nobodys: Settings, examples: int) -> None:
    """Check a number of random histories."""

    @given(history=histories, reader=st.sampled_from(READERS))
    @settings(
        max_examples=examples,
        deadline=None,
        phases=PHASES,
        suppress_health_check=list(HealthCheck),
        database=None,
        print_blob=True,
    )
    def check(history: list[Step], reader: Scope) -> None:
        found = felt(kind, tmp.mktemp("world"), nobodys, history, reader)
        assert not found, "\n".join(found[:20])

    check()


def test_no_read_feels_what_the_reader_may_not_see(
    tmp_path_factory: pytest.TempPathFactory, nobodys: Settings, rounds: int | None
) -> None:
    unfelt("memory", tmp_path_factory, nobodys, rounds or HISTORIES)


def test_no_read_of_a_store_in_a_file_feels_what_the_reader_may_not_see(
    tmp_path_factory: pytest.TempPathFactory, nobodys: Settings, rounds: int | None
) -> None:
    unfelt("sqlite", tmp_path_factory, nobodys, -(-(rounds or HISTORIES) // 5))


DAY = [
    Step(BOB, "add", "group:ops", TEXTS[:1], options=(("tags", ["red"]), ("project", "garden"))),
    Step(BOB, "note", "group:ops", TEXTS[2:4], (0, 0)),
    Step(BOB, "note", "group:ops", TEXTS[:2], (1, 0)),
    Step(BOB, "add", "group:ops", TEXTS[1:2]),
    Step(BOB, "add", "group:ops", TEXTS[4:6], options=(("session", "s0"), ("turn", 1))),
    Step(BOB, "concept", "group:ops", ("Blue Jay", "jaybird")),
    Step(BOB, "concept", "group:ops", ("Secret Lantern",)),
    Step(BOB, "category", "group:ops", ("Birds",), (0, 1)),
    Step(BOB, "link", "group:ops", (), (0, 1)),
    Step(BOB, "live", "group:ops", (), (0, 1)),
    Step(ANN, "add", "public", TEXTS[:1]),
]


def test_the_reads_see_everything_that_they_are_held_to(tmp_path: Path, nobodys: Settings) -> None:
    """A battery that could not feel a stranger would prove nothing: who may see him feels him in each read."""
    world = World(ReferenceStore(SECRET), tmp_path / "files", nobodys).live(DAY)
    ids = world.every_id()
    stranger = Scope("t", "dan", ())
    told = {who: reads(world, who, ids) for who in (DAN, stranger)}
    same = {name for name in told[DAN] if not list(differences(told[DAN][name], told[stranger][name]))}
    assert same == {"sources", "projects"}, "Bob's notes folder is his own, and so are his places"
    sourced = {who: reads(world, who, ids) for who in (BOB, ANN)}
    assert sourced[BOB]["sources"] != sourced[ANN]["sources"]


def test_a_namesake_of_another_tenant_is_a_stranger(tmp_path: Path, nobodys: Settings) -> None:
    """Same name, same groups, same words, same folder names, same secret: nothing is shared."""
    theirs = [Step(EVE, s.kind, s.visibility.replace("ops", "dev"), s.texts, s.marks, s.options) for s in DAY]
    mine = [Step(ANN, s.kind, s.visibility.replace("ops", "dev"), s.texts, s.marks, s.options) for s in DAY]
    assert felt("memory", tmp_path, nobodys, [*theirs, *mine, *theirs], ANN) == []
