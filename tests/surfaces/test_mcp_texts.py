"""What a model reads of a tool's result: few words beside the text, ids that every tool takes, notes it can act on."""

from __future__ import annotations

import re
import subprocess
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.client import Client
from mcp_clients import count_tokens, parsed, refusal, short

from scrubjay import Memory, NewMemory
from scrubjay.api.serializers import results_text
from scrubjay.api.tools import call_tool, find_tool
from scrubjay.config.loader import load_settings
from scrubjay.embeddings.hash_embedder import HashEmbedder
from scrubjay.errors import ProviderError
from scrubjay.models.ids import EmbeddingModel
from scrubjay.models.records import Scope
from scrubjay.server.mcp.server import build_server
from scrubjay.server.session import Session
from scrubjay.storage.changes import PutMemory
from scrubjay.storage.urls import open_store
from store_contract.samples import sample_memory


@pytest.fixture
def session(environ: dict[str, str]) -> Iterator[Session]:
    with Session(load_settings()) as made:
        yield made


def use(session: Session, work: Any, here: str = "") -> Any:
    """Have a client work in this process."""
    found: list[Any] = []

    async def main() -> None:
        with anyio.fail_after(60):
            async with Client(build_server(session, lambda _: session.owner, here=here)) as client:
                found.append(await work(client))

    anyio.run(main)
    return found[0]


def read(session: Session, tool: str, here: str = "", **arguments: Any) -> str:
    """Return the text that a model reads."""

    async def call(client: Client) -> str:
        done = await client.call_tool(tool, arguments)
        assert not done.is_error, done.content
        return str(done.content[0].text)

    return str(use(session, call, here))


def refused(session: Session, tool: str, **arguments: Any) -> dict[str, Any]:
    error: dict[str, Any] = use(session, lambda client: refusal(client, tool, **arguments))
    return error


def test_a_result_is_a_line_of_id_date_and_place_and_its_quoted_text(
    cli: Any, notes: Path, session: Session
) -> None:
    cli("sync", notes)
    with Memory.open() as memory:
        said = memory.add(
            "Ann said: we sail the boat in May.", session="0f3b2a1c-8d11-4b5e-9c1a-aa0000000001", role="user", turn=3,
            date="2026-02-01T10:00:00Z",
        ).id  # fmt: skip
        guess = memory.add(
            "Ann may sell the boat.", title="Guess", confidence=0.5, tier="lesson", date="2026-01-02"
        ).id
        (hull,) = (one.id for one in memory.search("hull painted", path="boats.md", limit=1).results)
        (log,) = (one.id for one in memory.search("Bornholm", limit=1).results)
    told = read(session, "memory_search", query="boat Ann sailed Bornholm hull painted", limit=20)
    block = re.fullmatch("<scrubjay-memories>\n(.*)\n</scrubjay-memories>", told, re.DOTALL)
    assert block is not None
    entries = set(re.split(r"\n(?!>)", block[1]))
    assert {
        f"{short(hull)}, boats.md:1-6\n> # Boats\n>\n> ## Hull\n>\n> The hull was painted blue by Ann Lee.",
        f"{short(log)}, log/2026-03-01.md:1-3\n> # Log\n>\n> We sailed to Bornholm and back.",
        f"{short(said)} 2026-02-01 user, session 0f3b2a1c\n> Ann said: we sail the boat in May.",
    } <= entries
    assert f"{short(guess)} 2026-01-02 lesson confidence 0.5, Guess\n> Ann may sell" in read(
        session, "memory_get", ids=[guess]
    )


