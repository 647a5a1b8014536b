"""setup as a person and a script meet it: what it finds, shows, does, proves and takes back."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from scripted_model import Model

QUESTION = "how long does the pasta boil?"


@pytest.fixture
def home(cli: Any, tmp_path: Path) -> Path:
    """A home folder with notes, a vault, two repositories and Claude Code; it is the current folder."""
    folder = tmp_path / "home"
    for name, value in {
        "HOME": str(folder), "PATH": os.defpath, "SCRUBJAY_RESIDENT_AUTO": "false",
        "SCRUBJAY_HOOKS_BUDGET_MS": "30000", "GIT_CONFIG_GLOBAL": str(tmp_path / "gitconfig"),
        "XDG_RUNTIME_DIR": str(tmp_path / "run"),
    }.items():  # fmt: skip
        cli.patch.setenv(name, value)
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "OPENCLAW_STATE_DIR", "OPENCLAW_CONFIG_PATH"):
        cli.patch.delenv(name, raising=False)
    (tmp_path / "gitconfig").write_text("[user]\nname = Ann\nemail = ann@example.org\n")
    write(
        folder / "Documents" / "kitchen",
        pasta="Boil the pasta for nine minutes.",
        bread="Bake it hot.",
        tea="Hot.",
    )
    write(folder / "vault", boats="The hull is blue.")
    (folder / "vault" / ".obsidian").mkdir()
    repository(folder / "code" / "mine", "ann@example.org", readme="# Mine\n\nThe port is 8123.")
    repository(folder / "code" / "theirs", "bob@example.org", readme="# Theirs")
    (folder / ".claude").mkdir()
    cli.patch.chdir(folder)
    return folder


def write(folder: Path, **notes: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in notes.items():
        (folder / f"{name}.md").write_text(f"{text}\n")


def repository(folder: Path, email: str, **notes: str) -> None:
    write(folder, **notes)
    git = ["git", "-C", str(folder), "-c", f"user.email={email}", "-c", "user.name=x"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "Begin"]):
        subprocess.run([*git, *words], check=True)


def tree(folder: Path) -> dict[str, bytes]:
    """Every file's bytes, without those of git."""
    paths = (path for path in sorted(folder.rglob("*")) if path.is_file() and ".git" not in path.parts)
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def steps(said: Any, state: str) -> list[str]:
    """What a call with --json says of what is in a state."""
    return [each["name"] for each in said.json["steps"] if each["state"] == state]


def sources(cli: Any) -> list[str]:
    return sorted(each["root"] for each in cli("sources", "--json").json["sources"])


def without_agents(home: Path) -> None:
    """No agent is here, so that nothing is proven and a test is short."""
    (home / ".claude").rmdir()


def test_a_dry_run_shows_in_plain_words_what_would_be_done_and_does_nothing(
    cli: Any, home: Path, tmp_path: Path
) -> None:
    before = tree(tmp_path)
    said = cli("setup", "--dry-run")
    assert said.code == 0, said.err
    assert f"{home}/Documents/kitchen" in said.out
    assert "3 notes" in said.out
    assert f"{home}/vault" in said.out
    assert f"{home}/code/mine" in said.out
    assert "Claude Code" in said.out
    assert "captured" in said.out
    assert f"{tmp_path / 'memory.db'} (from environment SCRUBJAY_STORE" in said.out
    assert "scrubjay setup --undo" in said.out
    assert f"{home}/code/theirs" in said.out
    assert f"scrubjay sync {home}/code/theirs" in said.out
    assert tree(tmp_path) == before


def test_without_a_terminal_and_without_yes_nothing_is_done_and_the_code_says_so(
    cli: Any, home: Path, tmp_path: Path
) -> None:
    before = tree(tmp_path)
    said = cli("setup", stdin="y\n")
    assert said.code == 2
    assert f"{home}/vault" in said.out
    assert "Nothing was changed." in said.err
    assert "hint: add --yes" in said.err
    assert cli("setup", "--json", stdin="").json["error"]
    assert tree(tmp_path) == before


def test_one_yes_makes_notes_searchable_and_agents_remember_and_the_doctor_proves_it(
    cli: Any, home: Path
) -> None:
    said = cli("setup", "--yes")
    assert said.code == 0, said.out + said.err
    assert "claude-code recall" in said.out
    assert "no problems" in said.out
    found = cli("search", QUESTION, "--json").json["results"]
    assert "nine minutes" in found[0]["snippet"]
    assert sources(cli) == [
        f"{home}/Documents/kitchen",
        f"{home}/code/mine",
        f"{home}/code/mine/.git",
        f"{home}/vault",
    ]
    assert cli("install", "claude-code", "--dry-run").out.count("nothing to change") == 1
    # A second time there is nothing to do, which needs no yes.
    before = tree(home)
    again = cli("setup", "--json", stdin="")
    assert again.code == 0
    assert again.json["done"] is False
    assert steps(again, "todo") == []
    assert sorted(steps(again, "there")) == sorted(
        ["claude-code", *(each for each in sources(cli) if not each.endswith(".git"))]
    )
    assert tree(home) == before


