"""The history of a git repository is a source: what its commits say is found, and follows what is checked out."""

from __future__ import annotations

import os
import queue
import shutil
import subprocess
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from notes_folder import Listening, Notes

from scrubjay import Memory
from scrubjay.cli.main import cli
from scrubjay.config.settings import Settings
from scrubjay.errors import InputError
from scrubjay.models.records import Record
from scrubjay.models.reports import SourceStatus, SyncReport

ANN, BOB = "ann@example.org", "bob@example.net"
REASON = "The gateway drops bursts, so a fixed delay made it worse.\n\n- at most five tries\n- see PAY-340"
RETRY = f"Retry uploads with a growing delay (#12)\n\n{REASON}"


class Repo:
    """A repository of ann, whose commits are a day apart."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.day = 0

    def run(self, *words: str, **environ: str) -> str:
        done = subprocess.run(
            ["git", *words], cwd=self.root, check=True, capture_output=True, env=os.environ | environ
        )
        return done.stdout.decode("utf-8", "replace").strip()

    def commit(
        self, message: str | bytes, *files: str, author: str = "Ann", email: str = ANN, **more: str
    ) -> str:
        """Commit a message, whose files get a line each, and return the commit's id."""
        self.day += 1
        for name in files:
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{path.read_text() if path.exists() else ''}{self.day}\n")
            self.run("add", "--", name)
        text = self.root.parent / "message"
        text.write_bytes(message if isinstance(message, bytes) else message.encode())
        self.run(
            *(("-c", f"i18n.commitEncoding={more.pop('encoding')}") if "encoding" in more else ()),
            "commit", "--allow-empty", "--allow-empty-message", "--cleanup=verbatim", "-F", str(text),
            **self.dates(author, email), **more,
        )  # fmt: skip
        return self.run("rev-parse", "HEAD")

    def dates(self, author: str = "Ann", email: str = ANN) -> dict[str, str]:
        date = f"2026-03-{self.day:02d}T10:00:00+02:00"
        return {
            "GIT_AUTHOR_NAME": author, "GIT_AUTHOR_EMAIL": email, "GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date,
        }  # fmt: skip


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let git read no configuration but ann's name."""
    config = tmp_path / "gitconfig"
    config.write_text(
        f'[user]\n\tname = Ann\n\temail = {ANN}\n[init]\n\tdefaultBranch = main\n[protocol "file"]\n\tallow = always\n'
    )
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    for name in [name for name in os.environ if name.startswith("GIT_") and "CONFIG" not in name]:
        monkeypatch.delenv(name)


@pytest.fixture
def repo(notes: Notes) -> Repo:
    found = Repo(notes.root)
    found.run("init")
    return found


def commits(memory: Memory) -> dict[str, Record]:
    """Return the active commits by subject."""
    page = memory.page(limit=500).records
    return {
        one.content.split("\n")[0]: one for one in page if one.place is not None and "@" in one.place.path
    }


def subjects(memory: Memory) -> set[str]:
    return set(commits(memory))


def history(memory: Memory) -> SourceStatus | None:
    return next((one for one in memory.sources() if one.root.endswith("/.git")), None)


def test_a_synced_repository_brings_its_commits_with_message_author_date_and_files(
    memory: Memory, notes: Notes, repo: Repo
) -> None:
    notes.write("README.md", "# Uploads\n\nHow files get to the gateway.\n")
    sha = repo.commit(RETRY, "src/upload.py", "docs/a b.html", author="Ines Roth", email="ines@example.org")
    repo.commit("Keep the price list for an hour", "src/price.py")
    done = memory.sync(notes.root)
    assert (done.files, done.commits, done.left_out, done.problems) == (1, 2, 0, ())
    result = memory.search("why a growing delay for the gateway").results[0]
    path = f"{notes.root}@{sha[:12]}"
    assert (result.citation, result.path, result.date) == (path, path, "2026-03-01T08:00:00+00:00")
    assert (result.title, result.role) == (f"commit {sha[:12]} by Ines Roth", "Ines Roth")
    (record,) = memory.get(result.id).records
    assert record.content == f"{RETRY}\n\nAuthor: Ines Roth\nFiles: docs/a b.html, src/upload.py"
    assert record.tags == ("12", "pay-340")
    for name in (path, f"notes@{sha[:12]}", f"notes@{sha[:7]}", f"notes@{sha}"):
        assert [one.id for one in memory.get(path=name).records] == [record.id]
    assert "2026-03-01 Ines Roth, notes@" in memory.context("growing delay of uploads").text
    assert memory.thread("growing delay of uploads").entries[0].result.citation == path
    files, log = sorted(memory.sources(), key=lambda one: one.root)
    assert (log.root, log.commits, log.left_out, log.passages) == (f"{notes.root}/.git", 2, 0, 2)
    assert (files.root, files.documents, files.commits) == (str(notes.root), 1, 0)
    assert (record.project, log.project) == (files.project, files.project)