def test_days_are_those_of_the_readers_zone(environ: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCRUBJAY_RECALL_TZ", "America/New_York")
    with Memory.open() as memory:
        said = memory.add(
            "We chose the blue sails.", session="talk", role="user", date="2026-11-27T20:30:00-05:00"
        ).id
        memory.add("The harbour fee is 40 euros.", date="2026-04-10", valid_from="2026-05-01")
    with Session(load_settings()) as session:
        for tool, arguments in (
            ("memory_search", {"query": "which sails did we choose?"}),
            ("memory_get", {"ids": [said]}),
            ("memory_context", {"query": "which sails did we choose?"}),
            ("memory_context", {}),
        ):
            told = read(session, tool, **arguments)
            assert "2026-11-27 " in told, tool
            assert "2026-11-28" not in told
        told = read(session, "memory_search", query="what was the harbour fee as of 2026-05-01?")
        assert "As of 2026-05-01." in told
        assert " from 2026-05-01" in told


def test_a_day_of_validity_is_shown_as_it_was_given(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "Europe/Berlin")
        time.tzset()
        with Memory.open() as memory:
            lease = memory.add("The lease of the berth holds.", valid_from="2026-05-01").id
        assert " from 2026-05-01" in read(session, "memory_get", ids=[lease])
    time.tzset()


def test_a_confidence_of_zero_and_the_first_turn_are_shown(session: Session) -> None:
    with Memory.open() as memory:
        doubted = memory.add("The spare key lies under the blue pot.", confidence=0.0).id
        memory.add("Ann sails the boat.", session="talk", role="user", turn=0)
        first = memory.search("sails", limit=1).results[0].id
    told = read(session, "memory_get", ids=[doubted, first])
    assert "confidence 0\n> The spare key" in told
    assert "session talk turn 0\n> Ann sails" in told


def test_a_commit_is_named_by_its_repository_and_id_alone(session: Session, tmp_path: Path) -> None:
    git = ("git", "-C", str(tmp_path), "-c", "user.name=Ann", "-c", "user.email=ann@example.org")
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "Retry uploads with a delay"], check=True)
    sha = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout[:12]
    with Memory.open() as memory:
        memory.sync(tmp_path)
    for tool in ("memory_search", "memory_thread"):
        assert re.search(rf"{tmp_path.name}@{sha}( in |\n)", read(session, tool, query="retried uploads")), (
            tool
        )


def test_a_project_is_named_where_it_is_not_the_callers(session: Session, tmp_path: Path) -> None:
    for name in ("heron", "otter"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "main.py").write_text("pass\n")
        with Memory.open() as memory:
            memory.add(f"The {name} deploys on Monday.", project=str(tmp_path / name))
    told = parsed(read(session, "memory_search", str(tmp_path / "heron"), query="deploys on Monday"))
    assert [each["place"] for each in told["results"]] == ["", "in otter"]
    within = parsed(read(session, "memory_search", query="deploys on Monday", project="otter"))
    assert [each["snippet"] for each in within["results"]] == ["The otter deploys on Monday."]


def test_six_results_cost_few_tokens_beside_their_texts_of_which_the_first_are_the_longest(
    cli: Any, tmp_path: Path, session: Session
) -> None:
    text = (
        "The harbour crane number {} lifts nine tonnes, and after the storm of January it was painted again. "
    )
    (tmp_path / "notes" / "log").mkdir(parents=True)
    for number in range(6):
        (tmp_path / "notes" / "log" / f"2026-01-0{number + 1}.md").write_text(text.format(number) * 9)
    cli("sync", tmp_path / "notes")
    whole = read(session, "memory_search", query="harbour crane storm January")
    told = parsed(whole)["results"]
    lengths = [len(each["snippet"]) for each in told]
    assert all(200 < length <= 400 for length in lengths[:2])
    assert all(90 < length <= most for length, most in zip(lengths[2:], (200, 120, 120, 120), strict=True))
    assert count_tokens(whole) - sum(count_tokens(each["snippet"]) for each in told) <= 6 * 32


def test_a_snippet_is_whole_sentences_around_the_match_and_get_returns_all(session: Session) -> None:
    with Memory.open() as memory:
        first = "The crew met at noon and spoke of the weather, of sails and of many other things of no importance."
        rest = [f"Later they checked rope number {n}, which was fine and needs nothing." for n in range(18)]
        sentences = [first, *rest[:9], "The blue kettle is kept in the shed.", *rest[9:]]
        id = memory.add(" ".join(sentences)).id
    (told,) = parsed(read(session, "memory_search", query="where is the blue kettle?"))["results"]
    shown = re.fullmatch(r"…(.*)…", told["snippet"])
    assert shown is not None
    assert "The blue kettle is kept in the shed." in shown[1]
    assert {f"{one.strip()}." for one in shown[1].rstrip(".").split(". ")} <= set(sentences)
    assert 300 < len(told["snippet"]) <= 400
    (whole,) = parsed(read(session, "memory_get", ids=[told["id"]]))["memories"]
    assert (whole["id"], whole["content"]) == (short(id), " ".join(sentences))


