"""A context speaks where a search answers, and is silent where a search is: by one judgement, and in one search."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis
from hypothesis import strategies as st

from reference_store.store import ReferenceStore
from scrubjay import Memory
from scrubjay.config.loader import load_settings
from scrubjay.config.settings import LinkingSettings, RecallSettings, Settings
from scrubjay.embeddings.hash_embedder import HashEmbedder
from scrubjay.embeddings.static import StaticEmbedder
from scrubjay.models.lifecycle import NewMemory
from scrubjay.models.records import Scope
from scrubjay.models.results import Context
from scrubjay.search.context import MAX_FOUND, ContextScope
from scrubjay.search.pipeline import run_search
from scrubjay.search.request import SearchOptions
from scrubjay.services.models import ModelRegistry
from scrubjay.services.models import caller_catalog as embedders_of
from scrubjay.services.search import search_request
from scrubjay.services.workspace import Workspace

NOW = "2026-06-01T12:00:00"
SECRET = bytes(range(32))
ANN = Scope("t", "ann")
STATIC = StaticEmbedder()
TEXTS = (
    "The invoices lie in the blue folder of the archive.",
    "Ottilie Brandt was born in Greifenau and died in Basel.",
    "It lies between hills; Hans Moll was elected in 2019.",
    "When ERR_409_LEASE shows up, delete the lease and start the worker again.",
    "Where did you put it?",
    "On the shelf, I think. I was there yesterday.",
    "Pear trees want water in June.",
    "東京タワーの高さは333メートルである。",
)
TITLES = ("", "Greifenau", "Ottilie Brandt")
QUESTIONS = (
    "Where do the invoices lie?",
    "Who is the mayor where Ottilie Brandt was born?",
    "Who is the mayor where Ottilie Brandt was born? -Basel",
    "ERR_409_LEASE",
    "where did I put the invoices?",
    "which shelf was it on?",
    "do pear trees need water",
    '"blue folder"',
    "東京タワーの高さは？",
    "Which enzyme breaks down lactose?",
    "Who won the chess championship of 1972?",
    "hills",
    "kettle 東京 кухне",
    "?!.,",
)
MEMORIES = st.builds(
    NewMemory,
    st.sampled_from(TEXTS),
    title=st.sampled_from(TITLES),
    project=st.sampled_from((None, "shop", "boat")),
    date=st.just("2026-03-01"),
)
TURNS = st.lists(st.tuples(st.sampled_from(TEXTS), st.sampled_from((None, "shop"))), max_size=5)
SETTINGS = st.sampled_from(
    (
        *(
            RecallSettings(),
            RecallSettings(fusion="rrf"),
            RecallSettings(links=1, hierarchy=True),
            RecallSettings(variety=False),
        ),
        *(
            RecallSettings(min_relevance=0.2),
            RecallSettings(min_relevance=0.9),
            RecallSettings(session_cap=1, tz="Asia/Tokyo"),
        ),
    )
)


USUAL = RecallSettings()


def opened(recall: RecallSettings = USUAL, store: Any = None, embedder: Any = STATIC) -> Memory:
    usually: Settings = replace(
        load_settings(environ={}), recall=recall, linking=LinkingSettings(stages=("concepts",))
    )
    usually = replace(usually, facts=replace(usually.facts, stages=()))
    kept = store or ReferenceStore(SECRET)
    return Memory(
        Workspace(kept, ANN, ModelRegistry(kept, ANN, embedders_of([embedder]), cold=False), usually)
    )


def asked(memory: Memory, query: str, **options: Any) -> Context:
    return memory.context(query, now=NOW, budget=100_000, parts=("relevant",), **options)


@hypothesis(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    written=st.lists(MEMORIES, max_size=8),
    turns=TURNS,
    recall=SETTINGS,
    query=st.sampled_from(QUESTIONS),
    project=st.sampled_from((None, "shop")),
    session=st.sampled_from((None, "s1")),
)
def test_a_context_is_silent_exactly_where_a_search_is(
    written: list[NewMemory],
    turns: list[tuple[str, str | None]],
    recall: RecallSettings,
    query: str,
    project: str | None,
    session: str | None,
) -> None:
    memory = opened(recall)
    memory.add_many(written)
    for number, (text, of) in enumerate(turns):
        memory.add(text, session="s1" if number < 3 else "s2", turn=number, role="user", project=of)
    desk, now = memory.workspace, 1_780_315_200_000_000
    request = replace(
        search_request(desk, query, SearchOptions(here=project)),
        now=now,
        where=ContextScope(project, None, session, now).where(),
    )
    with desk.store.reader(desk.scope) as reader:
        found = run_search(reader, [STATIC], replace(request, limit=MAX_FOUND))
        usually = run_search(reader, [STATIC], request)
    context = asked(memory, query, project=project, session=session)
    assert bool(context.text) == bool(found.results) == bool(usually.results)
    assert {one.id for one in context.memories} <= {one.id for one in found.results}
    assert project is None or {one.project for one in found.results} <= {project, None}
    assert session is None or session not in {one.session for one in found.results}
    memory.close()


@hypothesis(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(recall=SETTINGS, query=st.sampled_from(QUESTIONS))
def test_the_same_words_given_to_both_are_answered_by_both(recall: RecallSettings, query: str) -> None:
    memory = opened(recall)
    memory.add_many(
        NewMemory(text, title=title) for text, title in zip(TEXTS, (*TITLES, *TEXTS), strict=False)
    )
    assert bool(asked(memory, query).text) == bool(memory.search(query, now=NOW).results)
    memory.close()


def test_a_second_step_that_alone_answers_is_told() -> None:
    memory = opened()
    memory.add_many(NewMemory(f"Pear tree {number} wants water in June.") for number in range(30))
    memory.add("Ottilie Brandt was born in Greifenau and died in Basel.", title="Ottilie Brandt")
    town = memory.add("It lies between hills; Hans Moll was elected in 2019.", title="Greifenau").id
    query = "Who is the mayor where Ottilie Brandt was born? -Basel"
    assert [one.id for one in asked(memory, query).memories] == [town]


@pytest.mark.parametrize("links", [0, 1])
def test_a_link_is_followed_where_the_settings_have_a_search_follow_it(links: int) -> None:
    memory = opened(RecallSettings(links=links))
    memory.add_many(NewMemory(f"Pear tree {number} wants water in June.") for number in range(30))
    painter = memory.add("The painter Ottilie Brandt was born in Basel.").id
    beside = memory.add("Hans Moll was elected.").id
    memory.link(painter, beside)
    told = {one.id for one in asked(memory, "Where was the painter Ottilie Brandt born?").memories}
    assert told == ({painter, beside} if links else {painter})


def test_what_the_settings_keep_out_of_a_search_is_told_to_nobody_unasked() -> None:
    memory = opened(RecallSettings(min_relevance=0.999))
    memory.add("The invoices lie in the blue folder of the archive.")
    assert memory.search("where do the invoices lie?").silence
    assert asked(memory, "where do the invoices lie?").text == ""


def test_where_nothing_can_be_told_a_search_shows_what_it_has_and_a_context_does_not() -> None:
    memory = opened()
    memory.add_many(NewMemory(text) for text in TEXTS)
    for query in ("what did you do?", "the of and to in is that it", "what is it about?"):
        assert {one.relevance for one in memory.search(query).results} == {None}
        assert asked(memory, query).text == ""


class Counted:
    """A reader that is asked as any other, and counts how often for what."""

    def __init__(self, reader: Any, calls: Counter[str]) -> None:
        self._reader, self._calls = reader, calls

    def __getattr__(self, name: str) -> Any:
        self._calls[name] += 1
        return getattr(self._reader, name)


class CountedStore(ReferenceStore):
    """A store whose readers count."""

    calls: Counter[str]

    @contextmanager
    def reader(self, scope: Scope) -> Iterator[Any]:
        with super().reader(scope) as reader:
            yield Counted(reader, self.calls)


class CountedEmbedder(HashEmbedder):
    """A model that counts the questions that it is asked to embed."""

    asked = 0

    def embed(self, texts: Any, *, kind: Any = "passage") -> Any:
        self.asked += kind == "query"
        return super().embed(texts, kind=kind)


@pytest.fixture
def reads() -> Callable[[Callable[[Memory], Any]], Counter[str]]:
    """Return what a call reads of a store in which others' projects and the session that goes on say most."""
    store, embedder = CountedStore(SECRET), CountedEmbedder(64)
    store.calls = Counter()
    memory = opened(store=store, embedder=embedder)
    memory.add_many(
        [NewMemory(f"The deploy key of the boat {n} is here.", project="boat") for n in range(40)]
    )
    for turn in range(30):
        memory.add(
            "Where is the deploy key of the shop?", session="now", turn=turn, role="user", project="shop"
        )
    memory.add("Where the deploy key of our shop went, nobody will say.", project="shop")
    memory.add("A deploy key is never mailed.")

    def counted(call: Callable[[Memory], Any]) -> Counter[str]:
        store.calls, before = Counter(), embedder.asked
        call(memory)
        return store.calls + Counter(questions=embedder.asked - before)

    return counted


