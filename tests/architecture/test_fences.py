"""Third-party libraries, the environment and output are touched in one place each."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tree import imported, imported_at_load, modules

HEAVY = ("onnxruntime", "openvino", "tokenizers", "mcp", "mcp_types", "httpx", "watchfiles", "tqdm",
         "sentence_transformers", "Stemmer", "yaml", "platformdirs", "anyio", "tomlkit")  # fmt: skip
"""Each costs 5 to 500 ms to import, and most commands need none of them."""
FENCED = {
    "apsw": ("store/sqlite/",),
    "psycopg": ("store/postgres/",),
    "mcp": ("surfaces/mcp/",),
    "click": ("surfaces/cli/",),
    "fastapi": ("surfaces/http/", "surfaces/serve/", "surfaces/proxy/", "surfaces/viewer/"),
    "prometheus_client": ("surfaces/http/",),
    "jinja2": ("surfaces/viewer/",),
    "pydantic": ("surfaces/http/", "surfaces/proxy/"),
    "starlette": ("surfaces/",),
    "uvicorn": ("surfaces/serve/",),
    "tqdm": ("surfaces/cli/",),
    "httpx": ("providers/post.py", "surfaces/proxy/"),
    "onnxruntime": ("providers/embedders/",),
    "openvino": ("providers/embedders/",),
    "sentence_transformers": ("providers/embedders/",),
    "tokenizers": ("providers/embedders/", "providers/rerankers/"),
    "watchfiles": ("ingest/sources/",),
    "yaml": ("ingest/",),
    "platformdirs": ("config.py", "config_start.py"),
    "tomlkit": ("agents/edit_toml.py",),
    "Stemmer": ("text/",),
}
"""Library to the only places that may know it, so that another can take its place."""
WRITING = ("scrubjay.ingest.scrub", "scrubjay.ingest.compare")
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
        for path, tree in modules().items()
        if library in map(top, imported(tree)) and not path.startswith(FENCED[library])
    ]
    assert strangers == []


def test_only_the_settings_read_the_environment() -> None:
    readers = {
        path: lines
        for path, tree in modules().items()
        if (lines := list(names(tree, "os.environ", "os.getenv", "os.environb", "environ")))
    }
    # config.py hands the environment on as an argument of that name.
    # config_start.py is what a hook has before there is time for config.py.
    allowed = {"config.py", "config_given.py", "config_start.py"}
    assert set(readers) <= allowed, readers


def test_only_the_command_line_prints() -> None:
    printers = [
        path
        for path, tree in modules().items()
        if list(names(tree, "print", "sys.stdout", "sys.stderr")) and not path.startswith("surfaces/cli/")
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
        "from scrubjay.surfaces.cli.main import run\n"
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


def test_help_loads_neither_numpy_nor_a_store() -> None:
    script = (
        "import sys\n"
        "from scrubjay.surfaces.cli.main import run\n"
        "run(['--help'])\n"
        "print(sorted({'numpy', 'apsw', 'scrubjay.engine', 'asyncio'} & set(sys.modules)), file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert done.stderr.splitlines()[-1] == "[]", done.stderr