def test_undo_takes_back_what_setup_did_and_nothing_else(cli: Any, home: Path, tmp_path: Path) -> None:
    write(tmp_path / "earlier", log="We sailed to Bornholm.")
    cli("sync", tmp_path / "earlier")
    cli("add", "The key hangs on the hook.")
    (home / ".claude.json").write_text('{"theme":   "dark"}')
    cli.patch.setenv("SCRUBJAY_OFF", "1")  # what the doctor proves is another test's matter
    (home / ".codex").mkdir()
    cli("install", "codex", "--yes")
    (home / ".codex" / "AGENTS.md").unlink()
    before = tree(home)
    assert "without instructions so far" in cli("setup", "--dry-run").out
    assert cli("setup", "--json", "--yes").json["done"] is True
    assert tree(home) != before
    assert len(sources(cli)) == 5
    shown = cli("setup", "--undo", stdin="")
    assert shown.code == 2
    assert f"{home}/vault" in shown.out
    assert len(sources(cli)) == 5
    done = cli("setup", "--undo", "--yes")
    assert done.code == 0, done.err
    assert sources(cli) == [str(tmp_path / "earlier")]
    assert cli("search", "where is the key?", "--json").json["results"]
    after = tree(home)
    assert {name: after[name] for name in after if not name.startswith(".codex")} == {
        name: before[name] for name in before if not name.startswith(".codex")
    }
    # Codex was set up in part before: what was there is not setup's to remove.
    assert "Codex" in done.out
    assert "scrubjay uninstall codex" in done.out
    assert b"mcp_servers.scrubjay" in after[".codex/config.toml"]
    assert "2 memories" in done.out
    assert "Nothing to undo" in cli("setup", "--undo").out


def test_an_undo_that_fails_in_part_undoes_the_rest_and_can_be_repeated(cli: Any, home: Path) -> None:
    cli.patch.setenv("SCRUBJAY_OFF", "1")
    before = tree(home)
    assert cli("setup", "--yes", "--json").json["failed"] == {}
    settings = (home / ".claude" / "settings.json").read_text()
    (home / ".claude" / "settings.json").write_text("{")
    said = cli("setup", "--undo", "--yes")
    assert said.code == 1
    assert "claude-code failed" in said.err
    assert sources(cli) == []
    (home / ".claude" / "settings.json").write_text(settings)
    assert cli("setup", "--undo", "--yes", "--json").json["agents"] == ["claude-code"]
    assert tree(home) == before


def test_an_agent_that_was_installed_without_hooks_keeps_that_choice(cli: Any, home: Path) -> None:
    cli("install", "claude-code", "--yes", "--no-hooks")
    said = cli("setup", "--dry-run", "--json")
    assert steps(said, "left out") == [f"{home}/code/theirs", "claude-code"]
    (why,) = [each["why"] for each in said.json["steps"] if each["name"] == "claude-code"]
    assert "scrubjay install claude-code" in why


def test_a_person_may_leave_out_numbers_or_say_no(cli: Any, home: Path, terminal: Callable[[], None]) -> None:
    without_agents(home)
    terminal()
    shown = cli("setup", "--dry-run").out
    (vault,) = [line.split()[0] for line in shown.splitlines() if f"{home}/vault" in line]
    answers = iter(["n"])
    cli.patch.setattr("click.termui.visible_prompt_func", lambda _="": next(answers))
    assert cli("setup").code == 130
    assert sources(cli) == []
    answers = iter(["nine", "77", vault])
    assert cli("setup").code == 0
    assert sources(cli) == [f"{home}/Documents/kitchen", f"{home}/code/mine", f"{home}/code/mine/.git"]
    answers = iter([""])
    assert cli("setup").code == 0
    assert f"{home}/vault" in sources(cli)


def test_a_folder_or_an_agent_that_fails_does_not_stop_the_others_and_is_tried_again(
    cli: Any, home: Path, terminal: Callable[[], None]
) -> None:
    (home / ".claude").rmdir()
    (home / ".codex").mkdir()
    (home / ".codex" / "config.toml").write_text("broken = ")
    terminal()
    aside = home.parent / "aside"

    def answer(_: str = "") -> str:
        shutil.move(home / "Documents" / "kitchen", aside)
        return ""

    cli.patch.setattr("click.termui.visible_prompt_func", answer)
    said = cli("setup")
    assert said.code == 1
    assert f"{home}/Documents/kitchen does not exist" in said.err
    assert "config.toml" in said.out
    assert sources(cli) == [f"{home}/code/mine", f"{home}/code/mine/.git", f"{home}/vault"]
    shutil.move(aside, home / "Documents" / "kitchen")
    (home / ".codex").rename(home / ".codex-aside")
    assert steps(cli("setup", "--dry-run", "--json"), "todo") == [f"{home}/Documents/kitchen"]


