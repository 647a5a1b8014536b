"""Memories over HTTP: added, listed, read, changed, linked, judged, forgotten."""

from __future__ import annotations

from pathlib import Path

from http_here import SCOPES, asking, bearer, good, held, refused
from starlette.testclient import TestClient

from scrubjay.api.auth import Principal, TokenStore


def added(client: TestClient, content: str, **fields: object) -> str:
    return good(client.post("/v1/memories", json={"content": content, **fields}), 201)["id"]


def test_the_same_content_is_one_memory_however_often_it_is_added(client: TestClient) -> None:
    first = added(client, "The zeppelin lands on platform nine.", tags=["air"])
    again = good(client.post("/v1/memories", json={"content": "The zeppelin lands on platform nine."}), 200)
    assert (again["id"], again["existed"]) == (first, True)
    both = {"memories": [{"content": "The zeppelin lands on platform nine."}, {"content": "Bo cooks."}]}
    done = good(client.post("/v1/memories/batch", json=both))["added"]
    assert [each["existed"] for each in done] == [True, False]
    wrong = {"memories": [{"content": "Cy sings."}, {"content": "x", "tier": "dream"}]}
    refused(client.post("/v1/memories/batch", json=wrong), 422)
    assert good(client.get("/v1/status"))["memories"] == 2


def test_a_superseded_text_that_is_added_again_stays_superseded_until_it_is_restored(
    client: TestClient,
) -> None:
    text = "The timeout of the gateway is 30 seconds."
    old = added(client, text)
    added(client, "The timeout of the gateway is 90 seconds.")
    assert good(client.post("/v1/memories", json={"content": text}))["status"] == "superseded"
    good(client.post(f"/v1/memories/{old}/restore"))
    assert good(client.post("/v1/memories", json={"content": text}))["status"] == "active"


def test_a_memory_is_read_by_the_beginning_of_its_id(client: TestClient) -> None:
    turns = [
        added(
            client,
            f"Turn {n} of the talk about boats.",
            session="talk",
            turn=n,
            role="user",
            date="2026-03-01",
        )
        for n in range(3)
    ]
    (kept,) = good(client.get(f"/v1/memories/{turns[1][:-6]}"))["memories"]
    assert (kept["id"], kept["date"], kept["session"]) == (turns[1], "2026-03-01", "talk")
    around = good(client.get(f"/v1/memories/{turns[1]}", params={"neighbours": 1}))["memories"]
    assert [each["id"] for each in around] == turns
    part = good(client.get(f"/v1/memories/{turns[1]}", params={"limit": 6, "offset": 5}))
    assert (part["memories"][0]["content"], part["next_offset"]) == ("1 of t", 11)
    several = good(client.post("/v1/get", json={"ids": [turns[0], "obs_nothing"]}))
    assert ([each["id"] for each in several["memories"]], several["unknown"]) == ([turns[0]], ["obs_nothing"])
    assert "obs_nothing" in refused(client.get("/v1/memories/obs_nothing"), 404)


def test_a_file_is_read_by_its_path_and_lines(client: TestClient, notes: Path) -> None:
    good(client.post("/v1/sync", json={"path": str(notes)}))
    found = good(client.get("/v1/get", params={"path": "boats.md", "lines": [5, 5]}))["memories"]
    assert ["hull" in each["content"] for each in found] == [True]
    refused(client.get("/v1/get", params={"path": "boats.md", "lines": [5]}), 422)
    refused(client.get("/v1/get", params={"path": "boats.md", "ids": "obs_1"}), 422)


def test_pages_hold_every_memory_once_while_others_are_written(client: TestClient) -> None:
    kept = {added(client, f"Note number {n}.", tags=["even" if n % 2 == 0 else "odd"]) for n in range(11)}
    seen: list[str] = []
    after = ""
    while True:
        page = good(client.get("/v1/memories", params={"limit": 3, "after": after}))
        seen += [each["id"] for each in page["memories"]]
        if page["next"] is None:
            break
        after = page["next"]
        added(client, f"Meanwhile {after}.")
    assert len(seen) == len(set(seen))
    assert kept <= set(seen)
    even = good(client.get("/v1/memories", params={"tags": "even"}))
    assert (len(even["memories"]), even["next"]) == (6, None)
    assert good(client.get("/v1/memories", params={"tags": ["even", "odd"]}))["memories"] == []
    refused(client.get("/v1/memories", params={"after": "no id"}), 422)
    refused(client.get("/v1/memories", params={"limit": 201}), 422)
    refused(client.get("/v1/memories", params={"statuses": "lost"}), 422)


def test_a_change_keeps_the_id_and_null_takes_a_date_away(client: TestClient) -> None:
    memory = added(client, "The launch is on 3 May.", date="2026-05-03", tags=["launch"])
    done = good(
        client.patch(f"/v1/memories/{memory}", json={"content": "The launch is on 5 May.", "date": None})
    )
    assert set(done["changed"]) == {"content", "event"}
    (kept,) = good(client.get(f"/v1/memories/{memory}"))["memories"]
    assert (kept["content"], kept["tags"]) == ("The launch is on 5 May.", ["launch"])
    story = good(client.get(f"/v1/memories/{memory}/history"))
    assert (story["supersedes"], story["memory"]["id"]) == ([done["before"]], memory)
    assert "changed" in [event["op"] for event in story["events"]]
    refused(client.patch(f"/v1/memories/{memory}", json={"content": None}), 422)
    refused(client.patch(f"/v1/memories/{memory}", json={"tier": "lesson"}), 422)
    refused(client.patch("/v1/memories/obs_nothing", json={"title": "x"}), 404)


