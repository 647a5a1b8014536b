"""Whatever is asked, there is an answer or an error that says what to do, soon, and nothing that was stored is lost."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from fork_server import SCRUBJAY, start
from scrubjay import Memory
from scrubjay.embeddings.hash_embedder import HashEmbedder
from scrubjay.errors import InputError

KETTLE = "The kettle in the kitchen is blue."
TEXTS = (KETTLE, "東京タワーは赤い。", "שלום עולם, הקומקום כחול", "Чайник на кухне синий", "Ångström ☕ café")
ODD: dict[str, str] = {
    "mixed scripts": "kettle 東京 кухне קומקום ☕",
    "five thousand words": " ".join(f"word{number % 911} kettle" for number in range(2_500)),
    "only stop words": "the of and to in is that it",
    "only stop words of many languages": "der die das le la les el los的了 и в не",
    "only punctuation": "?!.,;:—…()[]{}<>/\\|`~@#$%^&*_+=",
    "only dashes and quotes": '- -- --- "" “” «» -"" -“ \'',
    "NUL and quotes": 'kettle\x00"kit\x00chen"\x00',
    "one megabyte": "kettle " * 150_000,
    "one megabyte in one word": "k" * 1_000_000,
    "a thousand phrases": '"kettle in" ' * 1_000,
    "a thousand exclusions": "kettle " + " ".join(f"-x{number}" for number in range(1_000)),
    "a hundred thousand quotes": '"' * 100_001,
    "a hundred thousand curly quotes": "“" * 50_000 + "”" * 50_000,
    "a hundred thousand dashes": "-" * 100_000,
    "emoji": "👩‍👩‍👧‍👦🏳️‍🌈 ☕ 😀😀😀",
    "right to left": "\u202eשלום\u202c \u2067قهوة\u2069 kettle",
    "half a character": "kettle \ud83d \udc00\ud83d",
    "marks without a letter": "\u0301\u0302\u200d\ufeff",
    "zalgo": "k" + "\u0301" * 5_000 + "ettle",
    "control characters": "\x01\x02\x1b[31mkettle\x7f\x9b",
    "line ends": "\r\n\n\u2028\u2029\x0b\x0ckettle",
    "tabs and nothing": "\t \u00a0\u3000",
    "json": '{"query": "kettle", "limit": 1e999}',
    "sql": "kettle'; DROP TABLE memories; --",
}
LONGEST: float = 10.0
"""Seconds of processor time: far above what any of these takes, far below what a quadratic expression would."""


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("odd") / "memory.db"


@pytest.fixture(scope="module")
def memory(file: Path) -> Iterator[Memory]:
    """One store for all of these tests, which only ask."""
    with Memory.open(file, user="ann", embedders=[HashEmbedder(64)]) as opened:
        for text in TEXTS:
            opened.add(text)
        yield opened


@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("verb", ["search", "thread", "context"])
def test_whatever_is_asked_is_answered_and_nothing_is_lost(
    memory: Memory, name: str, verb: str, record_property: Callable[[str, object], None]
) -> None:
    before = memory.status().memories
    begun = time.process_time()
    getattr(memory, verb)(ODD[name])
    took = time.process_time() - begun
    record_property("ms", round(took * 1000))
    assert took < LONGEST
    assert memory.status().memories == before
    assert memory.search("kettle kitchen").results[0].snippet == KETTLE


@pytest.mark.parametrize(
    "name",
    ["mixed scripts", "five thousand words", "one megabyte", "right to left", "half a character",
     "line ends", "a thousand exclusions", "control characters", "sql", "json"],
)  # fmt: skip
def test_words_among_what_is_odd_find_what_they_name(memory: Memory, name: str) -> None:
    assert KETTLE in [each.snippet for each in memory.search(ODD[name]).results]


@pytest.mark.parametrize("name", ["only punctuation", "tabs and nothing", "marks without a letter"])
def test_what_names_nothing_finds_nothing_and_says_so(memory: Memory, name: str) -> None:
    found = memory.search(ODD[name], explain=True)
    assert found.results == ()
    assert found.partial == ()


@pytest.mark.parametrize("query", [None, 3, b"kettle", ["kettle"], 1.5, object()])
def test_what_is_no_text_is_an_error(memory: Memory, query: Any) -> None:
    for ask in (memory.search, memory.thread):
        with pytest.raises(InputError, match="not a text"):
            ask(query)


@pytest.mark.parametrize(
    "options",
    [
        {"tags": ["a", "b", "no-such-tag"]},
        {"tiers": ["crystal"], "statuses": ["archived"]},
        {"sessions": ["s"], "path": "*.md"},
        {"agents": ["nobody"]},
        {"statuses": ["superseded"]},
        {"path": "[" * 1_000},
        {"path": "*" * 200 + "x"},
        {"tags": ["x"] * 1_000},
        {"sessions": [f"s{number}" for number in range(5_000)]},
    ],
    ids=str,
)
def test_filters_that_leave_nothing_have_an_empty_answer_or_an_error_that_says_what_to_do(
    memory: Memory, options: dict[str, Any]
) -> None:
    begun = time.process_time()
    assert memory.search("kettle", **options).results == ()
    assert time.process_time() - begun < LONGEST
    assert memory.search("kettle").results[0].snippet == KETTLE


@pytest.mark.parametrize(("since", "until"), [("2030", "2020"), ("2026-03-02", "2026-03-01")])
def test_a_time_that_ends_before_it_begins_is_an_error_that_names_both(
    memory: Memory, since: str, until: str
) -> None:
    with pytest.raises(InputError, match=f"since is {since} and until is {until}"):
        memory.search("kettle", since=since, until=until)


@pytest.mark.parametrize("name", [name for name in ODD if "\x00" not in ODD[name] and "megabyte" not in name])
def test_the_command_line_answers_too(cli: Callable[..., Any], name: str) -> None:
    said = cli(ODD[name])
    assert said.returncode in (0, 2), said.stderr
    assert b"Traceback" not in said.stderr
    if said.returncode == 0:
        assert isinstance(json.loads(said.stdout)["results"], list)
    else:
        assert said.stderr.startswith(b"error: ")


@pytest.fixture
def cli(memory: Memory, file: Path) -> Callable[..., Any]:
    start()

    def run(query: str) -> subprocess.CompletedProcess[bytes]:
        environ = {**os.environ, "HOME": str(file.parent), "SCRUBJAY_STORE": str(file)}
        environ |= {"SCRUBJAY_USER": "ann", "SCRUBJAY_RESIDENT_AUTO": "false"}
        command = [*SCRUBJAY, "search", "--json", "-"]
        return subprocess.run(
            command,
            input=query.encode("utf-8", "surrogatepass"),
            capture_output=True,
            timeout=120,
            env=environ,
        )

    return run
