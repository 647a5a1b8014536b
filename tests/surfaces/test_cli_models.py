from __future__ import annotations

from pathlib import Path

from scrubjay.embeddings.late_interaction import COLBERT


def test_models_lists_the_bundled_ones_and_how_far_they_reach(cli, notes) -> None:
    cli("sync", notes)
    static, *others = cli("models", "--json").json["models"]
    assert (static["covered"], static["waiting"], static["state"]) == (4, 0, "active")
    assert [(each["name"], each["covered"], each["waiting"]) for each in others] == [
        ("answerai-colbert-small-v1", 0, 4),
        ("bge-small-en-v1.5", 0, 4),
    ]
    out = cli("models", "list").out
    assert "4 pending" in out
    assert others[0]["name"] in out
    assert "4 passages pending embedding" in cli("embed", "--seconds", "1e-9").out


def test_embed_does_what_waits_and_then_nothing(cli, notes) -> None:
    cli("sync", notes)
    done = cli("embed", "--json").json
    assert (done["embedded"], done["waiting"]) == (4, 0)
    said = cli("embed")
    assert said.out.startswith("0 passages embedded in ")
    assert cli("sync", "--json").json["waiting"] == 0


def test_sync_with_seconds_embeds_without_a_terminal_too(cli, notes) -> None:
    done = cli("sync", notes, "--embed-seconds", "60", "--json").json
    assert (done["embedded"], done["waiting"]) == (4, 0)


def test_rebuild_keeps_what_was_added_and_what_was_forgotten(cli, notes) -> None:
    cli("sync", notes)
    kept = cli("add", "the anchor weighs ten kilos", "--pin", "--json").json["id"]
    gone = cli("search", "Bornholm", "--json").json["results"][0]["id"]
    cli("forget", gone, "--yes")
    assert cli("rebuild").code == 0
    assert cli("get", kept, "--json").json["memories"][0]["pinned"] is True
    assert cli("get", gone).code == 2
    assert cli("search", "anchor", "--json").json["results"][0]["id"] == kept


def test_a_model_is_dropped_and_added_again(cli, notes) -> None:
    cli("sync", notes)
    name = cli("models", "--json").json["models"][1]["name"]
    assert cli("models", "drop", name).out == f"{name} and its vectors removed.\n"
    assert name not in [each["name"] for each in cli("models", "--json").json["models"]]
    assert [cli("models", "add", each).code for each in ("colbert", name)] == [0, 0]
    assert cli("models", "use", name, "--json").json["state"] == "active"
    assert cli("models", "use", "nomodel").code == 2
    base = cli("models", "--json").json["models"][0]["name"]
    assert cli("models", "drop", base).code == 2


def test_a_dropped_model_is_used_again_with_one_command(cli, notes) -> None:
    cli("sync", notes)
    name = cli("models", "--json").json["models"][1]["name"]
    cli("models", "drop", name)
    said = cli("models", "use", name)
    assert (
        said.out == f"{name} is now used for ranking. 4 memories pending embedding; run `scrubjay embed`.\n"
    )
    assert cli("models", "--json").json["models"][1]["state"] == "active"


def test_a_model_that_no_settings_describe_is_an_error_with_the_table_to_write(cli) -> None:
    said = cli("models", "add", "bge-m3")
    assert said.code == 2
    assert "[models.bge-m3]" in said.err


def test_a_described_model_whose_key_is_not_set_says_which_variable(cli, tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.write_text(
        '[models.large]\nprovider = "openai"\nmodel = "text-embedding-3-large"\napi_key_env = "NO_SUCH_KEY"\n'
    )
    cli.patch.setenv("SCRUBJAY_CONFIG", str(path))
    cli.patch.setenv("OPENAI_API_KEY", "not to be used")
    said = cli("models", "add", "large")
    assert said.code == 2
    assert "NO_SUCH_KEY, which is not set" in said.err


def test_a_folder_with_a_late_interaction_model_is_added_embedded_and_dropped(cli, notes, tmp_path) -> None:
    folder = tmp_path / "own"
    folder.mkdir()
    # An appended unknown protobuf field changes the bytes and nothing else.
    (folder / "model.onnx").write_bytes(COLBERT.path().read_bytes() + b"\xfa\x7f\x01x")
    cli("sync", notes)
    for each in ("colbert", "bge"):
        cli("models", "drop", each)
    assert cli("models", "add", f"late-interaction:{folder}").code == 0
    assert cli("embed", "--json").json["embedded"] == 4
    _, own = cli("models", "--json").json["models"]
    assert (own["name"], own["covered"], own["dimensions"], own["problem"]) == (str(folder), 4, 384, "")
    (folder / "model.onnx").unlink()
    assert f"{folder}/model.onnx" in cli("models", "--json").json["models"][1]["problem"]
    assert cli("models", "drop", str(folder)).code == 0
    assert cli("models", "add", "late-interaction:/no/such/folder").code != 0


def test_a_store_with_minilm_gets_the_new_models_and_is_told_when_it_may_go(cli, notes) -> None:
    cli("sync", notes)
    for each in ("colbert", "bge"):
        cli("models", "drop", each)
    cli("models", "add", "minilm")
    assert len(cli("models", "--json").json["models"]) == 2
    cli("sync")
    names = [each["name"] for each in cli("models", "--json").json["models"]]
    assert names[1:] == ["all-MiniLM-L6-v2", "answerai-colbert-small-v1", "bge-small-en-v1.5"]
    assert "models drop" not in cli("status").out
    assert cli("embed").code == 0
    assert "superseded: `scrubjay models drop all-MiniLM-L6-v2` frees its vectors" in cli("status").out
    cli("models", "drop", "all-MiniLM-L6-v2")
    cli("sync")
    assert "all-MiniLM-L6-v2" not in [each["name"] for each in cli("models", "--json").json["models"]]


def test_embed_tells_of_the_model_for_other_languages(cli) -> None:
    for text in ("Die Tomaten werden im Mai gepflanzt.", "Der Wagen muss im März zum TÜV und zur Wäsche."):
        assert cli("add", text).code == 0
    said = cli("embed", "--seconds", "1")
    assert said.code == 0
    assert "\nnote: Most texts are not English" in said.out
