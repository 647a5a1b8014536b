"""The viewer's pages of agents' sessions: what hooks put in, why, and what a person says of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, urlsplit

import pytest
from viewer_pages import Pages, Read, pages, settings_of

from scrubjay.api.auth import Principal, TokenStore
from scrubjay.api.injections import Injection, InjectionLog
from scrubjay.config.paths import data_folder, environment

STARTED = 1_772_532_300.0
"""3 March 2026, 10:05 UTC."""
HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'><a href=javascript:alert(3)>{{7*7}}${7}"
ONE = "/sessions/one?agent=claude-code&id=s1"


@pytest.fixture
def site(environ: dict[str, str], tokens: TokenStore) -> Iterator[Pages]:
    with pages(settings_of(environ), tokens) as found:
        yield found


@pytest.fixture
def log(environ: dict[str, str]) -> InjectionLog:
    return InjectionLog(data_folder(environment()))


def put(log: InjectionLog, *memories: str, minutes: int = 0, session: str = "s1", **fields: object) -> None:
    cited = [{"id": one, "part": "decision", "tokens": 40, "relevance": 0.62} for one in memories]
    values = {"event": "prompt", "folder": "/home/ann/harbour", "tokens": 50 * len(memories), **fields}
    log.append(
        Injection("claude-code", session, at=STARTED + 60 * minutes, memories=cited, **values)  # type: ignore[arg-type]
    )


def feedback_forms(page: Read) -> list[str | None]:
    return [each["value"] for each in page.named("button") if each.get("name") == "verdict"]


def marks(page: Read) -> list[str]:
    """The words that stand alone between two tags, as a badge's do."""
    return [each.strip() for each in page.said]


def judge(site: Pages, memory: str, verdict: str, then: str) -> str:
    said = site.post(f"/memories/{memory}/feedback", {"verdict": verdict, "then": then})
    assert said.status_code == 303, said.text
    return said.headers["location"]


def test_before_any_hook_has_run_the_page_says_how_to_set_them_up(site: Pages) -> None:
    found = site.get("/sessions")
    assert "Hooks of agents on this machine have added nothing yet." in found.text
    assert "scrubjay install AGENT" in found.text
    assert "There is no session 's1' of 'claude-code'." in site.get(ONE, 404).text


def test_sessions_are_listed_with_their_tokens_and_those_with_nothing(site: Pages, log: InjectionLog) -> None:
    one, other = (site.memory.add(text).id for text in ("The berth costs forty euros.", "The keel is lead."))
    put(log, one, event="session-start")
    put(log, one, other, minutes=5)
    put(log, session="s2", folder="/home/ann/quay/", event="session-start")
    found = site.get("/sessions")
    assert "2 sessions 150 tokens added 1 without an addition" in found.text
    assert (
        "harbour 3 March 2026, 10:05 UTC claude-code 2 memories, 150 tokens /home/ann/harbour" in found.text
    )
    assert "quay 3 March 2026, 10:05 UTC claude-code nothing added /home/ann/quay/" in found.text
    links = [each["href"] for each in found.named("a") if "data-item" in each]
    assert links.count(ONE) == 1
    assert [each["href"] for each in found.named("a") if each.get("aria-current")] == ["/sessions"]


def test_a_session_tells_what_was_put_in_when_why_and_from_where(
    site: Pages, log: InjectionLog, tmp_path: Path
) -> None:
    file = tmp_path / "notes" / "berth.md"
    file.parent.mkdir()
    file.write_text("# Berth\n\nThe berth in Lisbon costs forty euros.\n")
    site.memory.sync(file.parent)
    passage = site.memory.get(path=file).records[0].id
    put(log, event="session-start", fresh=True)
    put(log, passage, minutes=5)
    put(log, minutes=6, event="late", fresh=True)
    found = site.get(ONE)
    assert "Session start 3 March 2026, 10:05 UTC Nothing added; the model's context was empty" in found.text
    assert "Prompt 3 March 2026, 10:10 UTC 1 memory, 50 tokens Berth The berth in Lisbon costs" in found.text
    assert "Session start, not answered in time 3 March 2026, 10:11 UTC Nothing added" in found.text
    assert f"decision likely to answer 40 tokens {file}:1-3" in found.text
    assert "Relevance 0.62" in [each.get("title") for each in found.named("span")]
    assert f"/memories/{passage}" in [each["href"] for each in found.named("a")]
    assert site.memory.look(passage).memory.last_used is None


def test_a_memory_that_is_forgotten_or_anothers_is_named_without_its_text(
    site: Pages, log: InjectionLog
) -> None:
    gone = site.memory.add("The berth costs forty euros.").id
    anothers = site.memory.seen_by("bob").add("Bob's berth is free.").id
    put(log, gone, anothers)
    site.memory.forget(gone)
    found = site.get(ONE)
    assert found.text.count("Forgotten, or not visible to you") == 2
    assert "berth" not in found.text
    assert feedback_forms(found) == []


