from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import click
import pytest

from scrubjay.cli.main import COMMANDS, Command, Group
from scrubjay.cli.main import cli as root

EVERY = sorted(COMMANDS)


def test_the_entry_point_answers_and_exits(cli) -> None:
    script = Path(sys.executable).with_name("scrubjay")
    done = subprocess.run([script, "--version"], capture_output=True, text=True, timeout=30)
    assert done.returncode == 0
    assert done.stdout.startswith("scrubjay 0.")
    assert cli.process("--version").out == done.stdout


@pytest.mark.parametrize("name", EVERY)
def test_every_command_has_help_and_takes_the_common_options(cli, name: str) -> None:
    said = cli(name, "--help")
    assert said.code == 0
    assert said.err == ""
    assert all(option in said.out for option in ("--store", "--user", "--json"))


def test_each_command_is_in_the_help_with_a_sentence(cli) -> None:
    said = cli("--help")
    for name in EVERY:
        assert any(each.split()[:1] == [name] and len(each.split()) > 3 for each in said.out.splitlines())


def test_no_option_stands_without_a_word_of_help() -> None:
    def check(command: click.Command) -> None:
        assert command.help, command.name
        for option in command.params:
            assert isinstance(option, click.Argument) or option.help, f"{command.name} {option.name}"
        if isinstance(command, Group):
            for name in command.list_commands(click.Context(command)):
                check(command.get_command(click.Context(command), name))
        else:
            assert isinstance(command, Command)

    check(root)


def test_a_mistyped_command_or_option_is_met_with_the_nearest_one(cli) -> None:
    said = cli("serach", "x")
    assert said.code == 2
    assert said.err == "error: No such command: serach. Did you mean search?\nhint: scrubjay --help\n"
    said = cli("search", "--limt", "3", "x")
    assert said.code == 2
    assert "--limit" in said.err
    assert "hint: scrubjay search --help" in said.err
    assert "Did you mean remove?" in cli("sources", "remvoe", "x").err
    assert "hint" in cli("zzzz").err


def test_an_error_in_json_is_one_line_on_standard_output_and_keeps_its_code(cli) -> None:
    said = cli("get", "obs_ffffffffffff", "--json")
    assert said.code == 2
    assert said.err == ""
    assert said.json["error"]["type"] == "NotFoundError"
    assert said.json["error"]["exit_code"] == 2
    assert cli("--json", "search", "--limt", "3").json["error"]["type"] == "InputError"
    assert "error:" in cli("get", "obs_ffffffffffff", "--", "--json").err


@pytest.mark.parametrize(
    ("args", "code", "kind"),
    [
        (["search", "x", "--store", "ftp://host/x"], 2, "InputError"),
        (["search", "x", "--since", "yesterday-ish"], 2, "InputError"),
        (["sync", "/nowhere/at/all"], 2, None),
        (["search", "x", "--store", "/proc/none/memory.db"], 2, "NotFoundError"),
        (["add", "x", "--store", "/proc/none/memory.db"], 4, None),
        (["models", "add", "nomodel"], 2, "NotFoundError"),
    ],
)
def test_exit_codes_tell_what_the_caller_can_do(cli, args: list[str], code: int, kind: str | None) -> None:
    said = cli(*args, "--json")
    assert said.code == code
    assert kind is None or said.json["error"]["type"] == kind
    assert cli.process(*args).code == code


def test_a_damaged_store_is_an_error_with_a_hint_and_stays_as_it_is(cli, tmp_path: Path) -> None:
    store = tmp_path / "memory.db"
    store.write_bytes(b"this is no database, it is a shopping list" * 100)
    before = store.read_bytes()
    said = cli("search", "x")
    assert said.code == 4
    assert said.err.startswith("error: ")
    assert "hint: " in said.err
    assert store.read_bytes() == before


def test_the_store_may_stand_before_or_after_the_command_and_after_wins(cli, tmp_path: Path) -> None:
    one, two = tmp_path / "one.db", tmp_path / "two.db"
    assert cli("--store", one, "add", "the first store").code == 0
    assert cli("add", "the second store", "--store", two).code == 0
    assert cli("--json", "--store", one, "status").json["memories"] == 1
    found = cli("--store", one, "search", "store", "--store", two, "--json").json
    assert [each["snippet"] for each in found["results"]] == ["the second store"]
    listed = cli("--store", one, "sources", "list", "--json")
    assert listed.json == {"sources": []}
    assert not (tmp_path / "memory.db").exists()


def test_another_user_sees_nothing_of_mine(cli) -> None:
    cli("add", "Ann's secret plan")
    assert len(cli("search", "plan", "--json").json["results"]) == 1
    assert cli("search", "plan", "--user", "bob", "--json").json["results"] == []


def test_a_wrong_settings_file_is_an_error_of_every_command(cli, environ, tmp_path: Path) -> None:
    path = tmp_path / "configuration" / "scrubjay" / "config.toml"
    path.parent.mkdir(parents=True)
    path.write_text("[recall]\nlimt = 3\n")
    said = cli("status")
    assert said.code == 2
    assert f"{path}:2: recall.limt is not a setting" in said.err
    assert "hint: did you mean recall.limit?" in said.err


