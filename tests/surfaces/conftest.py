"""A command line of one's own: its store, settings and cache lie in the test's folder."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from fork_server import SCRUBJAY, start
from scrubjay.api.auth import TokenStore
from scrubjay.cli.main import run

if TYPE_CHECKING:
    from proxied import Proxied
    from scripted_model import Model
    from starlette.testclient import TestClient

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]


@dataclass(frozen=True)
class Said:
    """What a command line came to."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        (only,) = self.out.splitlines()
        return json.loads(only)


@dataclass(frozen=True)
class Cli:
    """Runs command lines: `cli("search", "x")` here, `cli.process("search", "x")` in a process of its own."""

    capture: pytest.CaptureFixture[str]
    patch: pytest.MonkeyPatch
    environ: Mapping[str, str] = field(default_factory=dict)

    def __call__(self, *args: str | Path, stdin: str | None = None) -> Said:
        if stdin is not None:
            self.patch.setattr(sys, "stdin", io.StringIO(stdin))
        code = run([str(each) for each in args])
        done = self.capture.readouterr()
        return Said(code, done.out, done.err)

    def process(self, *args: str | Path, stdin: str = "") -> Said:
        command = [*SCRUBJAY, *map(str, args)]
        done = subprocess.run(
            command,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=60,
            env={**os.environ, **self.environ},
        )
        return Said(done.returncode, done.stdout, done.stderr)


@pytest.fixture(scope="session", autouse=True)
def fork_server() -> None:
    """Start the process that forks the commands of these tests."""
    start()


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def environ(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    for name in [name for name in os.environ if name.startswith("SCRUBJAY_")]:
        monkeypatch.delenv(name)
    found = {
        "SCRUBJAY_STORE": str(tmp_path / "memory.db"),
        "SCRUBJAY_CACHE_DIR": str(cache),
        "SCRUBJAY_USER": "ann",
        "XDG_CONFIG_HOME": str(tmp_path / "configuration"),
        "XDG_DATA_HOME": str(tmp_path / "data"),
        "SCRUBJAY_SERVER_ROOTS": str(tmp_path),
        "SCRUBJAY_MODELS_BACKGROUND": "never",
        "SCRUBJAY_SYNC_LOOK_SECONDS": "60",  # what is answered must not hang on how busy the machine is
    }
    for name, value in found.items():
        monkeypatch.setenv(name, value)
    return found


@pytest.fixture
def cli(environ: dict[str, str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Cli:
    return Cli(capsys, monkeypatch, environ)


@pytest.fixture
def tokens(environ: dict[str, str]) -> TokenStore:
    """The tokens of those settings."""
    return TokenStore(Path(environ["XDG_CONFIG_HOME"]) / "scrubjay" / "tokens.json")


@pytest.fixture
def client(environ: dict[str, str], empty_store: Path) -> Iterator[TestClient]:
    """A client of this machine to the server's application, asked without a socket."""
    from http_here import asking

    shutil.copy(empty_store, environ["SCRUBJAY_STORE"])
    with asking(environ) as found:
        yield found


@pytest.fixture
def model() -> Iterator[Model]:
    """A model that says what a test wants it to say."""
    from scripted_model import modelling

    with modelling() as running:
        yield running


@pytest.fixture
def proxy(environ: dict[str, str], model: Model) -> Iterator[Proxied]:
    """The proxy before that model."""
    from proxied import proxying

    with proxying(environ, model) as running:
        yield running


@pytest.fixture
def terminal(cli: Cli) -> Callable[[], None]:
    """Make standard input, output and error terminals, as far as anyone asks."""

    def be() -> None:
        for stream in (sys.stdin, sys.stdout, sys.stderr):
            cli.patch.setattr(stream, "isatty", lambda: True)
        cli.patch.delenv("NO_COLOR", raising=False)
        cli.patch.setenv("TERM", "xterm")

    return be


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """A folder of three notes."""
    folder = tmp_path / "notes"
    (folder / "log").mkdir(parents=True)
    (folder / "boats.md").write_text(
        "# Boats\n\n## Hull\n\nThe hull was painted blue by Ann Lee.\n\n## Engine\n\n"
        "The engine is a Volvo D1-30; error E0382 means low oil.\n"
    )
    (folder / "log" / "2026-03-01.md").write_text("# Log\n\nWe sailed to Bornholm and back.\n")
    (folder / "tagged.md").write_text("---\ntags: [food]\n---\n# Pasta\n\nBoil the pasta for nine minutes.\n")
    return folder
