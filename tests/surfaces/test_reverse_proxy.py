"""Behind a real nginx: by its default lines nobody is the owner, by those of docs/deployment.md a token is enough."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import httpx2
import pytest
from http_server import COMMAND, started

from loopback import free_port
from scrubjay import Memory
from scrubjay.api.auth import SCOPES, Principal, TokenStore

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "deployment.md").read_text("utf-8")
BUILT = ROOT / "build/proxies/usr"
PLACES = (os.environ.get("PATH", os.defpath), "/usr/sbin", str(BUILT / "sbin"), str(BUILT / "bin"))
NGINX, CADDY = (shutil.which(name, path=os.pathsep.join(PLACES)) for name in ("nginx", "caddy"))
pytestmark = pytest.mark.skipif(NGINX is None, reason="nginx is not there: make proxies")

QUICK = [*COMMAND, "127.0.0.1:0", "--readers", "0"]
SERVING = r"Serving at (\S+);"
SHELL = """
daemon off; master_process on; pid {folder}/pid; error_log {folder}/error.log;
events {{}}
http {{
  access_log off;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  {servers}
}}
"""
DEFAULT = "server {{ listen 127.0.0.1:{port}; location / {{ proxy_pass {url}; }} }}"
NEWER = DEFAULT.replace("proxy_pass", 'proxy_http_version 1.1; proxy_set_header Connection ""; proxy_pass')
"""What nginx does from 1.29.7 on unless it is told otherwise: nothing in such a request tells of a proxy."""


def documented(name: str) -> str:
    """The lines of the page for a program."""
    found = re.search(rf"^```{name}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    assert found is not None, name
    return found[1]


@contextmanager
def running(command: list[str | Path], port: int, environ: Mapping[str, str] = os.environ) -> Iterator[None]:
    """Run a reverse proxy until the block ends."""
    with subprocess.Popen(command, stderr=subprocess.PIPE, env=environ) as process:
        try:
            with httpx2.Client(transport=httpx2.HTTPTransport(retries=8)) as client:
                client.get(f"http://127.0.0.1:{port}/healthz")
            yield
        finally:
            process.terminate()
            process.communicate()


def nginx(folder: Path, port: int, servers: str) -> AbstractContextManager[None]:
    """Run nginx; its workers are another account where that may be."""
    folder.mkdir()
    (folder / "nginx.conf").write_text(SHELL.format(folder=folder, servers=servers))
    return running([str(NGINX), "-p", folder, "-c", folder / "nginx.conf"], port)


def caddy(folder: Path, port: int, lines: str) -> AbstractContextManager[None]:
    """Run Caddy, without the certificates that it would ask the network for."""
    folder.mkdir()
    lines = lines.replace("memory.example", f"http://127.0.0.1:{port}")
    (folder / "Caddyfile").write_text(f"{{\nadmin off\n}}\n{lines}")
    command = [str(CADDY), "run", "--adapter", "caddyfile", "--config", folder / "Caddyfile"]
    return running(command, port, {**os.environ, "HOME": str(folder), "XDG_DATA_HOME": str(folder)})


def tried(url: str, folder: Path, headers: Mapping[str, str] = {}) -> dict[str, int]:
    """What the server answers who reads it all, has it read a folder and write a file."""
    (folder / "notes").mkdir(exist_ok=True)
    (folder / "notes" / "a.md").write_text("The kayak is blue.\n")
    with httpx2.Client(base_url=url, headers=headers, timeout=60, verify=False) as client:
        return {
            "export": client.get("/v1/export").status_code,
            "sync": client.post("/v1/sync", json={"path": str(folder / "notes")}).status_code,
            "backup": client.post("/v1/backup", json={"path": str(folder / "copy.db")}).status_code,
        }


@pytest.mark.parametrize("options", [(), ("--root-path", "/memory")], ids=["plain", "below a path"])
def test_behind_nginxs_default_lines_nobody_is_the_owner(
    environ: dict[str, str], tmp_path: Path, options: tuple[str, ...]
) -> None:
    with Memory.open(environ["SCRUBJAY_STORE"], user="ann") as memory:
        memory.add("The zeppelin code is 4711.")
    under = options[1] if options else ""
    port, newer = free_port(), free_port()
    told = "need a token because --root-path .*--open[\\s\\S]*" * bool(options) + SERVING
    with started([*QUICK, *options], environ, told) as url:
        servers = DEFAULT.format(port=port, url=url)
        if os.getuid() == 0:  # else nginx runs as the server does, and only its HTTP/1.0 tells of it
            servers += NEWER.format(port=newer, url=url)
        with nginx(tmp_path / "nginx", port, servers):
            for front in (port, newer) if os.getuid() == 0 else (port,):
                said = tried(f"http://127.0.0.1:{front}{under}", tmp_path)
                assert said == {"export": 401, "sync": 401, "backup": 401}
        assert not (tmp_path / "copy.db").exists()
        assert httpx2.get(f"{url}/v1/export", timeout=60).status_code == (401 if options else 200)


def test_the_documented_lines_of_nginx_and_caddy_serve_whoever_shows_a_token(
    environ: dict[str, str], tmp_path: Path, tokens: TokenStore
) -> None:
    secret = tokens.create("ann", Principal("default", "ann", scopes=SCOPES), None)
    port, pair = (
        free_port(),
        {"/etc/ssl/memory.pem": tmp_path / "cert", "/etc/ssl/memory.key": tmp_path / "key"},
    )
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1",
         "-subj", "/CN=127.0.0.1", "-out", pair["/etc/ssl/memory.pem"], "-keyout", pair["/etc/ssl/memory.key"]],
        check=True, capture_output=True,
    )  # fmt: skip
    told = rf"need a token because tokens exist \(ann\).*--open[\s\S]*{SERVING}"
    with started(QUICK, environ, told) as url:
        lines = documented("nginx").replace("listen 443", f"listen 127.0.0.1:{port}")
        lines = lines.replace("http://127.0.0.1:8765", url)
        for said, file in pair.items():
            lines = lines.replace(said, str(file))
        with nginx(tmp_path / "nginx", port, lines):
            front = f"https://127.0.0.1:{port}"
            assert set(tried(front, tmp_path).values()) == {401}
            shown = {"authorization": f"Bearer {secret}"}
            assert set(tried(front, tmp_path, shown).values()) == {200}
            with httpx2.Client(base_url=front, timeout=60, verify=False) as client:
                form = {"token": secret, "then": "/status"}
                entered = client.post("/login", data=form, headers={"origin": front})
                cookie = entered.headers["set-cookie"]
                assert entered.status_code == 303
                assert cookie.startswith("__Host-scrubjay_session_")
                assert {"Secure", "Path=/", "HttpOnly"} <= set(cookie.split("; "))
                assert secret not in cookie
                assert client.get("/status").status_code == 200
        if CADDY is not None:
            lines, port = (
                documented("caddy").replace("127.0.0.1:8765", url.removeprefix("http://")),
                free_port(),
            )
            with caddy(tmp_path / "caddy", port, lines):
                assert set(tried(f"http://127.0.0.1:{port}", tmp_path).values()) == {401}
                assert tried(f"http://127.0.0.1:{port}", tmp_path, shown)["export"] == 200
