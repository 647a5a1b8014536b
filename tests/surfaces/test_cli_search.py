from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from scrubjay import Memory
from scrubjay.models.lifecycle import NewMemory

sys.path.insert(0, str(Path(__file__).parents[1]))

from chat_service import serving

RESULT = [
    "id",
    "tier",
    "title",
    "snippet",
    "path",
    "line_start",
    "line_end",
    "date",
    "score",
    "relevance",
    "citation",
]


def test_an_empty_store_says_what_to_run(cli) -> None:
    said = cli("search", "anything")
    assert said.code == 0
    assert said.out.endswith("hint: scrubjay sync DIR\n")
    assert cli("search", "anything", "--json").json["hint"].endswith("(user 'ann'): scrubjay sync DIR")


def test_a_user_without_memories_hears_nothing_of_those_of_others(cli, environ) -> None:
    cli("add", "The kettle hums at dawn.")
    told = f"You have no memories in sqlite:///{environ['SCRUBJAY_STORE']} (user 'ines')"
    for words in (("search", "kettle"), ("concepts",), ("categories",)):
        assert cli("--user", "ines", *words).out == f"{told}.\nhint: scrubjay sync DIR\n"
    found = cli("--user", "ines", "search", "kettle", "--json").json
    assert found["hint"] == f"{told}: scrubjay sync DIR"


def test_five_nearest_memories_are_shown_where_none_is_likely_to_answer(cli, notes) -> None:
    cli("sync", notes)
    asked = "Which enzyme breaks down lactose in the garden?"
    silent = cli("search", asked).out
    assert silent.startswith("Nothing stored is likely to answer this: the nearest memory has relevance 0.0")
    found = cli("search", asked, "--json").json
    assert found["results"] == []
    assert len(found["nearest"]) == min(5, cli("status", "--json").json["memories"])
    for number, one in enumerate(found["nearest"], 1):
        assert re.search(
            rf"^{number}\. {re.escape(one['citation'])} .*relevance 0\.0\d$", silent, re.MULTILINE
        )
        assert one["snippet"].split("\n")[-1][:40] in silent
    assert "\n--weak shows them whole.\n" in silent
    assert "relevance 0.0" in cli("search", asked, "--weak").out
    assert "nearest" not in cli("search", asked, "--json", "--min-relevance", "0.5").json


def test_a_search_without_result_says_so_and_succeeds(cli, notes) -> None:
    cli("sync", notes)
    said = cli("search", '"no such phrase anywhere"')
    assert said.code == 0
    assert said.out.startswith('Nothing found for: "no such phrase anywhere"\n')
    found = cli("search", '"no such phrase anywhere"', "--json").json
    assert found["results"] == []
    assert "hint" not in found


def test_a_search_says_how_many_memories_only_their_age_left_out(cli) -> None:
    painters = [f"Painter {number} painted the mast red." for number in range(20)]
    with Memory.open() as memory:
        memory.add_many(NewMemory(f"Tom sewed the sails in the harbour of town {n}.") for n in range(20))
        memory.add_many(NewMemory(text, date="2010-01-01") for text in painters[::2])
        memory.add_many(NewMemory(text) for text in painters[1::2])
    asked = ("search", "who painted the mast red?", "--limit")
    said = cli(*asked, "10").out
    assert re.search(
        r"\n\d older memor(y|ies) left out only because of age "
        r"\((obs_\w+, )*(obs_\w+|…)\); a higher --limit shows more\n",
        said,
    )
    assert "left out" not in cli(*asked, "20").out


def test_json_results_carry_where_what_and_when(cli, notes) -> None:
    cli("sync", notes)
    found = cli("search", "who", "painted", "the", "hull", "--json").json
    assert set(found) == {"results", "partial", "took_ms", "hidden_by_age", "silence"}
    best = found["results"][0]
    assert [name for name in best if name in RESULT] == RESULT
    assert best["path"] == str(notes / "boats.md")
    assert best["citation"] == f"{notes / 'boats.md'}:{best['line_start']}-{best['line_end']}"
    assert best["line_start"] <= 5 <= best["line_end"]
    assert "painted blue" in best["snippet"]
    assert best["relevance"] is None or 0 <= best["relevance"] <= 1
    assert "explanation" not in best


def test_text_results_show_title_citation_date_and_score(cli, notes) -> None:
    cli("sync", notes)
    out = cli("search", "Bornholm", "--limit", "1").out
    lines = out.splitlines()
    assert lines[0] == "1. Log"
    assert lines[1].strip() == f"{notes / 'log' / '2026-03-01.md'}:1-3"
    assert "2026-03-01" in lines[2]
    assert "score " in lines[2]
    assert "We sailed to Bornholm and back." in out
    assert "\x1b" not in out
    assert "1 result in " in out