def test_of_a_note_and_a_commit_that_answer_alike_the_note_comes_first(
    memory: Memory, notes: Notes, repo: Repo
) -> None:
    for number in range(6):
        notes.write(f"other{number}.md", f"The price list of part {number} is kept for an hour.\n")
    said = "Uploads are retried with a growing delay"
    notes.write("b.md", f"{said}; it ends with the fifth try, after which a person is asked what to do.\n")
    sha = repo.commit(f"{said}, at most five times")
    memory.sync(notes.root)
    note, commit = memory.search("are uploads retried with a growing delay", explain=True).results[:2]
    assert (note.path, commit.path) == (f"{notes.root}/b.md", f"{notes.root}@{sha[:12]}")
    assert commit.explanation is not None
    (penalty,) = [one.amount for one in commit.explanation.contributions if one.channel == "commit"]
    assert commit.score < note.score < commit.score - penalty


def test_a_folder_inside_a_repository_brings_no_history(memory: Memory, notes: Notes, repo: Repo) -> None:
    notes.write("docs/a.md", "# A\n\nalpha\n")
    repo.commit(RETRY)
    assert memory.sync(notes.root / "docs").commits == 0
    assert (history(memory), subjects(memory)) == (None, set())


def test_a_history_that_was_left_out_stays_out_until_it_is_asked_for(
    memory: Memory, notes: Notes, repo: Repo
) -> None:
    notes.write("a.md", "# A\n\nalpha\n")
    repo.commit(RETRY)
    assert memory.sync(notes.root, git=False).commits == 0
    for again in (
        lambda: memory.sync(notes.root, exclude=["drafts/"]),
        memory.sync,
        lambda: memory.sync(notes.root),
    ):
        assert again().commits == 0
    memory.search("growing delay")
    assert history(memory) is None
    assert memory.sync(notes.root, git=True).commits == 1
    assert memory.sync(notes.root).commits == memory.sync().commits == 1
    (notice,) = memory.sync(notes.root, git=False).notices
    assert "removed, with 1 commit." in notice.message
    assert (history(memory), memory.sync(notes.root).commits, len(memory.page().records)) == (None, 0, 1)


def test_a_choice_about_a_history_is_made_of_a_repository(memory: Memory, notes: Notes) -> None:
    notes.write("a.md", "alpha\n")
    with pytest.raises(InputError, match="none was given"):
        memory.sync(git=False)
    with pytest.raises(InputError, match="no git repository"):
        memory.sync(notes.root, git=True)
    assert memory.sources() == []
    (notes.root / ".git").mkdir()
    with pytest.raises(InputError, match="where git keeps a repository") as refused:
        memory.sync(notes.root / ".git")
    assert f"scrubjay sync {notes.root} " in refused.value.hint


def test_a_repository_of_any_name_may_lie_in_a_synced_folder(
    memory: Memory, notes: Notes, tmp_path: Path
) -> None:
    inner = Repo(notes.root / "[a] *b #1.git")
    inner.root.mkdir()
    inner.run("init")
    sha = inner.commit(RETRY)
    notes.write("a.md", "# A\n\nalpha\n")
    notes.write("[a] *b #1.git/b.md", "# B\n\nbeta\n")
    assert memory.sync(notes.root).commits == 0
    done = memory.sync(inner.root)
    assert (done.commits, len(memory.sources()), done.problems) == (1, 2, ())
    assert memory.search("growing delay").results[0].citation == f"{inner.root}@{sha[:12]}"
    memory.sync(inner.root, git=False)
    assert (memory.sync(inner.root).commits, memory.sync().files, len(memory.page().records)) == (0, 2, 2)


MERGE = "Merge branch 'main' into uploads"


