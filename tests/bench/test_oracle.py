"""What digests in place of turns cost recall, measured on a small set."""

import json
from pathlib import Path

import pytest
from sets import write_qrels, write_rows, write_set

import oracle
from kit import kit

SUBJECTS = ("heron", "bakery", "sailing", "chess")
TALKS = {
    name: [
        f"I saw a {name} thing called Kestrel{place} in Lisbon.",
        f"That is a very nice thing to hear about {name}. " * 6,
        f"My {name} friend Mara paid 9{place} euros for it.",
        f"It is always good to have a friend who likes {name}. " * 6,
    ]
    for place, name in enumerate(SUBJECTS)
}


def small(folder: Path) -> Path:
    docs = [
        {"_id": f"{name}::t{turn}", "text": text, "session": name, "ts": f"2024-01-0{place + 1}T10:00:00",
         "role": "user" if turn % 2 == 0 else "assistant", "turn": turn}
        for place, (name, turns) in enumerate(TALKS.items()) for turn, text in enumerate(turns)
    ]  # fmt: skip
    queries = [
        {"_id": f"q{name}", "text": f"who paid for {name}", "ts": "2024-01-20T10:00:00"} for name in SUBJECTS
    ]
    write_set(folder, docs, queries, {f"q{name}": [f"{name}::t2"] for name in SUBJECTS})
    write_qrels(folder / "qrels_session.tsv", {f"q{name}": [name] for name in SUBJECTS})
    dated = [[name, f"2024-01-0{place + 1}T10:00:00"] for place, name in enumerate(SUBJECTS)]
    write_rows(folder / "haystacks.jsonl.gz", [{"_id": f"q{name}", "sessions": dated} for name in SUBJECTS])
    return folder


def test_every_state_is_asked_and_compared_with_all_turns(tmp_path: Path) -> None:
    folder, file = small(tmp_path / "talks"), tmp_path / "oracle.json"
    wanted = ["all turns", "half at random", "Kit's order at our size", "digest"]
    arguments = [str(folder), "--set", "talks", "--when", "later", "--questions", "2", "--json", str(file)]
    assert oracle.main([*arguments, "--only", ",".join(wanted)]) == 0
    found = json.loads(file.read_text())
    assert (found["questions"], found["old"]) == (2, 1.0)
    states = found["variants"]
    assert list(states) == wanted
    assert [states[name]["active"] for name in wanted] == [1.0, 0.5, 0.0, 0.0]
    assert all(0 < states[name]["tokens"] <= 0.7 for name in wanted[2:])
    assert all(own["metrics"]["recall@5"]["mean"] == 1.0 for own in states.values())
    assert states["digest"]["metrics"]["ndcg@10"]["against_all"]["mean"] == 0.0


def test_on_the_day_of_the_question_only_what_is_older_than_fourteen_days_is_old(tmp_path: Path) -> None:
    folder, file = small(tmp_path / "talks"), tmp_path / "oracle.json"
    arguments = [str(folder), "--set", "talks", "--questions", "1", "--json", str(file)]
    assert oracle.main([*arguments, "--only", "all turns,digest"]) == 0
    assert json.loads(file.read_text())["old"] == 1.0
    assert oracle.main([*arguments, "--only", "all turns,digest", "--when", "half"]) == 0
    assert json.loads(file.read_text())["old"] == 0.5


def test_a_set_without_sessions_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = small(tmp_path / "talks")
    (folder / "qrels_session.tsv").unlink()
    assert oracle.main([str(folder), "--set", "talks"]) == 1
    assert "no judged sessions" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("sentence", "score"),
    [
        ("so it goes", 0.3 * 3 / 20),
        ("we chose Redis because it is fast", 0.3 * 7 / 20 + 0.4 + 0.2 * 1 / 5),
        ("- [x] moved CI to Forge", 0.3 * 6 / 20 + 0.2 * 2 / 5 + 0.3),
        (" ".join(["word"] * 40), 0.3),
        ("we fixed API, CLI, SDK, DNS, TLS and SQL " + "now " * 20, 0.3 + 0.4 + 0.2),
    ],
)
def test_kits_formula(sentence: str, score: float) -> None:
    assert kit(sentence) == pytest.approx(score)