def test_a_context_searches_once_whatever_fills_the_store(
    reads: Callable[[Callable[[Memory], Any]], Counter[str]],
) -> None:
    told: list[Context] = []
    query = "deploy key of the shop"
    counted = reads(lambda memory: told.append(memory.context(query, project="shop", session="now")))
    assert len([one for one in told[0].memories if one.part == "relevant"]) == 2
    assert (counted["words"], counted["nearest"], counted["questions"]) == (1, 1, 1)


def test_what_is_relevant_is_read_as_often_as_a_search_reads_it(
    reads: Callable[[Callable[[Memory], Any]], Counter[str]],
) -> None:
    by_search = reads(lambda memory: memory.search("deploy key of the shop", projects=["shop"]))
    by_context = reads(
        lambda memory: memory.context("deploy key of the shop", project="shop", parts=["relevant"])
    )
    for what in ("words", "nearest", "frequencies", "heads", "adjacent", "questions", "turns"):
        assert by_context[what] <= by_search[what], what
    assert by_context["edges"] <= by_search["edges"] + 4  # what it was made from, what replaced it


def test_a_context_of_weak_matches_holds_the_nearest_and_says_that_they_are_weak() -> None:
    subjects = ("travel", "expenses", "laptops", "visitors", "parking", "coffee", "training", "sick days")
    with Memory.open("memory://", user="ann", embedders=[STATIC]) as memory:
        for subject in subjects:
            memory.add(f"Our policy on {subject}: ask the office first, and leave a note.")
        asked = "what is our parental leave policy for fathers"
        assert all((one.relevance or 1.0) < 0.1 for one in memory.search(asked).results)
        found = memory.context(asked)
        assert len(found.memories) == 5
        assert "Weak matches: they may not answer." in found.text
        likely = memory.context("what is our policy on parking of visitors?")
        assert len(likely.memories) > 5
        assert "Weak" not in likely.text


