from __future__ import annotations


def test_what_is_archived_leaves_answers_and_comes_back(cli) -> None:
    added = cli("add", "The mast is 12 metres", "--json").json["id"]
    assert cli("archive", added[:-2]).out == "1 memory archived.\n"
    found = cli("search", "mast", "--json").json["results"]  # nothing active answers
    assert [one["status"] for one in found] == ["archived"]
    assert cli("get", added, "--json").json["memories"][0]["status"] == "archived"
    assert cli("archive", added).out == "0 memories archived.\n1 memory unchanged.\n"
    assert cli("restore", added).out == "1 memory restored.\n"
    assert [one["id"] for one in cli("search", "mast", "--json").json["results"]] == [added]


def test_feedback_is_bounded_and_history_tells_of_it(cli) -> None:
    added = cli("add", "The mast is 12 metres", "--json").json["id"]
    for _ in range(4):
        assert cli("feedback", "wrong", added).code == 0
    assert cli("feedback", "useful", added).out == "1 memory marked useful.\n"
    told = cli("history", added, "--json").json
    assert [event["op"] for event in told["events"]] == ["wrong"] * 4 + ["useful"]
    shown = cli("history", added)
    assert "strength 0.33" in shown.out
    assert shown.out.count("was marked wrong") == 4
    assert cli("feedback", "lovely", added).code == 2


def test_wrong_and_never_inject_are_taken_back_by_command(cli) -> None:
    added = cli("add", "The mast is 12 metres", "--json").json["id"]
    for verdict, said in (
        ("wrong", "marked wrong"),
        ("not-wrong", "no longer marked wrong"),
        ("never-inject", "barred from injection"),
        ("inject", "released for injection"),
    ):
        assert cli("feedback", verdict, added[:-2]).out == f"1 memory {said}.\n"
        assert f"was {said}" in cli("history", added).out
    assert cli("feedback", "inject", added).out == "0 memories released for injection.\n1 memory unchanged.\n"


def test_what_is_marked_wrong_stands_behind_what_answers_as_well_and_says_so(cli) -> None:
    wrong = cli("add", "The boiler of the cabin needs 6 bar of pressure.", "--json").json["id"]
    other = cli("add", "Ines checked the cabin: the pressure of its boiler is 2 bar.", "--json").json["id"]
    asked = "search", "boiler pressure", "--json"

    def found() -> dict[str, bool]:
        return {one["id"]: one.get("marked_wrong", False) for one in cli(*asked).json["results"]}

    assert list(found()) == [wrong, other]
    cli("feedback", "wrong", wrong)
    assert found() == {other: False, wrong: True}
    assert list(found()) == [other, wrong]
    assert "marked wrong" in cli(*asked[:2]).out
    assert "marked wrong" in cli("get", wrong).out
    cli("feedback", "not-wrong", wrong)
    assert list(found()) == [wrong, other]
    assert "marked wrong" not in cli(*asked[:2]).out


def test_history_shows_what_took_a_memorys_place(cli) -> None:
    old, new = (cli("add", text, "--json").json["id"] for text in ("blue", "a red mast of steel"))
    assert "nothing" not in cli("history", old).out
    cli("archive", old)
    told = cli("history", old).out
    assert "was archived" in told
    assert new not in told


def test_an_addition_says_what_it_changes(cli) -> None:
    old = cli("add", "The timeout of the gateway is 30 seconds.", "--json").json["id"]
    said = cli("add", "The timeout of the gateway is 90 seconds.")
    assert said.out.splitlines()[1] == f"It supersedes {old}."
    again = cli("add", "The timeout of the gateway is 30 seconds.")
    assert again.out == f"{old} already exists and is superseded.\nhint: scrubjay restore {old}\n"
    against = cli("add", "The timeout of the gateway is not 90 seconds.").out
    assert "It contradicts" in against or "It supersedes" in against


def test_what_is_not_there_is_named(cli) -> None:
    added = cli("add", "here", "--json").json["id"]
    said = cli("archive", "obs_0000000000000000", added)
    assert (said.code, said.out) == (0, "1 memory archived.\n")
    assert "obs_0000000000000000" in said.err
    assert cli("restore", "obs_0000000000000000").code == 2
    assert cli("history", "obs_0000000000000000").code == 2


def test_feedback_names_the_digests_that_it_marks_and_consolidation_what_has_none(cli) -> None:
    flags = "--session", "flags", "--date", "2025-01-05", "--role", "assistant"
    claim = "I noticed you use LaunchDarkly, so I added the flag `export-enabled` to the export job."
    added = cli("add", claim, *flags, "--json").json["id"]
    cli(
        "add", "The export job reads 200 rows a batch now, which takes 22 s for the largest customer.", *flags
    )
    cli("add", "hey, lovely weather today", "--session", "talk", "--date", "2025-01-05", "--role", "user")
    done = cli("consolidate").out
    assert "1 conversation without a digest: too little was said to quote.\n" in done
    first, second, *_ = cli("feedback", "wrong", added).out.split("\n")
    assert first == "1 memory marked wrong."
    digest = second.removeprefix("Also marked wrong: ").rstrip(".")
    assert digest.startswith("crys_")
    assert "marked wrong" in cli("get", digest).out
    assert f"Also no longer marked wrong: {digest}.\n" in cli("feedback", "not-wrong", added).out
    assert f"was marked wrong with {added}" in cli("history", digest).out