def test_matches_light_up_on_a_terminal_only_where_colours_are_wanted(cli, notes, terminal) -> None:
    cli("sync", notes)
    terminal()
    assert "\x1b[1;33mhull\x1b[0m was" in cli("search", "the hull").out
    cli.patch.setenv("NO_COLOR", "1")
    assert "\x1b" not in cli("search", "the hull").out


def test_explain_prints_the_numbers_that_make_the_score(cli, notes) -> None:
    cli("sync", notes)
    for best in cli("search", "volvo engine", "--explain", "--json").json["results"]:
        parts = best["explanation"]
        assert all(part["amount"] == part["weight"] * part["value"] for part in parts["contributions"])
        total = sum(part["amount"] for part in parts["contributions"])
        for factor in parts["factors"]:
            total *= factor["value"]
        assert total == pytest.approx(best["score"], abs=2e-6)
    out = cli("search", "volvo engine", "--explain").out
    assert "Found by *volvo*, *engine*" in out or "Found by *engine*, *volvo*" in out
    assert "+ " in out
    assert "bm25: value " in out
    assert "bm25 terms: volvo" in out
    assert "notes" in cli("search", "volvo engine", "--explain", "--json").json


def test_filters_narrow_the_results(cli, notes) -> None:
    cli("sync", notes)
    cli("add", "Lesson: oil the hull engine pasta Bornholm", "--tier", "lesson", "--date", "2020-05-05")

    def paths(*flags: str) -> set[str | None]:
        results = cli(
            "search", "hull engine pasta Bornholm", "--json", "--limit", "20", "--min-relevance=0", *flags
        ).json["results"]
        return {each["path"] and each["path"].removeprefix(f"{notes}/") for each in results}

    assert paths() == {"boats.md", "log/2026-03-01.md", "tagged.md", None}
    assert paths("--tag", "food") == {"tagged.md"}
    assert paths("--tier", "lesson") == {None}
    assert paths("--path", "log") == {"log/2026-03-01.md"}
    assert paths("--path", "log", "--tag", "food") == set()
    assert paths("--until", "2021") == {None}
    assert paths("--since", "2026-03-01", "--until", "2026-03-01") == {"log/2026-03-01.md"}
    assert paths("--source", str(notes)) == {"boats.md", "log/2026-03-01.md", "tagged.md"}
    assert paths("--status", "archived") == set()


def test_limit_presets_fusion_and_weights_reach_the_ranking(cli, notes) -> None:
    cli("sync", notes)
    assert len(cli("search", "the", "hull", "engine", "-n", "1", "--json").json["results"]) == 1

    def channels(*flags: str) -> dict[str, float]:
        best = cli("search", "hull", "--explain", "--json", *flags).json["results"][0]
        return {
            part["channel"].split(":")[0]: part["weight"] for part in best["explanation"]["contributions"]
        }

    assert channels("--weights", "bm25=1,vector=0").get("vector", 0) == 0
    assert channels("--preset", "openclaw")["bm25"] == pytest.approx(0.3)
    assert channels("--fusion", "rrf") != channels("--fusion", "weighted")
    assert cli("search", "hull", "--weights", "bm25").code == 2
    assert "weights of 0 or more" in cli("search", "hull", "--weights", "bm25=-1").err
    assert cli("search", "hull", "--weights", "nochannel=1").code == 2


def test_a_second_look_is_had_by_flag_and_shown(cli, notes) -> None:
    cli("sync", notes)

    def parts(*flags: str) -> set[str]:
        found = cli("search", "the", "hull", "--explain", "--json", *flags).json["results"]
        return {part["channel"] for one in found for part in one["explanation"]["contributions"]}

    assert "rerank" not in parts()
    assert "rerank" in parts("--rerank", "features")
    assert cli("search", "hull", "--rerank", "magic").code == 2
    assert cli("search", "hull", "--rerank", "features", "--fusion", "rrf").code == 2
    without = cli("search", "the", "hull", "--rerank", "http")
    assert without.code == 0
    assert "partial: Nothing was reranked: [rerank] kind http names no base_url" in without.out


def test_a_query_from_standard_input_and_one_with_a_dash(cli, notes) -> None:
    cli("sync", notes)
    assert cli("search", "-", "--json", stdin="Bornholm\n").json["results"][0]["title"] == "Log"
    found = cli("search", "--json", "--", "hull", "engine", "-Volvo").json["results"]
    assert found
    assert all("Volvo" not in each["snippet"] for each in found)
    assert cli("search").code == 2


