"""install and uninstall as a person and a script meet them; the clients' own word where one is there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "agents.md").read_text("utf-8")
SECTIONS = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL))


@pytest.fixture
def home(cli: Any, tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    cli.patch.setenv("HOME", str(folder))
    cli.patch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        cli.patch.delenv(name, raising=False)
    return folder


def files(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_a_script_installs_with_yes_and_takes_it_back(cli: Any, home: Path, tmp_path: Path) -> None:
    done = cli("install", "claude-code", "--yes")
    assert done.code == 0, done.err
    assert files(home) == [
        ".claude.json", ".claude/CLAUDE.md", ".claude/settings.json", ".claude/skills/scrubjay/SKILL.md",
    ]  # fmt: skip
    assert f"stores in  {tmp_path / 'memory.db'} (from environment SCRUBJAY_STORE" in done.out
    assert "captures   Your sessions with Claude Code" in done.out
    assert "pause" in done.out
    assert "undo: scrubjay uninstall claude-code" in done.out
    assert '+    "scrubjay": {' in done.out
    again = cli("install", "claude-code", "--yes")
    assert "nothing to change" in again.out
    assert "Done" not in again.out
    back = cli("uninstall", "claude-code", "-y")
    assert back.code == 0
    assert "Memories are kept" in back.out
    assert files(home) == []


def test_where_nobody_can_answer_the_plan_is_shown_and_nothing_is_written(cli: Any, home: Path) -> None:
    asked = cli("install", "codex", stdin="")
    assert asked.code == 2
    assert "+[mcp_servers.scrubjay]" in asked.out
    assert "Nothing was changed." in asked.err
    assert "hint: add --yes" in asked.err
    assert cli("install", "codex", "--dry-run").code == 0
    assert files(home) == []


def test_a_file_that_the_agent_ignores_is_named_and_nothing_is_installed(cli: Any, home: Path) -> None:
    (home / ".claude").mkdir()
    settings = home / ".claude" / "settings.json"
    settings.write_text('{\n  // mine\n  "model": "opus"\n}\n')
    said = cli("install", "claude-code", "--yes")
    assert said.code == 2
    assert f"{settings}:2:3. Nothing was installed for Claude Code." in said.err
    assert "hint: remove it, then scrubjay install claude-code" in said.err
    assert files(home) == [".claude/settings.json"]
    assert cli("install", "claude-code", "--yes", "--no-hooks").code == 0
    told = cli("doctor", "claude-code").out
    assert f"remove the comment or comma at {settings}:2:3" in told


def test_a_person_is_asked(cli: Any, home: Path, terminal: Callable[[], None]) -> None:
    terminal()
    cli.patch.setattr("click.termui.visible_prompt_func", lambda _="": "n")
    assert cli("install", "codex").code == 130
    assert files(home) == []
    cli.patch.setattr("click.termui.visible_prompt_func", lambda _="": "y")
    assert cli("install", "codex").code == 0
    assert ".codex/config.toml" in files(home)


def test_json_says_what_changed_and_what_is_captured(cli: Any, home: Path) -> None:
    planned = cli("install", "codex", "claude-code", "--dry-run", "--json").json
    assert planned["done"] is False
    assert [each["agent"] for each in planned["agents"]] == ["codex", "claude-code"]
    assert {each["change"] for each in planned["agents"][0]["changes"]} == {"created"}
    assert planned["agents"][0]["captured"]
    assert cli("install", "codex", "--json").json["error"]
    assert cli("install", "codex", "--json", "--yes").json["done"] is True
    assert cli("uninstall", "codex", "--json", "--yes").json["agents"][0]["changes"][0]["change"] == "removed"
    assert files(home) == []


def test_the_list_says_what_is_there_and_what_is_broken(cli: Any, home: Path) -> None:
    cli("install", "codex", "--yes", "--no-hooks")
    (home / ".claude.json").write_text("{")
    (home / ".claude").mkdir()
    said = cli("install", "--list").out
    assert re.search(r"codex +found +installed: mcp, instructions\n", said)
    assert re.search(r"claude-code +found +\S+\.claude\.json:1:2: a name or } belongs here", said)
    rows = {row["agent"]: row for row in cli("install", "--list", "--json").json["agents"]}
    assert rows["codex"]["installed"] == {"mcp": True, "hooks": False, "instructions": True}


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (("install",), "Name the agents to install scrubjay for: claude-code, codex"),
        (("uninstall",), "Name the agents to uninstall scrubjay for"),
        (("install", "codx"), "No agent is called 'codx'"),
        (("install", "codex", "--store", "x.db"), "--store and --user have no effect here"),
    ],
)
def test_a_wrong_call_says_what_would_be_right(
    cli: Any, home: Path, args: tuple[str, ...], told: str
) -> None:
    said = cli(*args)
    assert said.code == 2
    assert told in said.err
    assert "Nothing was changed." in said.err
    assert "hint: " in said.err
    assert files(home) == []


def test_a_project_is_the_current_folder(cli: Any, home: Path, tmp_path: Path) -> None:
    project = tmp_path / "boats"
    project.mkdir()
    cli.patch.chdir(project)
    done = cli("install", "claude-code", "--project", "--yes")
    assert ".mcp.json" in files(project)
    assert files(home) == []
    assert "undo: scrubjay uninstall claude-code --project" in done.out
    cli("uninstall", "claude-code", "--project", "--yes")
    assert files(project) == []


def test_two_agents_may_read_one_file_of_instructions(cli: Any, home: Path) -> None:
    (home / ".claude").mkdir()
    (home / ".codex").mkdir()
    (home / ".codex" / "AGENTS.md").write_text("# Mine\n")
    (home / ".claude" / "CLAUDE.md").symlink_to("../.codex/AGENTS.md")
    done = cli("install", "claude-code", "codex", "--yes")
    assert done.code == 0, done.err
    assert (home / ".claude" / "CLAUDE.md").read_text().count("scrubjay:begin") == 1
    assert cli("uninstall", "claude-code", "codex", "--yes").code == 0
    assert files(home) == [".claude/CLAUDE.md", ".codex/AGENTS.md"]
    assert (home / ".claude" / "CLAUDE.md").is_symlink()
    assert (home / ".codex" / "AGENTS.md").read_text() == "# Mine\n"


def test_two_installations_at_once_leave_one_whole_installation(cli: Any, home: Path) -> None:
    command = [sys.executable, "-m", "scrubjay", "install", "claude-code", "codex", "--yes"]
    env = {**os.environ, **cli.environ, "HOME": str(home)}
    running = [
        subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        for _ in range(3)
    ]
    errors = [process.communicate(timeout=60)[1] for process in running]
    codes = [process.returncode for process in running]
    assert 0 in codes, errors
    assert all(code == 0 or b"changed meanwhile" in error for code, error in zip(codes, errors, strict=True))
    assert "nothing to change" in cli("install", "claude-code", "codex", "--yes").out
    cli("uninstall", "claude-code", "codex", "--yes")
    assert files(home) == []


@pytest.mark.parametrize(
    ("name", "heading"),
    [
        ("claude-code", "Claude Code"),
        ("codex", "Codex"),
        ("gemini", "Gemini CLI"),
        ("opencode", "OpenCode"),
        ("cursor", "Cursor"),
    ],
)
def test_the_commands_of_a_quickstart_do_what_its_section_says(
    cli: Any, home: Path, name: str, heading: str
) -> None:
    cli.patch.setenv("XDG_CONFIG_HOME", str(home / ".config"))
    text = SECTIONS[heading]
    commands = re.findall(r"^\$ scrubjay (install .+)$", text, re.MULTILINE)
    assert commands == [f"install {name}"]
    assert cli(*commands[0].split(), "--yes").code == 0
    assert files(home)
    assert all(f"`~/{path}`" in text for path in files(home))
    assert f"`scrubjay uninstall {name}`" in text
    assert cli("uninstall", name, "--yes").code == 0
    assert files(home) == []


@pytest.mark.skipif(sys.platform == "darwin", reason="VS Code has its folder elsewhere there")
@pytest.mark.parametrize("name", ["vscode", "cline", "zed", "windsurf", "hermes"])
def test_the_section_of_clients_without_hooks_names_their_files_and_offers_no_pause(
    name: str, cli: Any, home: Path
) -> None:
    cli.patch.setenv("XDG_CONFIG_HOME", str(home / ".config"))
    text = SECTIONS["VS Code, Cline, Zed, Windsurf, Hermes"]
    assert f"$ scrubjay install {name}\n" in text
    done = cli("install", name, "--yes")
    assert "Nothing by itself" in done.out
    assert "scrubjay pause" not in done.out
    assert all(f"`~/{path}`" in text for path in files(home))
    assert cli("uninstall", name, "--yes").code == 0
    assert files(home) == []


@pytest.mark.parametrize(
    ("agent", "variable", "program"),
    [
        ("claude-code", "AGENT_CLAUDE", "claude"),
        ("codex", "AGENT_CODEX", "codex"),
        ("gemini", "AGENT_GEMINI", "gemini"),
        ("opencode", "AGENT_OPENCODE", "opencode"),
    ],
)
def test_the_client_itself_lists_the_server(
    cli: Any, home: Path, agent: str, variable: str, program: str
) -> None:
    """Runs where the variable names the client, which gets nothing of the tester's own environment."""
    client = os.environ.get(variable)
    if not client:
        pytest.skip(f"{variable} names no {program}")
    assert cli("install", agent, "--yes").code == 0
    done = subprocess.run(
        [client, "mcp", "list"],
        env={
            **cli.environ,
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
        },
        cwd=home,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert re.search(r"scrubjay.*(?:[Cc]onnected|enabled)", done.stdout + done.stderr), (
        done.stdout + done.stderr
    )
