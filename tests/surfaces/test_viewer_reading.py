"""The viewer as something to read: Markdown, conversations, relevance in words, the overview, times."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from viewer_pages import Pages, pages, settings_of

from scrubjay import NewMemory
from scrubjay.api.auth import Principal, TokenStore
from scrubjay.api.injections import Injection, InjectionLog
from scrubjay.config.paths import data_folder, environment
from scrubjay.server.viewer.markdown import MAX_CHARACTERS

MARKDOWN = """---
tags: [boats]
date: 2026-03-01
---

# Berth

It costs **forty** euros, see [the list](https://prices.example/a?b=1) and [Mara](../people/mara.md).
![the quay](https://tracker.example/pixel.png) ![](file:///etc/passwd)

- [x] ask
- [ ] pay

| night | euros |
| --- | ---: |
| one | 40 |

```python
print("<b>")
```
"""
HOSTILE_LINKS = (
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    "java\tscript:alert(1)",
    "&#106;avascript:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "vbscript:x",
    "file:///etc/passwd",
    "//evil.example/x",
    "/status",
    'https://e.example/"onmouseover="alert(1)',
)


@pytest.fixture
def site(environ: dict[str, str], tokens: TokenStore) -> Iterator[Pages]:
    with pages(settings_of(environ), tokens) as found:
        yield found


@pytest.fixture
def modelled(environ: dict[str, str], tokens: TokenStore) -> Iterator[Pages]:
    """Pages of a store with the models that come along: only with them is relevance known."""
    with pages(settings_of(environ), tokens, own_models=True) as found:
        yield found


@pytest.fixture
def zone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A server that is nine hours ahead of UTC."""
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "JST-9")
        time.tzset()
        yield
    time.tzset()


def note(site: Pages, folder: Path, text: str = MARKDOWN) -> str:
    file = folder / "notes" / "berth.md"
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    site.memory.sync(file.parent)
    return site.memory.get(path=file).records[0].id


def conversation(site: Pages, *turns: tuple[str, str], session: str = "talk", day: int = 1) -> None:
    site.memory.add_many(
        [
            NewMemory(text, session=session, turn=turn, role=role, agent="claude-code", project="quay",
                      date=f"2026-03-{day:02}T10:{turn:02}:00+00:00")
            for turn, (role, text) in enumerate(turns)
        ]
    )  # fmt: skip


def test_a_note_is_shown_as_its_markdown_means(site: Pages, tmp_path: Path) -> None:
    shown = site.get(f"/memories/{note(site, tmp_path)}")
    tags = [tag for tag, _ in shown.tags]
    assert {"strong", "table", "pre", "ul"} <= set(tags)
    assert tags.count("h1") == 1, "the page's own heading says the title"
    assert "# Berth" not in shown.text
    assert "☑ ask ☐ pay" in shown.text
    assert 'print("<b>")' in shown.text
    assert "tags: [boats]" in shown.text, "front matter is folded, not lost"
    assert {"class": "num"} in shown.named("td")


def test_a_link_says_that_it_leads_elsewhere_and_no_image_is_loaded(site: Pages, tmp_path: Path) -> None:
    shown = site.get(f"/memories/{note(site, tmp_path)}")
    (link,) = [each for each in shown.named("a") if "external" in (each.get("class") or "")]
    assert (link["href"], link["rel"], link["target"]) == (
        "https://prices.example/a?b=1", "noopener noreferrer nofollow", "_blank"
    )  # fmt: skip
    assert "the list (opens another site)" in shown.text
    assert "Image: the quay" in shown.text
    assert not any(tag in ("img", "picture", "svg image") for tag, _ in shown.tags)
    titles = [each.get("title") for each in shown.named("span")]
    assert "../people/mara.md" in titles, "a link between files is told and leads nowhere"
    assert "img-src 'self'" in site.runner.run(site.client.get("/")).headers["content-security-policy"]


@pytest.mark.parametrize("link", HOSTILE_LINKS)
def test_no_link_of_a_text_runs_anything_or_leads_into_the_viewer(site: Pages, link: str) -> None:
    text = f"[press]({link}) <{link}> ![see]({link}) [press][it] [[{link}]]\n\n[it]: {link}"
    one = site.memory.add(text, title="A link").id
    for path in (f"/memories/{one}", f"/memories/{one}?source=yes", "/", "/?query=press"):
        shown = site.get(path)  # looks for handlers, styles, images and links that lead elsewhere unseen
        hrefs = [
            each.get("href") or "" for each in shown.named("a") if "external" in (each.get("class") or "")
        ]
        assert all(re.match(r"https://e\.example/[^\"]*\Z", each) for each in hrefs)
        written = site.runner.run(site.client.get(path)).text
        assert not re.search(r"<[^>]*href=\"(?:javascript|data|vbscript|file|//)", written, re.IGNORECASE)


def test_html_in_markdown_is_text(site: Pages) -> None:
    text = "a <b onclick=x>b</b>\n\n<div style='color:red'><img src=//evil.example onerror=alert(1)>\n\n<!-- c -->\n"
    shown = site.get(f"/memories/{site.memory.add(text).id}")
    assert "<b onclick=x>b</b>" in shown.text
    assert "<!-- c -->" in shown.text


def test_the_source_text_is_one_link_away(site: Pages, tmp_path: Path) -> None:
    one = note(site, tmp_path)
    links = [each.get("href") for each in site.get(f"/memories/{one}").named("a")]
    assert f"/memories/{one}?source=yes" in links
    source = site.get(f"/memories/{one}?source=yes")
    assert (
        "date: 2026-03-01 --- # Berth It costs **forty** euros, see [the list](https://prices" in source.text
    )


def test_headings_of_a_text_follow_those_of_the_page_without_a_gap(site: Pages) -> None:
    one = site.memory.add("#### Deep\n\na\n\n###### Deeper\n\nb\n\n# High\n\nc", title="Steps").id
    shown = site.get(f"/memories/{one}")
    levels = [tag for tag, _ in shown.tags if re.fullmatch("h[1-6]", tag)]
    assert levels[:4] == ["h1", "h2", "h3", "h2"]


def test_a_very_long_text_is_shown_whole_without_being_parsed(site: Pages) -> None:
    text = "**bold** " * (MAX_CHARACTERS // 9 + 1) + "the very end"
    shown = site.get(f"/memories/{site.memory.add(text, title='Long').id}")
    assert "the very end" in shown.text
    assert "strong" not in [tag for tag, _ in shown.tags]


def test_a_list_shows_no_marks_of_markdown(site: Pages, tmp_path: Path) -> None:
    note(site, tmp_path, "# Berth\n\nIt **costs** `forty` euros a night in [Lisbon](x.md).\n")
    for path in ("/timeline", "/", "/?query=costs+forty+euros"):
        assert "It costs forty euros a night in Lisbon." in re.sub(
            r"\s+", " ", "".join(site.get(path).said)
        ), path


def test_conversations_are_listed_under_their_first_words(site: Pages) -> None:
    conversation(site, ("system", "You are an agent."), ("user", "Is the **berth** free?"), session="one")
    conversation(
        site, ("user", "What does the keel weigh?"), ("assistant", "Two tons."), session="two", day=2
    )
    found = site.get("/conversations")
    assert [each["href"] for each in found.named("a") if "data-item" in each] == [
        "/conversations/one?id=two", "/conversations/one?id=one"
    ]  # fmt: skip
    assert "What does the keel weigh? 2 March 2026, 10:01" in found.text
    assert "2 turns claude-code quay" in found.text
    assert found.text.index("Is the berth free?") > found.text.index("What does the keel weigh?")


def test_a_conversation_is_read_in_order_with_its_roles(site: Pages) -> None:
    conversation(
        site, ("user", "Speed it up.\nPlease."), ("assistant", "Add an index:\n\n```sql\nCREATE INDEX;\n```"),
        ("tool", "done"), ("user", "I prefer partial indexes."),
    )  # fmt: skip
    shown = site.get("/conversations/one?id=talk")
    text = shown.text
    order = [
        text.index(each)
        for each in ("You Speed it up.", "Assistant Add an index:", "Tool done", "You I prefer")
    ]
    assert order == sorted(order)
    assert {"br", "pre"} <= {tag for tag, _ in shown.tags}, "a line end that was typed is kept"
    assert "There is no conversation 'none'." in site.get("/conversations/one?id=none", 404).text
    memory = next(record for record in site.memory.timeline().memories if record.turn == 2)
    assert "/conversations/one?id=talk" in [
        each.get("href") for each in site.get(f"/memories/{memory.id}").named("a")
    ]


def test_a_conversation_names_what_was_learned_from_it(site: Pages) -> None:
    conversation(site, ("user", "We decided to leave MongoDB because transactions were lost."))
    site.memory.add("Mara left MongoDB.", session="talk", tier="semantic")
    shown = site.get("/conversations/one?id=talk")
    assert "Learned from it" in shown.text
    assert "fact Mara left MongoDB." in shown.text


def test_a_search_by_conversation_shows_each_under_its_first_words(site: Pages) -> None:
    conversation(site, ("user", "Is the **berth** free?"), ("assistant", "The zeppelin is moored there."))
    site.memory.add("A zeppelin without turns.", session="loose")
    found = site.get("/?query=zeppelin&by=session")
    assert "Is the berth free? The zeppelin is moored there." in found.text
    links = [each["href"] for each in found.named("a") if "data-item" in each]
    assert "/conversations/one?id=talk" in links
    assert len(links) == 2


def test_the_timeline_shows_a_conversation_once_a_day(site: Pages) -> None:
    conversation(site, *((("user", "assistant")[n % 2], f"Turn number {n}.") for n in range(6)))
    conversation(site, ("user", "Another day."), session="other", day=2)
    site.memory.add("A note between.", date="2026-03-01T10:02:30+00:00")
    found = site.get("/timeline")
    assert len(found.named("article")) == 3
    assert "6 turns" in found.text
    assert found.text.index("Turn number 0.") < found.text.index("Turn number 1.")


def test_long_conversations_and_lists_of_them_have_pages(site: Pages) -> None:
    conversation(site, *(("user", f"Turn {n}.") for n in range(41)))
    for n in range(31):
        conversation(site, ("user", f"Short {n}."), session=f"s{n:02}")
    assert len(site.get("/conversations").named("article")) == 30
    assert len(site.get("/conversations?page=2").named("article")) == 2
    second = site.get("/conversations/one?id=talk&page=2")
    assert "Turn 40." in second.text
    assert len([each for each in second.named("li") if "turn" in (each.get("class") or "")]) == 1


def test_conversations_of_others_are_not_shown(site: Pages) -> None:
    site.memory.seen_by("bob").add("Bob's berth.", session="bobs", turn=0, role="user")
    assert "Bob" not in site.get("/conversations").text
    assert "no conversation 'bobs'" in site.get("/conversations/one?id=bobs", 404).text


def test_a_conversation_leads_to_what_hooks_put_into_it(site: Pages) -> None:
    conversation(site, ("user", "Is the berth free?"))
    into = "/sessions/one?agent=claude-code&id=talk"
    assert into not in [each.get("href") for each in site.get("/conversations/one?id=talk").named("a")]
    InjectionLog(data_folder(environment())).append(
        Injection("claude-code", "talk", "prompt", at=time.time())
    )
    assert into in [each.get("href") for each in site.get("/conversations/one?id=talk").named("a")]
    site.memory.add("Ann asks for berths.", session="talk", tier="semantic", date="2026-04-01")
    assert "/conversations/one?id=talk" in [each.get("href") for each in site.get(into).named("a")]


def test_relevance_is_said_in_words_and_its_figure_is_in_the_details(modelled: Pages, tmp_path: Path) -> None:
    site = modelled
    note(site, tmp_path, "# Berth\n\nThe mooring in Lisbon costs forty euros.\n")
    found = site.get("/?query=what+does+the+mooring+in+Lisbon+cost")
    summary = found.text[found.text.index("Why") :]
    assert re.match(
        r"Why · (very likely to answer|likely to answer|may answer) Relevance (0\.\d+|1): ", summary
    )
    assert "% likely" not in found.text


def test_weak_matches_are_folded_and_can_be_asked_for(modelled: Pages) -> None:
    site = modelled
    site.memory.add_many([NewMemory(f"The lantern number {n} hangs at the quay.") for n in range(30)])
    silent = site.get("/?query=zeppelin+opera+quantum+physics")
    assert "No likely answer" in silent.text
    assert "5 weak matches, relevance below 0.1" in silent.text
    assert len(silent.named("article")) == 5
    (asked,) = [each["href"] for each in silent.named("a") if "weak=yes" in (each.get("href") or "")]
    shown = site.get(asked or "")
    assert "10 weak matches, relevance below 0.1" in shown.text
    assert len(shown.named("article")) == 10
    assert {"class": "folded", "open": None} in shown.named("details")
    site.memory.add("The zeppelin opera is about quantum physics and a lantern.")
    found = site.get("/?query=zeppelin+opera+quantum+physics")
    assert "1 result and more" in found.text
    assert "9 more weak matches" in found.text
    assert {"class": "folded"} in found.named("details")


def test_the_overview_says_what_is_known_and_what_needs_attention(site: Pages, tmp_path: Path) -> None:
    note(site, tmp_path, "# Access\n\nThe password: Zx9kQ2vLm3pT7wRb opens the router.\n")
    one, other = (site.memory.add(f"Mara prefers {city}.", tier="facet").id for city in ("Porto", "Lisbon"))
    assert "contradict" not in site.get("/overview").text
    site.memory.link(other, one, kind="contradicts")
    found = site.get("/overview")
    assert "1 passage or turn 2 traits of people" in found.text
    assert "1 document, read" in found.text
    assert "1 pair of memories contradicts each other." in found.text
    assert "1 secret was left out of the stored texts." in found.text
    links = [each.get("href") for each in found.named("a")]
    assert {"/conflicts", "/redactions", "/timeline?tier=facet"} <= set(links)
    conflicts = site.get("/conflicts").text
    assert "Mara prefers Lisbon." in conflicts
    assert "Mara prefers Porto." in conflicts
    redacted = site.get("/redactions").text
    assert "The password: left out opens the router." in redacted
    assert "berth.md:3" in redacted
    site.memory.archive(one)
    assert "No active memories contradict each other." in site.get("/conflicts").text


def test_the_overview_names_pending_vectors_missing_sources_and_late_hooks(
    site: Pages, tmp_path: Path
) -> None:
    note(site, tmp_path)
    (tmp_path / "notes").rename(tmp_path / "moved")
    log = Path(data_folder(environment())) / "log"
    log.parent.mkdir(parents=True, exist_ok=True)
    at = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    log.write_text(
        f'{{"time": "{at}", "level": "warning", "event": "hook late", "at": "claude-code prompt"}}\n'
    )
    found = site.get("/overview")
    assert f"{tmp_path / 'notes'} does not exist; its memories are kept." in found.text
    assert "1 of 1 of the last day were late: prompt (1)" in found.text


def test_the_overview_names_a_file_that_could_not_be_read_and_where_the_reason_is(
    site: Pages, tmp_path: Path
) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "old.md").write_bytes("Café".encode("latin-1"))
    site.memory.sync(tmp_path / "notes")
    found = site.get("/overview").text
    assert f"1 file could not be read: {tmp_path / 'notes' / 'old.md'}." in found
    assert "scrubjay status" in found
    assert "scrubjay sync" not in found


def test_results_tell_open_tasks_from_those_that_are_done(site: Pages, tmp_path: Path) -> None:
    note(site, tmp_path, "# Tasks\n\n- [ ] order the sail\n- [x] paint the mast\n")
    found = site.get("/?query=order+the+sail").text
    assert "☐ order the sail" in found
    assert "☑ paint the mast" in found


def test_others_see_no_paths_and_nothing_of_the_machine_in_the_overview(
    environ: dict[str, str], tokens: TokenStore, site: Pages, tmp_path: Path
) -> None:
    note(site, tmp_path)
    (tmp_path / "notes").rename(tmp_path / "moved")
    secrets = {
        name: tokens.create(name, Principal("default", user, scopes=("read",)), None)
        for name, user in (("own", "ann"), ("bob", "bob"))
    }
    with pages(settings_of(environ), tokens, open_here=False) as other:
        for name, secret in secrets.items():
            found = other.get("/overview", headers={"authorization": f"Bearer {secret}"}).text
            assert str(tmp_path) not in found, name
            assert ("1 document" in found) == (name == "own")


def test_the_first_page_shows_what_is_new_and_asks_for_the_overview(site: Pages) -> None:
    empty = site.get("/")
    assert "Nothing is remembered yet" in empty.text
    assert "scrubjay sync FOLDER" in empty.text
    old = site.memory.add("An old thought.", date="2020-01-01").id
    assert "Latest An old thought." in site.get("/").text
    today = (datetime.now(UTC) - timedelta(hours=1)).isoformat()
    site.memory.add("A new thought.", date=today)
    found = site.get("/")
    assert "New in the last seven days A new thought." in found.text
    assert "An old thought." not in found.text
    assert "/overview" in [each.get("hx-get") for each in found.named("aside")]
    site.memory.archive([old, *(one.id for one in site.memory.timeline().memories)])
    assert "All memories are archived or superseded" in site.get("/").text


def test_times_are_those_of_the_server_and_name_the_instant(site: Pages, zone: None) -> None:
    site.memory.add("The crane moves.", date="2026-03-01T20:05:00+00:00")
    found = site.get("/timeline")
    assert "2 March 2026 The crane moves. 05:05 JST" in found.text, "of the day that it is at the server"
    shown = next(each for each in found.named("time") if "T" in (each["datetime"] or ""))
    assert shown["datetime"] == shown["title"]
    assert datetime.fromisoformat(shown["datetime"] or "") == datetime(2026, 3, 1, 20, 5, tzinfo=UTC)
    assert "2 March 2026, 05:05 JST" in site.get("/?query=crane").text


def test_a_server_of_another_store_shows_no_log_of_hooks_beside_a_conversation(
    environ: dict[str, str], tokens: TokenStore
) -> None:
    InjectionLog(data_folder(environment())).append(
        Injection("claude-code", "talk", "prompt", at=time.time())
    )
    elsewhere = replace(settings_of(environ), store=environ["SCRUBJAY_STORE"] + ".other")
    with pages(elsewhere, tokens) as other:
        conversation(other, ("user", "Is the berth free?"))
        links = [each.get("href") for each in other.get("/conversations/one?id=talk").named("a")]
        assert not [each for each in links if (each or "").startswith("/sessions/")]


def test_nothing_in_a_conversation_a_conflict_or_a_redaction_runs(site: Pages) -> None:
    hostile = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'><a href=javascript:alert(3)>{{7*7}}"
    made = site.memory.add_many(
        [NewMemory(f"{n} {hostile} password: Zx9kQ2vLm3pT7wRb", title=hostile, session=hostile, turn=n, role=hostile,
                   agent=hostile, project="p<i>") for n in range(2)]
    )  # fmt: skip
    site.memory.link(made[0].id, made[1].id, kind="contradicts", rule=hostile)
    listed = site.get("/conversations")  # `get` looks for what runs
    (one,) = [each["href"] or "" for each in listed.named("a") if "data-item" in each]
    assert "{{7*7}}" in site.get(one).text
    for path in ("/", "/timeline", "/overview", "/conflicts", "/redactions"):
        site.get(path)
    assert site.get("/conflicts").text.count("<script>alert(1)</script>") == 2
    assert site.get("/redactions").named("article")


def test_the_new_pages_stay_under_the_path_of_a_reverse_proxy(
    environ: dict[str, str], tokens: TokenStore
) -> None:
    with pages(settings_of(environ), tokens, under="/memory") as proxied:
        conversation(proxied, ("user", "Is the berth free?"), ("assistant", "Yes."))
        one, other = (proxied.memory.add(f"Mara prefers {city}.").id for city in ("Porto", "Lisbon"))
        proxied.memory.link(other, one, kind="contradicts")
        for path in (
            "/",
            "/conversations",
            "/conversations/one?id=talk",
            "/overview",
            "/conflicts",
            "/redactions",
        ):
            shown = proxied.get(f"/memory{path}")
            links = {each.get(name) for _, each in shown.tags for name in ("href", "src", "action", "hx-get")}
            assert {each for each in links if each and not each.startswith(("/memory/", "#"))} == set(), path
