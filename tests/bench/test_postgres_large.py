"""What measures a large tenant: a small run on a real server."""

from __future__ import annotations

import json
from pathlib import Path

import postgres_large


def test_a_small_run_measures_a_tenant_without_and_with_what_is_made_for_large_ones(tmp_path: Path) -> None:
    out = tmp_path / "large.json"
    assert postgres_large.main(["--memories", "400", "--questions", "3", "--json", str(out)]) == 0
    found = json.loads(out.read_text())
    assert found["fill"]["memories"] == 400
    for name in ("without", "with"):
        assert found[name]["search"]["p50"] > 0
        assert found[name]["after"]["p50"] > 0
        assert found[name]["written"] > 0
    assert found["with"]["disk"] > found["without"]["disk"]
    assert set(found["recall"].values()) == {1.0}  # so small a tenant is scored exactly