@pytest.mark.parametrize(
    ("message", "author", "stays"),
    [
        ("Bump httpx from 0.27.0 to 0.28.1", "Ann", False),
        ("chore(deps): bump the web group from 1 to 2 (#40)", "Ann", False),
        ("Release 1.2.3", "Ann", False),
        ("v1.2.3", "Ann", False),
        ("chore(release): 1.2.3-rc.1 [skip ci]\n\nSigned-off-by: Ann <ann@example.org>", "Ann", False),
        ("Bump version to 2.0", "Ann", False),
        ("Bump httpx from 0.27.0 to 0.28.1\n\n0.27 loses the proxy settings.", "Ann", True),
        ("Release 2.0\n\nThe old upload API is gone.", "Ann", True),
        ("Release the lock before the upload ends", "Ann", True),
        ("Update retries from three to five tries", "Ann", True),
        ("Bump the retry limit", "Ann", True),
        ("Update request timeout from 30s to 90s", "Ann", True),
        ("fix: update pickup port from 8080 to 9090", "Ann", True),
        ("Upgrade plan from Basic to Premium", "Ann", True),
        ("Update the VAT factor from 1.19 to 1.07", "Ann", True),
        ("Bump upload retries from 3 to 5", "Ann", True),
        ("Bump web/api from v1.2 to v1.3 in /client", "Ann", False),
        ("2026 prices apply from March on", "Ann", True),
        ("2FA", "Ann", True),
        ("Release 2.1.0b2\n\n#340 is not in it.", "Ann", True),
        ("2.1.0rc1", "Ann", False),
        ("Pin lodash\n\nBumps [lodash](https://example.org) from 1 to 2.", "dependabot[bot]", False),
        ("Update dependency vite to v5", "renovate[bot]", False),
        ("Format", "github-actions[bot]", False),
        ("Refresh the prices\n\nThe supplier changed its list.", "github-actions[bot]", True),
        ("Explain why uploads are retried", "claude[bot]", True),
        ("Explain the robot arm", "Bot Botson", True),
        ("", "Ann", False),
    ],
)  # fmt: skip
def test_commits_that_say_nothing_are_left_out_and_counted(
    memory: Memory, notes: Notes, repo: Repo, message: str, author: str, stays: bool
) -> None:
    repo.commit("First, as uploads fail", "a.py")
    repo.commit(message, author=author)
    done = memory.sync(notes.root)
    assert (done.commits, done.left_out) == ((2, 0) if stays else (1, 1))
    assert memory.sync().left_out == (not stays)


@pytest.mark.parametrize(
    ("message", "stays"),
    [
        (MERGE, False),
        (f"{MERGE}\n\n# Conflicts:\n#\ta.py", False),
        (f"{MERGE}\n\nUploads keep their own limit.", True),
        ("Merge pull request #7 from ann/uploads\n\nRetry uploads", True),
        ("Merge branch 'other' of git@example.org:ann/shop.git into main", False),
        (f"{MERGE}: they keep their own limit", True),
        ("Uploads are merged: the limit is five", True),
    ],
)
def test_a_merge_is_left_out_unless_its_message_says_something(
    memory: Memory, notes: Notes, repo: Repo, message: str, stays: bool
) -> None:
    repo.commit("First, as uploads fail", "a.py")
    repo.run("switch", "-c", "other")
    repo.commit("Second, as prices change", "b.py")
    repo.run("switch", "main")
    repo.run("merge", "--no-ff", "other", "-m", message, **repo.dates())
    memory.sync(notes.root)
    assert subjects(memory) == {
        "First, as uploads fail",
        "Second, as prices change",
        *[message.split("\n")[0]] * stays,
    }


def test_a_sync_reads_new_commits_alone(memory: Memory, notes: Notes, repo: Repo, model: Listening) -> None:
    for number in range(3):
        repo.commit(f"Change number {number} of the uploads")
    memory.sync(notes.root)
    before = {one.id for one in commits(memory).values()}
    model.heard.clear()
    repo.commit(RETRY)
    done = memory.sync()
    assert (done.added, done.removed, done.commits) == (1, 0, 4)
    assert done.changed == (f"{notes.root}@{repo.run('rev-parse', '--short=12', 'HEAD')}",)
    assert [text.split("\n")[0] for text in model.heard] == [RETRY.split("\n")[0]]
    assert before < {one.id for one in commits(memory).values()}
    assert memory.sync().added == 0


def test_commits_that_were_amended_or_rebased_away_are_removed(
    memory: Memory, notes: Notes, repo: Repo
) -> None:
    first = repo.commit("First, as uploads fail", "a.py")
    repo.commit("Secnd, as prices change", "b.py")
    memory.sync(notes.root)
    kept = commits(memory)["First, as uploads fail"].id
    repo.run("commit", "--amend", "-m", "Second, as prices change", **repo.dates())
    done = memory.sync()
    assert (done.added, done.removed) == (1, 1)
    assert subjects(memory) == {"First, as uploads fail", "Second, as prices change"}
    assert commits(memory)["First, as uploads fail"].id == kept
    repo.run("reset", "--hard", first)
    repo.commit("Third, forced over it", "c.py")
    repo.run("reflog", "expire", "--expire=now", "--all")
    repo.run("gc", "--prune=now", "--quiet")  # the commit that was read last is no more
    memory.sync()
    assert subjects(memory) == {"First, as uploads fail", "Third, forced over it"}


