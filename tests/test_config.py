from pathlib import Path

import pytest

from scrubjay.config.loader import (
    api_key,
    auto_keys,
    config_path,
    known_settings,
    load_settings,
    plain_output,
    variable_name,
)
from scrubjay.config.settings import EMBEDDING_PROVIDERS, RUNTIMES, ExtraModelSettings, Settings
from scrubjay.embeddings.base import EMBEDDING_PROVIDERS as KNOWN_PROVIDERS
from scrubjay.embeddings.onnx import ONNX_RUNTIMES as KNOWN_RUNTIMES
from scrubjay.errors import ConfigError


@pytest.fixture
def file(tmp_path: Path):
    def write(text: str) -> Path:
        path = tmp_path / "config.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def fails(
    file: Path | None = None, environ: dict[str, str] | None = None, **overrides: object
) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        load_settings(
            file, environ or {}, {name.replace("__", "."): value for name, value in overrides.items()}
        )
    return caught.value


def test_without_file_and_environment_every_setting_has_its_default(file) -> None:
    settings = load_settings(file(""), {})
    assert settings == Settings()
    assert settings.store.endswith("memory.db")
    assert settings.user
    assert set(settings.origins.values()) == {"default"}


def test_a_later_source_wins_and_the_origin_says_so(file) -> None:
    path = file('tenant = "t"\n[recall]\nlimit = 7\nsnippet = 300\ncandidates = 5\n')
    environ = {"SCRUBJAY_RECALL_LIMIT": "8", "SCRUBJAY_RECALL_SNIPPET": "200"}
    settings = load_settings(path, environ, {"recall.limit": 9, "store": None})
    assert (settings.recall.candidates, settings.recall.snippet, settings.recall.limit) == (5, 200, 9)
    assert settings.origins["recall.candidates"] == f"{path}:5"
    assert settings.origins["recall.snippet"] == "environment SCRUBJAY_RECALL_SNIPPET"
    assert settings.origins["recall.limit"] == "flag"
    assert settings.origins["store"] == "default"


def test_the_file_is_the_named_one_else_the_default_one(file, monkeypatch, tmp_path: Path) -> None:
    path = file('tenant = "here"\n')
    assert load_settings(environ={"SCRUBJAY_CONFIG": str(path)}).tenant == "here"
    assert config_path({"SCRUBJAY_CONFIG": str(path)}) == path
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "xdg"))
    assert load_settings(environ={}).tenant == "default"
    assert config_path({}).name == "config.toml"


def test_the_process_environment_is_read_when_none_is_given(file, monkeypatch) -> None:
    monkeypatch.setenv("SCRUBJAY_CONFIG", str(file("")))
    monkeypatch.setenv("SCRUBJAY_TENANT", "from-process")
    assert load_settings().tenant == "from-process"


def test_a_mistyped_setting_is_an_error_with_its_line_and_the_nearest_name(file) -> None:
    path = file("# mine\n[recall]\n  limt = 3\n")
    error = fails(path)
    assert f"{path}:3: recall.limt" in str(error)
    assert error.hint == "did you mean recall.limit?"


@pytest.mark.parametrize(
    ("text", "said", "hint"),
    [
        ("[recal]\nlimit = 1\n", ":1: recal is not a setting", "did you mean recall?"),
        ("stroe = 'x'\n", ":1: stroe is not a setting", "did you mean store?"),
        ("[models]\nruntim = 'auto'\n", ":2: models.runtim", "did you mean models.runtime?"),
        (
            "[models.bge]\nprovider='openai'\nbase_ulr='x'\n",
            ":3: models.bge.base_ulr",
            "models.bge.base_url?",
        ),
        ("recall = 3\n", ":1: recall is a section", ""),
        ("[recall]\nlimit = '3'\n", ":2: recall.limit is '3'", ""),
        ("[recall]\nlimit = true\n", "it takes a whole number from 1 to 1,000", ""),
        ("[recall]\nlimit = 0\n", "it takes a whole number from 1 to 1,000", ""),
        ("[recall]\nfusion = 'RRF'\n", "it takes one of auto, rrf, weighted", ""),
        ("[recall]\nweights = { bm25 = -1 }\n", "weights of 0 or more", ""),
        ("[recall]\ntouch = 1\n", "it takes true or false", ""),
        ("[recall]\ntouch = 'no'\n", "it takes true or false", ""),
        ("[sync]\ninclude = '*.md'\n", "it takes a list", ""),
        ("[sync]\nembed_seconds = nan\n", "it takes a number from 0", ""),
        ("user = '  '\n", "user is '  '", ""),
        ("[notes]\ndir = '~nosuch/notes'\n", "notes.dir is '~nosuch/notes', but it takes a path", ""),
        ("[models.x]\nmodel = 'y'\n", "[models.x] names no provider", "one of auto"),
        ("[chunk]\noverlap = 450\n", "overlap < target <= most", ""),
        ("[chunk\n", "is not TOML", ""),
    ],
)
def test_a_wrong_file_says_what_is_wrong_and_where(file, text: str, said: str, hint: str) -> None:
    error = fails(file(text))
    assert said in str(error)
    assert hint in error.hint


