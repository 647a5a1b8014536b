"""What is done to a whole store, over HTTP: sources, models, the night, audits, moves; and progress as events."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

import httpx2
import pytest
from http_here import asking, bearer, good, held, refused
from http_server import serving
from starlette.testclient import TestClient

from scrubjay.api.auth import Principal
from scrubjay.config.loader import load_settings
from scrubjay.errors import ConfigError

EVENTS = {"accept": "text/event-stream"}


def events(said: httpx2.Response) -> list[tuple[str, Any]]:
    """The events of a stream, comments left out."""
    assert said.headers["content-type"].startswith("text/event-stream"), said.text
    found = []
    for block in said.text.split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
        if lines:
            found.append((lines["event"], json.loads(lines["data"])))
    return found


def test_a_folder_of_the_server_is_synced_listed_and_removed(client: TestClient, notes: Path) -> None:
    done = good(client.post("/v1/sync", json={"path": str(notes), "description": "the boat"}))
    assert (done["files"], done["problems"]) == (3, [])
    (source,) = good(client.get("/v1/sources"))["sources"]
    assert (source["root"], source["description"]) == (str(notes), "the boat")
    assert good(client.post("/v1/sync", json={}))["unchanged"] == done["passages"]
    one = min(notes.rglob("*.md")).relative_to(notes)
    assert good(client.post("/v1/sync", json={"path": str(notes), "only": str(one)}))["files"] == 1
    assert "does not exist" in refused(
        client.post("/v1/sync", json={"path": str(notes.parent / "none")}), 422
    )
    assert good(client.delete(f"/v1/sources/{notes}"))["id"] == source["id"]
    assert good(client.get("/v1/sources"))["sources"] == []
    refused(client.delete("/v1/sources/none"), 404)


def test_no_name_of_a_request_means_the_servers_working_folder(
    client: TestClient, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    good(client.post("/v1/sync", json={"path": str(notes)}))
    monkeypatch.chdir(notes)
    assert "empty" in refused(client.delete("/v1/sources/"), 422)
    for name in ("%20", "%2E", f"%2E%2E%2F{notes.name}"):
        assert "No source" in refused(client.delete(f"/v1/sources/{name}"), 404)
    assert len(good(client.get("/v1/sources"))["sources"]) == 1


def test_whether_a_source_is_trusted_and_shares_is_said_and_told(
    client: TestClient, notes: Path, tmp_path: Path
) -> None:
    (notes / "all.md").write_text("---\nvisibility: public\npinned: true\n---\n# All\n\nzeppelin\n")
    done = good(client.post("/v1/sync", json={"path": str(notes)}))
    assert [notice["path"] for notice in done["notices"]] == [str(notes / "all.md")]
    for trust, share in (("untrusted", True), ("trusted", False)):
        good(client.post("/v1/sync", json={"path": str(notes), "trust": trust, "share": share}))
        (source,) = good(client.get("/v1/sources"))["sources"]
        assert (source["trust"], source["share"]) == (trust, share)
        found = good(client.get("/v1/search?query=zeppelin"))["results"][0]
        assert found["origin"] == ("untrusted" if trust == "untrusted" else "owner")
    refused(client.post("/v1/sync", json={"path": str(notes), "trust": "maybe"}), 422)
    refused(client.post("/v1/sync", json={"trust": "trusted"}), 422)


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        ("/v1/sync", {}, "files"),
        ("/v1/rebuild", {}, "passages"),
        ("/v1/embed", {"seconds": 5}, "embedded"),
        ("/v1/consolidate", {"dry_run": True}, "made"),
    ],
)
def test_long_work_says_how_far_it_is_and_ends_with_its_answer(
    client: TestClient, notes: Path, path: str, body: dict[str, Any], field: str
) -> None:
    good(client.post("/v1/sync", json={"path": str(notes)}))
    plain = good(client.post(path, json=body))
    told = events(client.post(path, json=body, headers=EVENTS))
    assert [name for name, _ in told].count("done") == 1
    name, last = told[-1]
    assert (name, set(last)) == ("done", set(plain))
    assert field in last
    for name, step in told[:-1]:
        assert (name, set(step)) == ("progress", {"stage", "done", "total", "seconds", "bytes", "all_bytes"})


def test_progress_is_told_and_what_goes_wrong_is_the_last_event(client: TestClient, notes: Path) -> None:
    told = events(client.post("/v1/sync", json={"path": str(notes)}, headers=EVENTS))
    assert "progress" in [name for name, _ in told]
    ((name, said),) = events(
        client.post("/v1/sync", json={"path": str(notes.parent / "none")}, headers=EVENTS)
    )
    assert (name, said["status"]) == ("error", 422)
    assert "does not exist" in said["error"]["message"]


def test_work_goes_on_when_its_client_goes_away(environ: dict[str, str], tmp_path: Path) -> None:
    folder = tmp_path / "many"
    folder.mkdir()
    for n in range(60):
        (folder / f"{n}.md").write_text(f"# Note {n}\n\nKayak number {n} leaks.\n")
    with serving(environ) as url:
        place = httpx2.URL(url)
        body = json.dumps({"path": str(folder)})
        head = f"Host: {place.netloc.decode()}\r\nAccept: text/event-stream\r\nContent-Type: application/json\r\n"
        with socket.create_connection((place.host, place.port)) as raw:
            raw.sendall(f"POST /v1/sync HTTP/1.1\r\n{head}Content-Length: {len(body)}\r\n\r\n{body}".encode())
            assert raw.recv(15) == b"HTTP/1.1 200 OK"
        with httpx2.Client(base_url=url, timeout=60) as client:
            # What takes long is done one after another: this one begins when that one has ended.
            assert good(client.post("/v1/rebuild", json={}))["passages"] == 60


def test_models_are_listed_and_what_settings_do_not_describe_is_not_added(
    client: TestClient, notes: Path
) -> None:
    good(client.post("/v1/sync", json={"path": str(notes)}))
    (base,) = good(client.get("/v1/models"))["models"]
    assert base["covered"] > 0
    refused(client.put("/v1/models/none"), 404)
    refused(client.post("/v1/models/none/use"), 404)
    assert "base model" in refused(client.delete(f"/v1/models/{base['name']}"), 422)


def test_what_an_audit_put_away_comes_back(client: TestClient) -> None:
    for content in ("ok", "Thanks!", "The zeppelin lands on platform nine."):
        good(client.post("/v1/memories", json={"content": content}), 201)
    looked = good(client.post("/v1/audit", json={"fix": ["junk"], "dry_run": True}))
    assert len(looked["fixed"]["junk"]) == 2
    fixed = good(client.post("/v1/audit", json={"fix": ["junk"]}))
    run = fixed["undo"].split()[-1]
    assert len(good(client.get("/v1/memories"))["memories"]) == 1
    assert len(good(client.post(f"/v1/audit/{run}/undo"))["ids"]) == 2
    assert len(good(client.get("/v1/memories"))["memories"]) == 3
    refused(client.post("/v1/audit", json={"fix": ["noise"]}), 422)
    refused(client.post("/v1/audit/run_none/undo"), 404)
    assert good(client.post("/v1/retention", json={"dry_run": True}))["archived"] == []


def test_a_night_is_taken_back(client: TestClient) -> None:
    for n in range(6):
        turn = {"content": f"We decided that kayak {n} is mended on Monday.", "session": "talk", "turn": n}
        good(client.post("/v1/memories", json={**turn, "role": "user", "date": "2020-03-01"}), 201)
    assert good(client.post("/v1/consolidate", json={"dry_run": True}))["archived"] == 0
    refused(client.post("/v1/consolidate", json={"archive": "everything"}), 422)
    night = good(client.post("/v1/consolidate", json={"archive": "transcripts"}))
    assert night["archived"] > 0
    assert good(client.post(f"/v1/consolidate/{night['run']}/undo"))["restored"] == night["archived"]
    refused(client.post("/v1/consolidate/run_none/undo"), 404)


def test_what_one_server_exports_another_imports_once(environ: dict[str, str], client: TestClient) -> None:
    good(client.post("/v1/memories", json={"content": "The zeppelin lands on platform nine."}), 201)
    said = client.get("/v1/export")
    assert said.headers["content-type"] == "application/x-ndjson"
    assert int(said.headers["content-length"]) == len(said.content)
    lines = [json.loads(line) for line in said.text.splitlines()]
    assert (lines[0]["line"], lines[-1]["line"]) == ("header", "footer")
    who = Principal("elsewhere", "bo", scopes=("read", "write", "admin"))
    headers = bearer(held(environ), "bo", who)
    tried = good(client.post("/v1/import", params={"dry_run": True}, content=said.content, headers=headers))
    assert (tried["added"], tried["dry_run"]) == (1, True)
    for added in (1, 0):
        done = client.post("/v1/import", content=said.content, headers=headers | EVENTS)
        assert [(name, each["added"]) for name, each in events(done) if name == "done"] == [("done", added)]
    assert len(good(client.get("/v1/memories", headers=headers))["memories"]) == 1
    torn = said.content[:-20]
    assert "Nothing was imported" in refused(client.post("/v1/import", content=torn, headers=headers), 422)
    for format in ("claude-code", "none"):
        refused(client.post("/v1/import", params={"format": format}, content=b"x", headers=headers), 422)


def test_a_backup_is_written_on_the_server_for_those_of_the_owners_tenant(
    environ: dict[str, str], client: TestClient, tmp_path: Path
) -> None:
    good(client.post("/v1/memories", json={"content": "The zeppelin lands."}), 201)
    file = tmp_path / "copy.db"
    assert good(client.post("/v1/backup", json={"path": str(file)}))["bytes"] == file.stat().st_size
    refused(client.post("/v1/backup", json={"path": str(file)}), 422)
    who = Principal("elsewhere", "bo", scopes=("admin",))
    headers = bearer(held(environ), "bo", who)
    said = client.post("/v1/backup", json={"path": str(tmp_path / "other.db")}, headers=headers)
    assert "every tenant" in refused(said, 403)
    assert not (tmp_path / "other.db").exists()


def test_concepts_and_categories_are_listed_and_the_dictionary_is_edited(
    client: TestClient, notes: Path
) -> None:
    good(client.post("/v1/sync", json={"path": str(notes)}))
    assert good(client.post("/v1/concepts", json={"name": "Volvo", "aliases": ["D1-30"]}))["linked"] == 1
    many = good(client.post("/v1/concepts/batch", json={"rows": [["TCP/IP", "tcp"], ["pasta"], ["the"]]}))
    assert [name for name, _ in many["refused"]] == ["the"]
    first = good(client.get("/v1/concepts", params={"limit": 1}))
    rest = good(client.get("/v1/concepts", params={"offset": first["next_offset"]}))
    assert first["total"] == rest["total"] == 1 + len(rest["concepts"])
    assert rest["next_offset"] is None
    assert good(client.get("/v1/concepts/d1-30"))["concept"]["name"] == "Volvo"
    assert good(client.patch("/v1/concepts/TCP%2FIP", json={"name": "Internet"}))["name"] == "Internet"
    assert "TCP/IP" in good(client.post("/v1/concepts/Internet/merge", json={"into": "Volvo"}))["aliases"]
    assert good(client.delete("/v1/concepts/Volvo"))["name"] == "Volvo"
    for method, path in (("GET", "Volvo"), ("DELETE", "none")):
        refused(client.request(method, f"/v1/concepts/{path}"), 404)
    tree = good(client.get("/v1/categories", params={"kind": "path"}))["categories"]
    assert {"notes"} == {each["name"] for each in tree}
    assert good(client.get(f"/v1/categories/{tree[0]['id']}"))["category"]["id"] == tree[0]["id"]
    refused(client.get("/v1/categories/none"), 404)
    refused(client.get("/v1/categories", params={"kind": "colour"}), 422)


def test_paths_of_the_servers_disk_lie_below_its_roots_or_in_a_source(
    environ: dict[str, str], client: TestClient, notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "inside").mkdir()
    (tmp_path / "inside" / "out").symlink_to(notes)
    monkeypatch.setenv("SCRUBJAY_SERVER_ROOTS", str(tmp_path / "inside"))
    with asking(environ) as fenced:
        for path in (notes, tmp_path / "inside" / "out", tmp_path / "inside" / ".." / "notes", "/etc", "~"):
            said = fenced.post("/v1/sync", json={"path": str(path)})
            assert "outside the folders" in refused(said, 403)
            assert "[server] roots" in said.json()["error"]["hint"]
        out = tmp_path / "inside" / "out" / "copy.db"
        for path in (tmp_path / "copy.db", out):
            assert "outside the folders" in refused(
                fenced.post("/v1/backup", json={"path": str(path), "overwrite": True}), 403
            )
            assert not path.exists()
        good(fenced.post("/v1/backup", json={"path": str(tmp_path / "inside" / "copy.db")}))
        assert good(fenced.get("/v1/status"))["documents"] == 0
        good(client.post("/v1/sync", json={"path": str(notes)}))
        good(fenced.post("/v1/sync", json={"path": str(notes / "log")}))
        for path in ("", f"{tmp_path}/inside\0x"):
            assert "is not a path" in refused(fenced.post("/v1/sync", json={"path": path}), 422)
    refused(client.post("/v1/sync", json={"path": str(notes), "project": str(notes)}), 422)


def test_a_sync_over_http_never_reads_the_settings_or_tokens(
    environ: dict[str, str], client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokens = held(environ).file
    held(environ).create("ann", Principal("default", "ann"), None)
    (tokens.parent / "config.toml").write_text("# my settings\n")
    above, inside = tokens.parent.parent, tokens.parent.parent / "notes"
    inside.mkdir()
    (inside / "a.md").write_text("The heron lands.\n")
    patterns = ["*.json", "*.toml", "*.md"]
    for path in (above, above.parent, f"{inside}/.."):
        said = client.post("/v1/sync", json={"path": str(path), "include": patterns})
        assert "settings and tokens" in refused(said, 403)
    assert good(client.post("/v1/sync", json={"path": str(inside), "include": patterns}))["files"] == 1
    assert good(client.post("/v1/sync", json={"path": str(above)}))["files"] == 0
    said = client.post("/v1/sync", json={"path": str(inside.parent / "other"), "include": patterns})
    assert "settings and tokens" in refused(said, 403), "its source holds them"
    for usual, status in (("*.toml", 403), ("*.md", 200)):
        monkeypatch.setenv("SCRUBJAY_SYNC_INCLUDE", usual)
        with asking(environ) as other:
            assert other.post("/v1/sync", json={"path": str(above)}).status_code == status
    with asking(environ) as other:
        assert good(other.get("/v1/status"))["documents"] == 1


def test_a_backup_over_http_never_replaces_the_settings_or_tokens(
    environ: dict[str, str], client: TestClient
) -> None:
    tokens = held(environ)
    tokens.create("ann", Principal("default", "ann"), None)
    before = tokens.file.read_bytes()
    asked = {"path": str(tokens.file), "overwrite": True}
    assert "outside the folders" in refused(client.post("/v1/backup", json=asked), 403)
    assert tokens.file.read_bytes() == before


def test_roots_that_are_not_named_are_the_home_and_the_data_folder(
    environ: dict[str, str], notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SCRUBJAY_SERVER_ROOTS")
    for home, status in ((notes.parent, 200), ("/", 403)):
        monkeypatch.setenv("HOME", str(home))
        with asking(environ) as client:
            folder = notes if status == 200 else notes.parent / "elsewhere"
            folder.mkdir(exist_ok=True)
            assert client.post("/v1/sync", json={"path": str(folder)}).status_code == status
            copy = tmp_path / "data" / "scrubjay" / f"{status}.db"
            copy.parent.mkdir(parents=True, exist_ok=True)
            good(client.post("/v1/backup", json={"path": str(copy)}))
    monkeypatch.setenv("SCRUBJAY_SERVER_ROOTS", "notes")
    with pytest.raises(ConfigError, match="not the whole path of a folder"):
        load_settings()