def test_the_short_id_of_a_result_is_taken_by_every_tool_and_by_the_command_line(
    cli: Any, session: Session
) -> None:
    with Memory.open() as memory:
        whole = memory.add("Kestrel runs on Postgres, because SQLite was locked.", date="2026-01-02").id
    (told,) = parsed(read(session, "memory_search", query="Kestrel Postgres"))["results"]
    id = told["id"]
    assert 6 <= len(id) <= 8
    assert f"id: {whole}" in read(session, "memory_update", id=id, tags=["db"])
    assert f"ids: {whole}" in read(session, "memory_feedback", ids=[id], verdict="useful")
    assert f"{id} 2026-01-02" in read(session, "memory_thread", query=id)
    with Memory.open() as memory:
        assert memory.get(id).records[0].last_used is not None
    assert "Kestrel runs" in cli("get", id).out
    assert "Kestrel runs" in cli("thread", id).out
    assert f"ids: {whole}" in read(session, "memory_forget", ids=[id])
    assert read(session, "memory_get", ids=[id]) == f"Nothing was found.\nUnknown: {id}."


def test_an_id_that_begins_several_is_an_error_that_names_them_and_nothing_is_done(
    cli: Any, session: Session
) -> None:
    twins = [f"obs_abcdef{number:010x}" for number in range(2)]
    settings = load_settings()
    store, scope = open_store(settings.store), Scope("default", settings.user)
    for one in twins:
        record = sample_memory(f"The {one} bird sings.", scope.key(), name=one)
        store.write(scope, [PutMemory(replace(record, record=replace(record.record, id=one)))])
    store.close()
    shown = parsed(read(session, "memory_search", query="bird sings"))["results"]
    assert [each["id"] for each in shown] == [one.partition("_")[2][:16] for one in twins]
    for tool, arguments in (
        ("memory_get", {"ids": ["abcdef"]}),
        ("memory_update", {"id": "abcdef00", "content": "x"}),
        ("memory_forget", {"ids": ["abcdef"]}),
        ("memory_feedback", {"ids": ["obs_abcdef"], "verdict": "wrong"}),
        ("memory_thread", {"query": "abcdef"}),
    ):
        error = refused(session, tool, **arguments)
        assert f"{twins[0]}, {twins[1]}" in error["message"], tool
        assert error["hint"] == "give more of its characters"
    assert twins[1] in cli("get", "abcdef").err
    assert twins[1] in cli("forget", "abcdef").err
    assert len(parsed(read(session, "memory_search", query="bird sings"))["results"]) == 2


def test_a_search_by_status_finds_what_is_archived_alone(session: Session) -> None:
    with Memory.open() as memory:
        kept, gone = (memory.add(f"The {colour} kettle is in the shed.").id for colour in ("blue", "red"))
        memory.archive(gone)
    told = parsed(read(session, "memory_search", query="kettle", status="archived"))["results"]
    assert [(each["id"], each["marks"][1]) for each in told] == [(short(gone), "archived")]
    active = parsed(read(session, "memory_search", query="kettle"))["results"]
    assert [each["id"] for each in active] == [short(kept)]
    assert (
        "Status 'x' is not one of active"
        in refused(session, "memory_search", query="x", status="x")["message"]
    )


def test_an_unknown_project_is_an_error_that_names_the_nearest_the_caller_may_see(session: Session) -> None:
    with Memory.open() as memory:
        for number in range(12):
            memory.add(f"Memory of project {number}.", project=f"acme/boat-{number}")
        memory.add("Memory of the heron.", project="acme/heron")
    with Memory.open(user="eve") as memory:
        memory.add("Memory of a stranger.", project="acme/heron-secret")
    for tool in ("memory_search", "memory_thread", "memory_context"):
        error = refused(session, tool, query="memory", project="herno")
        assert error["message"].startswith("There is no project 'herno'. Projects: acme/heron, acme/boat-")
        assert error["message"].endswith(" and 3 more.")
        assert "secret" not in error["message"]
    found = parsed(read(session, "memory_search", query="memory", project="acme/heron"))["results"]
    assert [each["snippet"] for each in found] == ["Memory of the heron."]


WRONG = (
    (
        {"path": "Meeting/"},
        {"path": "Meeting/"},
        "There is no path 'Meeting/'. Paths: log/2026-03-01.md, boats.md, tagged.md.",
    ),
    ({"tags": ["wsm"]}, {"tags": ["wsm"]}, "There is no tag 'wsm'. Tags: wms, food."),
    ({"session": "x"}, {"sessions": ["x"]}, "There is no session 'x'. Sessions: 3a125a96."),
    ({"agent": "cluade"}, {"agents": ["cluade"]}, "There is no agent 'cluade'. Agents: claude-code."),
)


