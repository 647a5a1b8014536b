"""What a hook knows before settings are read is what the settings say."""

from __future__ import annotations

from pathlib import Path

import pytest

from scrubjay.config.loader import config_path
from scrubjay.config.paths import (
    CAPTURE_EVENTS,
    IS_LINUX,
    config_file,
    data_folder,
    environment,
    event_budget_ms,
    hook_budget_ms,
    hooks_disabled,
    settings_fingerprint,
)
from scrubjay.config.settings import data_dir


@pytest.mark.parametrize("named", [True, False])
def test_folders_are_where_the_settings_have_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, named: bool
) -> None:
    monkeypatch.delenv("SCRUBJAY_CONFIG", raising=False)
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        if named:
            monkeypatch.setenv(name, str(tmp_path / name))
        else:
            monkeypatch.delenv(name, raising=False)
    assert data_folder(environment()) == str(data_dir())
    assert config_file(environment()) == str(config_path())


@pytest.mark.skipif(not IS_LINUX, reason="XDG variables count on Linux")
@pytest.mark.parametrize("named", ["", "folder", "~/folder", " /folder"])
def test_a_store_is_not_looked_for_below_a_relative_xdg_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: str
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", named)
    assert data_dir() == tmp_path / ".local" / "share" / "scrubjay"


def test_a_change_of_any_setting_changes_the_mark(tmp_path: Path) -> None:
    file = tmp_path / "scrubjay" / "config.toml"
    around = {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)}
    marks = {settings_fingerprint(around), settings_fingerprint(around | {"SCRUBJAY_USER": "bob"})}
    marks.add(settings_fingerprint(around | {"XDG_DATA_HOME": "/data"}))
    file.parent.mkdir()
    for text in ("", 'user = "ann"', 'user = "bob"'):
        file.write_text(text)
        marks.add(settings_fingerprint(around))
    assert len(marks) == 5  # a file that is empty says what one that is missing says


def test_a_folder_that_is_named_as_it_would_be_anyway_changes_no_mark() -> None:
    named = {
        "XDG_CONFIG_HOME": "/h/.config",
        "XDG_DATA_HOME": "/h/.local/share",
        "XDG_CACHE_HOME": "/h/.cache",
    }
    assert settings_fingerprint({"HOME": "/h", **named}) == settings_fingerprint({"HOME": "/h"})


def test_what_is_no_setting_changes_no_mark() -> None:
    assert settings_fingerprint({"HOME": "/h", "LANG": "C", "SCRUBJAY_OFF": "1"}) == settings_fingerprint(
        {"HOME": "/h"}
    )


def test_flags_are_variables_and_relative_paths_are_absolute(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SCRUBJAY_STORE", "other.db")
    assert environment(store="memory.db", user="ann")["SCRUBJAY_STORE"] == str(tmp_path / "memory.db")
    assert environment()["SCRUBJAY_STORE"] == str(tmp_path / "other.db")
    assert environment(store="postgresql://x/y")["SCRUBJAY_STORE"] == "postgresql://x/y"


@pytest.mark.parametrize(
    ("text", "found"),
    [("", 300), ("budget_ms = 1_200 # long", 1_200), ("budget_ms = 'x'", 300), ("hooks.budget_ms=5", 20)],
)
def test_a_glance_at_the_settings_tells_the_budget(tmp_path: Path, text: str, found: int) -> None:
    (tmp_path / "config.toml").write_text(f"[hooks]\n{text}\n")
    assert hook_budget_ms({"SCRUBJAY_CONFIG": str(tmp_path / "config.toml")}, 300) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("[proxy]\nbudget_ms = 25\n", 300),
        ("[proxy]\nbudget_ms = 50\n\n[hooks]\nbudget_ms = 5_000\n", 5_000),
        ("[ hooks ] # mine\nstart_ms = 90\nbudget_ms = 400\n[proxy]\nbudget_ms = 50\n", 400),
        ("hooks.budget_ms = 450\n[proxy]\nbudget_ms = 50\n", 450),
        ("[proxy]\nhooks.budget_ms = 50\n", 300),
        ("budget_ms = 50\n", 300),
    ],
)
def test_the_budget_of_another_section_is_not_that_of_hooks(tmp_path: Path, text: str, found: int) -> None:
    (tmp_path / "config.toml").write_text(text)
    env = {"SCRUBJAY_CONFIG": str(tmp_path / "config.toml")}
    assert hook_budget_ms(env, 300) == event_budget_ms(env, "prompt") == found


def test_a_budget_too_short_for_an_answer_leaves_captures_their_time() -> None:
    env = {"SCRUBJAY_HOOKS_BUDGET_MS": "25"}
    assert event_budget_ms(env, "prompt") == 25
    assert {event_budget_ms(env, event) for event in CAPTURE_EVENTS} == {300}


@pytest.mark.parametrize(
    ("value", "off"), [("1", True), ("yes", True), ("0", False), ("", False), ("false", False)]
)
def test_hooks_are_off_where_the_variable_says_so(value: str, *, off: bool) -> None:
    assert hooks_disabled({"SCRUBJAY_OFF": value}) is off
