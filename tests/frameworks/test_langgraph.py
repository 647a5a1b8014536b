"""The store of the example under LangGraph's own interface, and in a graph with LangChain's fake model."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from importlib.util import find_spec
from types import ModuleType
from typing import Any

import pytest

from scrubjay import Memory

# Loaded by the tests and not by each process that collects them: it takes a second.
pytestmark = pytest.mark.skipif(
    not find_spec("langgraph"), reason="langgraph is not installed: `pip install --group dev`"
)

ANN = ("people", "ann")
BO = ("people", "bo")


@pytest.fixture
def store(example: Callable[[str], ModuleType], memory: Memory) -> Any:
    return example("langgraph_store").ScrubjayStore(memory)


def test_an_item_is_read_changed_and_deleted_by_its_namespace_and_key(store: Any) -> None:
    store.put(ANN, "diet", {"text": "Ann is vegetarian."})
    before = store.get(ANN, "diet")
    assert (before.namespace, before.key, before.value) == (ANN, "diet", {"text": "Ann is vegetarian."})
    store.put(ANN, "diet", {"text": "Ann is vegan."})
    after = store.get(ANN, "diet")
    assert after.value == {"text": "Ann is vegan."}
    assert after.created_at == before.created_at <= before.updated_at <= after.updated_at
    assert store.get(BO, "diet") is None
    store.delete(ANN, "diet")
    assert store.get(ANN, "diet") is None
    store.put(ANN, "diet", {"text": "Ann is vegan."})
    assert store.get(ANN, "diet").value == {"text": "Ann is vegan."}


def test_the_same_text_under_two_keys_is_two_items(store: Any) -> None:
    for namespace, key in ((ANN, "diet"), (ANN, "food"), (BO, "diet"), (("people",), "ann")):
        store.put(namespace, key, {"text": "Vegetarian."})
    store.delete(ANN, "diet")
    assert {(item.namespace, item.key) for item in store.search(())} == {
        (ANN, "food"), (BO, "diet"), (("people",), "ann"),
    }  # fmt: skip


def test_a_search_stays_in_its_namespace_and_brings_the_best_first(store: Any, memory: Memory) -> None:
    store.put(ANN, "diet", {"text": "Ann is vegetarian."})
    store.put(ANN, "boat", {"text": "Ann sails a kayak."})
    store.put(BO, "diet", {"text": "Bo is vegetarian, too."})
    found = store.search(ANN, query="who is vegetarian?")
    assert found[0].key == "diet"
    assert {item.namespace for item in found} == {ANN}
    assert [item.score for item in found] == sorted((item.score for item in found), reverse=True)
    both = store.search(("people",), query="who is vegetarian?")
    assert {item.namespace for item in both} == {ANN, BO}
    assert store.search(ANN, query="who is vegetarian?", limit=1, offset=1) == found[1:2]
    assert [item.key for item in asyncio.run(store.asearch(BO))] == ["diet"]
    assert memory.search("who is vegetarian?").results[0].snippet.endswith(("vegetarian.", "too."))


@pytest.mark.parametrize(
    "refused",
    [
        lambda store: store.put(ANN, "diet", {"food": "none"}),
        lambda store: store.put(ANN, "diet", {"text": "Vegetarian.", "since": 2020}),
        lambda store: store.put(ANN, "diet", {"text": "Vegetarian."}, index=False),
        lambda store: store.search(ANN, filter={"text": "Vegetarian."}),
        lambda store: store.list_namespaces(),
    ],
)
def test_operations_that_memories_cannot_carry_out_are_refused(
    store: Any, refused: Callable[[Any], Any]
) -> None:
    with pytest.raises(NotImplementedError, match="ScrubjayStore keeps"):
        refused(store)
    assert store.search(ANN) == []


def test_a_later_run_of_a_graph_is_told_what_an_earlier_one_stored(
    example: Callable[[str], ModuleType], memory: Memory
) -> None:
    from langchain_core.language_models import GenericFakeChatModel

    asked: list[Any] = []

    class Model(GenericFakeChatModel):
        def _generate(self, messages: Any, *arguments: Any, **options: Any) -> Any:
            asked.append(messages[0].content)
            return super()._generate(messages, *arguments, **options)

    graph = example("langgraph_store").build(memory, Model(messages=iter(["Noted.", "Lentils."])), "ann")
    graph.invoke({"messages": [("user", "I am vegetarian.")]})
    said = graph.invoke({"messages": [("user", "What may a vegetarian like me cook?")]})
    assert said["messages"][-1].content == "Lentils."
    assert ["I am vegetarian." in each for each in asked] == [False, True]


def test_namespaces_that_differ_by_case_are_two(store: Any) -> None:
    names = ("anna", "Anna", "ANNA", "%41_nna", "anna ", "Ägir", "ägir")
    for name in names:
        store.put(("people", name), "diet", {"text": f"{name} is vegetarian."})
    for name in names:
        for query in (None, "who is vegetarian?"):
            found = store.search(("people", name), query=query)
            assert [item.namespace for item in found] == [("people", name)]