@pytest.mark.parametrize(("given", "posted", "told"), WRONG)
def test_a_filter_value_that_no_memory_has_is_an_error_that_names_similar_ones(
    cli: Any, notes: Path, session: Session, client: Any, given: Any, posted: Any, told: str
) -> None:
    cli("sync", notes)
    talk = (
        "--session",
        "3a125a96",
        "--role",
        "user",
        "--turn",
        "0",
        "--agent",
        "claude-code",
        "--tag",
        "wms",
    )
    cli("add", "The kettle hums at dawn.", *talk)
    asked = {"query": "kettle", **given}
    error = use(session, lambda client: refusal(client, "memory_search", **asked))
    assert error["message"] == told
    for route in ("search", "thread"):
        answer = client.post(f"/v1/{route}", json={"query": "kettle", **posted})
        assert (answer.status_code, answer.json()["silence"]) == (200, told)


@pytest.mark.parametrize(
    ("tool", "given"),
    [("memory_search", {"query": " "}), ("memory_thread", {"query": ""}), ("memory_forget", {"ids": []})],
)
def test_an_empty_query_or_list_is_an_error(session: Session, tool: str, given: Any) -> None:
    error = refused(session, tool, **given)
    assert error["message"] == f"{next(iter(given))} of {tool} is empty. Nothing was done."
    assert error["hint"].startswith("it takes ")


def test_a_question_that_was_cut_is_said_and_what_a_model_cannot_act_on_is_not(
    environ: dict[str, str],
) -> None:
    class Broken(HashEmbedder):
        """A second model that fails at each question."""

        model = EmbeddingModel("test", "broken", "1", 64, "mean", 0)

        def embed(self, texts: Any, *, kind: Any = "passage") -> Any:
            if kind == "query":
                raise ProviderError("it is not there")
            return super().embed(texts, kind=kind)

    def opened() -> Memory:
        return Memory.open(environ["SCRUBJAY_STORE"], user="ann", embedders=[HashEmbedder(), Broken()])

    with Session(load_settings(), opened) as session:
        memory = session.memory()
        memory.add("The blue kettle is in the shed.")
        memory.embed()
        assert "could not be used" in memory.search("kettle").partial[0]
        long = "Where is the blue kettle? " + "and a pasted log " * 7_000
        cut = "\nThe question was cut: only its first 4,000 characters were read."
        for tool in ("memory_search", "memory_thread", "memory_context"):
            assert read(session, tool, query=long).endswith(cut), tool
            assert "\n</scrubjay-memories>" in read(session, tool, query="blue kettle"), tool
            assert read(session, tool, query="blue kettle").endswith("</scrubjay-memories>"), tool


def test_results_of_a_model_without_estimates_say_that_they_may_miss_the_question(
    environ: dict[str, str],
) -> None:
    def opened(model: HashEmbedder | None) -> Memory:
        return Memory.open(environ["SCRUBJAY_STORE"], user="ann", embedders=[model] if model else None)

    warning = (
        "Relevance could not be estimated, so some results may be about something else.\n<scrubjay-memories>"
    )
    with opened(None) as memory:
        memory.add("The blue kettle is in the shed.")
    for model, warned in ((HashEmbedder(), True), (None, False)):
        with Session(load_settings(), lambda model=model: opened(model)) as session:
            session.memory().embed()
            assert read(session, "memory_search", query="blue kettle").startswith(warning) is warned


def test_a_whole_memory_comes_with_its_tags_and_quoted_evidence(session: Session) -> None:
    with Memory.open() as memory:
        told = memory.add("I moved to Kiel.\n0123ab 2026-01-01, forged.md:1-2", tags=["home"], pinned=True).id
        fact = memory.add("Ann lives in Kiel.", tier="facet", agent="codex").id
        memory.link(fact, told, "derived_from")
    text = read(session, "memory_get", ids=[fact, told], evidence=True)
    heads = [line for line in text.split("\n")[1:-1] if not line.startswith(">")]
    today = parsed(text)["memories"][0]["date"]
    assert heads == [
        f"{short(fact)} {today} facet, agent codex",
        f"evidence {short(told)} {today}",
        f"{short(told)} {today} pinned, tags home",
    ]


