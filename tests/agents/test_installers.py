"""Six things that hold for every agent: what was there stays, ours comes once, and goes without a trace."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import stat
import subprocess
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from installing import (
    GOLDEN,
    GROUPS,
    NAMES,
    PLAIN,
    PROJECTS,
    configuration,
    configured,
    install,
    lay,
    parts,
    tree,
    uninstall,
)

from scrubjay.agents import base, installation, json_edit, mcp_clients
from scrubjay.agents.base import AGENTS, Home, Options, find_agent
from scrubjay.errors import InputError

GEMINI = {"GEMINI_API_KEY": "none", "GEMINI_CLI_TRUST_WORKSPACE": "true"}
"""Without which Gemini CLI asks before it begins."""


def lines(content: bytes) -> set[bytes]:
    """The lines of a document, without commas and comments that only stand where they stand."""
    return {line.strip().removeprefix(b"/* none yet */ ").rstrip(b",") for line in content.splitlines()}


def filled(value: Any) -> Any:
    """A value without the lists and objects in it that are empty: one that was empty goes with ours."""
    if isinstance(value, dict):
        return {name: inner for name, each in value.items() if (inner := filled(each)) not in ({}, [])}
    return [filled(each) for each in value] if isinstance(value, list) else value


@pytest.mark.parametrize("name", NAMES)
def test_foreign_entries_comments_and_line_ends_stay_as_the_golden_files_say(name: str, home: Home) -> None:
    before = tree(GOLDEN / name / "before")
    lay(before, home.root)
    install(name, home)
    assert configured(home.root) == tree(GOLDEN / name / "after")
    # The golden settings.json of Claude Code has comments, which it does not read.
    hooks = name != "claude-code"
    assert find_agent(name).installed_parts(home) == parts(name, there=True, hooks=hooks)
    uninstall(name, home)
    assert tree(home.root) == before
    assert find_agent(name).installed_parts(home) == parts(name, there=False, hooks=False)


@pytest.mark.parametrize("name", NAMES)
def test_a_second_installation_changes_nothing(name: str, home: Home) -> None:
    install(name, home)
    assert installation.plan_install(find_agent(name), home, Options()).changes == ()
    moved = replace(home, command=("/elsewhere/my scrubjay/bin/scrubjay",))
    again = install(name, moved)
    assert again.changes
    assert not any(
        b"/opt/scrubjay/" in content for content in tree(home.root).values() if content != "folder"
    )
    uninstall(name, moved)
    assert tree(home.root) == {}


@pytest.mark.parametrize("name", NAMES)
def test_where_nothing_was_nothing_is_left(name: str, home: Home) -> None:
    install(name, home)
    assert tree(home.root)
    uninstall(name, home)
    assert tree(home.root) == {}
    assert [path.name for path in (home.data / "agents").iterdir()] == ["lock"]


@pytest.mark.parametrize("name", NAMES)
def test_what_others_change_in_between_survives_the_uninstallation(name: str, home: Home) -> None:
    before = tree(GOLDEN / name / "before")
    lay(before, home.root)
    install(name, home)
    for path in home.root.rglob("*"):
        if path.suffix == ".json":
            path.write_bytes(json_edit.put_value(path.read_bytes(), ("later",), [1], path))
        elif path.suffix == ".toml":
            path.write_bytes(path.read_bytes() + b"\n[later]\na = 1\n")
        elif path.suffix == ".yaml":
            path.write_bytes(path.read_bytes() + b"later: [1]\n")
        elif path.name in ("CLAUDE.md", "AGENTS.md"):
            path.write_bytes(path.read_bytes() + b"\nLater.\n")
    uninstall(name, home)
    after = tree(home.root)
    assert not any(b"scrubjay" in content for content in after.values() if isinstance(content, bytes))
    for path, content in before.items():
        found = after[path]
        if path.endswith(".json"):
            assert isinstance(content, bytes)
            assert isinstance(found, bytes)
            if content.count(b"\n") > 2:
                assert lines(found) >= lines(content) - {b'"Stop": []', b'"AfterAgent": []'}
            wanted = {**json_edit.parse_json(content, Path(path)), "later": [1]}
            assert filled(json_edit.parse_json(found, Path(path))) == filled(wanted)
        elif path.endswith(".toml"):
            assert isinstance(found, bytes)
            assert tomllib.loads(found.decode()).pop("later") == {"a": 1}
            assert found.startswith(content)  # type: ignore[arg-type]
        elif path.endswith(".yaml"):
            assert isinstance(content, bytes)
            assert found == content + b"later: [1]\n"


@pytest.mark.parametrize("name", NAMES)
def test_a_link_stays_a_link_and_what_it_leads_to_changes(name: str, home: Home) -> None:
    lay(tree(GOLDEN / name / "before"), home.root)
    kept = home.root / "dotfiles"
    kept.mkdir()
    for path in [each for kind in ("json", "toml", "yaml") for each in home.root.rglob(f"*.{kind}")]:
        (kept / path.name.lstrip(".")).write_bytes(path.read_bytes())
        path.unlink()
        path.symlink_to(kept / path.name.lstrip("."))
    before = tree(home.root)
    install(name, home)
    assert find_agent(name).installed_parts(home)["mcp"]
    after = tree(home.root)
    assert {path for path, content in after.items() if str(content).startswith("->")} == {
        path for path, content in before.items() if str(content).startswith("->")
    }
    uninstall(name, home)
    assert tree(home.root) == before


@pytest.mark.parametrize("name", NAMES)
def test_a_file_that_is_read_only_keeps_every_file_as_it_was(name: str, home: Home) -> None:
    lay(tree(GOLDEN / name / "before"), home.root)
    held = configuration(home.root)
    held.chmod(0o444)
    before = tree(home.root)
    with pytest.raises(InputError, match=r"is read-only.*Nothing was changed"):
        install(name, home)
    assert tree(home.root) == before
    assert not (home.data / "agents" / f"{name}.json").exists()


@pytest.mark.parametrize("name", NAMES)
def test_a_broken_file_is_named_with_its_place_and_nothing_is_changed(name: str, home: Home) -> None:
    lay(tree(GOLDEN / name / "before"), home.root)
    broken = configuration(home.root)
    broken.write_bytes(b'{\n  "hooks": {\n')
    before = tree(home.root)
    for verb in (install, uninstall):
        with pytest.raises(InputError) as refused:
            verb(name, home)
        assert f"{broken}:3:1" in str(refused.value)
        assert refused.value.hint
    assert tree(home.root) == before


@pytest.mark.parametrize("name", NAMES)
def test_a_file_that_changes_while_one_thinks_it_over_is_not_overwritten(name: str, home: Home) -> None:
    lay(tree(GOLDEN / name / "before"), home.root)
    planned = installation.plan_install(find_agent(name), home, Options())
    edited = planned.changes[-1].path
    edited.parent.mkdir(exist_ok=True, parents=True)
    edited.write_bytes(b"in the meantime")
    before = tree(home.root)
    with pytest.raises(InputError, match="changed meanwhile"):
        installation.apply_plan(planned, home)
    assert tree(home.root) == before


@pytest.mark.parametrize("name", NAMES)
def test_what_was_written_is_put_back_when_a_later_file_cannot_be(name: str, home: Home) -> None:
    lay(tree(GOLDEN / name / "before"), home.root)
    planned = installation.plan_install(find_agent(name), home, Options())
    # The place of the temporary file beside the last one is taken by a folder.
    last = planned.changes[-1].path
    (last.parent / f".{last.name}.scrubjay-{os.getpid()}" / "x").mkdir(parents=True)
    before = tree(home.root)
    with pytest.raises(InputError, match=r"cannot be written.*Nothing was changed"):
        installation.apply_plan(planned, home)
    assert tree(home.root) == before
    assert not planned.record_path.exists()


@pytest.mark.parametrize("name", NAMES)
def test_rights_are_kept_and_new_configuration_is_the_owners_alone(name: str, home: Home) -> None:
    lay(tree(GOLDEN / name / "before"), home.root)
    path = configuration(home.root)
    path.chmod(0o640)
    install(name, home)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    record = home.data / "agents" / f"{name}.json"
    assert stat.S_IMODE(record.stat().st_mode) == 0o600
    bare = replace(home, root=home.root / "bare", data=home.data / "bare")
    made = install(name, bare)
    written = [
        bare.root / path for path in configured(bare.root) if path.endswith((".json", ".toml", ".yaml"))
    ]
    assert made.changes
    assert {stat.S_IMODE(path.stat().st_mode) for path in written} == {0o600}


@pytest.mark.parametrize("name", NAMES)
def test_without_hooks_nothing_is_called_and_earlier_hooks_go(name: str, home: Home) -> None:
    install(name, home)
    install(name, home, Options(hooks=False))
    assert find_agent(name).installed_parts(home) == parts(name, there=True, hooks=False)
    after = configured(home.root).values()
    assert not any(b" hook " in content for content in after if isinstance(content, bytes))
    assert "by itself" in find_agent(name).install_notes(home, Options(hooks=False))[0]
    uninstall(name, home)
    assert tree(home.root) == {}


@pytest.mark.parametrize("name", PROJECTS)
def test_a_projects_installation_touches_the_project_alone(name: str, home: Home, tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    options = Options(project=project)
    install(name, home, options)
    assert tree(home.root) == {}
    assert b"/opt/scrubjay/bin/scrubjay" in b"".join(
        content for content in tree(project).values() if isinstance(content, bytes)
    )
    install(name, home)
    uninstall(name, home, options)
    assert tree(project) == {}
    assert find_agent(name).installed_parts(home)["mcp"]


@pytest.mark.parametrize("name", NAMES)
def test_a_damaged_record_is_named_and_without_one_ours_is_cut_out(name: str, home: Home) -> None:
    before = tree(GOLDEN / name / "before")
    lay(before, home.root)
    install(name, home)
    record = home.data / "agents" / f"{name}.json"
    record.write_text('{"version": 9}')
    with pytest.raises(InputError, match="is damaged"):
        uninstall(name, home)
    record.unlink()
    uninstall(name, home)
    after = tree(home.root)
    for path, content in before.items():
        found = after[path]
        if path.endswith(".json"):
            assert isinstance(content, bytes)
            assert isinstance(found, bytes)
            parsed = (json_edit.parse_json(each, Path(path)) for each in (found, content))
            assert filled(next(parsed)) == filled(next(parsed))
        elif isinstance(content, bytes):
            assert found in (content, content + b"\n")


@pytest.mark.parametrize("name", GROUPS)
def test_a_hook_is_known_by_its_command_also_among_others_hooks(name: str, home: Home) -> None:
    install(name, home)
    (path,) = (each for each in home.root.rglob("*.json") if "hooks" in json.loads(each.read_text()))
    found = json.loads(path.read_text())
    event = next(event for event in found["hooks"] if event in ("Stop", "AfterAgent"))
    found["hooks"][event][0]["hooks"].append({"type": "command", "command": "scrubjay-like hook"})
    path.write_text(json.dumps(found))
    uninstall(name, home)
    assert json.loads(path.read_text()) == {
        "hooks": {event: [{"hooks": [{"type": "command", "command": "scrubjay-like hook"}]}]}
    }


def test_a_person_keeps_what_they_added_to_our_entry_and_to_our_skill(home: Home) -> None:
    install("claude-code", home)
    path = home.root / ".claude.json"
    path.write_bytes(
        json_edit.put_value(path.read_bytes(), ("mcpServers", "scrubjay", "env"), {"A": "b"}, path)
    )
    skill = home.root / ".claude" / "skills" / "scrubjay" / "SKILL.md"
    skill.write_text("My own way.\n")
    uninstall("claude-code", home)
    assert skill.read_text() == "My own way.\n"
    assert install("claude-code", home).left == (skill,)
    assert skill.read_text() == "My own way.\n"
    uninstall("claude-code", home)
    assert skill.read_text() == "My own way.\n"


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("claude-code", ".claude/skills/scrubjay/SKILL.md"),
        ("cursor", ".cursor/skills/scrubjay/SKILL.md"),
        ("vscode", ".copilot/instructions/scrubjay.instructions.md"),
        ("opencode", ".config/opencode/scrubjay/instructions.md"),
    ],
)
def test_a_text_that_a_person_rewrote_survives_every_install(
    name: str, path: str, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = home.root / path
    install(name, home)
    ours = file.read_text()
    # A newer version replaces ours.
    monkeypatch.setattr(base, "skill", lambda: "Newer.\n")
    monkeypatch.setattr(base, "instructions", lambda: "Newer.")
    if name == "vscode":
        monkeypatch.setattr(mcp_clients, "VSCODE", replace(mcp_clients.VSCODE, text=lambda: "Newer.\n"))
    install(name, home)
    assert file.read_text() != ours
    for mine in ("Always ask me first.\n", "Always ask me first.\nMore of mine.\n"):
        file.write_text(mine)
        assert install(name, home).left == (file,)
        assert file.read_text() == mine
    uninstall(name, home)
    assert file.read_text() == mine


@pytest.mark.parametrize(
    ("name", "path", "key", "entry"),
    [
        (
            "claude-code",
            ".claude.json",
            "mcpServers",
            {"type": "http", "url": "https://x.org/mcp", "headers": {}},
        ),
        ("gemini", ".gemini/settings.json", "mcpServers", {"httpUrl": "https://x.org/mcp"}),
        ("opencode", ".config/opencode/opencode.json", "mcp", {"type": "remote", "url": "https://x.org/mcp"}),
        (
            "cursor",
            ".cursor/mcp.json",
            "mcpServers",
            {"command": "scrubjay", "args": ["mcp", "--store", "a.db"]},
        ),
        ("claude-code", ".claude.json", "mcpServers", {"command": "ssh", "args": ["box", "scrubjay", "mcp"]}),
        ("hermes", ".hermes/config.yaml", "mcp_servers", {"url": "https://x.org/mcp"}),
    ],
)
def test_a_server_entry_that_a_person_wrote_stays_through_install_and_uninstall(
    name: str, path: str, key: str, entry: dict[str, Any], home: Home
) -> None:
    file = home.root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    allowed = {"mcp": {"allowed": ["scrubjay"]}} if name == "gemini" else {}
    mine = {key: {"scrubjay": entry}, **allowed}
    file.write_text(json.dumps(mine))
    for options in (Options(), Options(hooks=False)):
        (told,) = (note for note in find_agent(name).install_notes(home, options) if "your own" in note)
        assert f"{file}: {key}.scrubjay" in told
    install(name, home)
    found = json.loads(file.read_text())
    assert found[key] == {"scrubjay": entry}
    file.write_text(json.dumps(found | {"later": 1}))
    uninstall(name, home)
    after = json.loads(file.read_text())
    assert filled({**after, key: after[key]}) == filled({**mine, "later": 1})


def test_comments_beside_an_entry_that_the_installer_did_not_write_stay(home: Home) -> None:
    file = home.root / ".codex" / "config.toml"
    file.parent.mkdir()
    text = '[mcp_servers.scrubjay]\ncommand = "/opt/scrubjay"\n\n# about b\n[b]\ny = 1\n'
    file.write_text(text)
    install("codex", home)
    file.write_text(file.read_text() + "z = 1\n")
    uninstall("codex", home)
    assert file.read_text() == text + "z = 1\n"


@pytest.mark.parametrize("text", [None, "# All\n"])
@pytest.mark.parametrize("edited", [False, True])
def test_agents_that_read_one_file_keep_it_until_the_last_is_uninstalled(
    text: str | None, edited: bool, home: Home
) -> None:
    shared = home.root / "AGENTS.md"
    if text is not None:
        shared.write_text(text)
    for path in (".claude/CLAUDE.md", ".codex/AGENTS.md"):
        (home.root / path).parent.mkdir()
        (home.root / path).symlink_to(shared)
    before = tree(home.root)
    install("claude-code", home)
    install("codex", home)
    if edited:
        shared.write_text(shared.read_text() + "Later.\n")
    uninstall("claude-code", home)
    assert find_agent("codex").installed_parts(home)["instructions"]
    uninstall("codex", home)
    assert tree(home.root) == (
        before if not edited else {**before, "AGENTS.md": f"{text or ''}Later.\n".encode()}
    )


def test_agents_that_read_one_file_are_uninstalled_together(home: Home) -> None:
    (home.root / ".cursor").mkdir()
    (home.root / ".codeium" / "windsurf").mkdir(parents=True)
    (home.root / ".codeium" / "windsurf" / "mcp_config.json").symlink_to(home.root / ".cursor" / "mcp.json")
    both = [find_agent("cursor"), find_agent("windsurf")]
    for agent in both:
        install(agent.name, home)
    shown = [installation.plan_uninstall(agent, home, Options(), both) for agent in both]
    assert all(plan.changes for plan in shown)
    for agent in both:
        installation.apply_plan(installation.plan_uninstall(agent, home, Options(), both), home)
    assert not (home.root / ".cursor" / "mcp.json").exists()


@pytest.mark.parametrize("name", [*GROUPS, "cursor"])
@pytest.mark.parametrize(
    "mine",
    [
        "nice -n 19 {} || true",
        "{}; ~/bin/notify.sh",
        "{} || ~/bin/alarm",
        "[ -e off ] || {}",
        "X=1 {}",
        "{} 'torn",
    ],
)
def test_a_hook_that_a_person_extended_stays_and_does_not_run_twice(name: str, mine: str, home: Home) -> None:
    install(name, home)
    (path,) = (each for each in home.root.rglob("*.json") if "hooks" in json.loads(each.read_text()))
    event, ours = {"codex": "Stop", "claude-code": "Stop", "gemini": "AfterAgent"}.get(name), "stop"
    event, ours = (event, ours) if event else ("sessionStart", "session-start")
    command = mine.format(home.hook(name, ours).removesuffix(" || true"))
    found = json.loads(path.read_text())
    (hook,) = found["hooks"][event] if name == "cursor" else found["hooks"][event][0]["hooks"]
    hook["command"] = command
    path.write_text(json.dumps(found))
    assert any(f"hook of {event} " in note for note in find_agent(name).install_notes(home, Options()))
    install(name, home)
    assert json.loads(path.read_text())["hooks"][event] == found["hooks"][event]
    assert find_agent(name).installed_parts(home)["hooks"]
    uninstall(name, home)
    assert json.loads(path.read_text())["hooks"] == {event: found["hooks"][event]}


@pytest.mark.parametrize("path", [".claude/CLAUDE.md", ".codex/AGENTS.md", ".gemini/GEMINI.md"])
@pytest.mark.parametrize("lost", [base.BLOCK_BEGIN, base.BLOCK_END])
def test_a_mark_without_its_other_half_is_named_and_every_rule_stays(
    path: str, lost: bytes, home: Home
) -> None:
    name = {".claude": "claude-code", ".codex": "codex", ".gemini": "gemini"}[path.partition("/")[0]]
    file = home.root / path
    install(name, home)
    file.write_bytes(
        b"# Mine\n" + file.read_bytes().replace(lost + b"\n", b"") + b"\n## Rules\nNever push to main.\n"
    )
    # What an earlier scrubjay has put below: its end must not be taken for that of the first.
    for below in (b"", b"\n<!-- scrubjay:begin -->\nUse it.\n<!-- scrubjay:end -->\nLater.\n"):
        file.write_bytes(before := file.read_bytes() + below)
        line = before.splitlines().index(base.BLOCK_END if lost == base.BLOCK_BEGIN else base.BLOCK_BEGIN) + 1
        for verb in (install, uninstall):
            with pytest.raises(InputError) as refused:
                verb(name, home)
            assert f"{file}:{line}: " in str(refused.value)
            assert refused.value.hint
            assert file.read_bytes() == before


@pytest.mark.parametrize(
    "text",
    [
        "# Mine\nNever edit below `<!-- scrubjay:begin -->`.\n\n## Deploy\nAsk Ann first.\n",
        "What stands between `<!-- scrubjay:begin -->` and `<!-- scrubjay:end -->` is a program's.\n",
        "> <!-- scrubjay:begin -->\n> quoted\n> <!-- scrubjay:end -->\n",
    ],
)
def test_a_sentence_that_names_the_marks_stays_as_it_was(text: str, home: Home) -> None:
    file = home.root / ".claude" / "CLAUDE.md"
    file.parent.mkdir()
    file.write_text(text)
    install("claude-code", home)
    assert file.read_text().startswith(text)
    file.write_text(file.read_text() + "Later.\n")
    uninstall("claude-code", home)
    assert file.read_text() == f"{text}Later.\n"


def test_folders_that_the_environment_names_are_used(home: Home, tmp_path: Path) -> None:
    named = {"CLAUDE_CONFIG_DIR": str(tmp_path / "c"), "CODEX_HOME": "~/x", "PATH": ""}
    elsewhere = replace(home, env=named)
    install("claude-code", elsewhere)
    install("codex", elsewhere)
    assert (tmp_path / "c" / ".claude.json").is_file()
    assert (tmp_path / "c" / "settings.json").is_file()
    assert (home.root / "x" / "config.toml").is_file()
    assert {path.name for path in home.root.iterdir()} == {"x"}
    # With the variable gone, the record still knows where it was.
    (tmp_path / "c" / "CLAUDE.md").write_text("changed")
    assert uninstall("claude-code", home).left == (tmp_path / "c" / "CLAUDE.md",)
    assert not (tmp_path / "c" / ".claude.json").exists()


def test_codex_reads_the_override_where_there_is_one(home: Home) -> None:
    override = home.root / ".codex" / "AGENTS.override.md"
    override.parent.mkdir()
    override.write_text("Mine.\n")
    install("codex", home)
    assert "memory_search" in override.read_text()
    assert not override.with_name("AGENTS.md").exists()


def test_codex_does_not_run_hooks_of_a_person_and_of_a_project_twice(home: Home, tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    install("codex", home)
    install("codex", home, Options(project=project))
    assert not (project / ".codex" / "hooks.json").exists()


def test_an_agent_that_nobody_knows_is_named_with_the_nearest() -> None:
    with pytest.raises(InputError) as refused:
        find_agent("claude-cod")
    assert refused.value.hint == "did you mean claude-code?"
    assert all(find_agent(name).name == name for name in AGENTS)
    assert set(NAMES) <= set(AGENTS)


def test_what_an_agent_always_reads_is_short_and_the_skill_is_not_long() -> None:
    assert len(base.instructions().split()) < 110
    assert len(base.skill().split()) < 400
    first = base.skill().split("---")[1]
    assert len(first) < 400
    assert first.splitlines()[1] == "name: scrubjay"
    for tool in ("search", "get", "thread", "context", "add", "update", "feedback", "forget"):
        assert f"memory_{tool}" in base.skill()


@pytest.mark.parametrize("name", NAMES)
def test_an_installation_that_died_half_way_is_taken_back_whole(name: str, home: Home) -> None:
    before = tree(GOLDEN / name / "before")
    lay(before, home.root)
    planned = installation.plan_install(find_agent(name), home, Options())
    # What `carry_out` does before it writes, and the first of its writes.
    assert planned.record
    installation.save_record(planned.record_path, planned.record)
    installation.write_changes(planned.changes[:1])
    assert tree(home.root) != before
    uninstall(name, home)
    assert tree(home.root) == before
    installation.write_changes(planned.changes[:1])
    install(name, home)
    assert configured(home.root) == tree(GOLDEN / name / "after")


@pytest.mark.parametrize("name", NAMES)
def test_a_file_that_only_ours_was_in_goes_also_when_it_was_touched(name: str, home: Home) -> None:
    made = install(name, home)
    for change in made.changes:
        change.path.write_bytes(change.path.read_bytes() + b"\n\n")
    uninstall(name, home)
    assert [path for path, content in tree(home.root).items() if content != "folder"] == []


@pytest.mark.parametrize("name", NAMES)
def test_a_disk_that_fails_between_two_files_leaves_all_as_they_were(
    name: str, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    lay(tree(GOLDEN / name / "before"), home.root)
    before = tree(home.root)
    whole, renamed = Path.replace, []

    def failing(self: Path, target: Path) -> Path:
        renamed.append(target)
        # The record, the first file, and then no more; what puts back is let through.
        if len(renamed) == 3:
            raise OSError(28, "No space left on device", str(target))
        return whole(self, target)

    monkeypatch.setattr(Path, "replace", failing)
    with pytest.raises(
        InputError, match=r"cannot be written \(No space left on device\). Nothing was changed"
    ):
        install(name, home)
    assert len(renamed) == 4
    assert tree(home.root) == before
    assert not (home.data / "agents" / f"{name}.json").exists()


@pytest.mark.parametrize("name", PLAIN)
@pytest.mark.parametrize("text", ['{\n  // mine\n  "a": 1\n}\n', '{"a": 1,}'])
def test_a_file_that_the_agent_ignores_is_named_before_anything_is_written(
    name: str, text: str, home: Home
) -> None:
    install(name, home)
    (path,) = (each for each in home.root.rglob("*.json") if "hooks" in json.loads(each.read_text()))
    assert not any("ignores" in said for said in find_agent(name).install_notes(home, Options()))
    path.write_text(text)
    (told,) = (said for said in find_agent(name).install_notes(home, Options()) if "ignores" in said)
    assert f"{path}:" in told
    install(name, home)
    assert find_agent(name).installed_parts(home)["hooks"] is False


@pytest.mark.parametrize(
    ("name", "variable", "program", "arguments", "events"),
    [
        ("claude-code", "AGENT_CLAUDE", "claude", ["-p"], {"session-start", "prompt", "session-end"}),
        (
            "codex",
            "AGENT_CODEX",
            "codex",
            ["exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust"],
            {"session-start", "prompt"},
        ),
        ("gemini", "AGENT_GEMINI", "gemini", ["-p"], {"session-start", "prompt"}),
    ],
)
def test_the_client_itself_runs_the_hooks(
    name: str, variable: str, program: str, arguments: list[str], events: set[str], home: Home
) -> None:
    """Runs where the variable names the client. It has no account here: hooks come before a model is asked."""
    client = os.environ.get(variable)
    if not client:
        pytest.skip(f"{variable} names no {program}")
    command = home.root / "scrubjay"
    # A server that dies: Gemini CLI waits for one that says nothing.
    command.write_text(
        f'#!/bin/sh\n[ "$1" = hook ] || exit 2\ncat >/dev/null\ntouch "{home.root}/ran-$3"\nexit 2\n'
    )
    command.chmod(0o755)
    install(name, replace(home, command=(str(command),)))
    ran = {home.root / f"ran-{event}" for event in events}
    process = subprocess.Popen(
        [client, *arguments, "hello"],
        cwd=home.root,
        env={"PATH": os.environ["PATH"], "HOME": str(home.root), **GEMINI},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        # Claude Code ends by itself without an account; Codex waits for the network.
        for _ in range(60):
            if process.poll() is not None or all(path.exists() for path in ran):
                break
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=0.5)
    finally:
        # All of it: what npm installs starts the program itself as a child.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    assert {path for path in ran if path.exists()} == ran


def test_gemini_names_its_instructions_as_its_settings_say_and_what_keeps_scrubjay_out(home: Home) -> None:
    folder = home.root / ".gemini"
    folder.mkdir()
    settings = {"mcp": {"excluded": ["scrubjay"]}, "hooksConfig": {"enabled": False}}
    (folder / "settings.json").write_text(json.dumps(settings))
    said = find_agent("gemini").install_notes(home, Options())
    assert ["mcp.excluded" in line for line in said].count(True) == 1
    assert ["hooksConfig.enabled" in line for line in said].count(True) == 1
    (folder / "settings.json").write_text(json.dumps({"context": {"fileName": "TEAM.md"}}))
    project = home.root / "project"
    project.mkdir()
    install("gemini", home)
    install("gemini", home, Options(project=project))
    assert "memory_search" in (folder / "TEAM.md").read_text()
    assert "memory_search" in (project / "TEAM.md").read_text()
    assert not (folder / "GEMINI.md").exists()
    assert b"hook gemini" not in (project / ".gemini" / "settings.json").read_bytes()


def test_gemini_has_a_home_of_its_own_where_one_is_named(home: Home, tmp_path: Path) -> None:
    install("gemini", replace(home, env={"GEMINI_CLI_HOME": str(tmp_path / "g"), "PATH": ""}))
    assert (tmp_path / "g" / ".gemini" / "GEMINI.md").is_file()
    assert tree(home.root) == {}
