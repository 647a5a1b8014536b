"""What measures PostgreSQL: a small run on a real server, and one that finds an answer which is not SQLite's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bench import postgres
from bench.__main__ import main
from bench.command import HollowError

RUN = ["--tenants", "4", "--memories", "30", "--clients", "2", "--seconds", "0.2", "--questions", "8"]


def test_a_small_run_measures_every_part_of_postgres(postgres_url: str, tmp_path: Path) -> None:
    out = tmp_path / "postgres.json"
    assert main(["postgres", *RUN, "--url", postgres_url, "--json", str(out)]) == 0
    found = json.loads(out.read_text())
    assert found["write"]["memories_per_second"] > 0
    assert found["statements"]["cold"] > 1
    for name in ("cold", "warm", "paced"):
        assert found[name]["p50"] > 0
    assert found["equal"].pop("answered") > 4
    assert found["equal"] == {"questions": 8, "tenants": 4, "different": 0}


def test_an_answer_of_postgres_that_sqlite_does_not_give_fails_the_run(
    postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = postgres.of_tenant

    def without_one(*given: Any) -> list[Any]:
        return whole(*given)[:-1]

    args = postgres.POSTGRES.parser("postgres").parse_args([*RUN, "--tenants", "1"])
    words = "jay oak acorn cache winter feather".split()
    rows = postgres.ready(words, 30)
    postgres.filled(postgres_url, rows, 1, 30)
    monkeypatch.setattr(postgres, "of_tenant", without_one)
    with pytest.raises(HollowError, match="tenant 0 is answered otherwise"):
        postgres.compared(postgres_url, tmp_path, rows, words, args)