@pytest.mark.parametrize(
    "query", ["", "   ", '"', "'\"'\"", "a" * 100_000, "🐦 🦜", "AND OR NOT NEAR(", "*", "\udcff"]
)
def test_any_query_is_answered(cli, notes, query: str) -> None:
    cli("sync", notes)
    said = cli("search", query)
    assert said.code == 0, said.err
    said.out.encode("utf-8")


def test_what_a_terminal_would_obey_never_reaches_it(cli, tmp_path) -> None:
    note = tmp_path / "evil.md"
    note.write_text(
        "# Evil \x1b[2J heading\n\nThe evil\x07 text \x9b31m turns \u202eright "
        "[bold]red[/bold]\x1b]0;t\x07.\n"
    )
    cli("sync", note)
    for args in (
        ("search", "evil"),
        ("search", "evil", "--explain"),
        ("get", str(note)),
        ("search", "evil", "--json"),
    ):
        out = cli(*args).out
        assert "evil" in out.lower()
        assert not set(out) & set("\x1b\x07\x9b\u202e")
    assert "[bold]red[/bold]" in cli("search", "evil").out


def test_get_shows_memories_by_id_by_its_beginning_and_by_path_and_lines(cli, notes) -> None:
    cli("sync", notes)
    best = cli("search", "painted", "--json").json["results"][0]
    whole = cli("get", best["id"], "--json").json
    assert whole["unknown"] == []
    assert whole["memories"][0]["citation"] == best["citation"]
    assert cli("get", best["id"][:12], "--json").json == whole
    text = cli("get", best["id"]).out
    assert best["citation"] in text
    assert best["id"] in text
    assert "painted blue" in text
    assert "Volvo" not in text
    near = cli("get", best["id"], "--neighbours", "1", "--json").json["memories"]
    assert "Volvo" in near[1]["content"]
    lines = cli("get", notes / "boats.md", "--lines", "8-9", "--json").json["memories"]
    assert [("Volvo" in each["content"], each["line_end"]) for each in lines] == [(True, 9)]
    first = cli("get", notes / "boats.md", "--limit", "10", "--json").json
    assert first["next_offset"] == 10
    assert first["memories"][0]["content"] == "# Boats\n\n#"
    assert "--offset 10" in cli("get", notes / "boats.md", "--limit", "10").err


def test_get_names_what_is_not_there_and_serves_the_rest(cli) -> None:
    kept = cli("add", "kept", "--json").json["id"]
    said = cli("get", kept, "obs_0000000000000000")
    assert said.code == 0
    assert "kept" in said.out
    assert "obs_0000000000000000" in said.err
    assert cli("get", kept, "obs_0000000000000000", "--json").json["unknown"] == ["obs_0000000000000000"]
    assert cli("get", "obs_0000000000000000").code == 2
    assert cli("get", "nowhere.md").code == 2


@pytest.mark.parametrize(
    "args",
    [
        ["a.md", "b.md"],
        ["obs_1", "a.md"],
        ["obs_1", "--lines", "1-2"],
        ["a.md", "--lines", "x"],
        ["a.md", "--lines", "5-2"],
        [],
    ],
)
def test_get_refuses_what_it_cannot_mean(cli, args: list[str]) -> None:
    assert cli("get", *args).code == 2


def test_what_says_the_same_is_counted_and_named_when_asked(cli, tmp_path) -> None:
    texts = ("The kettle is blue and old.", "The kettle is **blue** and old!", "kettle: blue and old")
    for number, text in enumerate(texts):
        (tmp_path / "same" / str(number)).mkdir(parents=True)
        (tmp_path / "same" / str(number) / "kettle.md").write_text(text, "utf-8")
    cli("sync", tmp_path / "same")
    said = cli("search", "kettle").out
    assert "2 duplicates\n" in said
    explained = cli("search", "kettle", "--explain").out
    (found,) = cli("search", "kettle", "--json").json["results"]
    assert found["copies"] == 2
    assert f"2 duplicates: {', '.join(found['copied'])}" in explained