def test_weak_turns_are_called_weak_however_many_there_are() -> None:
    with Memory.open("memory://", user="ann", embedders=[STATIC]) as memory:
        said = "Grüß Gott, Helga Bauer here, can I pay on account?"
        memory.add(said, session="mail", turn=0, role="user")
        for turn in range(1, 11):
            memory.add(
                f"Parcel {turn} for Helga Bauer left on Monday.", session="mail", turn=turn, role="user"
            )
        asked = "What is Helga's IBAN?"
        for found in (memory.context(asked), memory.context(asked, unprompted=True)):
            assert all((one.relevance or 1.0) < 0.1 for one in found.memories)
            assert bool(found.text) == ("Weak matches: they may not answer." in found.text)
        assert memory.context(asked).text


def test_a_context_of_weak_turns_is_as_short_as_its_evidence() -> None:
    subjects = (
        "I always drink my coffee with oat milk.", "I hate talking to call centres.",
        "The landlord in Bremen is Herr Steffens.", "My last day at Lumora is December 31.",
        "I've found a gym in Bremen, Kraftwerk am Steintor.", "My mother's birthday is on November 20.",
        "The moving company is Umzug Petersen, they charge 1,850 euros.", "My new doctor is Dr. Yilmaz.",
        "We have two cars, the Caddy and the little Fiat.", "For work I use a ThinkPad from Lumora.",
        "Ben Okafor is the engineering manager now.", "The dentist called and moved my appointment.",
    )  # fmt: skip
    with Memory.open("memory://", user="ann", embedders=[STATIC]) as memory:
        memory.add_many(
            NewMemory(said, session=f"chat {day}", role="user", date=f"2026-05-{day:02}")
            for day, said in enumerate(subjects, 1)
        )
        for asked, answer in (
            ("Which company carries our furniture?", "Umzug Petersen"),
            ("What do I put into my drinks?", "oat milk"),
        ):
            found = memory.context(asked, now=NOW)
            assert all((one.relevance or 1.0) < 0.1 for one in found.memories)
            assert len(found.memories) <= 5
            assert answer in found.text
