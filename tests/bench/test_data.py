from pathlib import Path

import pytest
from sets import DOCS, QRELS, QUERIES, write_qrels, write_rows, write_set

from bench.data import DataError, find_sets, load, spaces


def test_sets_are_found_at_any_depth_and_named_by_their_path(tmp_path: Path):
    write_set(tmp_path / "one", DOCS, QUERIES, QRELS)
    write_set(tmp_path / "more" / "two", DOCS, QUERIES, QRELS)
    (tmp_path / "no_set").mkdir()
    assert list(find_sets(tmp_path)) == ["more/two", "one"]
    assert list(find_sets(tmp_path, ["two"])) == ["more/two"]
    assert list(find_sets(tmp_path / "one")) == ["one"]


def test_a_missing_folder_a_folder_without_sets_and_an_unknown_set_say_so(tmp_path: Path):
    with pytest.raises(DataError, match="There is no data folder"):
        find_sets(tmp_path / "absent")
    with pytest.raises(DataError, match="holds no set"):
        find_sets(tmp_path)
    write_set(tmp_path / "one", DOCS, QUERIES, QRELS)
    with pytest.raises(DataError, match="holds no set other; it holds one"):
        find_sets(tmp_path, ["one", "other"])


def test_only_judged_queries_are_asked(tmp_path: Path):
    data = load("one", write_set(tmp_path / "one", DOCS, QUERIES, QRELS))
    assert [query.id for query in data.asked()] == ["q1", "q2"]
    assert [query.id for query in data.asked(1)] == ["q1"]
    assert data.docs[0].title == "Heron"
    assert data.tasks[0].relevant == {"q1": {"d1"}, "q2": {"d3"}}


def test_a_judgement_of_zero_is_no_relevance(tmp_path: Path):
    folder = write_set(tmp_path / "one", DOCS, QUERIES, {})
    (folder / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t1\nq1\td2\t0\n")
    assert load("one", folder).tasks[0].relevant == {"q1": {"d1"}}


def test_a_set_without_judged_queries_or_with_foreign_ids_is_refused(tmp_path: Path):
    with pytest.raises(DataError, match="names no document"):
        load("one", write_set(tmp_path / "one", DOCS, QUERIES, {}))
    with pytest.raises(DataError, match="names no document"):
        load("two", write_set(tmp_path / "two", DOCS, QUERIES, {"q1": ["elsewhere"]}))


def test_judgements_of_sessions_make_a_task_that_ranks_sessions(tmp_path: Path):
    folder = write_set(tmp_path / "one", [{**DOCS[0], "session": "s1"}], QUERIES, {"q1": ["d1"]})
    write_qrels(folder / "qrels_session.tsv", {"q1": ["s1"]})
    write_qrels(folder / "qrels_adversarial.tsv", {"q2": ["d1"]})
    data = load("one", folder)
    assert [(task.name, task.sessions) for task in data.tasks] == [("documents", False), ("session", True)]
    assert data.skipped == ("qrels_adversarial.tsv",)


def test_corrected_queries_join_the_others_without_replacing_them(tmp_path: Path):
    folder = write_set(tmp_path / "one", DOCS, QUERIES, QRELS)
    corrected = [{"_id": "q1", "text": "not this"}, {"_id": "q9", "text": "a better question"}]
    write_rows(folder / "queries_corrected.jsonl.gz", corrected)
    write_qrels(folder / "qrels_corrected.tsv", {"q1": ["d1"], "q9": ["d2"]})
    data = load("one", folder)
    texts = {query.id: query.text for query in data.asked()}
    assert texts == {"q1": QUERIES[0]["text"], "q2": QUERIES[1]["text"], "q9": "a better question"}


def test_without_scopes_all_queries_share_one_space(tmp_path: Path):
    data = load("one", write_set(tmp_path / "one", DOCS, QUERIES, QRELS))
    (space,) = spaces(data, data.asked())
    assert len(space.docs) == 4
    assert not space.shared


def test_a_scope_is_a_space_of_its_own(tmp_path: Path):
    docs = [{**DOCS[0], "scope": "a"}, {**DOCS[2], "scope": "b"}, DOCS[1]]
    queries = [{**QUERIES[0], "scope": "a"}, {**QUERIES[1], "scopes": ["b"]}]
    data = load("one", write_set(tmp_path / "one", docs, queries, QRELS))
    found = {
        space.user: ([d.id for d in space.docs], [q.id for q in space.queries])
        for space in spaces(data, data.asked())
    }
    assert found == {"a": (["d1"], ["q1"]), "b": (["d3"], ["q2"])}


def test_queries_of_several_scopes_share_one_space_of_groups(tmp_path: Path):
    docs = [{**DOCS[0], "scope": "a"}, {**DOCS[2], "scope": "b"}]
    queries = [{**QUERIES[0], "scopes": ["a", "b"]}, {**QUERIES[1], "scope": "b"}]
    data = load("one", write_set(tmp_path / "one", docs, queries, QRELS))
    (space,) = spaces(data, data.asked())
    assert space.shared
    assert [query.scopes for query in space.queries] == [("a", "b"), ("b",)]


def test_a_haystack_holds_its_sessions_once_by_date_with_its_own_dates(tmp_path: Path):
    docs = [
        {"_id": "d1", "text": "first", "session": "s1", "turn": 0, "ts": "2020-01-01"},
        {"_id": "d2", "text": "second", "session": "s1", "turn": 1, "ts": "2020-01-01"},
        {"_id": "d3", "text": "third", "session": "s2", "turn": 0, "ts": "2020-01-01"},
        {"_id": "d4", "text": "elsewhere", "session": "s3", "turn": 0, "ts": "2020-01-01"},
    ]
    folder = write_set(tmp_path / "one", docs, QUERIES, {"q1": ["d1"]})
    sessions = [["s1", "2023-05-02"], ["s2", "2023-05-01"], ["s1", "2023-05-09"]]
    write_rows(folder / "haystacks.jsonl.gz", [{"_id": "q1", "sessions": sessions}])
    data = load("one", folder)
    (space,) = spaces(data, data.asked())
    found = [(doc.id, doc.ts) for doc in space.docs]
    assert found == [("d3", "2023-05-01"), ("d1", "2023-05-02"), ("d2", "2023-05-02")]


def test_a_query_without_a_haystack_is_refused(tmp_path: Path):
    folder = write_set(tmp_path / "one", [{**DOCS[0], "session": "s1"}], QUERIES, {"q1": ["d1"]})
    write_rows(folder / "haystacks.jsonl.gz", [{"_id": "q2", "sessions": [["s1", "2023-05-02"]]}])
    data = load("one", folder)
    with pytest.raises(DataError, match="q1 of one has no line"):
        list(spaces(data, data.asked()))
