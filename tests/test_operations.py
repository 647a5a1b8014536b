"""The commands of docs/operations.md and the marked ones of docs/portability.md run as written, each against a store
or server of its own.

What is not as a person does it: the port is one that is free here, and so are the server and the databases.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from fork_server import PROGRAM, start
from loopback import free_port
from scrubjay.embeddings.hash_embedder import HashEmbedder
from scrubjay.errors import StoreError
from scrubjay.memory import Memory

if TYPE_CHECKING:
    from store_contract.postgres_server import PostgresServer

OPERATIONS, STORAGE = (
    (Path(__file__).parents[1] / "docs" / name).read_text("utf-8")
    for name in ("operations.md", "portability.md")
)
BLOCKS = dict(
    re.findall(r"<!-- run: (\w+) -->\n```console\n(.*?)^```", OPERATIONS + STORAGE, re.MULTILINE | re.DOTALL)
)
ADDED = 'scrubjay add "The mast is 12 metres" --store memory.db'
SAVED = "scrubjay backup backup.db --store memory.db"


def run(
    home: Path, *lines: str, swap: Mapping[str, str] | None = None, path: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run these lines in one shell; a name of a block stands for its lines."""
    start()
    told = [
        line.removeprefix("$ ")
        for name in lines
        for line in (BLOCKS[name].splitlines() if name in BLOCKS else [name])
    ]
    script = "\n".join(["set -e", *told])
    for old, new in (swap or {}).items():
        script = script.replace(old, new)
    environ = {
        "HOME": str(home),
        "PATH": os.pathsep.join(filter(None, (str(PROGRAM.parent), path, os.defpath))),
        "XDG_RUNTIME_DIR": str(home),
        "LANG": "C.UTF-8",
        "SCRUBJAY_RESIDENT_AUTO": "false",
        "SCRUBJAY_MODELS_BACKGROUND": "never",
        "SCRUBJAY_USER": "ann",
    }
    return subprocess.run(
        ["bash", "-c", script], cwd=home, env=environ, capture_output=True, text=True, timeout=300, check=False
    )  # fmt: skip


def ran(home: Path, *lines: str, **rules: object) -> str:
    done = run(home, *lines, **rules)  # type: ignore[arg-type]
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_every_block_of_commands_on_the_page_is_one_that_a_test_runs() -> None:
    assert OPERATIONS.count("```console") == OPERATIONS.count("<!-- run: ")
    assert len(BLOCKS) == (OPERATIONS + STORAGE).count("<!-- run: ")
    tests = Path(__file__).read_text("utf-8")
    assert [name for name in BLOCKS if f'"{name}"' not in tests] == []


def test_a_server_is_looked_at(tmp_path: Path) -> None:
    assert shutil.which("curl"), "the page asks with curl"
    port = str(free_port())
    started = (
        "trap 'kill $(jobs -p); wait' EXIT",
        "scrubjay add 'The mast is 12 metres'",
        "scrubjay serve 127.0.0.1:8765 > /dev/null 2>&1 &",
        "curl -s -o /dev/null --retry 40 --retry-delay 1 --retry-connrefused http://127.0.0.1:8765/readyz",
    )
    said = ran(tmp_path, *started, "look", swap={"8765": port})
    assert "no problems" in said
    assert "scrubjay_memories" in said
    assert "scrubjay_store_bytes" in said


def test_room_is_made_slow_searches_and_models_are_looked_at(tmp_path: Path) -> None:
    said = ran(tmp_path, ADDED, "room", "slow", "pending", "provider", "upgrade")
    assert said.count("The mast is 12 metres") >= 2
    assert (tmp_path / "before-upgrade.db").exists()


def test_who_has_no_room_takes_out_a_folder_and_a_sync_takes_in_what_did_not_fit(tmp_path: Path) -> None:
    said = ran(
        tmp_path,
        "mkdir -p old-notes notes .config/scrubjay",
        "echo '# Keel' > old-notes/keel.md",
        "echo '# Mast' > notes/mast.md",
        "printf '[quota]\nmemories_per_user = 1\n' > .config/scrubjay/config.toml",
        "scrubjay sync old-notes --store memory.db",
        "scrubjay sync notes --store memory.db 2>&1",
        "quota",
    )
    assert "has 1 of 1 memories that [quota] memories_per_user allows" in said
    assert "quota      1 of 1 memories (memories_per_user)" in said
    assert "Mast" in ran(tmp_path, "scrubjay search mast --store memory.db")


def test_a_git_history_is_taken_out_and_stays_out(tmp_path: Path) -> None:
    person = "git config user.name Ann && git config user.email ann@example.org"
    commit = "git commit -q --allow-empty -m 'The mast is 12 metres, as the bridge is 13'"
    sync = "scrubjay sync --store memory.db"
    found = run(
        tmp_path, "git init -q code", f"(cd code && {person} && {commit})", f"{sync} code", "history", sync
    )
    assert found.returncode == 0, found.stderr
    assert "1 commit." in found.stdout
    assert "removed, with 1 commit." in found.stderr
    assert "/code/.git" not in found.stdout


