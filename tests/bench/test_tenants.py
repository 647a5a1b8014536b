"""What measures many tenants in one file: a small run, and one in which a tenant is shown another's memories."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import tenants
from scrubjay import Memory

RUN = ["--tenants", "12", "--memories", "150", "--questions", "6"]


def test_a_small_run_fills_every_tenant_and_asks_the_largest(tmp_path: Path) -> None:
    out = tmp_path / "tenants.json"
    assert tenants.main([*RUN, "--json", str(out)]) == 0
    found = json.loads(out.read_text())
    assert found["held"]["tenants"] == 12
    assert found["largest"]["cold"]["p50"] > 0
    assert found["write"]["last_tenth"]["p50"] > 0


def test_a_run_in_which_a_tenant_sees_anothers_memories_fails(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    seen_by = Memory.seen_by
    monkeypatch.setattr(
        Memory, "seen_by", lambda self, user, tenant: seen_by(self, user, tenant="one for all")
    )
    assert tenants.main(RUN) == 1
    assert "another's memory" in capsys.readouterr().err