def test_the_history_is_that_of_the_branch_that_is_checked_out(
    memory: Memory, notes: Notes, repo: Repo
) -> None:
    first = repo.commit("First, as uploads fail", "a.py")
    repo.commit("Second, as prices change", "b.py")
    repo.run("switch", "-c", "other", first)
    repo.commit("Third, on a branch", "c.py")
    repo.run("switch", "main")
    memory.sync(notes.root)
    assert subjects(memory) == {"First, as uploads fail", "Second, as prices change"}
    pinned = commits(memory)["First, as uploads fail"].id
    repo.run("switch", "other")
    memory.sync()
    assert subjects(memory) == {"First, as uploads fail", "Third, on a branch"}
    repo.run("switch", "--detach", first)  # as in a bisection
    memory.sync()
    assert subjects(memory) == {"First, as uploads fail", "Third, on a branch"}
    repo.commit("Forth, of no branch")
    memory.sync()
    repo.run("commit", "--amend", "--allow-empty", "-m", "Fourth, of no branch", **repo.dates())
    memory.sync()
    assert subjects(memory) == {"First, as uploads fail", "Third, on a branch", "Fourth, of no branch"}
    repo.run("switch", "main")
    memory.sync()
    assert subjects(memory) == {"First, as uploads fail", "Second, as prices change"}
    assert commits(memory)["First, as uploads fail"].id == pinned


def test_verdicts_on_a_commit_return_with_its_branch(memory: Memory, notes: Notes, repo: Repo) -> None:
    first = repo.commit("First, as uploads fail", "a.py")
    repo.commit("Second, as prices change", "b.py")
    repo.run("branch", "other", first)
    memory.sync(notes.root)
    second = commits(memory)["Second, as prices change"].id
    memory.feedback(second, "never-inject")
    memory.update(second, pinned=True)
    events = memory.history(second).events
    repo.run("switch", "other")
    memory.sync()
    assert subjects(memory) == {"First, as uploads fail"}
    repo.run("switch", "main")
    memory.sync()
    after = memory.history(second)
    assert ("never-inject" in after.memory.tags, after.memory.pinned) == (True, True)
    assert after.events == events


def test_a_revert_supersedes_what_it_reverts_and_a_revert_of_it_brings_that_back(
    memory: Memory, notes: Notes, repo: Repo
) -> None:
    cache = repo.commit("Keep the price list for an hour", "price.py")
    repo.commit(RETRY, "a.py")
    memory.sync(notes.root)
    old = commits(memory)["Keep the price list for an hour"].id
    revert = repo.commit(
        f'Revert "Keep the price list for an hour"\n\nThis reverts commit {cache}.\n', "price.py"
    )
    memory.sync()
    new = commits(memory)['Revert "Keep the price list for an hour"']
    (record,) = memory.get(old).records
    assert (record.status, record.valid_until) == ("superseded", new.event and new.event.start)
    assert memory.history(old).superseded_by == (new.id,)
    assert old not in {one.id for one in memory.search("price list for an hour").results}
    repo.commit(f'Reapply "Keep the price list for an hour"\n\nThis reverts commit {revert}.\n', "price.py")
    memory.sync()
    assert [memory.get(one).records[0].status for one in (old, new.id)] == ["active", "superseded"]
    assert memory.get(old).records[0].valid_until is None
    repo.run("reset", "--hard", "HEAD~2")
    memory.sync()
    assert memory.get(old).records[0].status == "active"
    repo.commit('Revert "Keep the price list for an hour" (#9)\n\nReverts ann/prices#3', "price.py")
    memory.sync()
    assert memory.get(old).records[0].status == "superseded"
    repo.run("reset", "--hard", "HEAD~1")
    memory.sync()
    assert memory.get(old).records[0].status == "active"


def test_a_revert_that_may_mean_two_commits_or_a_part_of_one_supersedes_nothing(
    memory: Memory, notes: Notes, repo: Repo
) -> None:
    repo.commit("Fix the price list", "a.py")
    repo.commit("Fix the price list", "a.py")
    repo.commit('Revert "Fix the price list"', "a.py")
    sha = repo.commit(RETRY, "b.py")
    repo.commit(f"Retry less\n\nThis partially reverts commit {sha}.", "b.py")
    repo.commit(f"fixup! {RETRY.splitlines()[0]}", "b.py")
    memory.sync(notes.root)
    assert memory.status().statuses == {"active": 6}


