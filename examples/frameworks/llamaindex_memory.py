"""LlamaIndex: a memory block. Turns that leave the short-term memory are stored; each question brings its memories.

pip install scrubjay llama-index-core llama-index-llms-openai
OPENAI_API_KEY=... python examples/frameworks/llamaindex_memory.py "who is on call?"
"""

import asyncio
import sys
from typing import Any

from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.llms import LLM, ChatMessage
from llama_index.core.memory import BaseMemoryBlock
from llama_index.core.memory import Memory as ShortTermMemory

from scrubjay import Memory, NewMemory


class ScrubjayBlock(BaseMemoryBlock[str]):
    name: str = "scrubjay"
    memory: Memory

    async def _aget(self, messages: list[ChatMessage] | None = None, **_: Any) -> str:
        question = messages[-1].content if messages else None
        return (await asyncio.to_thread(self.memory.context, question)).text

    async def _aput(self, messages: list[ChatMessage]) -> None:
        turns = [NewMemory(each.content, role=each.role.value) for each in messages if each.content]
        await asyncio.to_thread(self.memory.add_many, turns)


def chat(memory: Memory, model: LLM, **options: Any) -> SimpleChatEngine:
    blocks = [ScrubjayBlock(memory=memory)]
    short_term = ShortTermMemory.from_defaults(memory_blocks=blocks, **options)
    return SimpleChatEngine.from_defaults(llm=model, memory=short_term)


if __name__ == "__main__":
    from llama_index.llms.openai import OpenAI

    with Memory.open() as memory:
        print(chat(memory, OpenAI(model="gpt-5")).chat(sys.argv[1]))