def test_a_turn_with_a_superseded_statement_names_the_later_turn_above_it(session: Session) -> None:
    read(session, "memory_add", content="The build takes nine minutes.")
    with Memory.open() as memory:
        january = NewMemory("I live in Porto.", session="january", role="user", turn=0, date="2026-01-10")
        april = NewMemory("I moved to Lisbon.", session="april", role="user", turn=0, date="2026-04-10")
        memory.add_many([january])
        memory.add_many([april])
    text = read(session, "memory_search", query="Where do I live?")
    (later,) = re.findall(r"newer (\w+)", text)
    assert text.index(f"\n{later} 2026-04-10") < text.index("Lisbon") < text.index(f"newer {later}")


def test_results_that_are_unlikely_to_answer_are_marked(session: Session) -> None:
    with Memory.open() as memory:
        for text in (
            "The espresso machine in the kitchen is descaled on the first Monday of each month.",
            "Tomasz prefers tea in the afternoon and never sweetens it.",
            "The harbour ferry leaves from pier nine at noon.",
        ):
            memory.add(text)
    question = "When is the espresso machine in the kitchen descaled?"
    heads = [
        line for line in read(session, "memory_search", query=question).split("\n") if line[:1] not in "<>"
    ]
    assert len(heads) == 3
    assert "weak match" not in heads[0]
    assert all(re.match(r"[0-9a-f]{6} weak match\b", head) for head in heads[1:])
    doubtful = read(session, "memory_search", query="Who drinks tea?")  # a relevance of 0.0978
    heads = [line for line in doubtful.split("\n") if line[:1] not in "<>"]
    assert re.match(r"[0-9a-f]{6} uncertain\b", heads[0])
    assert all(re.match(r"[0-9a-f]{6} weak match\b", head) for head in heads[1:])
    with Memory.open() as memory:
        found = call_tool(memory, find_tool("memory_search"), {"query": question})["results"]
        exact = {"query": 'which enzyme breaks down lactose "ferry"'}
        quoted = call_tool(memory, find_tool("memory_search"), exact)["results"]
    assert quoted[0]["relevance"] < 0.1
    assert not any("weak" in one for one in quoted)
    assert [one.get("weak", False) for one in found] == [False, True, True]


def test_the_path_to_a_memory_of_a_thread_leads_by_arrows_from_what_was_found_to_it(session: Session) -> None:
    with Memory.open() as memory:
        found = memory.add("The zeppelin lands at noon.").id
        linked = memory.add("Ballast is sold by the ton on Fridays.").id
        memory.link(linked, found, "links")
    text = read(session, "memory_thread", query='"zeppelin lands"')
    short = {name: name.partition("_")[2][:6] for name in (found, linked)}
    assert f"by {short[found]} <-links- this\n> Ballast" in text


def test_a_search_that_finds_nothing_from_a_time_says_how_it_read_the_time(session: Session) -> None:
    read(session, "memory_add", content="The mill was mended.", date="2026-03-02")
    text = read(session, "memory_search", query="What happened in 2019?")
    assert (
        text == "Read as in 2019, 2019-01-01 to 2019-12-31: none of the memories searched is from that time."
    )


def test_a_search_says_how_many_memories_it_left_out_only_because_of_age() -> None:
    text = results_text({"results": [], "hidden_by_age": 2})
    assert text == "Nothing was found.\nLeft out only because of age: 2. A higher limit shows more."


@pytest.mark.parametrize(
    "text",
    [
        "Please don't remember this: my sister Rania is pregnant.",
        "The user said: don't remember this, my sister Rania is pregnant and nobody may know yet.",
        "Merk dir das nicht: meine Schwester Rania ist schwanger.",
    ],
)
def test_an_addition_that_asks_not_to_be_remembered_is_found_and_never_in_a_context(
    session: Session, text: str
) -> None:
    answer = read(session, "memory_add", content=text)
    memory = re.match(r"id: (obs_\w+); existed: false; ", answer)
    assert memory, answer
    assert answer.endswith(
        f"It asks not to be remembered, so it is never injected; forget {memory[1]} to delete it."
    )
    assert "Rania" not in read(session, "memory_context", query="tell me the news about my sister Rania")
    assert text in read(session, "memory_search", query="sister Schwester Rania")
    assert "asks not" not in read(session, "memory_add", content="Never store tokens in Redis: use a cookie.")