def test_wrong_and_never_again_are_said_and_taken_back_where_they_are_shown(
    site: Pages, log: InjectionLog
) -> None:
    one = site.memory.add("The berth costs forty euros.").id
    put(log, one)
    before = site.get(ONE)
    assert feedback_forms(before) == ["wrong", "never-inject"]
    then = next(each["value"] for each in before.named("input") if each.get("name") == "then") or ""
    for verdict, said, undo in (
        ("wrong", "wrong", ["not-wrong", "never-inject"]),
        ("never-inject", "never again", ["not-wrong", "inject"]),
        ("not-wrong", "never again", ["wrong", "inject"]),
        ("inject", "40 tokens", ["wrong", "never-inject"]),
    ):
        back = judge(site, one, verdict, then)
        after = site.get(back)
        assert feedback_forms(after) == undo
        assert said in after.text
        assert ("never again" in after.text, "wrong" in marks(after)) == (
            verdict in ("never-inject", "not-wrong"),
            verdict in ("wrong", "never-inject"),
        )
        anchor = urlsplit(back).fragment
        assert [each["id"] for each in after.named("li") if each.get("id")] == [anchor]
        assert feedback_forms(site.get(f"/memories/{one}"))[2:] == undo
    record = site.memory.look(one).memory
    assert (record.strength, record.tags) == (1.0, ())
    assert judge(site, one, "wrong", "https://evil.example/") == "/"
    refused = site.post(
        f"/memories/{one}/feedback", {"verdict": "wrong"}, headers={"sec-fetch-site": "cross-site"}
    )
    assert refused.status_code == 403


def test_only_the_user_of_the_settings_sees_the_sessions(
    environ: dict[str, str], tokens: TokenStore, log: InjectionLog
) -> None:
    put(log, "obs_0000000000000001")
    people = {
        "own": Principal("default", "ann", scopes=("read",)),
        "bob": Principal("default", "bob", scopes=("read", "write", "curate", "admin")),
        "tenant": Principal("other", "ann", scopes=("read", "write", "curate", "admin")),
    }
    secrets = {name: tokens.create(name, who, None) for name, who in people.items()}
    with pages(settings_of(environ), tokens, open_here=False) as site:
        shown = {"authorization": f"Bearer {secrets['own']}"}
        assert "1 session" in site.get("/sessions", headers=shown).text
        found = site.get(ONE, headers=shown)
        assert "obs_0000000000000001" in found.text
        for name in ("bob", "tenant"):
            headers = {"authorization": f"Bearer {secrets[name]}"}
            for path in ("/sessions", ONE):
                refused = site.get(path, 403, headers=headers).text
                assert "shown only to the user of its settings" in refused
                assert "harbour" not in refused
            links = [each.get("href") for each in site.get("/", headers=headers).named("a")]
            assert "/sessions" not in links


def test_a_token_that_reads_sees_the_state_and_no_buttons(
    environ: dict[str, str], tokens: TokenStore, log: InjectionLog
) -> None:
    secret = tokens.create("ann", Principal("default", "ann", scopes=("read",)), None)
    headers = {"authorization": f"Bearer {secret}"}
    with pages(settings_of(environ), tokens, open_here=False) as site:
        one = site.memory.add("The berth costs forty euros.").id
        site.memory.feedback(one, "never-inject")
        put(log, one)
        found = site.get(ONE, headers=headers)
        assert "never again" in found.text
        assert feedback_forms(found) == []
        refused = site.post(f"/memories/{one}/feedback", {"verdict": "inject"}, headers=headers)
        assert refused.status_code == 403


def test_a_server_of_another_store_does_not_show_sessions_of_the_hooks_store(
    environ: dict[str, str], tokens: TokenStore, log: InjectionLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = settings_of(environ)
    monkeypatch.setenv("SCRUBJAY_STORE", environ["SCRUBJAY_STORE"] + ".other")
    put(InjectionLog(data_folder(environment())), "obs_0000000000000001")
    with pages(own, tokens) as site:
        assert "have added nothing yet" in site.get("/sessions").text


def test_nothing_that_a_log_holds_ever_runs(site: Pages, log: InjectionLog) -> None:
    one = site.memory.add(HOSTILE, title=HOSTILE, tags=[HOSTILE]).id
    cited = [{"id": one, "part": HOSTILE, "tokens": 1}, {"id": HOSTILE, "part": HOSTILE, "tokens": 1}]
    log.append(Injection(HOSTILE, HOSTILE, HOSTILE, at=STARTED, folder=HOSTILE, tokens=2, memories=cited))
    listed = site.get("/sessions")  # `get` looks for what runs
    assert "{{7*7}}" in listed.text
    (link,) = [each["href"] for each in listed.named("a") if "data-item" in each]
    assert link == f"/sessions/one?agent={quote(HOSTILE, safe='').replace('%20', '+')}&id=" + quote(
        HOSTILE, safe=""
    ).replace("%20", "+")
    found = site.get(link or "")
    assert found.text.count("{{7*7}}") >= 6
    then = next(each["value"] for each in found.named("input") if each.get("name") == "then") or ""
    assert site.get(judge(site, one, "never-inject", then)).text.count("never again") == 1


def test_a_folder_and_a_session_whose_names_are_no_utf8_are_shown(site: Pages, log: InjectionLog) -> None:
    put(log, "obs_\udce9", session="s\udce9", folder="/home/ann/caf\udce9")
    listed = site.get("/sessions")
    assert "caf?" in listed.text
    (link,) = [each["href"] for each in listed.named("a") if "data-item" in each]
    assert "Forgotten, or not visible to you decision" in site.get(link or "").text


def test_long_lists_of_sessions_and_of_prompts_have_pages(site: Pages, log: InjectionLog) -> None:
    one = site.memory.add("The berth costs forty euros.").id
    for n in range(41):
        put(log, one, minutes=n)
        put(log, session=f"t{n}")
    assert len(site.get("/sessions").named("article")) == 40
    assert len(site.get("/sessions?page=2").named("article")) == 2
    assert len(site.get(f"{ONE}&page=3").named("article")) == 1
    assert "42 sessions 2,050 tokens added 41 without an addition" in site.get("/sessions?page=2").text
