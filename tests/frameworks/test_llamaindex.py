"""LlamaIndex's own query engine, chat engine and mock model with the retriever and the memory block."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import pytest

from scrubjay import Memory

pytest.importorskip("llama_index.core", reason="llama-index-core is not here (245 MB): `make frameworks`")

from llama_index.core.llms import ChatMessage, ChatResponse, MockLLM
from llama_index.core.llms.callbacks import llm_chat_callback


def test_a_query_engine_answers_from_the_memories_that_the_retriever_found(
    example: Callable[[str], ModuleType], memory: Memory
) -> None:
    module = example("llamaindex_retriever")
    best = memory.search("Who is on call?").results[0]
    (first, *_) = module.ScrubjayRetriever(memory).retrieve("Who is on call?")
    assert (first.node_id, first.text, first.score) == (best.id, "Mara is on call in May.", best.score)
    assert first.metadata == {"source": best.citation}
    # The mock model answers with its prompt.
    assert "Mara is on call in May." in module.answer("Who is on call?", memory, MockLLM())


def test_turns_that_leave_the_short_term_memory_come_back_with_a_question_about_them(
    example: Callable[[str], ModuleType], memory: Memory
) -> None:
    asked: list[str] = []

    class Model(MockLLM):
        @llm_chat_callback()
        def chat(self, messages: Sequence[ChatMessage], **options: Any) -> ChatResponse:
            asked.append("\n".join(each.content or "" for each in messages))
            return ChatResponse(message=ChatMessage(role="assistant", content="Noted."))

    engine = example("llamaindex_memory").chat(
        memory, Model(), token_limit=60, chat_history_token_ratio=0.5, token_flush_size=20
    )
    engine.chat("My kayak is moored at the north pier, in berth twelve.")
    for subject in ("the weather", "a film", "the train", "a novel"):
        engine.chat(f"Let us talk about {subject} now, which has nothing to do with boats or piers.")
    engine.chat("In which berth is my kayak moored?")
    kept = memory.search("In which berth is my kayak moored?").results[0]
    assert (kept.role, "berth twelve" in kept.snippet) == ("user", True)
    assert "berth twelve" in asked[-1]
    assert "<scrubjay-memories>" in asked[-1]
