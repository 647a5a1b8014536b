"""The checker finds each thing that can disagree, and nothing where nothing was broken."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

from scrubjay.storage.sqlite.store import SQLiteStore
from store_contract.history import StoreHistory
from store_contract.sqlite_check import disagreements

BREAKS = {
    "a slot is gone": ("DELETE FROM slot WHERE num = (SELECT min(num) FROM slot)", "has no slot"),
    "a memory is gone": (
        "DELETE FROM memory WHERE num = (SELECT min(num) FROM memory)",
        "slots belong to no memory",
    ),
    "a key changed": ("UPDATE memory SET key = 'user:else'", "stands in a segment of"),
    "a status changed": ("UPDATE memory SET status = 'archived' WHERE status = 'active'", "its column"),
    "a segment counts wrong": ("UPDATE segment SET live = live + 1", "and holds"),
    "a segment has another length": ("UPDATE segment SET length = length + 1", "and holds"),
    "postings are gone": ("DELETE FROM posting", "other terms than its postings"),
    "a slot has no terms": ("UPDATE slot SET terms = x''", "other terms than its postings"),
    "postings are torn": ("UPDATE posting SET data = CAST(data || x'00' AS BLOB)", "is not in order"),
    "postings are left": (
        "INSERT INTO posting SELECT segment + 99, term, data FROM posting",
        "slots that no memory has",
    ),
    "terms are gone": ("DELETE FROM term", "terms that their tenant does not have"),
    "trigrams are gone": (
        "DELETE FROM term_gram WHERE rowid = (SELECT min(id) FROM term)",
        "have no trigrams",
    ),
    "vectors are gone": ("DELETE FROM vector", "neither have nor await vectors"),
    "vectors are torn": ("UPDATE vector SET data = CAST(data || x'00' AS BLOB)", "of another size"),
    "a model is gone": ("DELETE FROM model", "of no model"),
    "nothing waits": ("DELETE FROM pending", "neither have nor await vectors"),
    "all wait": (
        "INSERT OR IGNORE INTO pending SELECT m.id, k.hash, k.num FROM model m, memory k",
        "that they have",
    ),
    "tags are gone": ("DELETE FROM tag", "tags differ"),
    "documents are gone": ("DELETE FROM document", "stand in no document"),
    "sources are gone": ("DELETE FROM source", "belong to no source"),
    "makers are gone": ("DELETE FROM maker", "no sight or maker"),
    "sights are of others": ("UPDATE sight SET src_key = src_key || 'x'", "leaves no memory of its sight"),
    "edges lead nowhere": ("UPDATE OR IGNORE edge SET kind = 3", "leads to no memory of its sight"),
    "concepts have other nodes": (
        "UPDATE node SET kind = 'other' WHERE kind = 'concept'",
        "leads to no concept",
    ),
    "events outlive their memory": (
        "UPDATE event SET memory = 7 WHERE op <> 'absent'",
        "have as memory what is not there",
    ),
    "events name what is gone": ("UPDATE event SET other = 7", "have as other what is not there"),
    "nodes are gone": ("DELETE FROM edge; DELETE FROM node", "have no node"),
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("check") / "memories.db"
    history = StoreHistory(11, "t")
    store = SQLiteStore(path, b"history")
    for scope, changes in history.steps(80):
        store.write(scope, changes)
    store.close()
    return path.read_bytes()


def test_a_store_after_a_long_life_is_sound(tmp_path: Path, whole: bytes) -> None:
    (tmp_path / "memories.db").write_bytes(whole)
    assert disagreements(tmp_path / "memories.db") == []


@pytest.mark.parametrize(("statement", "told"), BREAKS.values(), ids=BREAKS.keys())
def test_what_was_broken_is_told(tmp_path: Path, whole: bytes, statement: str, told: str) -> None:
    path = tmp_path / "memories.db"
    path.write_bytes(whole)
    db = apsw.Connection(str(path))
    db.execute(statement)
    db.close()
    found = disagreements(path)
    assert any(told in line for line in found), found
