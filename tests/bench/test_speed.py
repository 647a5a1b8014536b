import json
from pathlib import Path

import numpy as np
import pytest
from sets import DOCS, QRELS, QUERIES, write_set

from bench import rivals
from bench.__main__ import main
from bench.report import log_rows, percentiles, spread
from bench.speed import SyntheticEmbedder
from bench.texts import generate, questions, texts


def test_a_small_run_measures_a_scale(tmp_path: Path):
    _, folder = generate(tmp_path, 5, files=4)
    out = tmp_path / "speed.json"
    arguments = ["--tree", str(folder), "--scales", "60", "--questions", "3", "--processes", "1", "--embed"]
    assert main(["speed", *arguments, "--json", str(out)]) == 0
    (scale,) = json.loads(out.read_text())["scales"]
    assert scale["memories"] == 60
    assert scale["search_ms"]["p50"] > 0
    assert scale["fts5"]["bytes"] > scale["text_bytes"] / 2
    assert scale["after_embed"]["bytes"] > scale["bytes"]


def test_rivals_are_measured_on_the_same_tree_and_their_ratios_put_into_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    _, folder = generate(tmp_path, 5, files=4)
    page, out = tmp_path / "page.md", tmp_path / "rivals.json"
    page.write_text("\n".join(["Before", rivals.MARKS[0], "old", rivals.MARKS[1], "After"]), encoding="utf-8")
    monkeypatch.setenv("PATH", str(tmp_path))
    arguments = ["--rivals", "--tree", str(folder), "--runs", "1", "--items", "2", "--write", str(page)]
    assert main(["speed", *arguments, "--json", str(out)]) == 0
    assert "QMD is not measured" in capsys.readouterr().out
    (measured,) = json.loads(out.read_text())["trees"].values()
    ours, base = measured["tools"]["scrubjay"], measured["tools"]["FTS5"]
    assert set(ours) == set(rivals.MEASURES)
    assert ours["searchable"][0] <= ours["first"][0]
    assert len(ours["hit@1"]) == len(base["hit@1"]) == 2
    lines = page.read_text(encoding="utf-8").splitlines()
    assert (lines[0], lines[-1]) == ("Before", "After")
    assert "old" not in lines
    ratio = ours["first"][0] / base["first"][0]
    (row,) = [line for line in lines if line.startswith("| first sync, to its end, s |")]
    assert row.endswith(f"| {ratio:.2f} |")


def test_a_large_log_and_a_large_note_are_written_synced_and_deleted(tmp_path: Path):
    _, folder = generate(tmp_path, 5, files=2)
    out = tmp_path / "large.json"
    arguments = ["--tree", str(folder), "--transcript", ".2", "--note", ".02", "--words", ".02"]
    assert main(["large-files", *arguments, "--json", str(out)]) == 0
    found = json.loads(out.read_text())
    for name in ("log.jsonl", "note.md"):
        assert found[name]["passages"].startswith("1 file, ")
        assert found[name]["peak_mb"] > 10


def test_a_rival_that_is_not_there_is_named_and_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["speed", "--rivals", "--qmd", str(tmp_path / "qmd")]) == 1
    assert f"There is no command {tmp_path / 'qmd'}." in capsys.readouterr().err


def test_a_tree_that_is_not_there_is_named_and_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["speed", "--tree", str(tmp_path / "absent"), "--scales", ""]) == 1
    assert f"There is no tree {tmp_path / 'absent'}." in capsys.readouterr().err


def test_texts_and_questions_depend_on_the_seed_alone():
    words = ["heron", "mill", "river", "bread"]
    assert list(texts(words, 5, 1)) == list(texts(words, 5, 1))
    assert list(texts(words, 5, 1)) != list(texts(words, 5, 2))
    assert min(len(text.split()) for text in texts(words, 50, 1)) >= 40
    assert questions(words, 3, 1) == questions(words, 3, 1)


def test_synthetic_vectors_are_unit_rows_that_depend_on_the_text_alone():
    one, other = SyntheticEmbedder(1).embed(["a", "b"])
    (again,) = SyntheticEmbedder(1).embed(["a"])
    assert one.shape == (1, 384)
    assert one.dtype == np.float32
    assert np.linalg.norm(one) == pytest.approx(1, abs=1e-5)
    assert (one == again).all()
    assert not (one == other).all()


def test_spread_and_percentiles_of_known_values():
    assert spread([3.0, 1.0, 2.0]) == {"median": 2.0, "min": 1.0, "max": 3.0, "runs": 3}
    assert percentiles([float(i) for i in range(1, 101)]) == {
        "p50": 50.5,
        "p95": 95.0,
        "min": 1.0,
        "max": 100.0,
    }


def test_rows_are_put_on_top_of_the_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    log = tmp_path / "LOG.md"
    rule = "| --- | --- | --- | --- | --- | --- | --- |"
    log.write_text(f"# Log\n\n| date |\n{rule}\n| old |\n", encoding="utf-8")
    monkeypatch.setattr("bench.report.LOG", log)
    log_rows([("set one", ".5 [.4 .6]", "sync")])
    lines = log.read_text(encoding="utf-8").splitlines()
    assert lines[3] == rule
    assert "| set one | .5 [.4 .6] | sync |" in lines[4]
    assert lines[5] == "| old |"


def test_an_ablation_compares_every_configuration_with_the_default(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    folder = write_set(tmp_path / "tiny", DOCS, QUERIES, QRELS)
    out = tmp_path / "ablate.json"
    given = [
        "--state",
        "sync",
        "--metric",
        "hit@1",
        "--only",
        "bm25,ngram,without prune,thread,rerank features",
    ]
    assert main(["ablate", "--data", str(folder), *given, "--json", str(out)]) == 0
    found = json.loads(out.read_text())["sets"]["tiny"]["documents"]
    assert found["default"]["hit@1"]["against_default"]["mean"] == 0.0
    assert found["bm25"]["hit@1"]["mean"] == 1.0
    assert found["ngram"]["hit@1"]["mean"] == 0.0
    assert found["ngram"]["hit@1"]["against_default"]["mean"] == -1.0
    assert found["thread"]["recall@10"]["mean"] == 1.0
    assert "without prune" in capsys.readouterr().out