def test_a_commit_that_amends_another_supersedes_it(memory: Memory, notes: Notes, repo: Repo) -> None:
    repo.commit("Keep the price list for an hour", "a.py")
    repo.commit("amend! Keep the price list for an hour\n\nKeep the price list for a day", "a.py")
    memory.sync(notes.root)
    assert subjects(memory) == {"amend! Keep the price list for an hour"}
    assert memory.status().statuses == {"active": 1, "superseded": 1}


def test_a_shallow_clone_is_read_as_far_as_it_goes_and_further_when_it_is_deepened(
    memory: Memory, notes: Notes, repo: Repo, tmp_path: Path
) -> None:
    repo.commit("First, as uploads fail")
    repo.commit("Second, as prices change")
    clone = Repo(tmp_path / "clone")
    repo.run("clone", "--depth=1", f"file://{notes.root}", str(clone.root))
    memory.sync(clone.root)
    assert subjects(memory) == {"Second, as prices change"}
    clone.run("fetch", "--unshallow")
    memory.sync()
    assert subjects(memory) == {"First, as uploads fail", "Second, as prices change"}


def test_a_worktree_and_a_submodule_have_histories_of_their_own(
    memory: Memory, notes: Notes, repo: Repo, tmp_path: Path
) -> None:
    repo.commit("First, as uploads fail", "a.py")
    tree = Repo(tmp_path / "tree")
    repo.run("worktree", "add", "-b", "other", str(tree.root))
    memory.sync(tree.root)
    tree.commit("Second, in the worktree", "b.py")
    assert memory.search("Second, in the worktree").results[0].citation.startswith(f"{tree.root}@")
    outer = Repo(tmp_path / "outer")
    outer.root.mkdir()
    outer.run("init")
    outer.commit("Outer, as parts are shared", "c.py")
    outer.run("submodule", "add", str(notes.root), "part")
    done = memory.sync(outer.root / "part")
    assert (done.commits, done.problems) == (1, ())
    assert "Outer, as parts are shared" not in subjects(memory)


def test_an_empty_and_a_bare_repository_are_said_to_be_so(
    memory: Memory, notes: Notes, repo: Repo, tmp_path: Path
) -> None:
    (notice,) = memory.sync(notes.root).notices
    assert "Nothing was committed there yet" in notice.message
    assert memory.sync().notices == ()
    repo.commit(RETRY)
    assert memory.sync().commits == 1
    repo.run("clone", "--bare", str(notes.root), str(tmp_path / "bare.git"))
    (notice,) = memory.sync(tmp_path / "bare.git").notices
    assert "bare repository" in notice.message
    assert "git clone" in notice.hint


