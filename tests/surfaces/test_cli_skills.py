"""Procedures that sessions carried out alike are listed, shown and written as skills, and never by themselves."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

Step = tuple[str, bool]
SHIP = (
    "make wheel",
    "docker build -t crane .",
    "docker push registry.local/crane",
    "kubectl rollout restart crane",
)
OTHERS = (
    ("why is the ledger slow?", ("make profile",)),
    ("Paint the login page blue", ("npm run lint", "git add -A", "git commit -m blue")),
    ("write docs for webhooks", ("git add docs", "npm run docs", "git commit -m webhooks")),
    ("rename the harvest job", ("git commit -am harvest", "npm run lint", "git push")),
    ("what does the scheduler do?", ()),
    ("bump the calendar library", ("npm install calendar", "npm run lint")),
)  # fmt: skip


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "shop"
    (folder / ".git").mkdir(parents=True)
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def talk(tmp_path: Path, shop: Path) -> Callable[..., None]:
    """Write a session of Claude Code: a request, and the shell commands that the agent ran."""
    logs = tmp_path / "logs"
    logs.mkdir()

    def write(session: str, day: int, request: str, commands: Sequence[str], failed: str = "") -> None:
        said: list[tuple[str, Any]] = [("user", request)]
        for number, command in enumerate(commands):
            call = {"type": "tool_use", "id": f"t{number}", "name": "Bash", "input": {"command": command}}
            result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": "ok"}
            said += [
                ("assistant", [call]),
                ("user", [result | ({"is_error": True} if command == failed else {})]),
            ]
        said.append(("assistant", "All of it is done."))
        parent = None
        with (logs / f"{session}.jsonl").open("w") as log:
            for number, (role, content) in enumerate(said):
                uuid = f"{session}-{number}"
                at = f"2026-03-{day:02}T10:{number:02}:00.000Z"
                record = {"parentUuid": parent, "isSidechain": False, "cwd": str(shop), "sessionId": session}
                record |= {"type": role, "message": {"role": role, "content": content}}
                log.write(json.dumps(record | {"uuid": uuid, "timestamp": at}) + "\n")
                parent = uuid

    return write


@pytest.fixture
def shipped(cli: Any, talk: Callable[..., None], tmp_path: Path) -> None:
    """Ten sessions, of which four ship the crane service alike."""
    asked = ("ship the crane service to staging", "please ship crane to staging again", "ship crane, staging")
    asked += ("ship the crane fix to staging",)
    for number, request in enumerate(asked):
        version = SHIP[1].replace("crane", f"crane:{number}")
        talk(f"ship{number}", 2 + 3 * number, request, (SHIP[0], "ls -l dist", version, *SHIP[2:]))
    for number, (request, commands) in enumerate(OTHERS):
        talk(f"other{number}", 3 + number, request, commands)
    assert cli("sync", tmp_path / "logs").code == 0


def test_the_procedure_of_four_sessions_is_listed_with_its_evidence_and_nothing_else(cli, shipped) -> None:
    (skill,) = cli("skills", "--json").json["skills"]
    assert set(skill["name"].split("-")) == {"ship", "crane", "staging"}
    assert [step["command"] for step in skill["steps"]] == [
        SHIP[0],
        "docker build -t crane:3 .",
        *SHIP[2:],
    ]
    assert [one["session"] for one in skill["sessions"]] == ["ship0", "ship1", "ship2", "ship3"]
    assert [one["date"] for one in skill["sessions"]] == [
        "2026-03-02",
        "2026-03-05",
        "2026-03-08",
        "2026-03-11",
    ]
    listed = cli("skills").out
    assert skill["name"] in listed
    assert "4 sessions" in listed
    assert "2026-03-11" in listed


def test_a_shown_skill_quotes_requests_and_commands_in_the_published_format(cli, shipped) -> None:
    (skill,) = cli("skills", "--json").json["skills"]
    text = cli("skills", "show", skill["name"]).out
    head, body = re.fullmatch(r"---\n(.*?)\n---\n(.*)", text, re.S).groups()  # type: ignore[union-attr]
    name, description = (line.partition(": ")[2] for line in head.split("\n"))
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name)
    assert len(name) <= 64
    assert 0 < len(json.loads(description)) <= 1024
    assert "<" not in description
    assert "ship the crane fix to staging" in body
    assert re.findall(r"^\d+\. `(.*)`$", body, re.M) == [SHIP[0], "docker build -t crane:3 .", *SHIP[2:]]
    assert "`docker build -t crane:2 .`" in body  # what varied is shown as such
    assert all(f"ship{number}" in body for number in range(4))


def test_long_requests_tags_and_backticks_stay_within_the_published_format(cli, talk, tmp_path: Path) -> None:
    commands = (*SHIP[:3], "make notes TITLE='`now`'")
    for number in range(5):
        request = f"ship the crane <b>{number}</b> " if number == 4 else f"ship the crane {number} "
        talk(f"s{number}", 2 + number, request + f"{number}字" * 900, commands)
    cli("sync", tmp_path / "logs")
    (skill,) = cli("skills", "--json").json["skills"]
    text = cli("skills", "show", skill["name"], "--json").json["text"]
    head = yaml.safe_load(text.split("---\n")[1])
    assert set(head) == {"name", "description"}
    assert 200 < len(head["description"]) <= 1024
    assert "<" not in head["description"]
    assert "4. `` make notes TITLE='`now`' ``" in text


def test_an_edited_file_is_replaced_after_a_yes_to_its_difference(cli, terminal, shipped, shop: Path) -> None:
    (skill,) = cli("skills", "--json").json["skills"]
    path = shop / ".claude" / "skills" / skill["name"] / "SKILL.md"
    path.parent.mkdir(parents=True)
    path.write_text("# My own\n")
    terminal()
    cli.patch.setattr("click.termui.visible_prompt_func", lambda _="": "n")
    assert cli("skills", "write", skill["name"]).code == 130
    assert path.read_text() == "# My own\n"
    cli.patch.setattr("click.termui.visible_prompt_func", lambda _="": "y")
    done = cli("skills", "write", skill["name"])
    assert done.code == 0
    assert "-# My own" in done.out
    assert "make wheel" in path.read_text()


def test_two_sessions_or_one_conversation_are_no_skill(cli, talk, tmp_path: Path) -> None:
    for number in range(2):
        talk(f"ship{number}", 2 + number, "ship the crane to staging", SHIP)
    talk("ship1~abcd1234", 3, "ship the crane to staging", SHIP)
    cli("sync", tmp_path / "logs")
    assert cli("skills", "--json").json["skills"] == []
    assert "three sessions" in cli("skills").out


def test_commands_that_failed_are_no_steps(cli, talk, tmp_path: Path) -> None:
    commands = (*SHIP[:2], "docker login", *SHIP[2:])
    for number in range(3):
        talk(f"ship{number}", 2 + number, "ship the crane to staging", commands, "docker login")
    cli("sync", tmp_path / "logs")
    (skill,) = cli("skills", "--json").json["skills"]
    assert [step["command"] for step in skill["steps"]] == list(SHIP)


def test_commands_that_the_agent_shows_in_its_answers_count_as_well(cli, shop: Path, tmp_path: Path) -> None:
    log = tmp_path / "talks.jsonl"
    with log.open("w") as out:
        for number in range(3):
            said = "\n".join(["```bash", *SHIP, "```"])
            for role, content in (("user", "ship the crane to staging"), ("assistant", said)):
                turn = {"role": role, "content": content, "session": f"s{number}", "cwd": str(shop)}
                out.write(json.dumps(turn | {"time": f"2026-03-0{number + 1}T10:00:00Z"}) + "\n")
    cli("sync", log)
    (skill,) = cli("skills", "--json").json["skills"]
    assert [step["command"] for step in skill["steps"]] == list(SHIP)


def test_requests_in_another_language_name_a_skill_as_well(cli, talk, tmp_path: Path) -> None:
    for number in range(3):
        talk(f"s{number}", 2 + number, f"Erzeuge die Übersicht für Monat {number}", SHIP)
    cli("sync", tmp_path / "logs")
    (skill,) = cli("skills", "--json").json["skills"]
    assert {"erzeuge", "ubersicht"} <= set(skill["name"].split("-"))


def test_secrets_in_commands_are_replaced(cli, talk, tmp_path: Path) -> None:
    secret = "ghp_" + "a1B2" * 9
    commands = (*SHIP[:3], f"curl -H 'Authorization: Bearer {secret}' https://x.test")
    for number in range(3):
        talk(f"ship{number}", 2 + number, "ship the crane to staging", commands)
    cli("sync", tmp_path / "logs")
    (skill,) = cli("skills", "--json").json["skills"]
    assert len(skill["steps"]) == 4
    assert secret not in cli("skills", "show", skill["name"]).out


def written(shop: Path) -> list[Path]:
    return sorted(path for path in shop.rglob("*") if path.is_file() and ".git" not in path.parts)


def test_nothing_is_written_without_a_yes(cli, shipped, shop: Path) -> None:
    (skill,) = cli("skills", "--json").json["skills"]
    refused = cli("skills", "write", skill["name"], stdin="")
    assert refused.code != 0
    assert "+1. `make wheel`" in refused.out
    assert "Nothing was written" in refused.err
    assert written(shop) == []


def test_a_skill_is_written_into_the_projects_folder_after_its_diff(cli, shipped, shop: Path) -> None:
    (skill,) = cli("skills", "--json").json["skills"]
    done = cli("skills", "write", skill["name"], "--yes")
    path = shop / ".claude" / "skills" / skill["name"] / "SKILL.md"
    assert done.code == 0
    assert "+1. `make wheel`" in done.out
    assert f"undo: delete {path}" in done.out
    assert path.read_text() == cli("skills", "show", skill["name"]).out
    again = cli("skills", "write", skill["name"], "--yes")
    assert again.code == 0
    assert "up to date" in again.out


def test_a_skill_that_nobody_edited_is_renewed_and_an_edited_one_is_not_by_yes_alone(
    cli, shipped, talk, shop: Path, tmp_path: Path
) -> None:
    (skill,) = cli("skills", "--json").json["skills"]
    cli("skills", "write", skill["name"], "--yes")
    path = shop / ".claude" / "skills" / skill["name"] / "SKILL.md"
    talk("ship9", 20, "ship the crane to staging", SHIP)
    cli("sync", tmp_path / "logs")
    assert cli("skills", "write", skill["name"], "--yes").code == 0
    assert "ship9" in path.read_text()
    edited = path.read_text().replace("make wheel", "make wheel VERBOSE=1")
    path.write_text(edited)
    refused = cli("skills", "write", skill["name"], "--yes")
    assert refused.code != 0
    assert "-1. `make wheel VERBOSE=1`" in refused.out
    assert "edited" in refused.err
    assert path.read_text() == edited


def test_an_unknown_skill_names_the_known_ones(cli, shipped) -> None:
    (skill,) = cli("skills", "--json").json["skills"]
    for words in (("show", "../../etc"), ("write", "nope", "--yes")):
        missing = cli("skills", *words)
        assert missing.code != 0
        assert skill["name"] in missing.err


def test_a_skill_of_another_project_needs_a_folder(cli, shipped, tmp_path: Path, monkeypatch) -> None:
    (skill,) = cli("skills", "--json").json["skills"]
    other = tmp_path / "ledger"
    other.mkdir()
    monkeypatch.chdir(other)
    refused = cli("skills", "write", skill["name"], "--yes")
    assert refused.code != 0
    assert "--to" in refused.err
    assert written(other) == []
    assert cli("skills", "write", skill["name"], "--yes", "--to", other / "skills").code == 0
    assert [path.name for path in written(other)] == ["SKILL.md"]


def codex(session: str, cwd: str, day: int, commands: Sequence[str]) -> list[dict[str, Any]]:
    def spoken(role: str, kind: str, text: str) -> dict[str, Any]:
        return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}

    rows: list[tuple[str, dict[str, Any]]] = [
        ("session_meta", {"id": session, "cwd": cwd, "originator": "codex_cli_rs", "cli_version": "0.77.0"}),
        ("response_item", spoken("user", "input_text", "ship the crane")),
    ]
    for number, command in enumerate((*commands, "docker logout")):
        call = {"type": "function_call", "name": "exec_command", "call_id": f"c{number}"}
        code = int(command == "docker logout")
        output = {"type": "function_call_output", "call_id": f"c{number}"}
        rows += [
            ("response_item", call | {"arguments": json.dumps({"cmd": command})}),
            ("response_item", output | {"output": f"Process exited with code {code}\nOutput:\nnone"}),
        ]
    rows.append(("response_item", spoken("assistant", "output_text", "It is shipped.")))
    return [
        {"timestamp": f"2026-03-{day:02}T10:{number:02}:00.000Z", "type": kind, "payload": payload}
        for number, (kind, payload) in enumerate(rows)
    ]


def pi(session: str, cwd: str, day: int, commands: Sequence[str]) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [{"role": "user", "content": "ship the crane"}]
    for number, command in enumerate((*commands, "docker logout")):
        call = {"type": "toolCall", "id": f"c{number}", "name": "bash", "arguments": {"command": command}}
        result = {"role": "toolResult", "toolCallId": f"c{number}", "toolName": "bash", "content": []}
        messages += [
            {"role": "assistant", "content": [call]},
            result | {"isError": command == "docker logout"},
        ]
    messages.append({"role": "assistant", "content": [{"type": "text", "text": "It is shipped."}]})
    at = f"2026-03-{day:02}T10:00:00.000Z"
    names = [f"{session}-{number}" for number in range(len(messages))]
    rows = [{"type": "session", "version": 3, "id": session, "timestamp": at, "cwd": cwd}]
    return rows + [
        {"type": "message", "id": name, "parentId": above, "timestamp": at, "message": message}
        for name, above, message in zip(names, [None, *names], messages, strict=False)
    ]


def gemini(session: str, cwd: str, day: int, commands: Sequence[str]) -> list[dict[str, Any]]:
    at = f"2026-03-{day:02}T10:00:00.000Z"
    calls = [
        {"id": f"c{number}", "name": "run_shell_command", "args": {"command": command}}
        | {"status": "error" if command == "docker logout" else "success"}
        for number, command in enumerate((*commands, "docker logout"))
    ]
    head = {"sessionId": session, "projectHash": "ab12", "startTime": at, "lastUpdated": at, "kind": "main"}
    return [
        head | {"directories": [cwd]},
        {"id": f"{session}-g1", "timestamp": at, "type": "user", "content": "ship the crane"},
        {"id": f"{session}-g2", "timestamp": at, "type": "gemini", "content": "", "toolCalls": calls[:2]},
        {"id": f"{session}-g2", "timestamp": at, "type": "gemini", "content": "", "toolCalls": calls},
        {"id": f"{session}-g3", "timestamp": at, "type": "gemini", "content": "It is shipped."},
    ]


@pytest.mark.parametrize(
    ("path", "log"),
    [("rollout-{}.jsonl", codex), ("{}.jsonl", pi), ("tmp/shop/chats/session-{}.jsonl", gemini)],
)
def test_commands_are_read_from_the_logs_of_other_agents(
    cli, shop: Path, tmp_path: Path, path: str, log: Callable[..., list[dict[str, Any]]]
) -> None:
    for number in range(3):
        file = tmp_path / "logs" / path.format(number)
        file.parent.mkdir(parents=True, exist_ok=True)
        rows = log(f"0000000{number}-aaaa-4bbb-8ccc-000000000002", str(shop), number + 2, SHIP)
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert cli("sync", tmp_path / "logs").code == 0
    (skill,) = cli("skills", "--json").json["skills"]
    assert [step["command"] for step in skill["steps"]] == list(SHIP)
