"""Third-party libraries, the environment and output are touched in one place each."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tree import imported_at_load, imported_tops, modules

HEAVY = ("onnxruntime", "openvino", "tokenizers", "mcp", "mcp_types", "httpx", "watchfiles", "tqdm",
         "sentence_transformers", "Stemmer", "yaml", "platformdirs", "anyio", "tomlkit", "jwt",
         "cryptography", "opentelemetry")  # fmt: skip
"""Each costs 5 to 500 ms to import, and most commands need none of them."""
FENCED = {
    "apsw": ("storage/sqlite/",),
    "psycopg": ("storage/postgres/",),
    "mammoth": ("ingest/documents/",),
    "mcp": ("server/mcp/",),
    "click": ("cli/",),
    "fastapi": ("server/",),
    "prometheus_client": ("server/http/",),
    "jinja2": ("server/viewer/",),
    "markdown_it": ("server/viewer/",),
    "markupsafe": ("server/viewer/",),
    "pypdfium2": ("ingest/documents/",),
    "selectolax": ("ingest/documents/",),
    "pydantic": ("server/http/", "server/proxy/"),
    "starlette": ("server/", "cli/serve.py"),
    "uvicorn": ("server/",),
    "tqdm": ("cli/",),
    "httpx": ("llm/http.py", "server/proxy/", "api/oauth.py"),
    "jwt": ("api/oauth.py",),
    "opentelemetry": ("tracing.py",),
    "onnxruntime": ("embeddings/",),
    "openvino": ("embeddings/",),
    "sentence_transformers": ("embeddings/",),
    "tokenizers": ("embeddings/", "rerankers/"),
    "watchfiles": ("ingest/watcher.py",),
    "yaml": ("ingest/", "agents/yaml_edit.py"),
    "platformdirs": ("config/",),
    "tomlkit": ("agents/toml_edit.py",),
    "Stemmer": ("text/",),
}
"""Library to the only places that may know it, so that another can take its place."""
WRITING = ("scrubjay.redaction.redactor", "scrubjay.ingest.scanner")
"""What a search has no use for that is asked no earlier turns and has no files to look at."""


def top(name: str) -> str:
    return name.partition(".")[0]


def names(tree: ast.AST, *wanted: str) -> Iterator[int]:
    """Lines on which a name, or an attribute written with its module, is used."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name | ast.Attribute) and ast.unparse(node) in wanted:
            yield node.lineno


@pytest.mark.parametrize("library", FENCED)
def test_a_library_is_known_in_one_place_only(library: str) -> None:
    strangers = [
        path
        for path, tops in imported_tops().items()
        if library in tops and not path.startswith(FENCED[library])
    ]
    assert strangers == []


def test_only_the_settings_read_the_environment() -> None:
    readers = {
        path: lines
        for path, tree in modules().items()
        if (lines := list(names(tree, "os.environ", "os.getenv", "os.environb", "environ")))
    }
    # A hook reads config/paths.py alone: there is no time for the rest of the settings.
    allowed = {"config/loader.py", "config/paths.py"}
    assert set(readers) <= allowed, readers


def test_only_the_command_line_prints() -> None:
    printers = [
        path
        for path, tree in modules().items()
        if list(names(tree, "print", "sys.stdout", "sys.stderr")) and not path.startswith("cli/")
    ]
    assert printers == []


def test_no_module_imports_a_heavy_library_when_it_is_loaded() -> None:
    found = {
        path: heavy
        for path, tree in modules().items()
        if (heavy := sorted(set(map(top, imported_at_load(tree))) & set(HEAVY)))
    }
    assert found == {}


def test_a_cold_search_loads_nothing_heavy(tmp_path: Path) -> None:
    script = (
        "import sys\n"
        "from scrubjay.cli.main import run\n"
        "code = run(['search', '--json', 'where is it?'])\n"
        f"loaded = sorted(set({(*HEAVY, *WRITING)!r}) & set(sys.modules))\n"
        "print(code, loaded, file=sys.stderr)\n"
    )
    around = os.environ | {"SCRUBJAY_STORE": str(tmp_path / "memory.db")}
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, env=around
    )
    # The default folders are asked of platformdirs, and the question's stems of the stemmer.
    assert done.stderr.splitlines()[-1] in (
        "0 ['Stemmer', 'platformdirs']",
        "0 ['platformdirs']",
        "0 ['Stemmer']",
        "0 []",
    ), done.stderr


def test_a_sync_that_finds_nothing_new_loads_only_what_finds_that_out(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "a.md").write_text("The kettle is blue.\n")
    script = (
        "import sys\n"
        "from scrubjay.cli.main import run\n"
        f"code = run(['sync', {str(notes)!r}])\n"
        "parts = ('scrubjay.facts.', 'scrubjay.redaction.', 'scrubjay.ingest.transcripts.', 'scrubjay.server.')\n"
        "others = ('scrubjay.daemon.server', 'scrubjay.search.pipeline', *parts)\n"
        "print(code, sorted(one for one in sys.modules if one.startswith(others)), file=sys.stderr)\n"
    )
    around = os.environ | {
        "SCRUBJAY_STORE": str(tmp_path / "memory.db"),
        "SCRUBJAY_MODELS_BACKGROUND": "never",
    }
    for _ in range(2):  # the first reads the note
        done = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, env=around
        )
    assert done.stderr.splitlines()[-1] == "0 []", done.stderr


def test_help_loads_neither_numpy_nor_a_store() -> None:
    script = (
        "import sys\n"
        "from scrubjay.cli.main import run\n"
        "run(['--help'])\n"
        "print(sorted({'numpy', 'apsw', 'scrubjay.memory', 'asyncio'} & set(sys.modules)), file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert done.stderr.splitlines()[-1] == "[]", done.stderr
