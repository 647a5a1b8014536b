"""Speak: a command that an agent would start, and what the agent would say to it -> what the agent would hear."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from scrubjay import __version__

PROTOCOL = "2025-06-18"
"""Of MCP, which every server of these years speaks."""


class Unheard(Exception):
    """A command said nothing that could be understood; the message says what happened instead."""


class Heard(NamedTuple):
    """What a hook came to.

    Attributes:
        text: Its standard output.
        ms: How long it took.
    """

    text: str
    ms: float


def hook(command: str, said: Mapping[str, Any], env: Mapping[str, str], seconds: float, cwd: str) -> Heard:
    """Run a hook's command line as an agent does: by the shell, with JSON on standard input.

    Raises:
        Unheard: It did not end in time, could not be started, or ended with an error.
    """
    started = time.monotonic()
    try:
        process = subprocess.Popen(
            command, shell=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env=dict(env), cwd=cwd, start_new_session=True,
        )  # fmt: skip
    except OSError as error:
        raise Unheard(f"it cannot be started ({error.strerror})") from error
    with process:
        try:
            out, _ = process.communicate(json.dumps(said).encode(), timeout=seconds)
        except subprocess.TimeoutExpired as error:
            _killed(process)
            raise Unheard(f"it did not end within {seconds:g} seconds") from error
        except BaseException:
            _killed(process)
            raise
    took = (time.monotonic() - started) * 1000
    if process.returncode:
        raise Unheard(f"it ended with exit code {process.returncode}")
    return Heard(out.decode("utf-8", "replace"), took)


def _killed(process: subprocess.Popen[bytes]) -> None:
    """End a shell and what it started: either may hold the output."""
    if sys.platform == "win32":
        process.kill()
        return
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def tool(
    words: Sequence[str], name: str, arguments: Mapping[str, Any], env: Mapping[str, str], seconds: float
) -> dict[str, Any]:
    """Start an MCP server as an agent does, call one tool, and return its structured answer.

    Raises:
        Unheard: The server did not answer in time, ended, or answered with an error.
    """
    try:
        server = subprocess.Popen(
            list(words), bufsize=0, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env=dict(env),
        )  # fmt: skip
    except OSError as error:
        raise Unheard(f"{words[0]} cannot be started ({error.strerror})") from error
    end = threading.Timer(seconds, server.kill)
    end.start()
    try:
        with server:
            hello = {
                "protocolVersion": PROTOCOL,
                "capabilities": {},
                "clientInfo": {"name": "scrubjay doctor", "version": __version__},
            }
            _asked(server, 1, "initialize", hello)
            _said(server, {"method": "notifications/initialized"})
            answer = _asked(server, 2, "tools/call", {"name": name, "arguments": dict(arguments)})
            assert server.stdin is not None
            server.stdin.close()
    except OSError as error:
        raise Unheard(f"the server ended (exit code {server.returncode})") from error
    finally:
        end.cancel()
    found = answer.get("structuredContent")
    if answer.get("isError") or not isinstance(found, dict):
        told = found.get("error", {}) if isinstance(found, dict) else {}
        raise Unheard(f"{name} failed: {told.get('message', 'no answer that can be read')}")
    return found


def _said(server: subprocess.Popen[bytes], message: Mapping[str, Any]) -> None:
    assert server.stdin is not None
    # One that has ended may have said why.
    with contextlib.suppress(BrokenPipeError):
        server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")


def _asked(
    server: subprocess.Popen[bytes], number: int, method: str, params: Mapping[str, Any]
) -> dict[str, Any]:
    _said(server, {"id": number, "method": method, "params": params})
    assert server.stdout is not None
    for line in server.stdout:
        try:
            message = json.loads(line)
        except ValueError as error:
            raise Unheard("the server wrote something else than the protocol to its output") from error
        if message.get("id") == number:
            if "result" not in message:
                raise Unheard(f"{method} failed: {message.get('error', {}).get('message', '')}")
            result: dict[str, Any] = message["result"]
            return result
    raise Unheard("the server ended without an answer, or did not answer in time")