def test_what_was_said_before_helps_a_question_that_leans_on_it(cli, notes, tmp_path, monkeypatch) -> None:
    cli("sync", notes)
    talk = tmp_path / "talk.txt"
    talk.write_text("user: we sailed to Bornholm\nassistant: nice\n")
    with serving() as chat:
        for name, value in (
            ("BASE_URL", chat.url),
            ("MODEL", "qwen"),
            ("REWRITE", "true"),
            ("REWRITE_DEADLINE", "60"),
        ):
            monkeypatch.setenv(f"SCRUBJAY_LLM_{name}", value)
        chat.questions = lambda given: "when was Bornholm?"
        said = cli("search", "--history", talk, "--explain", "and when was that?")
        assert "note: Read as: when was Bornholm?" in said.out
        assert "Bornholm" in said.out.partition("note: ")[0]
        assert "to be rewritten by qwen" in said.err
        piped = cli("search", "--history", "-", "--explain", "and when was that?", stdin=talk.read_text())
        assert "note: Read as: when was Bornholm?" in piped.out
        assert chat.asked[0] == chat.asked[1]
        assert chat.asked[0][1]["conversation"] == talk.read_text().splitlines()


@pytest.mark.parametrize("name", ["no-such-file", ".", "a\0b"])
def test_a_history_that_cannot_be_read_is_an_error(cli, name) -> None:
    said = cli("search", "--history", name, "hull")
    assert said.code == 2
    assert "cannot be read" in said.err
    both = cli("search", "--history", "-", "-", stdin="x")
    assert (both.code, "standard input" in both.err) == (2, True)


def test_as_of_a_day_what_was_true_then_is_shown_with_its_end_and_the_answer_says_which_time_that_is(
    cli,
) -> None:
    cli("add", "The mooring fee is 30 euros", "--valid-until", "2026-05-31", "--tier", "semantic")
    assert cli("search", "mooring fee", "--now", "2026-07-01", "--json").json["results"] == []
    asked = ("mooring fee", "--as-of", "2026-03-01", "--now", "2026-07-01", "--tz", "UTC")
    out = cli("search", *asked).out
    assert "true before 2026-06-01" in out
    assert "as of 2026-03-01T23:59:59+00:00: what was true then, not what was stored then" in out
    assert cli("search", *asked, "--json").json["as_of"] == "2026-03-01T23:59:59+00:00"
    assert "what was true then, not what was stored then" in cli("thread", *asked).out


def test_explain_says_which_time_was_read(cli) -> None:
    cli("add", "The hull was painted", "--date", "2026-06-24")
    out = cli("search", "painted last week?", "--now", "2026-07-01", "--tz", "UTC", "--explain").out
    assert "note: Read as a time: last week = 2026-06-22 to 2026-06-28." in out
    assert "dated: value 1.000000 x weight 1.000000" in out


def test_the_project_named_by_here_speaks_for_its_own_memories_alone(cli) -> None:
    cli("add", "The kettle hums at dawn, says Mara.", "--project", "jay")
    cli("add", "Nobody hears that kettle as it hums all night.", "--project", "owl")
    for here in ("jay", "owl", ""):
        found = cli("search", "kettle hums", "--here", here, "--explain", "--json").json["results"]
        assert {one["project"] for one in found} == {"jay", "owl"}
        for one in found:
            parts = [part["channel"] for part in one["explanation"]["contributions"]]
            assert ("project" in parts) == (one["project"] == here)


def test_a_conversation_is_one_result_and_a_turn_is_shown_among_its_neighbours(cli) -> None:
    turns = ("The garden is large.", "Where does the heron nest?", "On the roof.")
    with Memory.open() as memory:
        memory.add_many(NewMemory(text, session="s1", turn=n, role="user") for n, text in enumerate(turns))
    said = cli("search", '"heron nest"', "--neighbours", "1").out
    assert (
        said.index("-1 user")
        < said.index("The garden is large.")
        < said.index("+1 user")
        < said.index("On the roof.")
    )
    (found,) = cli("search", "heron nest", "--by", "session", "--json").json["results"]
    assert found["session"] == "s1"
    assert {turn["snippet"] for turn in found["turns"]} == {"The garden is large.", "On the roof."}
    assert cli("search", "heron", "--by", "page").code == 2


def test_a_memory_without_a_title_or_a_file_says_its_id_once(cli) -> None:
    added = cli("add", "The ferry leaves at nine.", "--json").json["id"]
    for name in ("search", "thread"):
        found = cli(name, "ferry").out
        assert found.count(added) == 1, found
        assert found.startswith(f"1. {added}\n")


def test_since_and_until_are_said_as_people_say_them(cli) -> None:
    cli("add", "the kayak leaks", "--date", "2026-03-09")
    cli("add", "the kayak was sold", "--date", "2026-02-03")

    def found(*options: str) -> list[str]:
        return [each["snippet"] for each in cli("search", "kayak", *options, "--json").json["results"]]

    assert found("--since", "yesterday", "--now", "2026-03-10") == ["the kayak leaks"]
    assert found("--until", "last month", "--now", "2026-03-10") == ["the kayak was sold"]
    said = cli("search", "kayak", "--since", "someday")
    assert said.code == 2
    assert "'someday' is not a date" in said.err
    assert "yesterday" in said.err


