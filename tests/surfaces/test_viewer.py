"""The viewer's pages: what people see, understand and correct, and what never runs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from viewer_pages import Pages, pages, settings_of

from scrubjay import NewMemory
from scrubjay.api.auth import Principal, TokenStore

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'><a href=javascript:alert(3)>{{7*7}}${7}"
SAME = {"sec-fetch-site": "same-origin"}


@pytest.fixture
def site(environ: dict[str, str], tokens: TokenStore) -> Iterator[Pages]:
    with pages(settings_of(environ), tokens) as found:
        yield found


@pytest.fixture
def file(site: Pages, tmp_path: Path) -> Path:
    made = tmp_path / "notes" / "boats" / "berth.md"
    made.parent.mkdir(parents=True)
    made.write_text("---\ntags: [boats]\n---\n\n# Berth\n\nThe berth in Lisbon costs forty euros.\n")
    site.memory.sync(tmp_path / "notes", description="Sea notes")
    return made


def passage(site: Pages, file: Path) -> str:
    return site.memory.get(path=file).records[0].id


def test_an_answer_shows_snippet_place_date_and_every_part_of_its_score(site: Pages, file: Path) -> None:
    found = site.get("/?query=berth+in+Lisbon")
    assert f"{file}:1-7" in found.text
    assert re.search(r"Score [\d.]+: what each part added", found.text)
    assert "bm25 +" in found.text
    assert len(found.named("mark")) >= 2
    assert "Words:" in found.text


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("木の実を隠す鳥は、千の場所を覚えている。", "木の実"),
        ("我们决定使用蓝色的鸟作为项目的名字。", "蓝色的鸟"),
        ("Пароль від лодки лежить у шухляді під картою.", "лодки"),
        ("도토리를 숨기는 새는 천 개의 장소를 기억한다.", "도토리를"),
        ("נמל הדייגים נפתח בשש בבוקר.", "הדייגים"),
    ],
)
def test_an_answer_in_a_language_without_a_list_of_small_words_is_shown(
    site: Pages, text: str, query: str
) -> None:
    site.memory.add(text)
    found = site.get(f"/?query={quote(query)}")
    assert text[:10].replace(" ", "") in re.sub(r"\s", "", found.text)


def test_that_nothing_was_found_and_what_was_wrong_are_said_in_words(site: Pages, file: Path) -> None:
    site.memory.add_many([NewMemory(f"The kayak number {n} leaks at the bow.") for n in range(30)])
    silent = site.get("/?query=kayak&tag=none")
    assert "Nothing found." in silent.text
    assert "The filters may hide what you are looking for" in silent.text
    assert "filters may hide" not in site.get("/?query=zeppelin&status=active").text
    wrong = site.get("/?query=berth&since=soon", 422)
    assert "'soon' is not a date." in wrong.text


def test_filters_narrow_and_more_can_be_asked_for(site: Pages) -> None:
    made = [
        NewMemory(f"The kayak {n} leaks.", tags=["odd"] if n % 2 else [], date=f"2026-03-{n + 1:02}")
        for n in range(25)
    ]
    site.memory.add_many(made)
    assert len(site.get("/?query=kayak").named("article")) == 10
    assert len(site.get("/?query=kayak&show=20").named("article")) == 20
    assert len(site.get("/?query=kayak&tag=odd&until=2026-03-04").named("article")) == 2
    assert len(site.get("/").named("article")) == 10


def test_a_snippet_does_not_say_the_heading_that_stands_above_it(site: Pages, tmp_path: Path) -> None:
    made = tmp_path / "notes" / "berth.md"
    made.parent.mkdir()
    made.write_text("# Berth\n\nThe mooring in Lisbon costs forty euros.\n")
    site.memory.sync(made.parent)
    found = site.get("/?query=mooring+in+Lisbon")
    assert "# Berth" not in found.text
    assert "Berth The mooring in Lisbon costs forty euros." in found.text


def test_fields_that_are_sent_empty_narrow_nothing(site: Pages, file: Path) -> None:
    """As a browser without scripts sends them."""
    found = site.get("/?query=berth+in+Lisbon&by=&since=&until=&tag=&project=&path=&tier=&status=")
    assert f"{file}:1-7" in found.text


def test_a_memory_is_shown_with_its_place_history_and_shelves(site: Pages, file: Path) -> None:
    site.memory.concepts.add("Lisbon")
    one = passage(site, file)
    shown = site.get(f"/memories/{one}")
    for said in (f"{file}:1-7", "Sea notes", "#boats", "Lisbon", "boats", "user:ann", one):
        assert said in shown.text
    assert "No such path" not in shown.text
    assert "No memory" in site.get("/memories/obs_0000000000000000", 404).text


def test_a_memory_is_changed_judged_archived_and_restored(site: Pages) -> None:
    one = site.memory.add("The berth costs forty euros.", tags=["old"]).id
    form = site.get(f"/memories/{one}/edit")
    fields = {
        each["name"]: each["value"] for each in form.named("input") if each.get("value") and each.get("name")
    }
    fields |= {
        "content": "The berth costs\r\nfifty euros.",
        "tags": "new, berth",
        "date": "2026-03-01",
        "pinned": "yes",
    }
    said = site.post(f"/memories/{one}/edit", fields, headers=SAME)
    assert (said.status_code, said.headers["location"]) == (303, f"/memories/{one}?said=edited")
    record = site.memory.look(one).memory
    assert (record.content, record.tags, record.pinned) == (
        "The berth costs\nfifty euros.",
        ("berth", "new"),
        True,
    )
    again = site.post(f"/memories/{one}/edit", fields, headers=SAME)
    assert again.status_code == 422
    assert "was changed since you opened it" in again.text
    for act, fields, told in (
        ("feedback", {"verdict": "wrong"}, "wrong"),
        ("archive", {}, "archived"),
        ("restore", {}, "restored"),
    ):
        done = site.post(f"/memories/{one}/{act}", fields, headers=SAME)
        assert done.headers["location"].endswith(f"said={told}")
        assert site.get(done.headers["location"]).text
    assert [event.op for event in site.memory.history(one).events][-3:] == ["wrong", "archived", "restored"]


def test_forgetting_says_what_happens_asks_and_says_what_still_stands(site: Pages, file: Path) -> None:
    one = passage(site, file)
    asked = site.get(f"/memories/{one}/forget")
    assert f"the text remains in {file}:1-7" in asked.text
    assert site.post(f"/memories/{one}/forget", headers=SAME).status_code == 422
    assert site.memory.get(one).records
    done = site.post(f"/memories/{one}/forget", {"sure": "yes"}, headers=SAME)
    assert f"{file}:1-7" in done.text
    assert not site.memory.get(one).records
    assert "forty" in file.read_text()


def test_a_passage_is_written_into_its_file_or_refused_with_path_and_lines(site: Pages, file: Path) -> None:
    one = passage(site, file)
    form = site.get(f"/memories/{one}/edit")
    assert "Save to the file" in form.text
    fields = {each["name"]: each["value"] or "" for each in form.named("input") if each.get("name")}
    fields["content"] = "# Berth\r\n\r\nThe berth in Lisbon costs fifty euros."
    assert site.post(f"/memories/{one}/edit", fields, headers=SAME).status_code == 303
    assert (
        file.read_text() == "---\ntags: [boats]\n---\n\n# Berth\n\nThe berth in Lisbon costs fifty euros.\n"
    )
    form = site.get(f"/memories/{one}/edit")
    fields["was"] = next(each["value"] or "" for each in form.named("input") if each.get("name") == "was")
    file.write_text("Somebody wrote this meanwhile.")
    fields["content"] = "What I typed."
    refused = site.post(f"/memories/{one}/edit", fields, headers=SAME)
    assert refused.status_code == 422
    assert f"{file}:1-7 no longer says what is stored" in refused.text
    assert "What I typed." in refused.text
    assert file.read_text() == "Somebody wrote this meanwhile."


@pytest.mark.parametrize(
    ("typed", "tags"),
    [
        ("ann, bo, health, teeth", ("ann, bo", "health", "never-inject", "teeth")),
        ("teeth, bo, ann", ("ann, bo", "never-inject", "teeth")),
        ("ann, health", ("ann", "health", "never-inject")),
        ("", ("never-inject",)),
    ],
)
def test_a_tag_with_a_comma_stays_whole_unless_a_part_of_it_is_removed(
    site: Pages, typed: str, tags: tuple[str, ...]
) -> None:
    one = site.memory.add("Dentist on Elm street.", tags=["health", "ann, bo"]).id
    site.memory.feedback(one, "never-inject")
    form = site.get(f"/memories/{one}/edit")
    fields = {each["name"]: each["value"] or "" for each in form.named("input") if each.get("name")}
    fields |= {"content": "Dentist on Elm street.", "tags": typed, "pinned": ""}
    assert site.post(f"/memories/{one}/edit", fields, headers=SAME).status_code == 303
    assert site.memory.look(one).memory.tags == tags


def test_of_a_passage_whose_text_is_refused_nothing_else_is_saved(site: Pages, file: Path) -> None:
    one = passage(site, file)
    form = site.get(f"/memories/{one}/edit")
    fields = {each["name"]: each["value"] or "" for each in form.named("input") if each.get("name")}
    fields |= {"content": "# Berth\n\nThe berth costs fifty euros.", "confidence": "0.4"}
    stored = file.read_text()
    for field, value in (("confidence", "7"), ("valid_from", "soon"), ("valid_until", "2026-02-30")):
        refused = site.post(f"/memories/{one}/edit", {**fields, field: value}, headers=SAME)
        assert (refused.status_code, file.read_text()) == (422, stored)
    file.write_text(stored.replace("forty", "sixty"))
    refused = site.post(f"/memories/{one}/edit", {**fields, "valid_until": "2027-01-01"}, headers=SAME)
    assert "no longer says what is stored. Nothing was written." in refused.text
    record = site.memory.look(one).memory
    assert (record.confidence, record.valid_until) == (1.0, None)
    file.write_text(stored)
    assert site.post(f"/memories/{one}/edit", fields, headers=SAME).status_code == 303
    assert site.memory.get(path=file).records[0].confidence == 0.4


def test_nothing_that_is_remembered_ever_runs(site: Pages, tmp_path: Path) -> None:
    folder = tmp_path / "notes" / "<b onclick=alert(4)>"
    folder.mkdir(parents=True)
    (folder / "'\"><script>x.md").write_text(f"# {HOSTILE}\n\nwords {HOSTILE} words\n")
    (folder / "b").mkdir()
    (folder / "b" / "y.md").write_text("words of another\n")
    site.memory.sync(tmp_path / "notes", description=HOSTILE)
    made = site.memory.add_many(
        [NewMemory(f"words {n} {HOSTILE}", title=HOSTILE, tags=[HOSTILE], project="p<i>", session=HOSTILE, turn=n,
                   role=HOSTILE, agent=HOSTILE) for n in range(2)]
    )  # fmt: skip
    site.memory.link(made[0].id, made[1].id, rule=HOSTILE)
    site.memory.concepts.add("Quiet <u onclick=x>Harbor</u>")
    site.memory.add("We met at Quiet <u onclick=x>Harbor</u>.")
    ids = [one.id for one in site.memory.timeline().memories]
    shelves = [one.id for one in site.memory.categories.list()]
    named = [one.id for one in site.memory.concepts.list()]
    assert len(ids) == 5
    assert shelves
    assert named
    paths = [
        "/",
        "/?query=%3Cscript%3Ealert(1)%3C/script%3E+words",
        "/timeline",
        "/concepts",
        "/status",
        "/audit",
    ]
    paths += [
        "/?query=words&tag=%22%3E%3Cscript%3E&project=%3Cb%3E&path=%3Ci%3E",
        "/categories?kind=path",
        "/login?then=javascript:alert(1)",
    ]
    paths += [f"/memories/{each}{end}" for each in ids for end in ("", "/edit", "/forget")]
    paths += [f"/categories/{each}" for each in shelves] + [f"/concepts/{each}" for each in named]
    for path in paths:
        site.get(path)  # fails where anything could run
    assert "<script>alert(1)</script>" in site.get("/?query=words").text
    assert "{{7*7}}" in site.get(f"/memories/{made[0].id}").text
    wrong = site.get("/memories/%3Cscript%3Ealert(1)", 404)
    assert "<script>" in wrong.text


def test_lists_go_on_page_by_page(site: Pages) -> None:
    site.memory.add_many(
        [NewMemory(f"Day {n} at sea.", date=f"20{10 + n // 12}-{n % 12 + 1:02}-01") for n in range(50)]
    )
    first, second = site.get("/timeline"), site.get("/timeline?page=2")
    assert (len(first.named("article")), len(second.named("article"))) == (40, 10)
    assert any(each.get("rel") == "next" for each in first.named("a"))
    assert not any(each.get("rel") == "next" for each in second.named("a"))
    assert "1 January 2010" in second.text
    site.memory.concepts.add_many([f"Boat{n}" for n in range(60)])
    assert len([each for each in site.get("/concepts?page=2").named("a") if "data-concept" in each]) == 10


def test_concepts_are_drawn_shown_and_corrected(site: Pages) -> None:
    site.memory.concepts.add_many(["Quiet Harbor", "Iron Ledger"])
    for n in range(3):
        site.memory.add(f"They met at Quiet Harbor and Iron Ledger on day {n}.")
    said = site.runner.run(site.client.get("/concepts/web.json"))
    told = json.loads(said.text)
    assert {node["name"] for node in told["nodes"]} == {"Quiet Harbor", "Iron Ledger"}
    assert [tie["together"] for tie in told["ties"]] == [3]
    assert len({(node["x"], node["y"]) for node in told["nodes"]}) == 2
    one = next(node["id"] for node in told["nodes"] if node["name"] == "Iron Ledger")
    assert "3 memories mention it" in site.get(f"/concepts/{one}").text
    assert site.post(f"/concepts/{one}/rename", {"name": "Steel Ledger"}, headers=SAME).status_code == 303
    assert "also Iron Ledger" in site.get(f"/concepts/{one}").text
    assert site.post(f"/concepts/{one}/merge", {"name": "Quiet Harbor"}, headers=SAME).status_code == 303
    assert [known.name for known in site.memory.concepts.list()] == ["Quiet Harbor"]
    (left,) = site.memory.concepts.list()
    assert site.post(f"/concepts/{left.id}/remove", headers=SAME).status_code == 303
    assert site.memory.concepts.list() == ()


def test_an_audit_is_looked_for_fixed_and_taken_back(site: Pages) -> None:
    site.memory.add_many([NewMemory(text) for text in ("ok", "The berth costs forty euros.", "thanks!")])
    assert "No audit since" in site.get("/audit").text
    assert site.post("/audit", headers=SAME).status_code == 303
    site.ended(next(iter(site.state.audits.values())).task)
    shown = site.get("/audit")
    assert "3 active memories were audited" in shown.text
    kinds = [each["value"] for each in shown.named("button") if each.get("name") == "kind"]
    assert "junk" in kinds
    done = site.post("/audit/fix", {"kind": "junk"}, headers=SAME)
    run = re.search(r"run=(run_\w+)", done.headers["location"])
    assert run is not None
    assert site.memory.status().statuses["archived"] == 2
    site.post("/audit/undo", {"run": run[1]}, headers=SAME)
    assert "archived" not in site.memory.status().statuses


def test_a_token_that_reads_sees_no_controls_and_changes_nothing(
    environ: dict[str, str], tokens: TokenStore, site: Pages, file: Path
) -> None:
    secret = tokens.create("reader", Principal("default", "ann", scopes=("read",)), None)
    one = passage(site, file)
    with pages(
        settings_of(environ), tokens, open_here=False, headers={"authorization": f"Bearer {secret}"}
    ) as other:
        shown = other.get(f"/memories/{one}")
        assert shown.named("form") == [{"method": "post", "action": "/logout"}, {"method": "dialog"}]
        assert "Edit" not in shown.text
        for end in ("edit", "forget"):
            assert "lacks the `write` scope" in other.get(f"/memories/{one}/{end}", 403).text
        for act in ("edit", "forget", "archive", "restore", "feedback"):
            assert (
                other.post(f"/memories/{one}/{act}", {"sure": "yes", "verdict": "wrong"}).status_code == 403
            )
        assert other.post("/audit/fix", {"kind": "junk"}).status_code == 403
        told = other.get("/status").text
        assert "1 source " in told
        assert str(environ["SCRUBJAY_STORE"]) not in told
        assert str(file.parents[1]) not in told
    assert site.memory.look(one).memory.status == "active"


def test_a_token_that_is_no_admin_writes_no_file_of_the_server(
    environ: dict[str, str], tokens: TokenStore, site: Pages, file: Path
) -> None:
    secret = tokens.create("writer", Principal("default", "ann", scopes=("read", "write")), None)
    one, before = passage(site, file), file.read_text()
    with pages(
        settings_of(environ), tokens, open_here=False, headers={"authorization": f"Bearer {secret}"}
    ) as other:
        assert "needs the `admin` scope" in other.get(f"/memories/{one}/edit").text
        was = site.memory.look(one).memory.content_hash
        fields = {"content": "Other words.", "was": was, "tags": "boats", "title": "Berth", "confidence": "1"}
        said = other.post(f"/memories/{one}/edit", fields)
        assert said.status_code == 403
    assert file.read_text() == before


def test_a_person_without_a_token_is_shown_the_door_and_enters_by_a_cookie(
    environ: dict[str, str], tokens: TokenStore
) -> None:
    secret = tokens.create("ann", Principal("default", "ann"), None)
    with pages(settings_of(environ), tokens, open_here=False) as site:
        away = site.runner.run(site.client.get("/timeline?page=2"))
        assert (away.status_code, away.headers["location"]) == (303, "/login?then=%2Ftimeline%3Fpage%3D2")
        assert (
            site.runner.run(site.client.get("/", headers={"accept": "application/json"})).status_code == 401
        )
        assert site.runner.run(site.client.get("/assets/viewer.css")).status_code == 200
        icon = site.runner.run(site.client.get("/favicon.ico"))
        assert (icon.status_code, icon.headers["content-type"]) == (200, "image/svg+xml")
        assert site.post("/login", {"token": "scrubjay_wrong", "then": "/"}).status_code == 401
        assert site.post("/login", {"token": secret, "then": "//evil.example"}).headers["location"] == "/"
        said = site.post("/login", {"token": secret, "then": "/timeline"}, headers=SAME)
        assert said.headers["location"] == "/timeline"
        kept = said.headers["set-cookie"].lower()
        assert all(
            each in kept for each in ("scrubjay_session_8765=", "httponly", "samesite=strict", "path=/")
        )
        assert "Timeline" in site.get("/timeline").text
        one = site.memory.add("The berth costs forty euros.").id
        forged = site.post(f"/memories/{one}/archive", headers={"sec-fetch-site": "cross-site"})
        assert forged.status_code == 403
        assert site.post(f"/memories/{one}/archive", headers=SAME).status_code == 303
        assert site.post("/logout", headers=SAME).status_code == 303
        assert site.runner.run(site.client.get("/")).status_code == 303


def test_a_cookie_is_a_login_of_one_server_and_never_the_token(
    environ: dict[str, str], tokens: TokenStore
) -> None:
    secret = tokens.create("ann", Principal("default", "ann"), None)
    with (
        pages(settings_of(environ), tokens, open_here=False) as site,
        pages(settings_of(environ), tokens, open_here=False) as other,
    ):
        entered = site.post("/login", {"token": secret, "then": "/"})
        cookie = entered.headers["set-cookie"].partition(";")[0]
        name, _, number = cookie.partition("=")
        assert (name, secret in cookie, "scrubjay_session_8765" in name) == (
            "scrubjay_session_8765",
            False,
            True,
        )
        one = {"cookie": cookie}

        def status(pages: Pages, path: str, **headers: str) -> int:
            return pages.runner.run(pages.client.get(path, headers=headers)).status_code

        site.client.cookies.clear()
        assert status(site, "/timeline", **one) == 200
        assert status(other, "/timeline", **one) == 303, "a login of another server"
        assert status(site, "/timeline", cookie=f"{name}={secret}") == 303, "the token is no login"
        assert status(site, "/timeline", cookie=f"scrubjay_token={secret}") == 303, (
            "nor is the cookie that was one"
        )
        assert status(site, "/v1/export", **one, **{"sec-fetch-site": "same-site"}) == 403
        assert status(site, "/v1/status", authorization=f"Bearer {number}") == 303
        site.post("/logout", headers=one)
        assert status(site, "/timeline", **one) == 303, "it ended for whoever else has it"
        again = site.post("/login", {"token": secret}).headers["set-cookie"].partition(";")[0]
        site.client.cookies.clear()
        tokens.revoke("ann")
        assert status(site, "/timeline", cookie=again) == 303


def test_a_login_that_has_ended_keeps_nobody_from_a_server_that_needs_none(site: Pages) -> None:
    said = site.runner.run(site.client.get("/", headers={"cookie": "scrubjay_session_8765=ended"}))
    assert said.status_code == 200


def test_over_tls_the_cookie_is_secure_and_bound_to_its_host_or_its_path(
    environ: dict[str, str], tokens: TokenStore
) -> None:
    secret = tokens.create("ann", Principal("default", "ann"), None)
    for under, mark, path in (("", "__Host-", "/"), ("/memory", "__Secure-", "/memory")):
        with pages(settings_of(environ), tokens, open_here=False, under=under) as site:
            tls = {"origin": "https://memory.example", "host": "memory.example"}
            entered = site.post(f"{under}/login", {"token": secret}, headers=tls).headers["set-cookie"]
            assert entered.startswith(f"{mark}scrubjay_session_8765=")
            assert {"Secure", f"Path={path}"} <= set(entered.split("; "))
            cookie = {"cookie": entered.partition(";")[0]}
            assert site.runner.run(site.client.get(f"{under}/timeline", headers=cookie)).status_code == 200


def test_under_a_path_of_a_reverse_proxy_every_link_leads_there(
    environ: dict[str, str], tokens: TokenStore
) -> None:
    secret = tokens.create("ann", Principal("default", "ann"), None)
    with pages(settings_of(environ), tokens, open_here=False, under="/memory") as site:
        away = site.runner.run(site.client.get("/memory/timeline"))
        assert away.headers["location"] == "/memory/login?then=%2Ftimeline"
        entered = site.post("/memory/login", {"token": secret, "then": "/timeline"}, headers=SAME)
        assert entered.headers["location"] == "/memory/timeline"
        assert "path=/memory;" in f"{entered.headers['set-cookie'].lower()};", "its neighbours get no token"
        site.memory.concepts.add("Quiet Harbor")
        one = site.memory.add("They met at Quiet Harbor.", tags=["sea"]).id
        for path in (
            "/",
            "/?query=harbor",
            "/timeline",
            f"/memories/{one}",
            "/concepts",
            "/categories",
            "/status",
            "/audit",
        ):
            shown = site.get(f"/memory{path}")
            links = [
                each.get(name)
                for _, each in shown.tags
                for name in ("href", "src", "action", "hx-get", "data-web")
            ]
            assert {each for each in links if each and not each.startswith(("/memory/", "#"))} == set()
            assert [
                each["data-go"] for each in shown.named("a") if each.get("aria-current") == "page"
            ] or "memories" in path
        assert site.post("/memory/logout", headers=SAME).status_code == 303
        assert site.runner.run(site.client.get("/memory/")).status_code == 303


@pytest.mark.parametrize(
    "headers",
    [
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"sec-fetch-site": "none"},
        {"origin": "http://localhost:3000"},
        {"origin": "null"},
        {"host": "evil.example"},
        {"content-type": "text/plain"},
    ],
)
def test_no_page_of_another_site_changes_anything_where_no_token_is_needed(
    site: Pages, headers: dict[str, str]
) -> None:
    one = site.memory.add("The berth costs forty euros.").id
    said = site.post(f"/memories/{one}/forget", {"sure": "yes"}, headers=headers)
    assert said.status_code in (403, 415, 421, 422)
    assert site.memory.get(one).records


def test_the_libraries_are_those_whose_marks_are_written_down() -> None:
    import hashlib

    from scrubjay.server.viewer.page import STATIC_FOLDER

    notice = (Path(__file__).parents[2] / "NOTICE").read_text("utf-8")
    for name in ("htmx.min.js",):
        assert hashlib.sha256((STATIC_FOLDER / name).read_bytes()).hexdigest() in notice


def test_a_shelf_says_its_name_once(site: Pages, file: Path) -> None:
    (file.parent / "other.md").write_text("# Other\n\nThe berth in Porto costs thirty euros.\n")
    site.memory.sync()
    (shelf,) = site.memory.categories.list(kind="path", depth=1)
    assert shelf.abstract.startswith(f"{shelf.name}: ")
    shown = site.get("/categories?kind=path").text
    assert shown.count(shelf.name) == 1
    assert shelf.abstract.removeprefix(f"{shelf.name}: ") in shown
