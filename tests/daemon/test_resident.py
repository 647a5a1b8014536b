"""A process that stays: started once, asked by hooks and searches, gone without a trace, and never needed."""

from __future__ import annotations

import inspect
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hooking import Machine, beginning_with

from scrubjay import Memory
from scrubjay.daemon.client import ask_daemon
from scrubjay.daemon.server import MAX_REQUEST_BYTES

ASKED = "What is our staging database called?"

ODD = {
    "limit": 3, "since": "2020", "until": "2100", "fusion": "rrf", "weights": {"bm25": 1.0}, "preset": "kit",
    "channels": ["bm25"], "models": ["wordllama-l2-supercat"], "stages": [], "rerank": "off", "links": 1,
    "hierarchy": True, "threshold": 0.1, "snippet": 80, "now": "2100", "as_of": "2100", "tz": "Europe/Berlin",
    "min_relevance": 0.1, "here": "none", "confidence_floor": 0.1,
}  # fmt: skip
"""A value of each option of a search that has none of its own."""


def requests(here: Machine) -> int:
    found: int = here.state()["requests"]
    return found


def exchanged(here: Machine, told: bytes) -> bytes:
    """Say something to the socket as it is, and return what comes back until it is closed."""
    with socket.socket(socket.AF_UNIX) as line:
        line.settimeout(30)
        line.connect(str(here.socket))
        try:
            line.sendall(told)
            line.shutdown(socket.SHUT_WR)
            parts = []
            while part := line.recv(65_536):
                parts.append(part)
            return b"".join(parts)
        except (BrokenPipeError, ConnectionResetError):
            return b""


def gone(pid: int) -> bool:
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return True
    return status.rpartition(")")[2].split()[0] == "Z"


def test_a_hook_asks_the_resident_and_says_what_it_says_cold(here: Machine) -> None:
    here.run("add", "Our staging database is called heron and lives in Lisbon.")
    cold = here.hook("prompt", prompt=ASKED)
    here.run("resident", "start")
    warm = here.hook("prompt", prompt=ASKED, session_id="another")
    assert warm.json == cold.json
    assert requests(here) == 1


def test_a_resident_takes_every_option_of_a_search(warm: Machine) -> None:
    # A name that it does not know is no answer, and the command would open the store by itself, unnoticed and slow.
    usual = {
        name: one.default if one.default is not None else ODD[name]
        for name, one in inspect.signature(Memory.search).parameters.items()
        if name not in ("self", "query")
    }
    refused = []
    for name, value in usual.items():
        arguments = {"query": ASKED, name: value, **({"fusion": "raw"} if name == "threshold" else {})}
        if ask_daemon(str(warm.socket), warm.mark, "search", arguments, 30) is None:
            refused.append(name)
    assert refused == []


def test_a_project_that_is_called_as_a_folder_here_is_the_project(warm: Machine) -> None:
    warm.run("add", "The heron of the docs sleeps by the weir.", "--project", "docs")
    (warm.project / "docs").mkdir()
    subprocess.run(["git", "init", "-q", str(warm.project)], check=True)
    warm.run("add", "The heron hunts at the sluice.", "--project", ".")
    before = requests(warm)
    found = warm.run("search", "where does the heron sleep", "--project", "docs", "--weak").out
    assert b"weir" in found
    assert requests(warm) > before


def test_a_start_of_the_resident_is_no_problem_in_the_log(here: Machine) -> None:
    here.run("add", "Our staging database is called heron and lives in Lisbon.")
    here = replace(here, env={**here.env, "SCRUBJAY_LOG_SLOW_MS": "1"})
    command = [sys.executable, "-P", "-m", "scrubjay", "mcp"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=here.env
    ) as server:
        here.wait(lambda: bool(here.state()["running"]))
        here.wait(
            lambda: ask_daemon(str(here.socket), here.mark, "search", {"query": "heron"}, 30) is not None
        )
        server.communicate(b"")
    assert "resident request failed" not in here.events()
    assert here.events().count("slow search") == 1


def test_a_hook_is_answered_when_the_resident_was_killed(warm: Machine) -> None:
    os.kill(warm.state()["pid"], signal.SIGKILL)
    assert "heron" in warm.hook("prompt", prompt=ASKED).context


def test_a_socket_whose_owner_died_is_taken_over(warm: Machine) -> None:
    first = warm.state()["pid"]
    os.kill(first, signal.SIGKILL)
    warm.wait(lambda: gone(first))
    assert warm.socket.exists()
    assert warm.state() == {"running": False}
    warm.run("resident", "start")
    assert warm.state()["running"]
    assert warm.state()["pid"] != first


