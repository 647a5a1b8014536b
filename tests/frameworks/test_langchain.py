"""LangChain's own chain, prompt and fake model with the retriever of the example."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from types import ModuleType
from typing import Any

import pytest

from scrubjay import Memory

# Loaded by the tests and not by each process that collects them: it takes a second.
pytestmark = pytest.mark.skipif(
    not find_spec("langchain_core"), reason="langchain-core is not installed: `pip install --group dev`"
)


def test_a_chain_answers_from_the_memories_that_the_retriever_found(
    example: Callable[[str], ModuleType], memory: Memory
) -> None:
    from langchain_core.language_models import GenericFakeChatModel

    asked: list[Any] = []

    class Model(GenericFakeChatModel):
        def _generate(self, messages: Any, *arguments: Any, **options: Any) -> Any:
            asked.extend(messages)
            return super()._generate(messages, *arguments, **options)

    module = example("langchain_retriever")
    said = module.answer("Who is on call?", memory, Model(messages=iter(["Mara."])))
    assert said == "Mara."
    (prompt,) = asked
    best = memory.search("Who is on call?").results[0]
    assert f"- Mara is on call in May. [{best.citation}]" in prompt.content
    assert prompt.content.endswith("Question: Who is on call?")


def test_a_document_names_its_memory_its_source_and_its_date(
    example: Callable[[str], ModuleType], memory: Memory
) -> None:
    retriever = example("langchain_retriever").ScrubjayRetriever(memory=memory, limit=1)
    (found,) = retriever.invoke("Where is the spare key?")
    assert found.page_content == "The spare key hangs in the boathouse."
    assert found.metadata == {"source": found.id, "date": "2026-03-01"}