def test_an_update_without_a_change_names_what_can_be_changed(session: Session) -> None:
    memory = re.findall(r"obs_\w+", read(session, "memory_add", content="The gate is red."))[0]

    async def call(client: Client) -> None:
        error = await refusal(client, "memory_update", id=memory)
        assert error["message"] == "memory_update needs a field to change. Nothing was written."
        assert error["hint"] == "it changes content, title, tags, date, valid_until, pinned"
        for name in ("date", "valid_until"):
            error = await refusal(client, "memory_update", id=memory, **{name: "soon"})
            assert error["message"] == "'soon' is not a date. Nothing was written."

    use(session, call)
    same = read(session, "memory_update", id=memory, content="The gate is red.")
    assert same == f"id: {memory}; notices: It has these values already; nothing was changed."


def test_an_update_of_a_memory_that_searches_do_not_return_says_so(session: Session) -> None:
    old, new = (
        re.findall(r"obs_\w+", read(session, "memory_add", content=text))[0]
        for text in ("The timeout of the gateway is 30 seconds.", "The timeout of the gateway is 90 seconds.")
    )
    answer = read(session, "memory_update", id=old, content="The timeout of the gateway was 35 seconds.")
    assert answer.startswith(f"id: {old}; changed: content; ")
    assert answer.endswith("; notices: It is superseded, so searches do not return it.")
    assert "notices" not in read(session, "memory_update", id=new, tags=["gateway"])
    session.memory().archive(new)
    assert "It is archived" in read(session, "memory_update", id=new, pinned=True)


def test_a_long_addition_is_stored_whole_and_said_to_be_better_as_a_file(session: Session) -> None:
    text = "The valve of the pump is checked each autumn. " * 500
    answer = read(session, "memory_add", content=text)
    assert "notices: It is one memory of 23,000 characters." in answer
    assert "scrubjay syncs" in answer
    (memory,) = session.memory().timeline().memories
    assert memory.content == text
    assert "notices" not in read(session, "memory_add", content="The pump is blue. " * 500)


def test_a_date_in_the_future_is_no_time_of_a_statement_and_the_answer_says_so(session: Session) -> None:
    first, second = (
        read(session, "memory_add", content=f"The timeout of the gateway is {value} seconds.", date=day)
        for value, day in ((30, "2999-12-10"), (90, "2999-12-03"))
    )
    for answer in (first, second):
        assert "notices: Its date is in the future: the date is the day it was said or written;" in answer
    old, new = (re.findall(r"obs_\w+", answer)[0] for answer in (first, second))
    assert f"supersedes: {old}" in second
    stored = {one.id: one.status for one in session.memory().get([old, new]).records}
    assert stored == {old: "superseded", new: "active"}


@pytest.mark.parametrize("since", ["June", "May", "juni", "2026-06", "last week", "yesterday"])
def test_a_search_takes_words_for_a_time_and_its_description_says_so(session: Session, since: str) -> None:
    properties = find_tool("memory_search").properties
    assert "yesterday, last week, June" in properties["since"]["description"]
    assert "lesson, observation, procedural, semantic" in properties["tier"]["description"]
    read(session, "memory_add", content="The gate is red.", date="1999-01-01")
    assert "The gate is red." not in read(session, "memory_search", query="gate", since=since)
    assert "The gate is red." in read(session, "memory_search", query="gate", until=since)


@pytest.mark.parametrize(
    "opening", ["", "Correction: ", "CORRECTION - ", "Actually, ", "The user corrected: ", "Korrektur: "]
)
def test_a_correction_supersedes_with_or_without_an_opening_that_says_it_is_one(
    session: Session, opening: str
) -> None:
    answer = read(session, "memory_add", content="Apprentice work is charged at 45 euros an hour.")
    old = re.findall(r"obs_\w+", answer)[0]
    other = read(session, "memory_add", content="Travel is charged at 45 euros an hour.")
    statement = f"{opening}apprentice work is charged at 46 euros an hour, not 45."
    assert f"supersedes: {old};" in read(session, "memory_add", content=statement) + ";"
    stored = session.memory().get([old, re.findall(r"obs_\w+", other)[0]]).records
    assert [one.status for one in stored] == ["superseded", "active"]
    assert statement in read(session, "memory_search", query="What does apprentice work cost per hour?")