def test_an_interrupted_command_exits_with_130(cli, monkeypatch) -> None:
    class Interrupted:
        def read(self) -> str:
            raise KeyboardInterrupt

    monkeypatch.setattr(sys, "stdin", Interrupted())
    said = cli("search", "-")
    assert said.code == 130
    assert "Traceback" not in said.err


def test_a_reader_that_goes_away_ends_the_command_quietly(cli, environ) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "scrubjay", "config"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, **environ},
    )
    process.stdout.close()
    process.wait(timeout=30)
    err = process.stderr.read()
    process.stderr.close()
    assert process.returncode == 141
    assert err == b""


def test_a_search_loads_nothing_of_other_commands_and_no_heavy_library(cli) -> None:
    cli("add", "the blue boat")
    code = (
        "import sys; from scrubjay.cli.main import run; run(['search', 'boat'])\n"
        "print(*sorted(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert "the blue boat" in done.stdout
    loaded = set(done.stderr.split())
    heavy = {
        "onnxruntime",
        "openvino",
        "tokenizers",
        "mcp",
        "httpx",
        "watchfiles",
        "tqdm",
        "pydantic",
        "anyio",
    }
    assert not loaded & heavy
    others = {f"scrubjay.cli.{name}" for name in ("sync", "memories", "models", "transfer", "progress")}
    assert not loaded & others


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_the_shells_script(cli, shell: str) -> None:
    said = cli("completion", shell)
    assert said.code == 0
    assert "_SCRUBJAY_COMPLETE" in said.out


def test_completion_completes_commands_and_choices(cli, environ) -> None:
    def complete(words: str, at: int) -> str:
        more = {"_SCRUBJAY_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(at)}
        script = Path(sys.executable).with_name("scrubjay")
        done = subprocess.run(
            [script], capture_output=True, text=True, timeout=30, env={**os.environ, **more}
        )
        return done.stdout

    assert "plain,search" in complete("scrubjay sea", 1)
    assert "plain,openclaw" in complete("scrubjay search --preset o", 3)


def test_the_help_groups_the_commands_and_cuts_no_summary(cli) -> None:
    out = cli("--help").out
    headings = [
        each[:-1] for each in out.splitlines() if each and not each.startswith(" ") and each.endswith(":")
    ]
    assert headings == ["Options", "Start", "Ask", "Write", "Look after", "Serve", "Agents"]
    assert "..." not in out.partition("Start:")[2]


@pytest.mark.parametrize("word", ["rm", "delete", "remove"])
def test_people_forget_by_the_word_that_they_type(cli, word: str) -> None:
    one = cli("remember", "the kayak leaks", "--json").json["id"]
    assert cli(word, one, "--yes").code == 0
    assert cli("get", one).code == 2


def test_people_list_sources_by_the_word_that_they_type(cli, notes) -> None:
    cli("sync", notes)
    assert cli("ls").out == cli("list").out == cli("sources").out != ""


def test_a_store_that_is_not_there_is_an_error_of_whoever_reads_and_is_not_made(cli, tmp_path: Path) -> None:
    typo = tmp_path / "memroy.db"
    for command in (
        ("search", "x"),
        ("thread", "x"),
        ("context",),
        ("get", "obs_1"),
        ("status",),
        ("sources",),
    ):
        said = cli(*command, "--store", typo)
        assert said.code == 2
        assert said.err.startswith(
            f"error: There is no store at {typo}. Nothing was created.\nhint: check --store"
        )
    assert not typo.exists()
    assert cli("add", "the kayak leaks", "--store", typo).code == 0
    assert cli("search", "kayak", "--store", typo).code == 0


@pytest.mark.parametrize(
    ("arguments", "environ"),
    [
        (("status", "--user", ""), {}),
        (("--user", "", "status"), {}),
        (("--user=", "status"), {}),
        (("status", "--store", ""), {}),
        (("forget", "--everything", "--yes", "--user", ""), {}),
        (("status",), {"SCRUBJAY_USER": ""}),
        (("status",), {"SCRUBJAY_TENANT": " "}),
        (("status",), {"SCRUBJAY_GROUPS": ""}),
        (("token", "create", "d", "--user", ""), {}),
        (("token", "create", "d", "--tenant", ""), {}),
        (("token", "create", "d", "--group", ""), {}),
        (("add", "--group", "", "for the crew"), {}),
    ],
)
def test_an_empty_name_of_a_user_group_or_tenant_is_an_error_and_not_the_account(
    cli, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], environ: dict[str, str]
) -> None:
    assert cli("add", "the operator's own memory").code == 0
    with monkeypatch.context() as patch:
        for name, value in environ.items():
            patch.setenv(name, value)
        said = cli(*arguments)
    assert said.code != 0
    assert said.err.startswith("error: ")
    assert "the operator's own memory" in cli("search", "operator memory").out