def test_an_agent_that_ignores_its_file_is_not_set_up_and_the_code_says_so(cli: Any, home: Path) -> None:
    settings = home / ".claude" / "settings.json"
    settings.write_text('{\n  // mine\n  "model": "opus"\n}\n')
    said = cli("setup", "--yes")
    assert said.code == 1
    assert f"{settings}:2:3. Nothing was installed for Claude Code." in said.err
    assert "scrubjay is installed" not in said.out
    assert "Not set up: claude-code." in said.out
    assert not (home / ".claude.json").exists()
    assert steps(cli("setup", "--dry-run", "--json"), "todo") == ["claude-code"]


def test_the_look_for_notes_enters_no_link_no_hidden_folder_and_no_place_of_others_files(
    cli: Any, home: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    write(outside, a="a", b="b", c="c")
    (home / "linked").symlink_to(outside)
    for name in ("Downloads", ".hidden", "cache", "node_modules", "Documents/site-packages"):
        write(home / name, a="a", b="b", c="c")
    write(home / "project" / "docs", a="a", b="b", c="c")
    (home / "project" / "package.json").write_text("{}")
    for number in range(40):
        (home / "Documents" / f"bill-{number}.pdf").write_bytes(b"")
    write(home / "Documents" / "two", a="a", b="b")
    write(home / "journal" / "2025", a="a", b="b")
    write(home / "journal" / "2026", a="a", b="b")
    write(home / "deep" / "er" / "essays", a="a", b="b", c="c")
    found = steps(cli("setup", "--dry-run", "--json"), "todo")
    assert sorted(found) == sorted(
        [
            "claude-code", f"{home}/code/mine", f"{home}/vault", f"{home}/Documents/kitchen",
            f"{home}/journal", f"{home}/deep/er/essays",
        ]
    )  # fmt: skip


def test_the_current_folder_counts_with_one_note_and_with_its_repository(
    cli: Any, home: Path, tmp_path: Path
) -> None:
    without_agents(home)
    write(home / "new", only="One.")
    cli.patch.chdir(home / "new")
    assert f"{home}/new" in steps(cli("setup", "--dry-run", "--json"), "todo")
    repository(tmp_path / "srv" / "boats", "ann@example.org", readme="# Boats")
    (tmp_path / "srv" / "boats" / "src").mkdir()
    cli.patch.chdir(tmp_path / "srv" / "boats" / "src")
    assert steps(cli("setup", "--dry-run", "--json"), "todo")[0] == f"{tmp_path}/srv/boats"
    # A folder that is a part of a source is there already.
    cli("sync", tmp_path / "srv")
    assert f"{tmp_path}/srv/boats" in steps(cli("setup", "--dry-run", "--json"), "there")


def test_where_nothing_is_found_it_says_what_to_do(cli: Any, home: Path) -> None:
    for path in home.iterdir():
        shutil.rmtree(path)
    said = cli("setup")
    assert said.code == 0
    assert "scrubjay sync DIR" in said.out
    assert "scrubjay install --list" in said.out


def test_another_store_is_refused_since_agents_use_that_of_the_settings(cli: Any, home: Path) -> None:
    said = cli("setup", "--yes", "--store", "x.db")
    assert said.code == 2
    assert "Nothing was changed." in said.err
    assert json.loads(cli("sources", "--json").out) == {"sources": []}


def test_the_first_question_to_claude_code_carries_the_answer_of_a_note(
    cli: Any, home: Path, model: Model
) -> None:
    """Runs where the variable names the client."""
    from scripted_model import message, message_streamed

    client = os.environ.get("AGENT_CLAUDE")
    if not client:
        pytest.skip("AGENT_CLAUDE names no claude")
    assert cli.process("setup", "--yes").code == 0
    model.answer = lambda request: (message_streamed if request.json.get("stream") else message)("Nine.")
    done = subprocess.run(
        [client, "-p", QUESTION],
        cwd=home,
        env={
            **os.environ,
            "PATH": f"{Path(client).parent}:{os.defpath}",
            "ANTHROPIC_BASE_URL": model.url,
            "ANTHROPIC_API_KEY": "none",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    asked = [each.body.decode() for each in model.asked if each.path.startswith("/v1/messages")]
    assert any(QUESTION in body and "Boil the pasta for nine minutes." in body for body in asked)
