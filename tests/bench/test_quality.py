import json
from pathlib import Path

import pytest
from sets import DOCS, QRELS, QUERIES, write_qrels, write_rows, write_set

from bench.__main__ import main
from bench.harness import CachedEmbedder
from bench.quality import span_metrics
from scrubjay.embeddings.hash_embedder import HashEmbedder

Printed = pytest.CaptureFixture[str]


def run(*arguments: str | Path) -> int:
    return main(["quality", *map(str, arguments)])


def test_a_set_is_measured_through_the_product_and_written_as_json(tmp_path: Path, capsys: Printed):
    folder = write_set(tmp_path / "data" / "tiny", DOCS, QUERIES, QRELS)
    out = tmp_path / "out" / "result.json"
    assert run("--data", folder.parent, "--state", "sync", "--categories", "--json", out) == 0
    found = json.loads(out.read_text())["sets"]["tiny"]
    assert (found["documents"], found["written"], found["empty"], found["queries"]) == (4, 3, 1, 2)
    own = found["tasks"]["documents"]
    assert own["queries"] == 2
    assert own["metrics"]["hit@1"]["mean"] == own["metrics"]["ndcg@10"]["mean"] == 1.0
    assert set(own["categories"]) == {"birds", "hosts"}
    assert "tiny (sync): 3 memories of 4 documents" in capsys.readouterr().out


def test_the_same_run_twice_gives_the_same_figures(tmp_path: Path):
    folder = write_set(tmp_path / "data" / "tiny", DOCS, QUERIES, QRELS)
    figures = []
    for name in ("a.json", "b.json"):
        run("--data", folder, "--state", "sync", "--json", tmp_path / name)
        figures.append(json.loads((tmp_path / name).read_text())["sets"]["tiny"]["tasks"])
    assert figures[0] == figures[1]


def test_a_scope_keeps_what_others_hold_out_of_an_answer(tmp_path: Path):
    docs = [
        {"_id": "mine", "text": "The heron nests beside the mill.", "scope": "a"},
        {"_id": "theirs", "text": "Where does the heron nest? The heron nests here.", "scope": "b"},
        {"_id": "b2", "text": "The backup job runs at four.", "scope": "b"},
    ]
    queries = [{**QUERIES[0], "scope": "a"}, {**QUERIES[1], "scope": "b"}]
    folder = write_set(tmp_path / "data" / "tiny", docs, queries, {"q1": ["mine"], "q2": ["b2"]})
    assert run("--data", folder, "--state", "sync", "--json", tmp_path / "out.json") == 0
    found = json.loads((tmp_path / "out.json").read_text())["sets"]["tiny"]
    assert found["tasks"]["documents"]["metrics"]["hit@1"]["mean"] == 1.0


def test_a_query_of_two_scopes_finds_in_both_and_in_no_third(tmp_path: Path):
    docs = [{"_id": s, "text": f"heron number {s} nests here", "scope": s} for s in ("a", "b", "c")]
    queries = [{"_id": "q1", "text": "heron nests", "scopes": ["a", "b"]}]
    folder = write_set(tmp_path / "data" / "tiny", docs, queries, {"q1": ["a", "b"]})
    assert run("--data", folder, "--state", "sync", "--json", tmp_path / "out.json") == 0
    found = json.loads((tmp_path / "out.json").read_text())["sets"]["tiny"]
    assert found["tasks"]["documents"]["metrics"]["recall@2"]["mean"] == 1.0


def test_sessions_of_a_haystack_are_ranked_by_their_turns(tmp_path: Path):
    docs = [
        {
            "_id": f"{s}t{t}",
            "text": text,
            "session": s,
            "turn": t,
            "role": "user",
            "ts": "2023-05-01T10:00:00",
        }
        for s, t, text in (
            ("s1", 0, "I moved to Lisbon in spring."),
            ("s1", 1, "The flat has a balcony."),
            ("s2", 0, "My sourdough starter is called Bruno."),
            ("s3", 0, "Lisbon, Lisbon, where do I live: not in this haystack."),
        )
    ]
    queries = [{"_id": "q1", "text": "where do I live, in Lisbon?"}]
    folder = write_set(tmp_path / "data" / "tiny", docs, queries, {"q1": ["s1t0"]})
    write_qrels(folder / "qrels_session.tsv", {"q1": ["s1"]})
    dates = [["s1", "2023-05-01T10:00:00"], ["s2", "2023-04-01T10:00:00"]]
    write_rows(folder / "haystacks.jsonl.gz", [{"_id": "q1", "sessions": dates}])
    assert run("--data", folder, "--state", "sync", "--json", tmp_path / "out.json") == 0
    found = json.loads((tmp_path / "out.json").read_text())["sets"]["tiny"]
    assert found["written"] == 3
    assert found["tasks"]["session"]["metrics"]["hit@1"]["mean"] == 1.0
    assert found["tasks"]["documents"]["metrics"]["hit@1"]["mean"] == 1.0