def test_a_change_that_is_redacted_to_the_same_text_names_the_secret(client: TestClient) -> None:
    memory = added(client, "My locker code is 4711.")
    done = good(client.patch(f"/v1/memories/{memory}", json={"content": "My locker code is 4712."}))
    assert (done["changed"], done["scrubbed"]) == ([], {"pin": 1})


def test_memories_are_archived_restored_judged_and_forgotten(client: TestClient) -> None:
    one, other = added(client, "The kayak leaks."), added(client, "The sauna is warm.")
    assert good(client.post(f"/v1/memories/{one}/archive"))["ids"] == [one]
    assert good(client.post("/v1/archive", json={"ids": [one, other, "obs_x"]})) == {
        "ids": [other], "also": [], "unchanged": [one], "unknown": ["obs_x"],
    }  # fmt: skip
    assert good(client.get("/v1/memories"))["memories"] == []
    assert good(client.post("/v1/restore", json={"ids": [other]}))["ids"] == [other]
    assert good(client.post(f"/v1/memories/{one}/restore"))["ids"] == [one]
    assert good(client.post("/v1/feedback", json={"ids": [one], "verdict": "wrong"}))["ids"] == [one]
    refused(client.post("/v1/feedback", json={"ids": [one], "verdict": "nice"}), 422)
    assert good(client.delete(f"/v1/memories/{one}"))["ids"] == [one]
    assert good(client.post("/v1/forget", json={"ids": [one, other]}))["unknown"] == [one]
    assert good(client.get("/v1/memories", params={"statuses": ["active", "archived"]}))["memories"] == []
    for path in (f"/v1/memories/{one}/archive", f"/v1/memories/{one}/restore"):
        refused(client.post(path), 404)
    refused(client.delete(f"/v1/memories/{one}"), 404)


def test_forgetting_everything_of_a_user_needs_a_yes_and_leaves_what_others_stored(
    client: TestClient, tokens: TokenStore
) -> None:
    bo = bearer(tokens, "bo", Principal("default", "bo", scopes=SCOPES["write"]))
    mine = added(client, "The kayak leaks.")
    theirs = good(client.post("/v1/memories", json={"content": "The mast is high."}, headers=bo), 201)["id"]
    path = "/v1/forget/everything"
    for body in ({}, {"yes": False}):
        assert refused(client.post(path, json=body, headers=bo), 422).endswith("Nothing was forgotten.")
    reader = bearer(tokens, "reader", Principal("default", "bo", scopes=SCOPES["read"]))
    refused(client.post(path, json={"yes": True}, headers=reader), 403)
    assert good(client.post(path, json={"yes": True}, headers=bo))["ids"] == [theirs]
    assert [one["id"] for one in good(client.get("/v1/memories"))["memories"]] == [mine]


def test_links_are_put_and_taken_away(client: TestClient) -> None:
    one, other = added(client, "The kayak leaks."), added(client, "The kayak was mended.")
    made = good(client.put(f"/v1/memories/{other}/links/{one}", json={"kind": "supersedes", "rule": "told"}))
    assert (made["id"], made["kind"], made["direction"]) == (one, "supersedes", "to")
    (back,) = [each for each in good(client.get(f"/v1/memories/{one}/links"))["links"] if each["given"]]
    assert (back["id"], back["direction"], back["rule"]) == (other, "from", "told")
    path = f"/v1/memories/{other}/links/{one}"
    refused(client.delete(path), 404)
    assert good(client.delete(path, params={"kind": "supersedes"}))["dst"] == one
    assert [each for each in good(client.get(f"/v1/memories/{one}/links"))["links"] if each["given"]] == []
    refused(client.put(path, json={"kind": "loves"}), 422)


def test_what_a_tokens_agent_adds_is_signed_with_its_name(environ: dict[str, str]) -> None:
    who = Principal("default", "ann", (), "claude", ("read", "write"))
    headers = bearer(held(environ), "claude", who)
    with asking(environ) as client:
        done = good(client.post("/v1/memories", json={"content": "Ann sails."}, headers=headers), 201)
        (kept,) = good(client.get(f"/v1/memories/{done['id']}"))["memories"]
        assert (kept["agent"], kept["origin"]) == ("claude", "agent")
        mine = {"content": "Bo sails.", "agent": "codex"}
        assert "cannot write as 'codex'" in refused(
            client.post("/v1/memories", json=mine, headers=headers), 403
        )
        changed = client.patch(f"/v1/memories/{done['id']}", json={"content": "Ann rows."}, headers=headers)
        assert good(changed)["changed"] == ["content"]


def test_what_no_form_knows_is_refused_and_nothing_is_written(client: TestClient) -> None:
    for body in (
        {"content": "x y z", "user": "eve"},
        {"content": "x y z", "tenant": "elsewhere"},
        {"content": 5},
        {"content": "x y z", "turn": "1"},
        {"content": "x y z", "confidence": 1.5},
        {"content": "x y z", "project": "../elsewhere"},
        {"content": "x y z", "turn": 10**30},
        {},
        [],
        None,
    ):
        refused(client.post("/v1/memories", json=body), 422)
    assert good(client.get("/v1/status"))["memories"] == 0