def test_of_two_that_start_at_once_one_stays(here: Machine) -> None:
    here.run("add", "Our staging database is called heron.")
    command = [sys.executable, "-P", "-m", "scrubjay", "resident", "serve"]
    both = [subprocess.Popen(command, env=here.env, cwd=here.project) for _ in range(2)]
    try:
        here.wait(lambda: sum(one.poll() is not None for one in both) == 1)
        here.wait(lambda: bool(here.state()["running"]))
        (ended,) = [one for one in both if one.poll() is not None]
        assert ended.returncode == 0
        assert here.state()["pid"] in [one.pid for one in both if one.poll() is None]
    finally:
        here.run("resident", "stop")
        assert [one.wait() for one in both] == [0, 0]


def test_a_stopped_resident_leaves_no_socket_and_no_process(warm: Machine) -> None:
    pid = warm.state()["pid"]
    assert warm.run("resident", "stop").out.startswith(b"Stopped")
    warm.wait(lambda: gone(pid))
    assert not warm.socket.exists()
    assert warm.run("resident", "stop").out == b"The resident daemon was not running.\n"


def test_a_resident_that_is_told_to_terminate_leaves_no_socket(warm: Machine) -> None:
    pid = warm.state()["pid"]
    os.kill(pid, signal.SIGTERM)
    warm.wait(lambda: gone(pid))
    assert not warm.socket.exists()


AS_SOON_AS_IT_LISTENS = """
import signal, socket

class Told(socket.socket):
    def listen(self, *given):
        super().listen(*given)
        signal.raise_signal(signal.SIGTERM)

socket.socket = Told
"""


@pytest.mark.parametrize("words", [["resident", "serve"], ["watch"]], ids=lambda words: words[0])
def test_a_signal_that_comes_as_soon_as_a_resident_listens_ends_it_well(
    here: Machine, words: list[str]
) -> None:
    (here.project / "db.md").write_text("Our staging database is called heron.\n")
    here.run("sync", str(here.project))
    command = [sys.executable, "-P", "-m", "scrubjay", *words]
    env = {**here.env, **beginning_with(here.root, AS_SOON_AS_IT_LISTENS)}
    assert subprocess.run(command, capture_output=True, env=env, timeout=60).returncode == 0
    assert not here.socket.exists()


def test_a_resident_that_nobody_asks_ends(here: Machine) -> None:
    here.run("add", "x")
    here.run("resident", "start", SCRUBJAY_RESIDENT_IDLE_MINUTES="0.01")
    here.wait(lambda: not list(here.socket.parent.glob("*.sock")))


def test_a_resident_ends_when_its_store_is_removed(warm: Machine) -> None:
    pid = warm.state()["pid"]
    warm.store.unlink()
    warm.wait(lambda: gone(pid))


def test_a_resident_ends_when_its_settings_are_others(warm: Machine) -> None:
    pid = warm.state()["pid"]
    (warm.root / "config" / "scrubjay").mkdir()
    (warm.root / "config" / "scrubjay" / "config.toml").write_text("[recall]\nlimit = 3\n")
    warm.wait(lambda: gone(pid))


def test_a_caller_with_other_settings_is_not_answered_by_it(warm: Machine) -> None:
    done = warm.hook("prompt", prompt=ASKED, env={"SCRUBJAY_USER": "bob"})
    assert done.out == b""
    assert requests(warm) == 0


def test_a_request_of_other_settings_is_refused_at_the_socket(warm: Machine) -> None:
    told = {"settings": "0" * 64, "verb": "search", "arguments": {"query": "heron"}}
    assert json.loads(exchanged(warm, json.dumps(told).encode() + b"\n")) == {"refused": "other settings"}


def test_nothing_in_a_request_names_another_store_or_user(warm: Machine) -> None:
    for more in ({"user": "bob"}, {"store": "x"}, {"groups": ["g"]}, {"tenant": "t"}):
        told = {"settings": warm.mark, "verb": "search", "arguments": {"query": "heron", **more}}
        assert json.loads(exchanged(warm, json.dumps(told).encode() + b"\n")) == {"failed": "InputError"}


def test_garbage_and_requests_that_are_too_large_are_refused_and_the_next_is_answered(warm: Machine) -> None:
    for told in (b"garbage\n", b"", b"[]\n", b"{}\n", b"\xff\x00" * 99 + b"\n", b"[" * 90_000 + b"\n"):
        assert b"refused" in exchanged(warm, told)
    assert len(exchanged(warm, b"x" * 10_000_000)) < MAX_REQUEST_BYTES
    assert "heron" in warm.hook("prompt", prompt=ASKED).context
    assert requests(warm) == 1