def test_a_damaged_store_is_replaced_by_its_backup(tmp_path: Path) -> None:
    ran(
        tmp_path,
        "mkdir notes",
        "echo '# Keel' > notes/keel.md",
        "scrubjay sync notes --store memory.db",
        ADDED,
        SAVED,
    )
    store = tmp_path / "memory.db"
    store.write_bytes(b"x" * 5000)
    broken = run(tmp_path, "scrubjay search mast --store memory.db")
    assert (broken.returncode, "damaged" in broken.stderr) == (4, True)
    assert "hint: if it is encrypted" in broken.stderr
    assert "restore the last backup" in broken.stderr
    ran(tmp_path, "damaged")
    assert "The mast is 12 metres" in ran(tmp_path, "scrubjay search mast --store memory.db")


@pytest.mark.skipif(shutil.which("fuser") is None, reason="fuser is not installed")
def test_who_holds_a_store_is_told(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "memory.db", user="ann", embedders=[HashEmbedder()]) as memory:
        memory.add("The mast is 12 metres")
        assert str(os.getpid()) in ran(tmp_path, "touch memory.db.lock", "locked")


def test_a_backup_is_restored_and_a_process_that_was_forgotten_writes_nothing(tmp_path: Path) -> None:
    """One that has the old file open is told so, as often as it asks; opened anew, it sees the restored store."""
    ran(tmp_path, ADDED, SAVED, "backup")
    with Memory.open(tmp_path / "memory.db", user="ann") as forgotten:
        forgotten.add("Written after the backup")
        ran(tmp_path, "restore")
        for _ in range(2):
            with pytest.raises(StoreError, match="moved or removed since it was opened"):
                forgotten.add("Written into nothing")
            with pytest.raises(StoreError, match="moved or removed since it was opened"):
                forgotten.search("mast")
    with Memory.open(tmp_path / "memory.db", user="ann") as memory:
        assert [hit.snippet for hit in memory.search("mast").results] == ["The mast is 12 metres"]
        assert memory.status().memories == 1
        memory.add("Written into the restored store")


@pytest.fixture
def databases(postgres_url: str) -> Iterator[dict[str, str]]:
    """The page's databases: URL on the page to one here."""
    from store_contract.postgres_server import temporary_database

    with (
        temporary_database(postgres_url, "restored") as restored,
        temporary_database(postgres_url, "moved") as moved,
    ):
        here = {"memories": moved, "restored": restored, "moved": moved}
        yield {
            f"postgresql://{user}@db.example/{name}": f"'{url}'"
            for name, url in here.items()
            for user in ("scrubjay", "postgres")
        }


def test_a_store_moves_to_postgres_and_is_dumped_and_restored(
    tmp_path: Path, databases: dict[str, str]
) -> None:
    from store_contract.postgres_server import server_programs

    places = server_programs()
    assert places is not None
    said = ran(tmp_path, ADDED, "move", "dump", swap=databases, path=str(places / "bin"))
    assert "verified in postgresql://" in said
    found = ran(
        tmp_path,
        "scrubjay search mast --store postgresql://scrubjay@db.example/restored",
        swap=databases,
    )
    assert "The mast is 12 metres" in found


def test_a_postgres_server_that_was_down_needs_nothing_but_to_be_started(
    tmp_path: Path, postgres_server: PostgresServer
) -> None:
    swap = {"postgresql://scrubjay@db.example/memories": f"'{postgres_server.url}'"}
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "mast.md").write_text("The mast is 12 metres.\n")
    sync = f"scrubjay sync notes --store '{postgres_server.url}'"
    ran(tmp_path, sync)
    postgres_server.stop()
    down = run(tmp_path, "restarted", swap=swap)
    assert down.returncode == 4
    assert "cannot be reached" in down.stderr
    postgres_server.start()
    ran(tmp_path, "restarted", swap=swap)
    found = ran(tmp_path, f"scrubjay search mast --store '{postgres_server.url}'")
    assert "The mast is 12 metres" in found


def test_a_token_is_revoked(tmp_path: Path) -> None:
    ran(tmp_path, "scrubjay token create crew", "token")
    assert "crew" not in ran(tmp_path, "scrubjay token list")


def test_a_person_is_forgotten_and_nobody_else(tmp_path: Path) -> None:
    crew = "SCRUBJAY_GROUPS=crew scrubjay add --user bo --store memory.db --group crew"
    ran(
        tmp_path,
        ADDED,
        "scrubjay add 'Bo sails a dinghy' --user bo --store memory.db",
        f"{crew} 'The dinghy of the crew is red'",
        "scrubjay token create bo-1 --user bo",
        "scrubjay token create bo-2 --user bo",
        "scrubjay token create ann",
    )
    ran(tmp_path, "scrubjay add 'Ann shares a buoy' --public --store memory.db", "own")
    exported = (tmp_path / "bo.jsonl").read_text("utf-8")
    assert ("Bo sails a dinghy" in exported, "dinghy of the crew" in exported) == (True, True)
    assert "buoy" not in exported
    for _ in range(2):
        ran(tmp_path, "person")
        assert "bo" not in ran(tmp_path, "scrubjay token list")
    assert "ann" in ran(tmp_path, "scrubjay token list")
    proof = ran(tmp_path, "proof")
    assert "0 memories forgotten" in proof
    assert "bo" not in proof
    ran(tmp_path, "own")
    assert (tmp_path / "bo.jsonl").read_text("utf-8") == ""
    assert "dinghy" not in ran(tmp_path, "scrubjay search dinghy --user bo --store memory.db")
    left = (tmp_path / "memory.db").read_bytes()
    assert b"dinghy" not in left
    assert b"user:bo" not in left
    assert "The mast is 12 metres" in ran(tmp_path, "scrubjay search mast --store memory.db")
