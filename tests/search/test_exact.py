"""What is asked for by its exact name, with a slip, in quotes, or without something, through what everybody calls."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import fields
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from recall_values import Noise

from scrubjay import Memory, NewMemory
from scrubjay.models.ids import EmbeddingModel
from scrubjay.models.results import Result

IDENTIFIERS = [
    "getUserById",
    "ERR_CONN_RESET",
    "v2.1.3",
    "path/to/file.py",
    "E1042",
    "config.yaml",
    "OPS-4711",
    "0x80070057",
    "kube-proxy",
    "HTTPServer",
    "--dry-run",
    "user@example.org",
    "SIGTERM",
    "std::unique_ptr",
    "10.0.17.3",
    "3f2a9bc",
    "C++",
    "$HOME/.bashrc",
]
PARTS = {
    "getUserById": ["user by id", "getuserbyid", "GETUSERBYID"],
    "ERR_CONN_RESET": ["conn reset", "err_conn_reset", "err conn"],
    "v2.1.3": ["2.1.3", "V2.1.3"],
    "path/to/file.py": ["file.py", "to/file.py"],
    "OPS-4711": ["ops 4711", "4711"],
    "HTTPServer": ["http server", "httpserver"],
    "kube-proxy": ["kube proxy", "kubeproxy"],
}
COMMON = "the service wrote a line about the request and went on with its work after some time"


@pytest.fixture
def named(memory: Memory) -> Memory:
    memory.add_many([NewMemory(f"On that day we saw {name} and wrote it down.") for name in IDENTIFIERS])
    return memory


def first(memory: Memory, query: str, **options: Any) -> str:
    found = memory.search(query, limit=1, **options).results
    return found[0].snippet if found else ""


@pytest.mark.parametrize("name", IDENTIFIERS)
def test_an_identifier_finds_what_holds_it_whole_in_quotes_and_in_a_question(
    named: Memory, name: str
) -> None:
    for query in (name, f'"{name}"', f"what was {name} about?", f"where did we see {name}"):
        assert name in first(named, query), query
    assert all(name in each.snippet for each in named.search(f'"{name}"').results)


@pytest.mark.parametrize(("name", "query"), [(name, query) for name in PARTS for query in PARTS[name]])
def test_an_identifier_is_found_by_its_parts_and_in_any_case(named: Memory, name: str, query: str) -> None:
    assert name in first(named, query, channels=["bm25"])


@pytest.mark.parametrize("seed", range(4))
def test_a_model_of_noise_never_takes_the_first_place_from_an_exact_name(
    opened: Callable[..., Memory], seed: int
) -> None:
    chance = random.Random(seed)
    memory = opened(embedders=[Noise(seed)])
    names = [
        chance.choice(("ERR_{}_{:03}", "get{}By{:03}", "{}-{:03}", "{}_{:03}.py", "{}/v{:03}")).format(
            "".join(chance.choices("BCDFGKLMNPRSTVZ", k=5)), number
        )
        for number in range(60)
    ]
    texts = []
    for name in names:
        words = COMMON.split()
        words.insert(chance.randrange(len(words)), name)
        texts.append(" ".join(words))
    texts += [" ".join(chance.sample(COMMON.split(), 12)) for _ in range(60)]
    memory.add_many([NewMemory(text) for text in texts])
    hits = [
        name in first(memory, query)
        for name in names
        for query in (name, f"what was {name} about", f"the service wrote {name}")
    ]
    assert sum(hits) / len(hits) == 1.0


class CountsDigits(Noise):
    """A model to which all telephone numbers are alike: the more of a text is digits, the nearer it is to one."""

    def __init__(self, name: str) -> None:
        self.model = EmbeddingModel("testing", name, "1", 2, "mean")

    def _row(self, text: str) -> NDArray[np.float32]:
        digits = sum(map(str.isdigit, text)) / len(text)
        row = np.array([[digits, 1.0 - digits]], np.float32)
        return row / np.linalg.norm(row)


def test_a_number_is_answered_by_the_note_that_holds_it_and_not_by_a_shorter_one(
    opened: Callable[..., Memory],
) -> None:
    memory = opened(embedders=[CountsDigits("base"), CountsDigits("bge-small-en-v1.5")])
    memory.add(
        "Grandma lives in Borna now, near the park; ring long. Tel. 0341 4811266. Bring cake without nuts."
    )
    numbers = ("4811100", "4905187", "4922144", "4805511")
    memory.add_many([NewMemory(f"{number[:2]}: 0341 {number}") for number in numbers])
    memory.add_many(
        [NewMemory(f"The {word} is in the boathouse.") for word in ("heron", "ladder", "oar", "kite")]
    )
    memory.embed()
    for query in ("0341 4811266", "4811266"):
        assert "4811266" in first(memory, query)


@pytest.mark.parametrize(
    ("slip", "word"),
    [
        ("kubernets", "Kubernetes"),
        ("kuberentes", "Kubernetes"),
        ("kubernetess", "Kubernetes"),
        ("postgrse", "Postgres"),
        ("autentication", "authentication"),
        ("Grafna", "Grafana"),
    ],
)
def test_a_slip_of_the_keys_finds_the_word_and_says_how_it_was_read(
    memory: Memory, slip: str, word: str
) -> None:
    for other in ("Kubernetes", "Postgres", "authentication", "Grafana"):
        memory.add(f"We moved {other} to the new cluster.")
    found = memory.search(slip, channels=["bm25", "ngram"], explain=True)
    assert word in found.results[0].snippet
    respelled = any(note.startswith(f"{slip.casefold()} was not found; read as") for note in found.notes)
    assert respelled == (slip != "kubernets"), "that one has the same stem"


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("what happened to the shower?", "The bicycle's chain snapped on the hill."),
        ("was wurde gestern gemacht", "In der Nacht war es kalt."),
        ("was wurde besprochen", "Am Sonntag kochen wir Suppe."),
        ("what went wrong", "The queue was too long."),
        ("decide on a colour", "Der Dezember, die Decke, the decisive colon."),
        ("qu'est ce que c'est", "The best test had a rest, the quest too."),
        ("the wheels wobbled", "A gobbled waffle hobbled."),
        ("toasted bread", "She tasted the soup."),
    ],
)
def test_a_word_that_is_spelled_right_is_never_read_as_another(memory: Memory, query: str, text: str) -> None:
    memory.add(text)
    assert not any("read as" in note for note in memory.search(query, explain=True).notes)


def test_a_misspelled_word_is_read_as_the_nearest_words_only(memory: Memory) -> None:
    memory.add("Consultation, consolation, consolidated, consolidation of accounts.")
    notes = memory.search("consoldation", explain=True).notes
    assert "consoldation was not found; read as consolidation, consolation." in notes


def test_a_misspelled_word_finds_the_inflections_of_the_word_meant(memory: Memory) -> None:
    memory.add("The kettle is blue.")
    wanted = memory.add("Two migrations ran on Monday, one migrated the orders.")
    memory.add("Migration of the users.")
    found = memory.search("migratoin", channels=["ngram"], explain=True).results
    assert wanted.id in {result.id for result in found}
    assert len(found) == 2


@pytest.mark.parametrize(("asked", "stored"), [("colour", "color"), ("organised", "organized")])
def test_a_common_word_is_read_in_its_american_or_british_spelling(
    memory: Memory, asked: str, stored: str
) -> None:
    for query, text in ((asked, stored), (stored, asked)):
        added = memory.add(f"a note that says {text}")
        notes = memory.search(query, channels=["bm25", "ngram"], explain=True).notes
        assert any(f"{query} was not found; read as" in note for note in notes)
        memory.forget(added.id)


@pytest.mark.parametrize("name", ["grafana11", "grafana-next"])
def test_a_name_that_is_not_there_is_no_slip(memory: Memory, name: str) -> None:
    memory.add("We moved Grafana to the new cluster.")
    memory.add("The Grafana12 dashboards are public.")
    assert not any("read as" in note for note in memory.search(name, explain=True).notes)


@pytest.mark.parametrize("query", ["东京铁塔", "京東", "东雨", "塔は青い"])
def test_writing_without_spaces_is_never_respelled(memory: Memory, query: str) -> None:
    for text in ("東京タワーは赤い。", "我喜欢在雨天喝热茶", "서울은 크다"):
        memory.add(text)
    assert not any("read as" in note for note in memory.search(query, explain=True).notes)


@pytest.mark.parametrize("quotes", ['"{}"', "“{}”", "„{}“", "«{}»", "«\u00a0{}\u00a0»"])
@pytest.mark.parametrize("inside", ["blue bunny", "Blue\nBunny", "blue   bunny", "BLUE BUNNY"])
def test_a_phrase_holds_whatever_quotes_it_stands_in_and_wherever_lines_end(
    memory: Memory, quotes: str, inside: str
) -> None:
    memory.add("The launch code is blue\nbunny, they said.")
    memory.add("The bunny is blue.")
    found = [each.snippet for each in memory.search(quotes.format(inside)).results]
    assert found == ["The launch code is blue\nbunny, they said."]
    without = [each.snippet for each in memory.search("bunny -" + quotes.format(inside)).results]
    assert without == ["The bunny is blue."]


def test_what_is_quoted_is_found_in_curly_quotes_and_apostrophes(memory: Memory) -> None:
    memory.add("She wrote: it’s Ann’s boat.")
    assert memory.search("\"it's Ann's boat\"").results
    assert memory.search("“it’s Ann’s boat”").results


def test_excluded_identifiers_and_words_stand_in_no_result(named: Memory) -> None:
    found = named.search("wrote -getUserById -ERR_CONN_RESET -config.yaml", limit=50).results
    assert len(found) == len(IDENTIFIERS) - 3
    assert not any(
        name in each.snippet for each in found for name in ("getUserById", "ERR_CONN", "config.yaml")
    )
    every = named.search('wrote -"on that day"', limit=50)
    assert (every.results, every.partial) == ((), ())


@pytest.mark.parametrize("at", [0, 3_000, 9_000])
@pytest.mark.parametrize("limit", [40, 700, 5_000])
def test_a_snippet_is_cut_around_the_match_and_is_no_longer_than_asked(
    memory: Memory, at: int, limit: int
) -> None:
    filler = "Nothing to see here, move along please. " * 250
    memory.add(filler[:at] + " The zygote stood there. " + filler[at:])
    (found,) = memory.search("zygote", snippet=limit).results
    assert "zygote" in found.snippet
    assert len(found.snippet) <= limit
    assert all(len(each.snippet) <= 700 for each in memory.search("zygote").results)


def test_a_result_carries_everything_that_names_it(memory: Memory, tmp_path: Any) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "log.md").write_text("---\ndate: 2026-03-01\n---\n# Ports\n\nHeron is on 5432.\n")
    memory.sync(tmp_path / "notes", description="my notes")
    memory.add("Heron is a bird.", tags=["birds"], session="s", role="user", agent="claude")
    by_file, added = sorted(memory.search("heron").results, key=lambda each: each.path is None)
    assert {field.name for field in fields(Result)} >= {
        "id", "tier", "title", "snippet", "path", "line_start", "line_end", "date", "score", "relevance", "citation"
    }  # fmt: skip
    file = str(tmp_path / "notes" / "log.md")
    assert (by_file.tier, by_file.title, by_file.path, by_file.date) == (
        "observation",
        "Ports",
        file,
        "2026-03-01",
    )
    assert by_file.citation == f"{file}:{by_file.line_start}-{by_file.line_end}"
    assert by_file.source == "my notes"
    assert (added.citation, added.path, added.line_start) == (added.id, None, None)
    assert (added.session, added.role, added.agent, added.tags) == ("s", "user", "claude", ("birds",))


@pytest.mark.parametrize(
    "query", ["ERR_TIDE_409", "what was ERR_TIDE_409?", '"ERR_TIDE_409"', "err_tide_409"]
)
def test_an_identifier_of_an_archived_memory_alone_comes_back_marked(memory: Memory, query: str) -> None:
    one = memory.add("The pump failed with ERR_TIDE_409.")
    memory.add("The pump was replaced.")
    memory.archive([one.id])
    found = memory.search(query).results
    assert (found[0].id, found[0].status) == (one.id, "archived")
    assert {each.status for each in found[1:]} <= {"active"}


def test_a_quotation_that_no_memory_contains_is_searched_without_its_quotes(memory: Memory) -> None:
    fix = memory.add("NATS has no responders: start the worker before the test.").id
    quoted = '"nats: no responders available for request"'
    found = memory.search(f"test fails with {quoted}")
    assert [one.id for one in found.results] == [fix]
    assert found.partial == ("The quoted text was not found; searched without the quotes.",)
    assert memory.search(quoted).results == ()
    assert memory.search(f"{quoted} -staging").results == ()
    kept = memory.search('test "NATS has no responders"')
    assert ([one.id for one in kept.results], kept.partial) == ([fix], ())