def test_a_client_that_goes_away_costs_nobody_else(warm: Machine) -> None:
    told = json.dumps({"settings": warm.mark, "verb": "search", "arguments": {"query": "heron"}}).encode()
    for _ in range(50):
        with socket.socket(socket.AF_UNIX) as line:
            line.connect(str(warm.socket))
            line.sendall(told + b"\n")
    found = ask_daemon(str(warm.socket), warm.mark, "search", {"query": "heron"}, 30)
    while found is None:  # all places were taken for a moment
        found = ask_daemon(str(warm.socket), warm.mark, "search", {"query": "heron"}, 30)
    assert len(found["results"]) == 1


def test_the_socket_is_its_users_alone(warm: Machine) -> None:
    assert warm.socket.stat().st_mode & 0o777 == 0o600
    assert warm.socket.parent.stat().st_mode & 0o777 == 0o700


def test_a_folder_that_others_may_enter_is_not_used(here: Machine) -> None:
    here.socket.parent.mkdir(mode=0o755)
    here.run("add", "Our staging database is called heron.")
    command = [sys.executable, "-P", "-m", "scrubjay", "resident", "serve"]
    assert subprocess.run(command, env=here.env, cwd=here.project, timeout=60).returncode == 0
    assert not here.socket.exists()
    assert "heron" in here.hook("prompt", prompt=ASKED).context


def test_a_socket_in_a_folder_that_was_opened_to_others_is_not_asked(warm: Machine) -> None:
    warm.socket.parent.chmod(0o755)
    assert ask_daemon(str(warm.socket), warm.mark, "state", {}, 5) is None
    warm.socket.parent.chmod(0o700)
    assert ask_daemon(str(warm.socket), warm.mark, "state", {}, 5) is not None


def test_a_resident_does_what_a_hook_leaves_to_be_done(warm: Machine) -> None:
    path = warm.transcript(("user", "The green tin holds the tea."))
    warm.hook("stop", transcript_path=str(path))
    warm.wait(lambda: "errand capture" in warm.events())
    (done,) = [line for line in warm.log() if line["event"] == "errand capture"]
    assert done["pid"] == warm.state()["pid"]


def test_what_is_added_beside_a_resident_is_found_by_it(warm: Machine) -> None:
    warm.run("add", "The production database is called osprey.")
    assert "osprey" in warm.hook("prompt", prompt="What is the production database called?").context


def test_a_session_that_begins_starts_one_where_the_settings_say_so(here: Machine) -> None:
    here.run("add", "x")
    wanted = {**here.env, "SCRUBJAY_RESIDENT_AUTO": "true"}
    told = Machine(here.root, wanted)
    told.hook("session-start")
    told.wait(lambda: bool(told.state()["running"]))
    told.run("resident", "stop")


def test_a_prompt_that_was_answered_cold_starts_one_for_the_next(here: Machine) -> None:
    here.run("add", "x")
    told = Machine(here.root, {**here.env, "SCRUBJAY_RESIDENT_AUTO": "true"})
    told.hook("prompt", prompt="anything?")
    told.wait(lambda: bool(told.state()["running"]))
    told.hook("prompt", prompt="anything?")
    assert told.state()["requests"] == 1
    told.run("resident", "stop")


def test_a_prompt_that_could_not_be_answered_in_time_starts_one_for_the_next(here: Machine) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:  # a store that says nothing when it is opened
        store = f"postgresql://127.0.0.1:{silent.getsockname()[1]}/none"
        told = Machine(
            here.root,
            {
                **here.env,
                "SCRUBJAY_STORE": store,
                "SCRUBJAY_RESIDENT_AUTO": "true",
                "SCRUBJAY_HOOKS_BUDGET_MS": "3000",
            },
        )
        assert told.hook("prompt", prompt="anything?").out == b""
        assert told.events() == ["hook late"]
        told.wait(Path(f"{told.socket}.lock").exists)


def test_a_first_prompt_is_answered_though_a_resident_never_answers(here: Machine) -> None:
    told = Machine(here.root, {**here.env, "SCRUBJAY_HOOKS_BUDGET_MS": "12000"})
    told.run("add", "Our staging database is called heron and lives in Lisbon.")
    told.socket.parent.mkdir(mode=0o700, exist_ok=True)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as silent:
        silent.bind(str(told.socket))
        silent.listen()
        assert "heron" in told.hook("prompt", prompt=ASKED).context


