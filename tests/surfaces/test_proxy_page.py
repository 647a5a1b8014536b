"""What docs/context.md says is carried out, and what was told is there in new conversations, whatever the topic."""

from __future__ import annotations

import io
import re
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import openai
import pytest
from proxied import proxying
from scripted_model import Request, completion, modelling
from test_cli_proxy import killed

PAGE = Path(__file__).parents[2] / "docs" / "context.md"
TOLD = {
    "craft": "I have been learning to weave baskets since spring. I soak the willow overnight and love the rim work.",
    "garden": "My tomatoes are a variety called Tigerella. I water them every Tuesday with rain from the barrel.",
    "journey": "I crossed the Alps by bicycle last autumn and slept in Chamonix. The Furka pass was closed by snow.",
    "sport": "I swim two kilometres every Saturday in the Limmat. My best time is 41 minutes.",
    "music": "I play the cello in a quartet on Thursdays. We are rehearsing the Dvorak in F major.",
}
ASKED = [
    ("What craft am I learning?", ("willow", "baskets")),
    ("What do I grow in my garden?", ("tigerella",)),
    ("Where did I travel by bicycle?", ("chamonix", "alps")),
    ("What exercise do I do on Saturdays?", ("limmat", "swim")),
    ("Tell me about my cello playing", ("quartet", "dvorak")),
    ("Tell me about willow", ("baskets", "overnight")),
    ("What do I know about the Furka pass?", ("snow",)),
    ("Tell me about Tigerella", ("tomatoes", "barrel")),
    ("What is the Dvorak in F major?", ("cello", "quartet")),
]


def test_the_quickstart_ends_with_a_model_that_knows(
    environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    page = PAGE.read_text("utf-8")
    first, second = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    assert "$ scrubjay proxy\n" in page
    with modelling() as model:
        model.answer = knowing
        monkeypatch.setenv("OPENAI_API_KEY", "sk-theirs")
        monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-theirs")
        given = environ | {"SCRUBJAY_PROXY_BUDGET_MS": "30000"}
        with killed(given, "--openai", f"{model.url}/v1", "--anthropic", model.url) as url:
            names: dict[str, Any] = {}
            heard = io.StringIO()
            with redirect_stdout(heard):
                exec(first.replace("http://127.0.0.1:8766/openai/v1", url), names)
                for _ in range(200):  # until the worker has remembered what was told
                    if "Porto" in heard.getvalue():
                        break
                    print(names["ask"]("Where does my boat lie?"))
            assert heard.getvalue().splitlines()[-1] == "In Porto."
            names["client"].close()
            exec(
                second.replace("http://127.0.0.1:8766/anthropic", url.replace("/openai/v1", "/anthropic")),
                names,
            )
            with names["client"] as asking:
                asking.models.list()
            assert model.last.path.startswith("/v1/models")


def knowing(request: Request) -> Any:
    """A model that knows what it is given, and nothing else."""
    if request.method == "GET":
        return completion("no")
    before = str(request.json["messages"][:-1])
    return completion("In Porto." if "lies in Porto" in before else "I do not know.")


def test_what_was_told_of_five_topics_in_one_conversation_is_given_for_nine_questions_in_new_ones(
    environ: dict[str, str],
) -> None:
    with modelling() as model, proxying(environ, model) as proxy:
        model.answer = lambda request: completion("That is good to know.")
        with openai.OpenAI(base_url=proxy.openai, api_key="k", max_retries=0) as asking:
            talk: list[Any] = []
            for text in TOLD.values():
                talk.append({"role": "user", "content": text})
                asking.chat.completions.create(model="m", messages=talk)
                talk.append({"role": "assistant", "content": "That is good to know."})
            proxy.rested()
            missed = []
            for question, words in ASKED:
                asking.chat.completions.create(model="m", messages=[{"role": "user", "content": question}])
                given = proxy.injected().lower()
                missed += [] if any(word in given for word in words) else [question]
            asking.chat.completions.create(
                model="m", messages=[{"role": "user", "content": "Who wrote Faust?"}]
            )
            assert proxy.injected() == ""
        assert missed == []
        assert len(TOLD) < len([one for one in proxy.turns() if one.role == "user"])