def test_a_file_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    assert "does not exist" in str(fails(tmp_path / "none.toml"))
    assert "does not exist" in str(fails(Path("~nosuch/config.toml")))
    assert "cannot be read" in str(fails(tmp_path))
    (tmp_path / "latin.toml").write_bytes("user = 'é'".encode("latin-1"))
    assert "is not UTF-8 at byte 8" in str(fails(tmp_path / "latin.toml"))


def test_an_unknown_variable_is_an_error_but_an_empty_or_foreign_one_is_not(file) -> None:
    path = file("")
    error = fails(path, {"SCRUBJAY_RECALL_LIMT": "3"})
    assert error.hint == "did you mean SCRUBJAY_RECALL_LIMIT?"
    assert (
        load_settings(path, {"SCRUBJAY_RECALL_LIMIT": "", "OPENAI_API_KEY": "k", "_SCRUBJAY_COMPLETE": "x"})
        == Settings()
    )


def test_text_from_the_environment_becomes_the_settings_type(file) -> None:
    environ = {
        "SCRUBJAY_SYNC_EMBED_SECONDS": "2",
        "SCRUBJAY_SYNC_INCLUDE": "*.md, *.org",
        "SCRUBJAY_RECALL_WEIGHTS": "bm25=.3, vector=1",
        "SCRUBJAY_NOTES_DIR": "notes",
        "SCRUBJAY_STORE": "some.db",
        "SCRUBJAY_RECALL_TOUCH": "False",
    }
    settings = load_settings(file(""), environ)
    assert settings.recall.touch is False
    assert settings.sync.embed_seconds == 2.0
    assert settings.sync.include == ("*.md", "*.org")
    assert settings.recall.weights == {"bm25": 0.3, "vector": 1.0}
    assert settings.notes.dir == Path.cwd() / "notes"
    assert settings.store == str(Path.cwd() / "some.db")
    for name, value in {
        "SYNC_EMBED_SECONDS": "long",
        "RECALL_LIMIT": "2.5",
        "RECALL_WEIGHTS": "bm25",
    }.items():
        assert f"SCRUBJAY_{name}" in str(fails(file(""), {f"SCRUBJAY_{name}": value}))


def test_the_environment_empties_a_list_of_choices(file) -> None:
    environ = {
        "SCRUBJAY_FACTS_STAGES": "none",
        "SCRUBJAY_LINKING_STAGES": " none ",
        "SCRUBJAY_GROUPS": "none",
    }
    settings = load_settings(file('[facts]\nstages = ["statements"]\n'), environ)
    assert (settings.facts.stages, settings.linking.stages) == ((), ())
    assert settings.groups == ("none",)  # a list without choices may hold this word
    assert "none" in str(fails(file(""), {"SCRUBJAY_FACTS_STAGES": "statements, none"}))
    assert load_settings(file(""), {"SCRUBJAY_FACTS_STAGES": ""}).facts.stages != ()


