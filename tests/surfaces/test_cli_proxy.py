"""`scrubjay proxy` as a process, killed and started again; and the same on `scrubjay serve`."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import httpx2
import openai
from http_server import serving
from scripted_model import Model, completion, modelling

from fork_server import SCRUBJAY

COMMAND = [*SCRUBJAY, "proxy", "127.0.0.1:0"]


@contextmanager
def killed(environ: Mapping[str, str], *options: str) -> Iterator[str]:
    """Run the proxy and yield its base URL for OpenAI; at the end it is killed."""
    process = subprocess.Popen(
        [*COMMAND, *options], stderr=subprocess.PIPE, env={**os.environ, **environ}, text=True
    )
    assert process.stderr is not None
    with process:
        try:
            found = None
            while found is None:
                line = process.stderr.readline()
                assert line, "the proxy ended"
                found = re.search(r"OpenAI at (\S+),", line)
            yield found[1]
        finally:
            process.kill()
            rest = process.stderr.read()
    assert "Traceback" not in rest, rest


def ask(url: str, text: str) -> None:
    with openai.OpenAI(base_url=url, api_key="sk-theirs", max_retries=0) as asking:
        asking.chat.completions.create(model="m", messages=[{"role": "user", "content": text}])


def given(model: Model) -> str:
    messages = model.last.json["messages"]
    return str(messages[0]["content"]) if len(messages) > 1 else ""


def test_what_passed_before_the_process_was_killed_is_there_when_it_runs_again(
    environ: dict[str, str],
) -> None:
    with modelling() as model:
        model.answer = lambda request: completion("Noted.")
        with killed(environ, "--openai", f"{model.url}/v1") as url:
            ask(url, "The ferry to Bornholm leaves at nine.")
        environ = environ | {"SCRUBJAY_PROXY_OPENAI": f"{model.url}/v1", "SCRUBJAY_PROXY_BUDGET_MS": "30000"}
        with serving(environ) as url:
            # Written by the first request's worker, or by this server's: both are there before it answers no more.
            for _ in range(200):
                ask(f"{url}/openai/v1", "When does the ferry to Bornholm leave?")
                if "leaves at nine" in given(model):
                    break
            assert "leaves at nine" in given(model)
            found = httpx2.post(f"{url}/v1/search", json={"query": "ferry leaves nine"}, timeout=60).json()[
                "results"
            ]
            assert [one["snippet"] for one in found].count("The ferry to Bornholm leaves at nine.") == 1