def test_a_server_for_mcp_is_a_resident_as_long_as_its_client_lives(here: Machine) -> None:
    here.run("add", "Our staging database is called heron and lives in Lisbon.")
    command = [sys.executable, "-P", "-m", "scrubjay", "mcp"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=here.env
    ) as server:
        here.wait(lambda: bool(here.state()["running"]))
        assert here.state()["host"] == "mcp"
        first = here.hook("prompt", prompt=ASKED)  # it was opening its store: the hook did it alone
        here.wait(
            lambda: ask_daemon(str(here.socket), here.mark, "search", {"query": "heron"}, 30) is not None
        )
        before = requests(here)
        second = here.hook("prompt", prompt=ASKED, session_id="another")
        assert "heron" in first.context
        assert second.json == first.json
        assert requests(here) == before + 1
        server.communicate(b"")
        assert server.returncode == 0
    assert here.state() == {"running": False}


def test_a_watch_is_a_resident(here: Machine) -> None:
    (here.project / "db.md").write_text("Our staging database is called heron.\n")
    here.run("sync", str(here.project))
    command = [sys.executable, "-P", "-m", "scrubjay", "watch"]
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=here.env
    ) as watch:
        here.wait(lambda: bool(here.state()["running"]))
        assert here.state()["host"] == "watch"
        watch.send_signal(signal.SIGINT)
        assert watch.wait() == 0
    assert not here.socket.exists()


def test_a_session_that_begins_starts_none_where_the_settings_do_not(here: Machine) -> None:
    here.run("add", "x")
    here.hook("session-start")
    here.wait(lambda: "errand catch-up" in here.events())
    assert here.state() == {"running": False}


def test_a_search_asks_the_resident_and_prints_what_it_prints_cold(warm: Machine) -> None:
    warm.run("embed")
    hot = warm.run("search", "--explain", "heron", "--now", "2026-03-01")
    assert requests(warm) == 1
    warm.run("resident", "stop")
    cold = warm.run("search", "--explain", "heron", "--now", "2026-03-01", "--preset", "kit")
    assert hot.code == cold.code == 0
    assert b"partial" not in hot.out
    assert b"heron" in hot.out


def test_a_search_that_fails_there_says_so_as_it_does_here(warm: Machine) -> None:
    done = warm.run("search", "heron", "--since", "no date")
    assert done.code == 2
    assert b"no date" in done.err


def test_a_search_without_a_resident_is_answered(warm: Machine) -> None:
    os.kill(warm.state()["pid"], signal.SIGKILL)
    assert b"heron" in warm.run("search", "heron").out


def test_status_shows_the_resident(warm: Machine) -> None:
    pid = warm.state()["pid"]
    assert f"resident   running, process {pid}".encode() in warm.run("status").out
    assert warm.run("status", "--json").json["resident"]["pid"] == pid


def test_starting_twice_starts_one(warm: Machine) -> None:
    first = warm.state()["pid"]
    assert warm.run("resident", "start").code == 0
    assert warm.state()["pid"] == first


def test_a_store_in_memory_has_no_resident(here: Machine) -> None:
    command = [sys.executable, "-P", "-m", "scrubjay", "resident", "serve"]
    env = {**here.env, "SCRUBJAY_STORE": "memory://"}
    assert subprocess.run(command, env=env, cwd=here.project, timeout=60).returncode == 0


def test_the_folder_of_sockets_may_be_removed_under_a_resident(warm: Machine) -> None:
    pid = warm.state()["pid"]
    shutil.rmtree(warm.socket.parent)
    warm.wait(lambda: gone(pid))
    assert "heron" in warm.hook("prompt", prompt=ASKED).context


@pytest.mark.parametrize(
    ("enter", "leave"),
    [
        (("install", "claude-code", "--yes"), ("uninstall", "claude-code", "--yes")),
        (("setup", "--yes"), ("setup", "--undo", "--yes")),
    ],
)
def test_it_ends_when_agents_are_uninstalled(
    here: Machine, enter: tuple[str, ...], leave: tuple[str, ...]
) -> None:
    (here.root / "home" / ".claude").mkdir()
    here.run(*enter, SCRUBJAY_OFF="1")
    here.run("resident", "start")
    assert here.state()["running"]
    done = here.run(*leave)
    assert done.code == 0, done
    here.wait(lambda: not here.state()["running"])
