"""Tasks of coding agents: their labels follow the rules, and the figures see what was put in."""

from __future__ import annotations

import json
import tomllib
from collections import Counter
from pathlib import Path

import pytest

from bench import agent_tasks
from bench.__main__ import main
from bench.agent_tasks import HALVES, LABELS, PLACES, Past, PutIn, Task, holds, judge, read, read_prompt
from bench.story import STORY
from bench.story import judge as judge_story

FIELDS = set(
    "repository domain language lies told prompt deciding outdated later more history files session note".split()
)
FILES = sorted(LABELS.glob("*/*.toml"))
SMALL = """
repository = "tea-shop"
domain = "shop"
language = "Go"
lies = "note"
prompt = "The staging database does not answer any more, which port has it?"
deciding = ["The staging database listens on port 5544"]
outdated = []
later = [{ prompt = "thanks" }]
history = '''
2026-03-02 09:14 Ann Tea | Begin | README.md
'''
[[session]]
at = "2026-03-03T09:00:00Z"
talk = '''
U: hello
A: Hello.
T: Bash ls
'''
[[note]]
path = "ports.md"
at = "2026-03-04"
text = '''
# Ports

The staging database listens on port 5544 of heron.
'''
"""


def test_there_are_at_least_22_tasks_a_half_and_a_third_of_them_in_each_place() -> None:
    for half in HALVES:
        places = Counter(read(file).lies for file in FILES if file.parent.name == half)
        assert sum(places.values()) >= 22
        assert all(places[place] >= 7 for place in PLACES)
    assert sum("German" in read(file).domain for file in FILES) == 3
    assert sum(bool(read(file).told) for file in FILES if file.parent.name == "dev") == 10


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_task_follows_the_rules(file: Path) -> None:
    assert set(tomllib.loads(file.read_text("utf-8"))) <= FIELDS
    task = read(file)
    past = task.past
    everything = [text for place in PLACES for text in past.texts(place)]
    first, one, other, *more = task.prompts
    later = (one, other)
    assert file.stem == past.name.replace(".", "-")
    assert 6 <= len(past.commits) <= 15
    assert 2 <= len(past.sessions) <= 4
    assert 2 <= len(past.notes) <= 5
    assert all(6 <= len(session.turns) <= 20 for session in past.sessions)
    assert all(any(holds(text, [part]) for text in past.texts(task.lies)) for part in first.deciding)
    assert all(any(holds(text, [part]) for text in everything) for part in task.outdated)
    assert len(tomllib.loads(file.read_text("utf-8"))["later"]) == 2
    assert not more or file.parent.name == "dev"
    assert [bool(prompt.deciding) for prompt in later].count(True) == 1
    assert all(
        any(holds(text, [part]) for text in everything)
        for prompt in (*later, *more)
        for part in prompt.deciding
    )
    for prompt in task.prompts:
        assert prompt.text
        assert not holds(prompt.text, [*prompt.deciding, *task.outdated])
    assert not holds(past.files["README.md"], first.deciding)


def test_the_story_has_five_sessions_and_ten_prompts_whose_deciding_text_was_said_before() -> None:
    story = tomllib.loads(STORY.read_text("utf-8"))
    past = Past.read(story)
    assert len(past.sessions) + len(story["live"]) == 7
    prompts = [read_prompt(one) for live in story["live"] for one in live["prompts"]]
    assert len(prompts) == 10
    known = [text for place in PLACES for text in past.texts(place)]
    for prompt in prompts:
        assert any(holds(text, prompt.deciding) for text in known), prompt
        known.append(prompt.text)
    assert all(any(holds(text, [old]) for text in known) for old in story["outdated"])


def task_of(tmp_path: Path, text: str = SMALL) -> Task:
    file = tmp_path / "dev" / "tea-shop.toml"
    file.parent.mkdir(exist_ok=True)
    file.write_text(text, "utf-8")
    return read(file)


def test_what_was_put_in_is_judged_by_its_words_whatever_their_escapes(tmp_path: Path) -> None:
    task = task_of(
        tmp_path, SMALL.replace("outdated = []", 'outdated = ["port &lt; 5000"]'.replace("&lt;", "<"))
    )
    decides = "- [ports.md:1-3] The staging\ndatabase LISTENS on port 5544"
    found = judge(task, PutIn("", (decides.replace("\n", " "), "- [a] port &lt; 5000\n- [a] port &lt; 5000")))
    assert (found["first"], found["start"], found["prompt"]) == (True, False, True)
    assert found["outdated"]
    assert found["decoys"] == [2]
    assert found["repeated"] == 1
    assert found["own"] == 0
    nothing = judge(task, PutIn("", ("", "")))
    assert not nothing["first"]
    assert not nothing["outdated"]
    assert nothing["tokens"] == [0, 0, 0]


def test_in_the_story_what_a_session_was_given_before_counts_for_its_later_prompts_alone() -> None:
    prompts = [read_prompt({"prompt": name, "deciding": ["port 5544"]}) for name in ("one", "two")]
    put_in = [
        PutIn("", ("", "- [a] port 5544")),
        PutIn("- [b] port 80", ("- [a] port 5544", "- [a] port 5544")),
    ]
    found = judge_story({"port 80": "port 5544", "port 81": "port 5544"}, [prompts, prompts], put_in)
    assert found["found"] == [False, True, True, True]
    assert (found["deciding"], found["outdated"], found["repeated"], found["memories"]) == (3, 1, 1, 4)
    assert found["unreplaced"] == 1


def test_an_outdated_text_counts_as_replaced_only_behind_the_one_that_replaced_it(tmp_path: Path) -> None:
    task = task_of(tmp_path, SMALL.replace("outdated = []", 'outdated = ["port 80"]'))
    new, old = "- [ports.md:1-3] The staging database listens on port 5544", "- [a] port 80"
    told = {"after": ("", f"{new}\n{old}"), "before": ("", f"{old}\n{new}"), "without": (old, "")}
    told |= {"in one": ("", f"{new}, no longer on port 80"), "at the start": (new, old)}
    found = {name: judge(task, PutIn(start, (prompt, ""))) for name, (start, prompt) in told.items()}
    assert all(one["outdated"] for one in found.values())
    assert [name for name, one in found.items() if one["unreplaced"]] == ["before", "without", "in one"]


def test_a_task_is_run_through_the_installed_hooks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    task_of(tmp_path)
    monkeypatch.setattr(agent_tasks, "LABELS", tmp_path)
    assert main(["agent-tasks", "--half", "dev", "--misses", "--json", str(tmp_path / "found.json")]) == 0
    (found,) = json.loads((tmp_path / "found.json").read_text("utf-8"))["tasks"]
    assert found["first"]
    assert found["tokens"][1] > 0
    assert capsys.readouterr().out.splitlines()[-2].split()[:3] == ["all", "1", "1.0"]


def test_a_half_without_tasks_is_no_measurement(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agent_tasks, "LABELS", tmp_path)
    assert main(["agent-tasks"]) == 1