@pytest.mark.parametrize("day", ["2027-04-31", "2027-02-29T10:00:00Z", "31.11.2026"])
def test_a_day_that_the_calendar_does_not_have_is_refused_as_that(cli, day: str) -> None:
    said = cli("add", "The ferry leaves.", "--date", day)
    assert said.code == 2
    assert f"'{day}' is not a date: there is no such day." in said.err
    assert "10:00" not in said.err.partition("hint:")[2]


def test_a_cold_search_names_the_larger_model_only_where_it_explains_itself(cli, notes) -> None:
    cli("sync", notes)
    assert "bge" not in cli("search", "Bornholm").out
    assert "note: bge-small-en-v1.5 was not used" in cli("search", "--explain", "Bornholm").out
    assert cli("search", "Bornholm", "--json").json["partial"] == []


def test_where_every_match_is_weak_the_first_three_are_shown_with_their_files(cli, notes) -> None:
    for week in range(5):
        (notes / f"w{week}.md").write_text(f"The ferry had {week} passengers in week {week} of the year.\n")
    cli("sync", notes)
    question = "which ferry goes to Aarhus in winter"
    results = cli("search", question, "--json").json["results"]
    told = cli("search", question).out
    assert all(one["weak"] for one in results)
    assert told.startswith(f"{len(results)} weak matches, relevance below 0.1:\n1. ")
    for one in results[:3]:
        assert f" {one['citation']} · " in told
    assert f"\n--weak shows these and {len(results) - 3} more.\n" in told


def test_weak_matches_take_two_lines_each_and_are_shown_whole_when_asked_for(cli) -> None:
    with Memory.open() as memory:
        memory.add("The ferry to Aarhus leaves from pier nine at seven.")
        memory.add_many(NewMemory(f"The ferry had {n} passengers in week {n} of the year.") for n in range(5))
    question = "from which pier does the ferry to Aarhus leave"
    told = cli("search", question).out
    assert "pier nine" in told
    assert "\n5 weak matches, relevance below 0.1:\n2. obs_" in told
    assert told.count("passengers in week") == 3
    assert "\n--weak shows these and 2 more.\n" in told
    whole = cli("search", question, "--weak").out
    assert "--weak" not in whole
    assert "passengers in week" in whole
    assert len(cli("search", question, "--json").json["results"]) == 6


def test_a_turn_with_a_superseded_statement_is_shown_below_the_later_turn(cli) -> None:
    with Memory.open() as memory:
        january = NewMemory("I live in Porto.", session="january", role="user", turn=0, date="2026-01-10")
        april = NewMemory("I moved to Lisbon.", session="april", role="user", turn=0, date="2026-04-10")
        ids = [memory.add_many([each])[0].id for each in (january, april)]
        memory.add("The build takes nine minutes.")
    said = cli("search", "where do I live?").out
    assert said.index("I moved to Lisbon.") < said.index("I live in Porto.") < said.index(f"newer: {ids[1]}")


@pytest.mark.parametrize(
    ("flag", "value", "told"),
    [
        ("--project", "trakr", "There is no project 'trakr'. Projects: tracker, owl."),
        ("--agent", "claude", "There is no agent 'claude'. Agents: claude-code."),
        ("--session", "9f", "There is no session '9f'. Sessions: 3a125a96-d45b-4c1e."),
        ("--path", "nosuch", "There is no path 'nosuch'. Paths: boats.md"),
        ("--tag", "wsm", "There is no tag 'wsm'. Tags: wms, food."),
    ],
)
def test_a_filter_that_no_memory_passes_is_an_error_that_names_similar_values(
    cli, notes, flag: str, value: str, told: str
) -> None:
    cli("sync", notes, "--project", "tracker")
    talk = (
        "--session",
        "3a125a96-d45b-4c1e",
        "--role",
        "user",
        "--turn",
        "0",
        "--agent",
        "claude-code",
        "--tag",
        "wms",
    )
    cli("add", "The kettle hums at dawn.", "--project", "owl", *talk)
    for asked in ("search", "thread", *(["context"] if flag in ("--project", "--agent") else [])):
        said = cli(asked, "kettle", flag, value)
        assert said.code == 2
        assert told in said.err
    for asked in ("search", "thread"):
        assert "kettle" in cli(asked, "kettle", "--session", "3a125a96-d45").out
    assert cli("search", "xylophone", flag, value).code == 2
