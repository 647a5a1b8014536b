"""What is forgotten is in no file below the folders of scrubjay, whichever surfaces it passed; they run on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import openai
from proxied import Proxied

MARKER = "Zyxomatic"


READER = """
import json, pathlib, sys
folder, marker = pathlib.Path(sys.argv[1]), sys.argv[2].lower().encode()
files = [file for file in folder.rglob("*") if file.is_file()]
print(json.dumps([str(file.relative_to(folder)) for file in files if marker in file.read_bytes().lower()]))
"""


def told_in(folder: Path) -> list[str]:
    """Read in a process of its own: closing a store's file drops the locks of the connections of this one."""
    read = subprocess.run(
        [sys.executable, "-c", READER, str(folder), MARKER],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return [str(name) for name in json.loads(read.stdout)]


def test_what_the_proxy_hooks_and_a_resident_have_seen_is_in_no_file_once_it_is_forgotten(
    proxy: Proxied, environ: dict[str, str], tmp_path: Path
) -> None:
    memory = proxy.session.memory()
    added = memory.add(f"The {MARKER} of the harbour lies behind pier nine.", title=f"On the {MARKER}").id
    with openai.OpenAI(base_url=proxy.openai, api_key="k", max_retries=0) as asking:
        said = [{"role": "user", "content": f"My {MARKER} is called Albatross and lies in Porto."}]
        asking.chat.completions.create(model="m", messages=said)
        proxy.turns()
        said = [{"role": "user", "content": f"Where does the {MARKER} lie?"}]
        asking.chat.completions.create(model="m", messages=said)
    assert MARKER in proxy.injected()
    event = {
        "hook_event_name": "UserPromptSubmit",
        "session_id": "s",
        "prompt": f"Where does the {MARKER} lie?",
    }
    hooked = subprocess.run(
        [sys.executable, "-m", "scrubjay", "hook", "claude-code", "prompt"],
        input=json.dumps({**event, "cwd": str(tmp_path)}), capture_output=True, text=True, check=True, timeout=60,
        env={**os.environ, **environ, "SCRUBJAY_HOOKS_BUDGET_MS": "30000"},
    )  # fmt: skip
    assert MARKER in hooked.stdout
    turns = [one.id for one in proxy.turns() if MARKER in one.content]
    assert len(turns) == 3
    assert told_in(tmp_path) != []
    learned = memory.search(
        MARKER, min_relevance=0, limit=50, statuses=("active", "superseded", "archived")
    ).results
    memory.forget([added, *turns, *(one.id for one in learned if MARKER in one.snippet)])
    assert told_in(tmp_path) == []
    with openai.OpenAI(base_url=proxy.openai, api_key="k", max_retries=0) as asking:
        asking.chat.completions.create(
            model="m", messages=[{"role": "user", "content": "Where is the harbour?"}]
        )
    assert MARKER not in proxy.injected()