def test_without_git_the_files_are_synced_and_the_history_is_said_to_be_missing(
    memory: Memory, notes: Notes, repo: Repo, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    notes.write("a.md", "# A\n\nalpha\n")
    repo.commit(RETRY)
    with monkeypatch.context() as without:
        without.setenv("PATH", str(tmp_path))
        done = memory.sync(notes.root)
    (problem,) = done.problems
    assert (done.added, "git cannot be run" in problem.message, "install git" in problem.hint) == (
        1,
        True,
        True,
    )
    assert memory.sync(notes.root).commits == 1


def test_a_repository_that_git_refuses_or_cannot_read_is_a_problem_and_keeps_what_is_stored(
    memory: Memory, notes: Notes, repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes.write("a.md", "# A\n\nalpha\n")
    repo.commit(RETRY)
    memory.sync(notes.root)
    with monkeypatch.context() as anothers:
        anothers.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
        (problem,) = memory.sync().problems
    assert ("another user" in problem.message, "safe.directory" in problem.hint) == (True, True)
    sha = repo.commit("Second, as prices change")
    (notes.root / ".git" / "objects" / sha[:2] / sha[2:]).unlink()
    (problem,) = memory.sync().problems
    assert "git cannot read the history" in problem.message
    assert subjects(memory) == {RETRY.split("\n")[0]}


def test_a_history_whose_git_is_gone_stays_until_it_is_left_out(
    memory: Memory, notes: Notes, repo: Repo
) -> None:
    notes.write("a.md", "# A\n\nalpha\n")
    repo.commit(RETRY)
    memory.sync(notes.root)
    shutil.rmtree(notes.root / ".git")
    (problem,) = memory.sync().problems
    assert ("not a git repository" in problem.message, len(subjects(memory))) == (True, 1)
    memory.sync(notes.root, git=False)
    assert (memory.sync().problems, subjects(memory)) == ((), set())


def test_reading_a_history_runs_nothing_that_a_repository_names(
    memory: Memory, notes: Notes, repo: Repo, tmp_path: Path
) -> None:
    notes.write(".gitattributes", "*.txt diff=evil filter=evil\n")
    repo.commit("First, as uploads fail", "a.py", ".gitattributes")
    repo.commit("Second, as prices change", "a.py")
    ran, script = tmp_path / "ran", tmp_path / "script"
    script.write_text(f"#!/bin/sh\ntouch {ran}\n")
    script.chmod(0o700)
    for name in (
        "core.fsmonitor", "core.pager", "pager.log", "gpg.program", "core.sshCommand", "diff.external",
        "diff.evil.command", "diff.evil.textconv", "filter.evil.smudge", "core.editor", "core.askPass",
    ):  # fmt: skip
        repo.run("config", name, str(script))
    for name in ("alias.log", "alias.rev-list"):
        repo.run("config", name, f"!{script}")
    repo.run("config", "log.showSignature", "true")
    for hook in ("post-checkout", "pre-auto-gc", "reference-transaction", "fsmonitor-watchman"):
        shutil.copy(script, notes.root / ".git" / "hooks" / hook)
    repo.run("config", "extensions.partialClone", "origin")
    repo.run("config", "remote.origin.url", f"ext::{script}")
    assert (memory.sync(notes.root).commits, ran.exists()) == (2, False)


@pytest.mark.parametrize("way", ["file", "link", "commondir", "parts"])
def test_a_folder_does_not_bring_another_repositorys_history_under_its_name(
    memory: Memory, notes: Notes, repo: Repo, tmp_path: Path, way: str
) -> None:
    repo.commit(RETRY)
    secret = notes.root / ".git"
    thief = Repo(tmp_path / "thief")
    thief.root.mkdir()
    entry = thief.root / ".git"
    if way == "file":
        entry.write_text(f"gitdir: {secret}\n")
    elif way == "link":
        entry.symlink_to(secret)
    else:
        thief.run("init")
        if way == "commondir":
            (entry / "commondir").write_text(f"{secret}\n")
        for name in ("objects", "refs") if way == "parts" else ():
            shutil.rmtree(entry / name)
            (entry / name).symlink_to(secret / name)
    (problem,) = memory.sync(thief.root).problems
    assert "names another folder" in problem.message
    assert subjects(memory) == set()


def test_a_hook_of_another_repository_leads_nowhere_else(
    memory: Memory, notes: Notes, repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.commit(RETRY)
    other = Repo(tmp_path / "other")
    other.root.mkdir()
    other.run("init")
    other.commit("Another, as parts are shared")
    monkeypatch.setenv("GIT_DIR", str(other.root / ".git"))
    memory.sync(notes.root)
    assert subjects(memory) == {RETRY.split("\n")[0]}


def test_every_encoding_is_read_and_a_message_cannot_forge_a_commit(
    memory: Memory, notes: Notes, repo: Repo
) -> None:
    repo.commit("Größe der Liste prüfen".encode("latin-1"), "Übersicht\n.txt", encoding="ISO-8859-1")
    repo.commit("Café au lait".encode("latin-1"))
    repo.commit("Forge\n\n\x01\n" + "0" * 40 + "\ncommit " + "1" * 40 + "\nAuthor: Eve\n")
    memory.sync(notes.root)
    assert subjects(memory) == {"Größe der Liste prüfen", "Café au lait", "Forge"}
    assert "Files: Übersicht\n.txt" in commits(memory)["Größe der Liste prüfen"].content


def test_a_hostile_commit_is_bounded_and_a_message_above_a_megabyte_is_left_out(
    memory: Memory, notes: Notes, repo: Repo
) -> None:
    repo.commit("bump " + "a from b to c " * 20_000, author="Eve " * 5_000)
    sha = repo.commit("Dump\n\n" + "0123456789\n" * 100_000)
    done = memory.sync(notes.root)
    (notice,) = done.notices
    assert (notice.path, "1,000,000 bytes" in notice.message) == (f"{notes.root}@{sha[:12]}", True)
    assert (done.commits, done.left_out) == (1, 1)
    assert max(len(one.title) for one in memory.page().records) < 150


def test_a_secret_in_a_message_is_replaced(memory: Memory, notes: Notes, repo: Repo) -> None:
    secret = "ghp_" + "aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5"
    repo.commit(f"Use the token {secret}\n\nIt is {secret}.")
    done = memory.sync(notes.root)
    assert sum(done.scrubbed.values()) == 2
    assert secret not in "".join(one.content for one in memory.page().records)


def test_a_forgotten_commit_stays_forgotten_and_a_rebuild_keeps_the_others(
    memory: Memory, notes: Notes, repo: Repo
) -> None:
    repo.commit("First, as uploads fail")
    long = "Second, as prices change\n\n" + "\n\n".join(
        f"Price list {n} rose by {n} cents." for n in range(900)
    )
    repo.commit(long)
    memory.sync(notes.root)
    still = memory.forget(commits(memory)["First, as uploads fail"].id).still
    assert still == (f"{notes.root}@{repo.run('rev-parse', '--short=12', 'HEAD~1')}:1-3",)
    assert memory.sync(notes.root).forgotten == 1
    before = [(one.id, one.content) for one in memory.page(limit=100).records]
    assert "".join(text for _, text in reversed(before)).count("rose by") == 900
    memory.rebuild()
    assert [(one.id, one.content) for one in memory.page(limit=100).records] == before
    done = memory.sync()
    assert (done.added, done.removed, done.forgotten, done.commits) == (0, 0, 0, 2)


def test_an_export_takes_a_history_to_another_store(
    memory: Memory,
    opened: Callable[..., Memory],
    settings: Settings,
    notes: Notes,
    repo: Repo,
    tmp_path: Path,
) -> None:
    repo.commit(RETRY)
    memory.sync(notes.root)
    memory.export(tmp_path / "all.jsonl")
    other = opened(settings=replace(settings, store=str(tmp_path / "other.db")))
    other.import_(tmp_path / "all.jsonl")
    repo.commit("Second, as prices change")
    assert (other.sync(notes.root).commits, len(subjects(other)), len(other.sources())) == (2, 2, 2)


def test_a_sync_keeps_the_imported_history_of_a_repository_that_does_not_exist_here(
    memory: Memory,
    opened: Callable[..., Memory],
    settings: Settings,
    notes: Notes,
    repo: Repo,
    tmp_path: Path,
) -> None:
    repo.commit(RETRY)
    memory.sync(notes.root)
    memory.export(tmp_path / "all.jsonl")
    notes.root.rename(tmp_path / "elsewhere")
    other = opened(settings=replace(settings, store=str(tmp_path / "other.db")))
    other.import_(tmp_path / "all.jsonl")
    assert other.sync().problems == ()
    with pytest.raises(
        InputError, match="does not exist, so its stored history was neither read nor removed"
    ):
        other.sync(notes.root, git=False)
    assert len(subjects(other)) == 1
    problem = next(one for one in memory.sync().problems if "commits are kept" in one.message)
    assert ("does not exist" in problem.message, "fsck" in problem.hint) == (True, False)


def test_imported_commits_that_git_here_never_had_stay(
    opened: Callable[..., Memory], settings: Settings, repo: Repo, tmp_path: Path
) -> None:
    first = repo.commit("Pick the harbour of Kiel", "a.md")
    repo.commit("Retry uploads five times", "b.md")
    one, two = (
        opened(settings=replace(settings, store=str(tmp_path / name))) for name in ("one.db", "two.db")
    )
    one.sync(repo.root)
    one.export(tmp_path / "one.jsonl")
    repo.run("reset", "--hard", first)
    repo.run("reflog", "expire", "--expire=now", "--all")
    repo.run("gc", "--quiet", "--prune=now")
    two.import_(tmp_path / "one.jsonl")
    two.sync()
    assert subjects(two) == {"Pick the harbour of Kiel", "Retry uploads five times"}


def test_removing_a_folder_removes_its_history(memory: Memory, notes: Notes, repo: Repo) -> None:
    notes.write("a.md", "# A\n\nalpha\n")
    repo.commit(RETRY)
    memory.sync(notes.root)
    memory.remove_source(f"{notes.root}/.git")
    assert (len(memory.sources()), len(memory.page().records)) == (1, 1)
    memory.sync(notes.root)
    assert memory.remove_source(str(notes.root)).commits == 1
    assert (memory.sources(), memory.page().records) == ([], ())


def test_a_search_finds_what_was_just_committed_and_says_where_that_is_too_much(
    memory: Memory, notes: Notes, repo: Repo
) -> None:
    repo.commit("First, as uploads fail")
    memory.sync(notes.root)
    repo.commit(RETRY)
    assert memory.search("growing delay").results[0].title.startswith("commit ")
    for number in range(17):
        repo.commit(f"Change number {number} of the uploads")
    answer = memory.search("growing delay")
    assert f"{notes.root} has 17 commits that were not read" in " ".join(answer.partial)
    memory.sync()
    assert memory.search("growing delay").partial == ()
    assert len(subjects(memory)) == 19


def test_strangers_commits_are_untrusted_as_their_files_are(memory: Memory, notes: Notes, repo: Repo) -> None:
    notes.write("a.md", "# A\n\nalpha\n")
    repo.commit(RETRY, "a.md", author="Bob", email=BOB)
    memory.sync(notes.root)
    assert {one.origin for one in memory.page().records} == {"untrusted"}
    assert "growing delay" not in memory.context("growing delay").text
    memory.sync(notes.root, trust="trusted")
    assert {one.origin for one in memory.page().records} == {"owner"}


def test_a_project_that_a_person_chose_is_that_of_the_commits(
    memory: Memory, notes: Notes, repo: Repo
) -> None:
    notes.write("a.md", "# A\n\nalpha\n")
    repo.commit(RETRY)
    memory.sync(notes.root, project="uploads", git=False)
    memory.sync(notes.root, git=True)
    assert {one.project for one in memory.page().records} == {"uploads"}
    memory.sync(notes.root, project="none")
    assert {one.project for one in memory.page().records} == {None}


def test_a_watch_takes_in_what_is_committed(
    opened: Callable[..., Memory], settings: Settings, notes: Notes, repo: Repo
) -> None:
    memory = opened(settings=replace(settings, sync=replace(settings.sync, debounce=0.05)))
    notes.write("a.md", "# A\n\nalpha\n")
    repo.commit("First, as uploads fail")
    memory.sync(notes.root)
    told: queue.Queue[SyncReport] = queue.Queue()
    stop = threading.Event()
    thread = threading.Thread(target=lambda: memory.watch(stop=stop, report=told.put))
    thread.start()
    try:
        assert told.get(timeout=60).commits == 1
        repo.commit(RETRY)
        while not (done := told.get(timeout=60)).added:
            pass
        assert (done.commits, done.problems) == (2, ())
    finally:
        stop.set()
        thread.join(60)


def test_a_commit_is_pinned_but_its_text_is_gits(memory: Memory, notes: Notes, repo: Repo) -> None:
    repo.commit(RETRY)
    memory.sync(notes.root)
    (one,) = commits(memory).values()
    memory.update(one.id, pinned=True)
    with pytest.raises(InputError, match="is a commit") as refused:
        memory.update(one.id, content="Retry never")
    assert "amend it with git" in refused.value.hint
    with pytest.raises(InputError, match="is a commit"):
        memory.rewrite(one.id, "Retry never")
    memory.sync(notes.root)
    assert (commits(memory)[RETRY.split("\n")[0]].pinned, memory.sync().removed) == (True, 0)


def test_of_a_long_history_the_last_five_thousand_commits_are_read(
    memory: Memory, notes: Notes, repo: Repo
) -> None:
    lines = []
    for number in range(5_003):
        message = RETRY if number in (2, 5_000) else f"v{number}"
        lines.append(
            f"commit refs/heads/main\ncommitter Ann <{ANN}> {1_700_000_000 + number} +0000\n"
            f"data {len(message)}\n{message}\n"
        )
    subprocess.run(
        ["git", "fast-import", "--quiet"], cwd=notes.root, input="".join(lines).encode(), check=True
    )
    done = memory.sync(notes.root)
    assert (done.commits, done.left_out) == (1, 4_999)
    repo.commit("One more, as prices change")
    done = memory.sync()
    assert (done.commits, done.left_out) == (2, 4_999)


def test_the_command_says_what_it_took_and_left_out(notes: Notes, repo: Repo, tmp_path: Path) -> None:
    repo.commit(RETRY)
    repo.commit("v1.2.3")
    run = CliRunner()
    environ = {"SCRUBJAY_STORE": str(tmp_path / "cli.db"), "HOME": str(tmp_path)}
    done = run.invoke(cli, ["sync", str(notes.root)], env=environ)
    said = "1 commit, 1 left out (merges, bots, version bumps)"
    assert (done.exit_code, said in done.output, "Nothing there can be" in done.output) == (0, True, False)
    assert said in run.invoke(cli, ["sources"], env=environ).output
    assert said in run.invoke(cli, ["status"], env=environ).output
    done = run.invoke(cli, ["sync", str(notes.root), "--no-git"], env=environ)
    assert "removed, with 1 commit." in done.output