def test_spans_are_scored_by_the_characters_of_the_passages_found(tmp_path: Path):
    parts = [
        f"## Part {i}\n\nThe {word} stands in part {i} of this text.\n\n"
        for i, word in enumerate(("heron", "mill"))
    ]
    text = "".join(parts)
    start = text.index("The mill")
    folder = write_set(
        tmp_path / "data" / "tiny", DOCS, [*QUERIES, {"_id": "q9", "text": "where is the mill"}], QRELS
    )
    write_rows(folder / "documents.jsonl.gz", [{"_id": "long", "text": text}])
    write_rows(folder / "spans.jsonl.gz", [{"_id": "q9", "document": "long", "spans": [[start, start + 20]]}])
    assert run("--data", folder, "--state", "sync", "--json", tmp_path / "out.json") == 0
    found = json.loads((tmp_path / "out.json").read_text())["sets"]["tiny"]
    assert found["passages"]["files"] == 1
    assert found["tasks"]["spans"]["metrics"]["span_recall"]["mean"] == 1.0
    assert 20 / len(text) <= found["tasks"]["spans"]["metrics"]["span_precision"]["mean"] < 1.0


def test_span_metrics_worked_out_by_hand():
    evidence = [("d", 0, 10), ("d", 20, 30)]
    retrieved = [("d", 5, 25), ("d", 5, 15), ("other", 0, 10)]
    found = span_metrics(evidence, retrieved)
    assert found["span_recall"] == 10 / 20
    assert found["span_precision"] == 10 / 40
    assert found["span_iou"] == 10 / 40
    assert span_metrics(evidence, [])["span_precision"] == 0.0


def test_a_run_that_finds_nothing_fails(tmp_path: Path, capsys: Printed):
    empty = [{"_id": "d1", "text": " "}]
    folder = write_set(tmp_path / "data" / "tiny", empty, QUERIES, {"q1": ["d1"]})
    assert run("--data", folder, "--state", "sync") == 1
    assert "no document was written" in capsys.readouterr().err
    found = write_set(tmp_path / "more" / "tiny", DOCS, QUERIES, QRELS)
    assert run("--data", found, "--state", "sync", "--channels", "ngram") == 1
    assert "found anything" in capsys.readouterr().err


def test_a_missing_folder_is_named_and_fails(tmp_path: Path, capsys: Printed):
    assert run("--data", tmp_path / "absent") == 1
    assert f"There is no data folder {tmp_path / 'absent'}." in capsys.readouterr().err


def test_cached_windows_are_those_of_the_model_and_are_computed_once(tmp_path: Path):
    inner = HashEmbedder(32)
    texts = ["a heron", "a mill", "a heron", ""]
    first = CachedEmbedder(inner, tmp_path / "cache.sqlite")
    made = first.embed(texts)
    assert (first.found, first.computed) == (1, 3)
    again = CachedEmbedder(inner, tmp_path / "cache.sqlite")
    kept = again.embed(texts)
    assert (again.found, again.computed) == (4, 0)
    for text, a, b in zip(texts, made, kept, strict=True):
        assert (a == b).all()
        (own,) = inner.embed([text])
        assert abs(float((own * a).sum()) - float((own * own).sum())) < 1e-3


def test_pooled_haystacks_are_one_store_that_every_query_searches(tmp_path: Path):
    turns = [
        {"_id": "s1::t0", "text": "I live beside the mill.", "session": "s1", "turn": 0, "role": "user"},
        {
            "_id": "s2::t0",
            "text": "Where the herons live I do not know.",
            "session": "s2",
            "turn": 0,
            "role": "user",
        },
    ]
    queries = [{"_id": "q1", "text": "Where do I live?"}]
    folder = write_set(tmp_path / "data" / "tiny", turns, queries, {"q1": ["s1::t0"]})
    write_rows(folder / "haystacks.jsonl.gz", [{"_id": "q1", "sessions": [["s2", "2023-05-02"]]}])
    found = {}
    for name, options in (("own", ()), ("pooled", ("--pooled",))):
        out = tmp_path / f"{name}.json"
        assert run("--data", folder, "--state", "sync", "--json", out, *options) == 0
        found[name] = json.loads(out.read_text())["sets"]["tiny"]["tasks"]["documents"]["metrics"]
    assert (found["own"]["hit@5"]["mean"], found["pooled"]["hit@5"]["mean"]) == (0.0, 1.0)


def test_a_set_without_haystacks_cannot_be_pooled(tmp_path: Path, capsys: Printed):
    folder = write_set(tmp_path / "data" / "tiny", DOCS, QUERIES, QRELS)
    assert run("--data", folder, "--state", "sync", "--pooled", "--json", tmp_path / "out.json") == 1
    assert "has no haystacks" in capsys.readouterr().err
