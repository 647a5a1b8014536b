"""scrubjay token: made, shown once, listed without what they are, revoked."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest

from scrubjay.api.auth import Principal, TokenStore, tokens_path


def test_a_token_is_shown_once_and_only_its_hash_is_kept(cli) -> None:
    made = cli("token", "create", "laptop", "--user", "bob", "--group", "crew", "--agent", "codex")
    assert "`scrubjay serve --open`" in made.err
    assert "--open" not in cli("token", "create", "other").err
    secret = made.out.strip()
    assert secret.startswith("scrubjay_")
    assert "for user bob for 90d" in made.err
    file = tokens_path()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert secret not in file.read_text()
    found = TokenStore(file).find(secret)
    assert found is not None
    assert found.principal == Principal("default", "bob", ("crew",), "codex", ("read", "write"))
    listed = cli("token", "list")
    assert listed.out.splitlines()[0].split()[:3] == ["name", "tenant", "user"]
    assert listed.out.splitlines()[1].split()[:3] == ["laptop", "default", "bob"]
    assert secret not in listed.out


def test_a_token_stands_for_the_caller_and_no_group_unless_it_says_so(cli, environ, monkeypatch) -> None:
    monkeypatch.setenv("SCRUBJAY_GROUPS", "crew")
    made = cli("token", "create", "me", "--expires", "never", "--json").json
    assert (made["user"], made["groups"], made["expires"]) == ("ann", [], None)
    (listed,) = cli("token", "list", "--json").json["tokens"]
    assert listed == {name: value for name, value in made.items() if name != "token"}


def test_a_revoked_token_is_gone_and_its_name_is_free(cli) -> None:
    secret = cli("token", "create", "a").out.strip()
    assert cli("token", "create", "a").code == 2
    assert cli("token", "revoke", "a").code == 0
    assert TokenStore(tokens_path()).find(secret) is None
    assert "existing: none" in cli("token", "revoke", "a").err
    assert cli("token", "create", "a").code == 0


def test_tokens_that_cannot_be_are_refused_and_nothing_is_written(cli) -> None:
    for wrong in (
        ("",),
        ("x" * 101,),
        ("a\nb",),
        (" a",),
        ("a", "--group", ""),
        ("a", "--expires", "soon"),
        ("a", "--agent", "\x1b[31m"),
    ):
        assert cli("token", "create", *wrong).code == 2, wrong
    assert cli("token", "list", "--json").json == {"tokens": []}


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"tokens": [{}]}', '{"tokens": [1]}', "\udcff"])
def test_a_broken_file_of_tokens_is_an_error_with_the_way_out(cli, text: str) -> None:
    cli("token", "create", "a")
    file = tokens_path()
    file.write_bytes(text.encode("utf-8", "surrogateescape"))
    said = cli("token", "list")
    assert (said.code, str(file) in said.err, "token create" in said.err) == (2, True, True)
    assert file.read_bytes() == text.encode("utf-8", "surrogateescape")


def test_a_token_ends_when_it_says(tmp_path: Path) -> None:
    tokens = TokenStore(tmp_path / "tokens.json")
    secret = tokens.create("a", Principal("t", "ann"), 60)
    ends = tokens.all()[0].expires
    assert ends is not None
    assert tokens.find(secret, ends - 1) is not None
    assert tokens.find(secret, ends) is None


def test_processes_that_make_tokens_at_once_lose_none(tmp_path: Path) -> None:
    from concurrent.futures import ThreadPoolExecutor

    file = tmp_path / "tokens.json"
    with ThreadPoolExecutor(8) as pool:
        made = list(
            pool.map(lambda n: TokenStore(file).create(f"t{n}", Principal("t", "ann"), None), range(32))
        )
    assert {token.name for token in TokenStore(file).all()} == {f"t{n}" for n in range(32)}
    assert all(TokenStore(file).find(secret) for secret in made)


def test_a_token_that_was_shown_or_revoked_is_so_after_a_loss_of_power(cli, monkeypatch) -> None:
    """What is synced in which order: the file before its new name, and the name before anybody is told."""
    steps: list[str] = []
    sync, replace, mkdir = os.fsync, os.replace, os.mkdir

    def syncs(descriptor: int) -> None:
        steps.append(f"sync {Path(os.readlink(f'/proc/self/fd/{descriptor}')).name}")
        sync(descriptor)

    def replaces(source: Path, target: Path) -> None:
        steps.append(f"rename {Path(source).name} {Path(target).name}")
        replace(source, target)

    def makes(path: Path, mode: int = 0o777) -> None:
        mkdir(path, mode)
        steps.append(f"make {Path(path).name}")

    monkeypatch.setattr(os, "fsync", syncs)
    monkeypatch.setattr(os, "replace", replaces)
    monkeypatch.setattr(os, "mkdir", makes)
    assert cli("token", "create", "a").code == 0
    folder = tokens_path().parent
    made = steps.index(f"make {folder.name}")
    assert steps[made + 1] == f"sync {folder.parent.name}"
    for command in ("create", "revoke"):
        written, renamed, named = steps[-3:]
        assert written.startswith("sync ")
        assert renamed == f"rename {written.removeprefix('sync ')} tokens.json"
        assert named == f"sync {folder.name}"
        assert [each.name for each in folder.iterdir() if each.suffix not in (".json", ".lock")] == []
        if command == "create":
            assert cli("token", "revoke", "a").code == 0


def test_a_full_disk_leaves_the_tokens_that_were_there(cli, monkeypatch) -> None:
    assert cli("token", "create", "a").code == 0
    before = tokens_path().read_bytes()

    def full(_descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    failed = cli("token", "create", "b")
    assert failed.code != 0
    assert "No space left" in failed.err
    assert "scrubjay_" not in failed.out
    assert tokens_path().read_bytes() == before
    assert {each.suffix for each in tokens_path().parent.iterdir()} == {".json", ".lock"}
