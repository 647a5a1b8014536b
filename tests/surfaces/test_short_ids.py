"""An id may be short, with its tier or without it, wherever an id is taken: each call is walked, none is left out."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from http_here import good, refused
from starlette.testclient import TestClient

from scrubjay import Memory
from scrubjay.api.tools import TOOLS, call_tool
from scrubjay.cli.main import cli as commands
from scrubjay.embeddings.hash_embedder import HashEmbedder
from scrubjay.errors import InputError, NotFoundError
from scrubjay.server.mcp.server import read_uri

SHORT_FORMS = (lambda id: id[:10], lambda id: id.partition("_")[2][:6], lambda id: id[:-3])
"""Six digits with the tier, six without it, and an id that lacks its end."""


@pytest.fixture
def memory(environ: dict[str, str], notes: Path) -> Iterator[Memory]:
    with Memory.open(embedders=[HashEmbedder(64)]) as opened:
        yield opened


class Walk:
    """Two added memories and a passage of a file, made anew for each call that is walked."""

    def __init__(self, memory: Memory, folder: Path) -> None:
        self.memory, self.folder, self.made = memory, folder, 0

    def add(self) -> str:
        self.made += 1
        return self.memory.add(f"Kayak number {self.made} leaks at the bow.").id

    def passage(self) -> str:
        file = self.folder / "walked" / f"p{self.made}.md"
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"# Passage\n\nThe mast of boat {self.made} is twelve metres.\n", "utf-8")
        self.memory.sync(file.parent)
        (record,) = self.memory.get(path=file).records
        return record.id


MEMORY_CALLS: dict[str, Callable[[Walk, Memory, Callable[[str], str], str], list[str]]] = {
    "get": lambda w, m, cut, id: [one.id for one in m.get([cut(id)]).records],
    "forget": lambda w, m, cut, id: list(m.forget([cut(id)]).ids),
    "records": lambda w, m, cut, id: [one.id for one in m.records([cut(id)]).memories],
    "archive": lambda w, m, cut, id: list(m.archive([cut(id)]).ids),
    "restore": lambda w, m, cut, id: [*m.archive(id).ids] and list(m.restore([cut(id)]).ids),
    "feedback": lambda w, m, cut, id: list(m.feedback([cut(id)], "wrong").ids),
    "look": lambda w, m, cut, id: [m.look(cut(id)).memory.id],
    "history": lambda w, m, cut, id: [m.history(cut(id)).memory.id],
    "update": lambda w, m, cut, id: [m.update(cut(id), title="New").id],
    "links": lambda w, m, cut, id: m.link(w.add(), id) and [id] if m.links(cut(id)) == () else [],
    "link": lambda w, m, cut, id: [m.link(cut(w.add()), cut(id)).id],
    "unlink": lambda w, m, cut, id: _unlinked(w, m, cut, id),
    "rewrite": lambda w, m, cut, id: _rewritten(w, m, cut, id),
    "thread": lambda w, m, cut, id: [
        one.result.id for one in m.thread(cut(id)).entries if one.result.id == id
    ],
}


def _unlinked(walk: Walk, memory: Memory, cut: Callable[[str], str], id: str) -> list[str]:
    other = walk.add()
    memory.link(id, other)
    memory.unlink(cut(id), cut(other))
    return [] if [one for one in memory.links(id) if one.given] else [id]


def _rewritten(walk: Walk, memory: Memory, cut: Callable[[str], str], id: str) -> list[str]:
    passage = walk.passage()
    done = memory.rewrite(cut(passage), f"The mast of boat {walk.made} is nine metres.")
    return [id] if (done.id, done.changed) == (passage, True) else []


ID_PARAMETERS = {"ids", "memory", "src", "dst"}


@pytest.mark.parametrize("cut", SHORT_FORMS)
def test_every_method_takes_a_short_id(memory: Memory, tmp_path: Path, cut: Callable[[str], str]) -> None:
    methods = inspect.getmembers(Memory, inspect.isfunction)
    taking = {
        name
        for name, method in methods
        if not name.startswith("_") and ID_PARAMETERS & inspect.signature(method).parameters.keys()
    }
    assert MEMORY_CALLS.keys() == taking | {"thread"}
    walk = Walk(memory, tmp_path)
    for name, ask in MEMORY_CALLS.items():
        id = walk.add()
        assert ask(walk, memory, cut, id) == [id], name


@pytest.mark.parametrize("cut", SHORT_FORMS)
def test_every_tool_takes_a_short_id(memory: Memory, tmp_path: Path, cut: Callable[[str], str]) -> None:
    walk = Walk(memory, tmp_path)
    more = {"memory_update": {"title": "New"}, "memory_feedback": {"verdict": "wrong"}}
    walked = set()
    for tool in TOOLS:
        for name in {"ids", "id"} & tool.properties.keys():
            id = walk.add()
            given = {name: [cut(id)] if name == "ids" else cut(id)} | more.get(tool.name, {})
            assert id in json.dumps(call_tool(memory, tool, given)), tool.name
            walked.add(tool.name)
    assert walked == {"memory_get", "memory_update", "memory_forget", "memory_feedback"}
    id = walk.add()
    assert f"Kayak number {walk.made}" in read_uri(memory, uri=f"scrubjay://memory/{cut(id)}", local=True)[0]


HTTP_BODIES: dict[tuple[str, str], dict[str, Any]] = {
    ("/v1/feedback", "post"): {"verdict": "wrong"},
    ("/v1/memories/{id}", "patch"): {"title": "New"},
    ("/v1/memories/{id}/links/{other}", "put"): {},
}


@pytest.mark.parametrize("cut", SHORT_FORMS)
def test_every_route_takes_a_short_id(client: TestClient, cut: Callable[[str], str]) -> None:
    def add(number: int) -> str:
        body = {"content": f"Kayak number {number} leaks at the bow."}
        return good(client.post("/v1/memories", json=body), 201)["id"]

    told = good(client.get("/openapi.json"))
    walked, number = 0, 0
    for path, methods in told["paths"].items():
        for method, operation in methods.items():
            body = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
            form = told["components"]["schemas"][body["schema"]["$ref"][21:]] if body else {}
            in_body = "ids" in form.get("properties", {})
            in_query = any(one["name"] == "ids" for one in operation.get("parameters", ()))
            if not (in_body or in_query or "/memories/{id}" in path):
                continue
            walked, number = walked + 1, number + 2
            id, other = add(number), add(number + 1)
            if path.endswith("/restore"):
                good(client.post("/v1/archive", json={"ids": [id]}))
            if method == "delete" and "{other}" in path:
                good(client.put(f"/v1/memories/{id}/links/{other}", json={}))
            json_body = HTTP_BODIES.get((path, method), {}) | ({"ids": [cut(id)]} if in_body else {})
            place = path.replace("{id}", cut(id)).replace("{other}", cut(other))
            said = client.request(
                method, place, json=json_body if body else None, params={"ids": cut(id)} if in_query else {}
            )
            answer = good(said)
            assert answer.get("unknown", []) == [], (path, method)
            assert "links" in path or id in said.text, (path, method)
    assert walked >= 15


CLI_WORDS = {"feedback": ["wrong"], "forget": ["--yes"]}


@pytest.mark.parametrize("cut", SHORT_FORMS)
def test_every_command_takes_a_short_id(cli: Any, cut: Callable[[str], str]) -> None:
    walked = set()
    with click.Context(commands) as context:
        for name in commands.list_commands(context):
            command = commands.get_command(context, name)
            arguments = [one for one in command.params if isinstance(one, click.Argument)]
            if not any((one.metavar or "").startswith(("ID...", "ID|", "ID")) for one in arguments):
                continue
            if "ID|PATH" in [one.metavar for one in arguments]:
                continue  # of a source
            id = cli("add", f"Kayak {name} leaks at the bow.", "--json").json["id"]
            if name == "restore":
                cli("archive", id)
            said = cli(name, *CLI_WORDS.get(name, []), cut(id), "--json")
            assert (said.code, said.err) == (0, ""), name
            assert id in said.out, name
            walked.add(name)
    assert walked == {"get", "forget", "archive", "restore", "feedback", "history"}


def test_forgetting_by_a_short_id_asks_first(cli: Any) -> None:
    id = cli("add", "An old plan: build the boat of cork.", "--json").json["id"]
    for short in (id[:10], id.partition("_")[2][:6]):
        said = cli("forget", short)
        assert (said.code, "An old plan" in said.err, "add --yes" in said.err) == (2, True, True)
    assert cli("get", id).code == 0


def test_an_id_that_begins_several_is_an_error_that_names_them_and_nothing_is_done(memory: Memory) -> None:
    several = [memory.add(f"Kayak number {number} leaks at the bow.").id for number in range(40)]
    first = next(id[:5] for id in several if sum(other.startswith(id[:5]) for other in several) > 1)
    named = [id for id in several if id.startswith(first)]
    for name, ask in MEMORY_CALLS.items():
        if name in ("thread", "rewrite", "links", "forget"):
            continue
        with pytest.raises(NotFoundError, match=f"Several ids begin with '{first}'") as error:
            ask(Walk(memory, Path()), memory, lambda _: first, several[0])
        assert all(id in str(error.value) for id in sorted(named)[:5])
    with pytest.raises(NotFoundError, match="Several ids begin with"):
        memory.links(first)
    assert memory.status().memories >= 40


def test_an_id_of_fewer_than_six_digits_is_too_short_to_forget_by(memory: Memory) -> None:
    id = memory.add("The only memory: the mast is twelve metres.").id
    for short in (id[:9], "obs_", "obs", "o"):
        with pytest.raises(InputError, match="too short"):
            memory.forget([id, short])
    assert memory.get(id).records
    assert memory.forget(["", "nothing"]).unknown == ("", "nothing")


def test_a_tool_that_forgets_nothing_says_so_as_an_error(memory: Memory) -> None:
    kept, gone = memory.add("The mast is twelve metres.").id, "obs_0000000000000000"
    tool = next(tool for tool in TOOLS if tool.name == "memory_forget")
    with pytest.raises(NotFoundError, match=f"No memory '{gone}' or 'obs_000001' exists.*Nothing was done"):
        call_tool(memory, tool, {"ids": [gone, "obs_000001"]})
    assert call_tool(memory, tool, {"ids": [gone, kept]})["unknown"] == [gone]


def test_http_says_that_a_whole_id_is_unknown_and_that_a_short_one_begins_several(client: TestClient) -> None:
    whole = "obs_dd74ce71337d816f"
    for path in (f"/v1/memories/{whole}", f"/v1/memories/{whole}/history"):
        said = refused(client.get(path), 404)
        assert whole in said
        assert "several" not in said.lower()
        assert "prefix" not in said
    for number in range(17):
        good(client.post("/v1/memories", json={"content": f"Kayak number {number} leaks."}), 201)
    ids = [one["id"] for one in good(client.get("/v1/memories"))["memories"]]
    first = next(id[:5] for id in ids if sum(other.startswith(id[:5]) for other in ids) > 1)
    assert "Several ids begin with" in refused(client.get(f"/v1/memories/{first}"), 404)
    assert "too short" in refused(client.delete(f"/v1/memories/{first}"), 422)
