"""The TypeScript client passes its own tests against a real server; `make check` compares its types with OpenAPI."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from http_server import serving

from scrubjay.api.auth import Principal, TokenStore

ROOT = Path(__file__).parents[2]
CLIENT = ROOT / "clients" / "typescript"

pytestmark = pytest.mark.skipif(
    not shutil.which("node") or not (CLIENT / "node_modules").is_dir(),
    reason="node is not here, or the client's packages are not: `make client`",
)


def run(*command: str | Path, cwd: Path = CLIENT, **variables: str) -> str:
    env = {**os.environ, **variables}
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, timeout=180, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_client_and_its_tests_compile_and_pass_against_a_server(
    environ: dict[str, str], tokens: TokenStore
) -> None:
    writer = tokens.create("writer", Principal("default", "ann", scopes=("read", "write")), None)
    reader = tokens.create("reader", Principal("default", "ann", scopes=("read",)), None)
    out = CLIENT / "build"  # inside the client's folder, where node finds its packages
    shutil.rmtree(out, ignore_errors=True)
    run(CLIENT / "node_modules" / ".bin" / "tsc", "-p", "tsconfig.test.json")
    with serving(environ) as url:
        files = sorted(map(str, out.glob("test/*.js")))
        said = run("node", "--test", *files, SCRUBJAY_URL=url, WRITER=writer, READER=reader)
    assert "# pass 6\n" in said
    assert "# fail 0\n" in said


def test_the_lines_of_the_pages_print_a_memory_and_where_it_is(environ: dict[str, str]) -> None:
    pages = [path.read_text("utf-8") for path in (ROOT / "docs" / "python.md", CLIENT / "README.md")]
    (lines,) = {re.findall(r"^```ts\n(.*?)^```", page, re.DOTALL | re.MULTILINE)[0] for page in pages}
    run(CLIENT / "node_modules" / ".bin" / "tsc", "-p", "tsconfig.json")
    program = CLIENT / "build" / "page.mjs"
    program.parent.mkdir(exist_ok=True)
    with serving(environ) as url:
        program.write_text(lines.replace("http://127.0.0.1:8765", url), encoding="utf-8")
        said = run("node", program)
    assert re.fullmatch(r"The launch moved to 3 May\. obs_[0-9a-f]{16}\n", said)


def test_the_package_that_is_published_has_the_client_and_its_types(tmp_path: Path) -> None:
    run("npm", "pack", "--pack-destination", tmp_path, "--loglevel=error", HOME=str(tmp_path))
    (package,) = tmp_path.glob("*.tgz")
    names = {each.removeprefix("package/") for each in run("tar", "-tzf", package).split()}
    assert names == {
        "LICENSE", "README.md", "package.json",
        *(f"dist/{name}.{kind}" for name in ("index", "schema") for kind in ("js", "d.ts")),
    }  # fmt: skip