def test_a_path_in_the_file_is_relative_to_the_file_and_a_url_stays(file, tmp_path: Path) -> None:
    path = file("store = 'own.db'\n[notes]\ndir = '~/n'\n")
    settings = load_settings(path, {})
    assert settings.store == str(tmp_path / "own.db")
    assert settings.notes.dir == Path("~/n").expanduser()
    assert load_settings(path, {"SCRUBJAY_STORE": "memory://"}).store == "memory://"


def test_a_model_table_is_read_and_its_file_values_can_be_changed_by_the_environment(file) -> None:
    path = file('[models."bge-m3"]\nprovider = "openai-compatible"\nbase_url = "http://a"\nbatch = 2\n')
    settings = load_settings(path, {"SCRUBJAY_MODELS_BGE_M3_BASE_URL": "http://b"})
    model = settings.models.extra["bge-m3"]
    assert (model.base_url, model.batch, model.concurrency) == ("http://b", 2, 4)
    assert settings.origins["models.bge-m3.batch"] == f"{path}:4"
    assert "is not a setting" in str(fails(file(""), {"SCRUBJAY_MODELS_BGE_M3_BASE_URL": "http://b"}))


def test_a_key_is_read_only_from_the_variable_that_is_named(file, monkeypatch: pytest.MonkeyPatch) -> None:
    text = '[models.a]\nprovider = "openai"\n[models.b]\nprovider = "openai"\napi_key_env = "MY_KEY"\n'
    extra = load_settings(file(text), {}).models.extra
    monkeypatch.setenv("OPENAI_API_KEY", "other")
    monkeypatch.setenv("MY_KEY", "mine")
    assert api_key("models.a", extra["a"]) == ""
    assert api_key("models.b", extra["b"]) == "mine"
    monkeypatch.delenv("MY_KEY")
    with pytest.raises(ConfigError, match="MY_KEY, which is not set"):
        api_key("models.b", extra["b"])


def test_the_providers_offered_are_services_and_libraries_that_exist() -> None:
    assert {*EMBEDDING_PROVIDERS, "static", "late-interaction", "bge", "minilm", "multilingual"} == {
        *KNOWN_PROVIDERS,
        "auto",
    }
    assert RUNTIMES == KNOWN_RUNTIMES


def test_an_unknown_override_is_an_error() -> None:
    assert "the call: recall.limt" in str(fails(None, {"SCRUBJAY_CONFIG": ""}, recall__limt=3))


def test_no_two_settings_share_a_variable() -> None:
    known = known_settings()
    assert len({variable_name(name) for name in known}) == len(known)


@pytest.mark.parametrize(
    ("no_color", "term", "plain"), [("1", "xterm", True), ("", "dumb", True), ("", "xterm", False)]
)
def test_colours_are_off_where_the_environment_says_so(
    no_color: str, term: str, plain: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", no_color)
    monkeypatch.setenv("TERM", term)
    assert plain_output() is plain


def test_keys_in_the_environment_are_read_for_auto_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, key in (("OPENAI_API_KEY", "one"), ("VOYAGE_API_KEY", "two"), ("GEMINI_API_KEY", "")):
        monkeypatch.setenv(name, key)
    assert auto_keys(ExtraModelSettings(provider="auto")) == {"openai": "one", "voyage": "two"}
    assert auto_keys(ExtraModelSettings(provider="openai")) == {}


def test_a_language_model_is_named_with_its_address_or_not_at_all(file) -> None:
    assert (load_settings(file(""), {}).llm.model, load_settings(file(""), {}).llm.base_url) == ("", "")
    named = load_settings(file('[llm]\nbase_url = "http://localhost:11434/v1"\nmodel = "qwen"\n'), {}).llm
    assert (named.model, named.refine) == ("qwen", ("facts", "digests"))
    for text, missing in (('base_url = "http://localhost:1/v1"', "model"), ('model = "qwen"', "base_url")):
        with pytest.raises(ConfigError, match=f"names no {missing}"):
            load_settings(file(f"[llm]\n{text}\n"), {})


def test_a_key_in_the_environment_names_no_language_model(file) -> None:
    environ = {"OPENAI_API_KEY": "sk-1", "OPENAI_BASE_URL": "https://api.openai.com/v1"}
    assert load_settings(file(""), environ).llm == load_settings(file(""), {}).llm
