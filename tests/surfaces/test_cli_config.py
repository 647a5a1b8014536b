from __future__ import annotations

from pathlib import Path

from scrubjay.config.loader import known_settings, variable_name


def test_config_shows_every_setting_with_value_origin_and_variable(cli, tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.write_text('[recall]\nlimit = 9\nweights = { bm25 = 1 }\n[models.far]\nprovider = "openai"\n')
    cli.patch.setenv("SCRUBJAY_CONFIG", str(path))
    cli.patch.setenv("SCRUBJAY_RECALL_SNIPPET", "300")
    found = cli("config", "--store", "memory://", "--json").json
    assert (found["file"], found["file_exists"]) == (str(path), True)
    shown = {each["name"]: each for each in found["settings"]}
    assert set(known_settings()) < set(shown)
    assert all(each["variable"] == variable_name(name) for name, each in shown.items())
    assert (shown["recall.limit"]["value"], shown["recall.limit"]["origin"]) == (9, f"{path}:2")
    assert (shown["store"]["value"], shown["store"]["origin"]) == ("memory://", "flag")
    assert shown["recall.snippet"]["origin"] == "environment SCRUBJAY_RECALL_SNIPPET"
    assert shown["recall.weights"]["value"] == {"bm25": 1.0}
    assert shown["models.far.provider"]["value"] == "openai"
    assert shown["chunk.target"]["origin"] == "default"
    out = cli("config").out
    assert f"settings file: {path}\n" in out
    assert any(each.split() == ["recall.limit", "9", f"({path}:2)"] for each in out.splitlines())


def test_config_says_where_the_file_would_be(cli, tmp_path: Path) -> None:
    out = cli("config").out
    assert out.startswith(
        f"settings file: {tmp_path / 'configuration' / 'scrubjay' / 'config.toml'} (missing)"
    )


def test_a_setting_changes_what_a_command_does(cli, notes) -> None:
    cli("sync", notes)
    cli.patch.setenv("SCRUBJAY_RECALL_LIMIT", "1")
    assert len(cli("search", "the", "hull", "engine", "--json").json["results"]) == 1
    assert len(cli("search", "the", "hull", "engine", "-n", "3", "--json").json["results"]) > 1
