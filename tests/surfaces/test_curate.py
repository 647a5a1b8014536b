"""Who may change what: one's own memories; of others' shared ones only who may curate."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from http_here import asking, bearer, good, held, refused
from mcp_clients import call, over_http, refusal, running, talk
from starlette.testclient import TestClient

from scrubjay import Memory
from scrubjay.api.auth import Principal, TokenStore
from scrubjay.errors import ForbiddenError

SAYS = "The harbour master is Ingrid Solberg."
WHO = {
    "ann": ("read", "write"),
    "bob": ("read", "write"),
    "cur": ("read", "write", "curate"),
    "adm": ("read", "write", "admin"),
}
Headers = dict[str, str]


@pytest.fixture
def served(environ: dict[str, str]) -> Iterator[tuple[TestClient, dict[str, Headers]]]:
    """A server, and what each of its users shows."""
    tokens = held(environ)
    shown = {
        name: bearer(tokens, name, Principal("default", name, ("crew",), scopes=scopes))
        for name, scopes in WHO.items()
    }
    with asking(environ, open_here=False) as client:
        yield client, shown


@pytest.fixture
def memory(environ: dict[str, str]) -> Iterator[Memory]:
    """The store of ann, whose process it is."""
    with Memory.open(user="ann") as found:
        yield found


def shared(client: TestClient, headers: Headers, content: str = SAYS, **more: Any) -> str:
    more = more or {"visibility": "group", "group": "crew"}
    return good(client.post("/v1/memories", json={"content": content, **more}, headers=headers), 201)["id"]


def changes(memory: str) -> list[tuple[str, str, dict[str, Any] | None]]:
    """Everything over HTTP that would change a memory, or make an end of it."""
    return [
        ("PATCH", f"/v1/memories/{memory}", {"content": "The harbour master is Eve."}),
        ("PATCH", f"/v1/memories/{memory}", {"pinned": True}),
        ("POST", f"/v1/memories/{memory}/archive", None),
        ("POST", f"/v1/memories/{memory}/restore", None),
        ("POST", "/v1/archive", {"ids": [memory]}),
        ("POST", "/v1/feedback", {"ids": [memory], "verdict": "wrong"}),
        ("POST", "/v1/feedback", {"ids": [memory], "verdict": "never-inject"}),
        ("POST", "/v1/forget", {"ids": [memory]}),
        ("DELETE", f"/v1/memories/{memory}", None),
    ]


def test_who_may_write_changes_nothing_that_others_shared(
    served: tuple[TestClient, dict[str, Headers]],
) -> None:
    client, shown = served
    one = shared(client, shown["ann"])
    before = good(client.get(f"/v1/memories/{one}", headers=shown["ann"]))
    for method, path, body in changes(one):
        said = refused(client.request(method, path, json=body, headers=shown["bob"]), 403)
        assert one in said
        assert "ann's, shared as group:crew" in said
        assert "Nothing was written" in said
    hint = client.post("/v1/forget", json={"ids": [one]}, headers=shown["bob"]).json()["error"]["hint"]
    assert "--tenant default --user bob --group crew --scope read --scope write --scope curate" in hint
    assert good(client.get(f"/v1/memories/{one}", headers=shown["ann"])) == before
    assert good(client.get(f"/v1/memories/{one}/history", headers=shown["ann"]))["events"] == []
    useful = {"ids": [one], "verdict": "useful"}
    assert good(client.post("/v1/feedback", json=useful, headers=shown["bob"]))["ids"] == [one]


@pytest.mark.parametrize("who", ["ann", "cur", "adm"])
def test_its_author_and_who_may_curate_change_what_is_shared(
    served: tuple[TestClient, dict[str, Headers]], who: str
) -> None:
    client, shown = served
    one = shared(client, shown["ann"])
    for method, path, body in changes(one)[:-1]:
        good(client.request(method, path, json=body, headers=shown[who]))
    assert good(client.post("/v1/get", json={"ids": [one]}, headers=shown["ann"]))["unknown"] == [one]


def test_what_one_may_not_see_is_still_answered_as_not_there(
    served: tuple[TestClient, dict[str, Headers]],
) -> None:
    client, shown = served
    one = shared(client, shown["ann"], visibility="user")
    missing = "obs_0123456789abcdef"
    for (method, path, body), (_, other, none) in zip(changes(one), changes(missing), strict=True):
        said, told = (
            client.request(method, at, json=given, headers=shown["bob"])
            for at, given in ((path, body), (other, none))
        )
        assert (said.status_code, said.text.replace(one, "")) == (
            told.status_code,
            told.text.replace(missing, ""),
        )


def test_what_another_edits_stays_its_authors_and_history_names_who_did_it(
    served: tuple[TestClient, dict[str, Headers]],
) -> None:
    client, shown = served
    one = shared(client, shown["ann"], visibility="group", group="crew", origin="agent")
    change = {"content": "The harbour master is Eve Dahl.", "origin": "owner"}
    before = good(client.patch(f"/v1/memories/{one}", json=change, headers=shown["cur"]))["before"]
    story = good(client.get(f"/v1/memories/{one}/history", headers=shown["ann"]))
    assert [(event["op"], event["actor"]) for event in story["events"]] == [("changed", "cur")]
    assert story["memory"]["origin"] == "agent"
    kept = good(client.get(f"/v1/memories/{before}", headers=shown["ann"]))["memories"][0]
    assert (kept["content"], kept["origin"]) == (SAYS, "agent")
    good(client.patch(f"/v1/memories/{one}", json={"origin": "owner"}, headers=shown["cur"]))
    again = good(client.get(f"/v1/memories/{one}", headers=shown["ann"]))["memories"][0]
    assert again["origin"] == "agent"
    good(client.patch(f"/v1/memories/{one}", json={"content": SAYS}, headers=shown["ann"]))  # hers still
    bob = shown["bob"]
    refused(client.patch(f"/v1/memories/{one}", json=change, headers=bob), 403)


def test_a_statement_of_another_takes_no_shared_ones_place(
    served: tuple[TestClient, dict[str, Headers]],
) -> None:
    client, shown = served
    crew = {"visibility": "group", "group": "crew"}
    old = shared(client, shown["ann"], "The upload limit is 10 MB.")
    added = {"content": "The upload limit was raised to 20 MB.", **crew}
    done = good(client.post("/v1/memories", json=added, headers=shown["bob"]), 201)
    assert done["supersedes"] == []
    assert good(client.get(f"/v1/memories/{old}", headers=shown["ann"]))["memories"][0]["status"] == "active"
    added = {"content": "The upload limit was raised to 40 MB.", **crew}
    done = good(client.post("/v1/memories", json=added, headers=shown["cur"]), 201)
    assert old in done["supersedes"]
    path = f"/v1/memories/{done['id']}/links/{old}?kind=supersedes"
    assert "can unlink it" in refused(client.delete(path, headers=shown["bob"]), 403)


def test_whoever_joined_shared_memories_parts_them_again(
    served: tuple[TestClient, dict[str, Headers]],
) -> None:
    client, shown = served
    one = shared(client, shown["ann"], "The demo runs on Fly.")
    other = shared(client, shown["ann"], "The tide table hangs beside the door.")
    path = f"/v1/memories/{one}/links/{other}"
    good(client.put(path, json={"kind": "links"}, headers=shown["bob"]))
    good(client.delete(f"{path}?kind=links", headers=shown["bob"]))


def test_over_mcp_the_same_holds(environ: dict[str, str], tokens: TokenStore) -> None:
    secrets = {
        name: tokens.create(name, Principal("default", name, ("crew",), scopes=scopes), None)
        for name, scopes in WHO.items()
    }
    with Memory.open(environ["SCRUBJAY_STORE"], user="ann", groups=["crew"]) as memory:
        one = memory.add(SAYS, visibility="group", group="crew").id

    async def tries(client: Any) -> None:
        for tool, arguments in (
            ("memory_update", {"id": one, "content": "The harbour master is Eve."}),
            ("memory_forget", {"ids": [one]}),
            ("memory_feedback", {"ids": [one], "verdict": "wrong"}),
        ):
            assert "ann's, shared as group:crew" in (await refusal(client, tool, **arguments))["message"]
        (kept,) = (await call(client, "memory_get", ids=[one]))["memories"]
        assert (kept["content"], kept.get("status", "active")) == (SAYS, "active")

    async def may(client: Any) -> None:
        await call(client, "memory_feedback", ids=[one], verdict="wrong")
        assert (await call(client, "memory_forget", ids=[one]))["ids"] == [one]

    with running(environ, "--require-token") as url:
        talk(over_http(url, secrets["bob"], "auto"), tries)
        talk(over_http(url, secrets["cur"], "auto"), may)


def test_from_python_whoever_sees_the_store_as_another_changes_their_own(memory: Memory) -> None:
    one = memory.add(SAYS, visibility="public").id
    bob, curator = memory.seen_by("bob"), memory.seen_by("cur", curate=True)
    with pytest.raises(ForbiddenError, match="shared as public"):
        bob.archive(one)
    mine = bob.add("The tide table hangs beside the door.", visibility="public").id
    assert bob.archive(mine).ids == (mine,)
    assert curator.archive(one).ids == (one,)
    assert memory.restore([one, mine]).ids == (one, mine)  # the owner of the store


def test_an_audit_of_who_may_write_leaves_alone_what_others_shared(memory: Memory) -> None:
    one = memory.add("ok", visibility="public").id
    bob = memory.seen_by("bob")
    mine = bob.add("ok, done", visibility="user").id
    done = bob.audit(["junk"], 0)
    assert one not in done.fixed.get("junk", ())
    assert memory.get(one).records[0].status == "active"
    assert mine in done.fixed.get("junk", (mine,))


def test_a_token_of_the_stores_owner_that_may_only_write_curates_nothing(
    environ: dict[str, str],
) -> None:
    tokens = held(environ)
    own = bearer(tokens, "own", Principal("default", "ann", scopes=("read", "write")))
    eve = bearer(tokens, "eve", Principal("default", "eve", scopes=("read", "write", "curate")))
    with asking(environ, open_here=False) as client:
        one = shared(client, eve, visibility="public")
        refused(client.delete(f"/v1/memories/{one}", headers=own), 403)


def test_the_command_line_names_who_changed_a_memory(cli: Any, memory: Memory) -> None:
    one = memory.add(SAYS, visibility="public").id
    memory.seen_by("cur", curate=True).update(one, pinned=True)
    memory.update(one, pinned=False)
    told = cli("history", one).out
    assert "done by cur" in told
    assert told.count("done by") == 1
    assert [event["actor"] for event in json.loads(cli("history", one, "--json").out)["events"]] == [
        "cur",
        "ann",
    ]


def test_a_token_without_curate_publishes_nothing_and_shares_with_its_groups(
    served: tuple[TestClient, dict[str, Headers]],
) -> None:
    client, shown = served
    new = {"content": SAYS, "visibility": "public"}
    calls = (
        ("/v1/memories", new),
        ("/v1/memories/batch", {"memories": [{"content": "The ferry leaves at nine."}, new]}),
        ("/v1/concepts", {"name": "Ingrid Solberg", "visibility": "public"}),
        ("/v1/concepts/batch", {"rows": [["Ingrid Solberg"]], "visibility": "public"}),
    )
    for path, body in calls:
        assert "`curate`" in refused(client.post(path, json=body, headers=shown["ann"]), 403)
    assert good(client.get("/v1/memories", headers=shown["ann"]))["memories"] == []
    shared(client, shown["ann"])
    for path, body in calls:
        assert client.post(path, json=body, headers=shown["cur"]).status_code in (200, 201)


def test_pins_of_a_group_reach_its_members_and_lines_of_others_name_their_owner(
    served: tuple[TestClient, dict[str, Headers]],
) -> None:
    client, shown = served
    more = {"visibility": "group", "group": "crew", "pinned": True, "session": "zz", "role": "user"}
    one = shared(client, shown["ann"], **more)
    pins = {
        who: good(client.post("/v1/context", json={"parts": ["pinned"]}, headers=shown[who]))["text"]
        for who in ("ann", "bob")
    }
    assert SAYS in pins["ann"]
    assert "shared by" not in pins["ann"]
    assert SAYS in pins["bob"]
    assert "user shared by ann, " in pins["bob"]
    question = {"query": "Who is the harbour master?"}
    assert (
        "user shared by ann, "
        in good(client.post("/v1/context", json=question, headers=shown["bob"]))["text"]
    )
    for who, owner in (("ann", None), ("bob", "ann")):
        for path in ("/v1/search", "/v1/thread"):
            answer = good(client.post(path, json=question, headers=shown[who]))
            (found,) = answer.get("results") or answer["memories"]
            assert (found["id"], found.get("owner") or None) == (one, owner)
