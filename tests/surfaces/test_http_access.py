"""Who may do what over HTTP: every route says which scope it takes, and no token does what another scope is for."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from http_here import SCOPES, asking, bearer, good, held, refused
from starlette.testclient import TestClient

from scrubjay import Memory
from scrubjay.api.auth import Principal
from scrubjay.embeddings.hash_embedder import HashEmbedder
from scrubjay.server.app import PUBLIC_PATHS

OPEN = {path for path in PUBLIC_PATHS if not path.endswith("/")}


def operations(client: TestClient, headers: dict[str, str]) -> list[tuple[str, str, str | None]]:
    """Method, path and scope of all that the server says that it answers."""
    told = good(client.get("/openapi.json", headers=headers))
    return [
        (method.upper(), path, operation["x-scope"])
        for path, methods in told["paths"].items()
        for method, operation in methods.items()
    ]


def ask(client: TestClient, method: str, path: str, headers: dict[str, str]) -> Any:
    place = (
        path.replace("{id}", "obs_1")
        .replace("{other}", "obs_2")
        .replace("{name}", "x")
        .replace("{run}", "run_1")
    )
    body = {} if method in ("GET", "DELETE") else {"json": {}}
    return client.request(method, place, headers=headers, **body)


def test_a_token_does_only_what_its_scopes_are_for(environ: dict[str, str]) -> None:
    tokens = held(environ)
    shown = {name: bearer(tokens, name, Principal("default", "eve", scopes=(name,))) for name in SCOPES}
    with asking(environ) as client:
        every = operations(client, shown["read"])
        assert {scope for _, _, scope in every} == {"read", "write", "admin", None}
        for method, path, scope in every:
            assert (scope is None) == (path in OPEN), path
            if method in ("PUT", "PATCH", "DELETE"):
                assert scope in ("write", "admin"), path
            for name in SCOPES:
                said = ask(client, method, path, shown[name])
                if scope is None or scope == name:
                    assert said.status_code not in (401, 403, 405, 500), (method, path, said.text)
                else:
                    assert f"lacks the `{scope}` scope" in refused(said, 403)


def test_the_hint_of_a_missing_scope_makes_a_token_for_the_same_person(
    environ: dict[str, str], cli: Any
) -> None:
    tokens = held(environ)
    who = Principal("woods", "ann o'hara", ("crew", "the board"), scopes=("read", "write"))
    ann = bearer(tokens, "ann", who)
    with asking(environ) as client:
        said = client.post("/v1/rebuild", json={}, headers=ann)
    refused(said, 403)
    command = said.json()["error"]["hint"].partition("scrubjay ")[2].replace("NAME", "other")
    assert cli(*shlex.split(command)).code == 0
    assert tokens.all()[-1].principal == replace(who, scopes=(*who.scopes, "admin"))


def test_what_opens_nothing_opens_no_route(environ: dict[str, str]) -> None:
    tokens = held(environ)
    everything = Principal("default", "ann", scopes=SCOPES["admin"])
    good_one = bearer(tokens, "good", everything)
    revoked = bearer(tokens, "revoked", everything)
    tokens.revoke("revoked")
    wrong = [
        revoked,
        bearer(tokens, "old", everything, expires=-1),
        {"authorization": "Bearer scrubjay_unknown"},
        {"authorization": "Basic YW5uOng="},
        {"x-scrubjay-token": "x"},
        {},
    ]
    with asking(environ, open_here=False) as client:
        for method, path, scope in operations(client, good_one):
            for headers in wrong if scope else []:
                assert "token is required" in refused(ask(client, method, path, headers), 401)
        refused(client.get("/openapi.json"), 401)
        refused(client.post("/v1/embeddings", headers=revoked), 401)
        form = client.post("/openai/v1/chat/completions", headers=revoked).json()["error"]
        assert (form["code"], "token is required" in form["message"]) == ("scrubjay_proxy", True)
        own = {"x-scrubjay-token": good_one["authorization"].partition(" ")[2]}
        assert good(client.get("/v1/status", headers=own))["memories"] == 0


def test_tenants_and_users_see_nothing_of_each_other(environ: dict[str, str]) -> None:
    tokens = held(environ)
    ann = bearer(tokens, "ann", Principal("default", "ann", scopes=SCOPES["admin"]))
    strangers = [
        bearer(tokens, "far", Principal("elsewhere", "ann", scopes=SCOPES["admin"])),
        bearer(tokens, "eve", Principal("default", "eve", scopes=SCOPES["admin"])),
    ]
    with asking(environ, open_here=False) as client:
        ids = [
            good(client.post("/v1/memories", json={"content": content}, headers=ann), 201)["id"]
            for content in ("The zeppelin code is 4711.", "The zeppelin lands on platform nine.")
        ]
        good(client.post("/v1/concepts", json={"name": "zeppelin"}, headers=ann))
        one, other = ids
        for headers in strangers:
            assert good(client.get("/v1/search?query=zeppelin+code+4711", headers=headers))["results"] == []
            assert good(client.get("/v1/thread?query=zeppelin", headers=headers))["memories"] == []
            assert good(client.get("/v1/context?query=zeppelin", headers=headers))["text"] == ""
            assert good(client.get("/v1/memories", headers=headers))["memories"] == []
            assert good(client.get("/v1/concepts", headers=headers))["concepts"] == []
            assert good(client.get("/v1/status", headers=headers))["memories"] == 0
            assert good(client.post("/v1/get", json={"ids": ids}, headers=headers))["unknown"] == ids
            assert good(client.post("/v1/forget", json={"ids": ids}, headers=headers))["unknown"] == ids
            assert good(client.post("/v1/audit", json={}, headers=headers))["memories"] == 0
            assert "zeppelin" not in client.get("/v1/export", headers=headers).text
            for method, path, body in (
                ("GET", f"/v1/memories/{one}", None),
                ("GET", f"/v1/memories/{one}/history", None),
                ("GET", f"/v1/memories/{one}/links", None),
                ("PATCH", f"/v1/memories/{one}", {"content": "mine"}),
                ("DELETE", f"/v1/memories/{one}", None),
                ("POST", f"/v1/memories/{one}/archive", None),
                ("PUT", f"/v1/memories/{one}/links/{other}", {}),
                ("GET", "/v1/concepts/zeppelin", None),
                ("PATCH", "/v1/concepts/zeppelin", {"name": "balloon"}),
            ):
                refused(client.request(method, path, json=body, headers=headers), 404)
        assert len(good(client.get("/v1/search?query=zeppelin", headers=ann))["results"]) == 2
        lent = {"content": "For the crew.", "visibility": "group", "group": "crew"}
        refused(client.post("/v1/memories", json=lent, headers=ann), 422)


@pytest.mark.parametrize(
    ("tenant", "scopes", "whole"),
    [
        ("default", ("read",), False),
        ("default", ("read", "write"), False),
        ("elsewhere", ("read", "write", "admin"), False),
        ("default", ("read", "admin"), True),
    ],
)
def test_what_all_tenants_do_together_is_told_to_an_admin_of_the_owners_alone(
    environ: dict[str, str], tenant: str, scopes: tuple[str, ...], whole: bool
) -> None:
    tokens = held(environ)
    shown = bearer(tokens, "asks", Principal(tenant, "eve", scopes=scopes))
    other = bearer(tokens, "other", Principal("third", "mallory"))

    def told(client: TestClient) -> tuple[Any, list[str], str]:
        lines = client.get("/metrics", headers=shown).raise_for_status().text.splitlines()
        mine = [each for each in lines if "/metrics" not in each and "/v1/status" not in each]
        page = client.get("/status", headers=shown).raise_for_status().text
        return good(client.get("/v1/status", headers=shown)), mine, page

    with asking(environ) as client:
        good(client.post("/v1/search", json={"query": "warm"}, headers=shown))
        told(client)
        before = told(client)
        for number in range(5):
            text = f"Number {number}. " + "The kayak leaks. " * 2_000
            good(client.post("/v1/memories", json={"content": text}, headers=other), 201)
        after = told(client)
        assert ("bytes" in after[0]) == whole
        assert after[0].get("bytes", 1) > before[0].get("bytes", 0), "the store did not grow"
        assert (before == after) != whole
        assert any("admin scope" in line for line in after[1]) != whole
        assert any(line.startswith("scrubjay_http_requests_total") for line in after[1]) == whole
        good(client.get("/v1/status"))["bytes"]  # the owner, alone on this machine


@pytest.mark.parametrize("harm", ["mode", "text", "folder"])
def test_readyz_and_doctor_say_that_the_tokens_cannot_be_read(
    environ: dict[str, str], harm: str, cli: Any
) -> None:
    tokens = held(environ)
    ann = bearer(tokens, "ann", Principal("default", "ann"))
    with asking(environ) as client:
        assert good(client.get("/readyz", headers=ann)) == {"status": "ready"}
        if harm == "mode":
            tokens.file.chmod(0o644)
        elif harm == "text":
            tokens.file.write_text("{")
        else:
            tokens.file.unlink()
            tokens.file.mkdir(mode=0o700)
        assert good(client.get("/healthz")) == {"status": "ok"}
        for said in (
            client.get("/readyz"),
            client.get("/readyz", headers=ann),
            client.get("/v1/status", headers=ann),
        ):
            assert refused(said, 503) == "The server cannot read its tokens."
            assert "scrubjay doctor" in said.json()["error"]["hint"]
            assert str(tokens.file) not in said.text
    checks = cli("doctor", "--json").json["checks"]
    [found] = [each for each in checks if each["about"] == "tokens"]
    assert found["state"] == "problem"
    assert str(tokens.file) in found["found"]


@pytest.mark.parametrize("harm", ["moved", "damaged"])
def test_only_an_admin_learns_where_a_store_is_that_cannot_be_used(
    environ: dict[str, str], tmp_path: Path, harm: str, caplog: pytest.LogCaptureFixture
) -> None:
    tokens, store = held(environ), Path(environ["SCRUBJAY_STORE"])
    shown = {name: bearer(tokens, name, Principal("default", "eve", scopes=SCOPES[name])) for name in SCOPES}
    if harm == "damaged":
        store.write_bytes(b"x" * 5_000)  # before the server can open it
    with asking(environ, open_here=False) as client:
        if harm != "damaged":
            good(
                client.post(
                    "/v1/memories", json={"content": "The mast is 12 metres."}, headers=shown["write"]
                ),
                201,
            )
            store.rename(tmp_path / "elsewhere.db")
        for said in (
            client.get("/readyz"),
            client.post("/v1/search", json={"query": "mast"}, headers=shown["read"]),
            client.post("/v1/memories", json={"content": "New."}, headers=shown["write"]),
            client.get("/v1/status", headers=shown["write"]),
        ):
            refused(said, 503)
            assert str(tmp_path) not in said.text
            assert "scrubjay doctor" in said.text
        page = client.get("/concepts", headers=shown["read"])
        assert (page.status_code, str(tmp_path) in page.text) == (503, False)
        assert str(tmp_path) in refused(client.get("/v1/status", headers=shown["admin"]), 503)
    assert str(store) in caplog.text


def test_tokens_are_not_shown_shared_files_that_changed_before_their_owner_syncs(
    environ: dict[str, str], tmp_path: Path
) -> None:
    folder = tmp_path / "kb"
    folder.mkdir()
    note = "---\nvisibility: {}\n---\n# {}\n\nThe grinder costs {} euros.\n"
    for name in ("price", "water", "complaints"):
        (folder / f"{name}.md").write_text(note.format("group:shop", name, 90))
    with Memory.open(user="desk", groups=["shop"], embedders=[HashEmbedder(64)]) as memory:
        memory.sync(folder, share=True)
    tokens = held(environ)
    ines = bearer(tokens, "ines", Principal("default", "ines", groups=("shop",), scopes=SCOPES["read"]))
    monitor = bearer(tokens, "monitor", Principal("default", "desk", scopes=("read",)))
    desk = bearer(tokens, "desk", Principal("default", "desk", groups=("shop",), scopes=("read", "admin")))

    def found(client: TestClient, headers: dict[str, str], partial: str = "") -> dict[str, str]:
        answer = good(client.get("/v1/search?query=grinder+euros", headers=headers))
        assert [partial in one for one in answer["partial"]] == [True] * bool(partial)
        return {one["citation"]: one["snippet"] for one in answer["results"]}

    with asking(environ, open_here=False) as client:
        assert len(found(client, ines)) == 3
        (folder / "price.md").write_text(note.format("group:shop", "price", 125))
        (folder / "water.md").unlink()
        (folder / "complaints.md").write_text(note.format("user", "complaints", 90))
        assert found(client, ines, "their passages are left out until their owner runs") == {}
        assert found(client, monitor, "shared with a group you are not in") == {}
        good(client.post("/v1/sync", json={}, headers=desk))
        assert [Path(one).name for one in found(client, monitor)] == ["complaints.md:1-6"]
        ((citation, snippet),) = found(client, ines).items()
        assert citation == "price.md:1-6"
        assert "125 euros" in snippet
