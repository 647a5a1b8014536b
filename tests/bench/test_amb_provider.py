"""The provider for Vectorize's benchmark, under the interface that its harness has and without the harness.

The stand-ins have the signatures and fields of `MemoryProvider` (src/memory_bench/memory/base.py, commit 3cf58e0) and
`Document` (src/memory_bench/models.py, commit 03c7708) of vectorize-io/agent-memory-benchmark.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from scrubjay import Memory
from scrubjay.config.settings import Settings


@dataclass
class Document:
    id: str
    content: str
    user_id: str | None = None
    messages: list[dict[str, Any]] | None = None
    timestamp: str | None = None
    context: str | None = None


class MemoryProvider(ABC):
    name: str
    description: str
    kind: str
    concurrency: int = 4

    def initialize(self) -> None: ...  # noqa: B027
    def cleanup(self) -> None: ...  # noqa: B027
    def prepare(self, store_dir: Path, unit_ids: set[str] | None = None, reset: bool = True) -> None: ...  # noqa: B027
    @abstractmethod
    def ingest(self, documents: list[Document]) -> None: ...
    @abstractmethod
    def retrieve(
        self, query: str, k: int = 10, user_id: str | None = None, query_timestamp: str | None = None
    ) -> tuple[list[Document], dict[str, Any] | None]: ...
    async def async_retrieve(
        self, query: str, k: int = 10, user_id: str | None = None, query_timestamp: str | None = None
    ) -> tuple[list[Document], dict[str, Any] | None]:
        return await asyncio.to_thread(self.retrieve, query, k, user_id, query_timestamp)


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Any]:
    for name, content in {
        "memory_bench": {}, "memory_bench.memory": {}, "memory_bench.memory.base": {"MemoryProvider": MemoryProvider},
        "memory_bench.models": {"Document": Document},
    }.items():  # fmt: skip
        module = ModuleType(name)
        vars(module).update(content)
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.delitem(sys.modules, "bench.amb_provider", raising=False)
    made = importlib.import_module("bench.amb_provider").ScrubjayProvider()
    made.initialize()
    made.prepare(tmp_path, unit_ids={"ann", "bo"})
    yield made
    made.cleanup()
    monkeypatch.delitem(sys.modules, "bench.amb_provider")


LOCOMO = [
    {"speaker": "Caroline", "dia_id": "D1:1", "text": "I went to a pottery class yesterday!"},
    {"speaker": "Mel", "dia_id": "D1:2", "text": "Nice! What did you make?", "blip_caption": "a clay mug"},
    {"speaker": "Caroline", "dia_id": "D1:3", "text": "A blue bowl for my sister."},
]


def test_a_conversation_is_found_by_turn_with_its_speakers_its_date_and_the_turns_around_it(
    provider: Any,
) -> None:
    provider.ingest(
        [Document("c1_session_1", json.dumps(LOCOMO), "ann", timestamp="2023-05-08T13:56:00+00:00")]
    )
    found, raw = asyncio.run(
        provider.async_retrieve("Who is the bowl for?", 10, "ann", "2023-06-01T00:00:00+00:00")
    )
    assert raw is None
    assert found[0].content.splitlines() == [
        "(2023-05-08T13:56:00+00:00)",
        "Caroline: I went to a pottery class yesterday!",
        "Mel: Nice! What did you make? [picture: a clay mug]",
        "Caroline: A blue bowl for my sister.",
    ]


def test_messages_are_turns_and_other_texts_are_notes(provider: Any) -> None:
    messages = [
        {"role": "user", "content": "I am allergic to walnuts."},
        {"role": "assistant", "content": "Noted."},
    ]
    talk = Document("p_0", "[USER] I am allergic to walnuts.", "ann", messages=messages)
    text = "[March-15-2024 | Turn 0] User: My kayak is moored in berth twelve."
    note = Document("b/s0: 0", text, "ann", timestamp="2024-03-15T00:00:00+00:00", context="Conversation b")
    provider.ingest([talk, note])
    allergy = provider.retrieve("What is the user allergic to?", user_id="ann")[0][0]
    assert "user: I am allergic to walnuts." in allergy.content
    berth = provider.retrieve("In which berth is the kayak?", user_id="ann")[0][0]
    assert "berth twelve" in berth.content
    assert berth.content.startswith("(2024-03-15")


def test_every_vector_is_there_before_a_question_is_asked(provider: Any, tmp_path: Path) -> None:
    note = Document("n", "The kayak is moored in berth twelve.", "bo")
    provider.ingest([Document("s1", json.dumps(LOCOMO), "ann"), note])
    with Memory.open(tmp_path / "scrubjay" / "memory.db", settings=Settings()) as memory:
        for user in ("ann", "bo"):
            assert {(each.covered > 0, each.waiting) for each in memory.seen_by(user).models()} == {(True, 0)}


def test_users_are_apart_and_a_later_unit_joins_the_same_store(provider: Any) -> None:
    provider.ingest([Document("s1", json.dumps([{"role": "user", "content": "Ann has a kayak."}]), "ann")])
    provider.ingest([Document("s1", json.dumps([{"role": "user", "content": "Bo has a canoe."}]), "bo")])
    contents = {
        user: [each.content for each in provider.retrieve("Which boat?", user_id=user)[0]]
        for user in ("ann", "bo")
    }
    assert [len(each) for each in contents.values()] == [1, 1]
    assert "kayak" in contents["ann"][0]
    assert "canoe" in contents["bo"][0]


def test_a_question_without_an_answer_still_gets_a_context(provider: Any) -> None:
    provider.ingest([Document("s1", json.dumps(LOCOMO), "ann")])
    assert provider.retrieve("What is the capital of France?", user_id="ann")[0]


def test_a_run_without_ingestion_finds_the_earlier_store_and_a_reset_empties_it(
    provider: Any, tmp_path: Path
) -> None:
    provider.ingest([Document("s1", json.dumps(LOCOMO), "ann")])
    provider.prepare(tmp_path, reset=False)
    assert provider.retrieve("Who is the bowl for?", user_id="ann")[0]
    provider.prepare(tmp_path)
    assert provider.retrieve("Who is the bowl for?", user_id="ann")[0] == []
