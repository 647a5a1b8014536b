"""LangGraph: a store whose items are memories, which every other agent with the same memory finds, too.

pip install scrubjay langgraph langchain-openai
OPENAI_API_KEY=... python examples/frameworks/langgraph_store.py "I am vegetarian."

The value of an item is {"text": "..."}. Other values, `index`, filters on fields and `list_namespaces` raise an error.
"""

import asyncio
import json
import re
import sys
from collections.abc import Iterable
from datetime import UTC, datetime
from uuid import uuid4

from langchain_core.language_models import BaseChatModel
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from langgraph.store.base import BaseStore, GetOp, Op, PutOp, Result, SearchItem, SearchOp

from scrubjay import Memory
from scrubjay.models.records import Record


class ScrubjayStore(BaseStore):
    def __init__(self, memory: Memory) -> None:
        self.memory = memory

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        return [self.run(op) for op in ops]

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        return await asyncio.to_thread(self.batch, list(ops))

    def run(self, op: Op) -> Result:
        match op:
            case GetOp(namespace, key):
                stored = self.stored(namespace, key)
                return as_item(stored) if stored else None
            case PutOp(namespace, key, None):
                stored = self.stored(namespace, key)
                self.memory.forget([stored.id] if stored else [])
            case PutOp(namespace, key, {"text": str(text), **others}, None) if not others:
                if stored := self.stored(namespace, key):
                    self.memory.update(stored.id, text)
                else:
                    self.memory.add(text, session=address(namespace, key), tags=tags(namespace))
            case SearchOp(prefix, None, limit, offset, None):
                page = self.memory.page(tags=tags(prefix)[-1:], limit=offset + limit)
                return [as_item(record) for record in page.records[offset:]]
            case SearchOp(prefix, None, limit, offset, query):
                found = self.memory.search(query, tags=tags(prefix)[-1:], limit=offset + limit).results
                scores = {result.id: result.score for result in found[offset:]}
                return [
                    as_item(record, scores[record.id]) for record in self.memory.records([*scores]).memories
                ]
            case _:
                raise NotImplementedError(f"ScrubjayStore keeps {{'text': ...}}; it cannot do {op}")
        return None

    def stored(self, namespace: tuple[str, ...], key: str) -> Record | None:
        return next(iter(self.memory.page(sessions=[address(namespace, key)]).records), None)


def address(namespace: tuple[str, ...], key: str) -> str:
    return json.dumps([*namespace, key])


def tags(namespace: tuple[str, ...]) -> list[str]:
    """A tag for the namespace and each that it is in; LangGraph allows no dots in names.

    Tags are stored in lower case and trimmed, so other characters are spelled by number: `Anna` is `%41_nna`.
    """
    names = ["langgraph", *map(spelled, namespace)]
    return [".".join(names[: depth + 1]) for depth in range(len(names))]


def spelled(name: str) -> str:
    return re.sub(r"[^a-z0-9_-]", lambda each: f"%{ord(each[0]):x}_", name)


def as_item(record: Record, score: float | None = None) -> SearchItem:
    *namespace, key = json.loads(record.session or "[]")
    created, updated = (
        datetime.fromtimestamp(at / 1e6, UTC) for at in (record.recorded_at, record.updated_at)
    )
    return SearchItem(tuple(namespace), key, {"text": record.content}, created, updated, score)


def build(memory: Memory, model: BaseChatModel, user: str) -> CompiledStateGraph:
    def reply(state: MessagesState, runtime: Runtime) -> dict:
        said = state["messages"][-1].content
        known = runtime.store.search(("people", user), query=said, limit=5)
        runtime.store.put(("people", user), str(uuid4()), {"text": said})
        notes = "\n".join(item.value["text"] for item in known)
        return {"messages": model.invoke([("system", f"Said before:\n{notes}"), ("user", said)])}

    return (
        StateGraph(MessagesState)
        .add_node(reply)
        .add_edge(START, "reply")
        .compile(store=ScrubjayStore(memory))
    )


if __name__ == "__main__":
    from langchain_openai import ChatOpenAI

    with Memory.open() as memory:
        graph = build(memory, ChatOpenAI(model="gpt-5"), "ann")
        print(graph.invoke({"messages": [("user", sys.argv[1])]})["messages"][-1].content)
