"""Procedural: what several sessions did in the same order, when they were asked the same."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from observations import observation, turn
from voices import check_promoted, deployments, with_gists

from scrubjay.consolidation.facts import PromotedMemory
from scrubjay.consolidation.patterns import promote_procedures
from scrubjay.consolidation.shell_commands import extract_steps
from scrubjay.models.records import Record


def procedures(records: list[Record]) -> tuple[PromotedMemory, ...]:
    return promote_procedures(
        with_gists(records), lambda sessions: [record for record in records if record.session in sessions]
    )


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (
            "```bash\ngit pull --rebase\nnpm run build && npm test\n```",
            ["git pull", "npm run build", "npm test"],
        ),
        ("```sh\n# first\nsudo -E ls\ncd app\nENV=x make deploy\n```", ["make deploy"]),
        ("```console\n$ docker compose up -d\nCreating network\n```", ["docker compose up"]),
        ("```bash\ndocker build \\\n  -t app .\n```", ["docker build"]),
        ("```python\nimport os\nos.remove('x')\n```", []),
        ("I ran `uv run pytest tests/x.py`, then `git commit -m 'x'`.", ["pytest", "git commit"]),
        ("Call `record.update` and `user name` with `foo bar`.", []),
        ("user@host:~/app$ ./scripts/deploy.sh staging\nok", ["deploy.sh staging"]),
        ("`python scripts/seed.py --all`", ["python seed.py"]),
        ("1. Open the settings page\n2. Click Reset token", []),
        ("```bash\ngit status\ngit diff\n```", []),
        ("```bash\ngit push\ngit push origin main\n```", ["git push"]),
        ("```bash\necho 'open\n```", []),
    ],
)
def test_commands_are_named_by_program_and_subcommand(text: str, names: list[str]) -> None:
    assert [step.name for step in extract_steps(text)] == names


def test_repeated_commands_become_the_numbered_steps_of_the_newest_session() -> None:
    (one,) = procedures(deployments())
    assert one.title.endswith(": git, docker, kubectl")
    lines = one.text.split("\n")
    assert lines[0] == one.title
    assert lines[1] == f"When: {one.title.split(': ')[0]}"
    assert set(lines[1].split()[1:]) == {"deploy", "billing", "staging"}
    assert lines[2:] == [
        "1. git pull",
        "2. docker build -t billing:2 .",
        "3. docker push registry.local/billing:2",
        "4. kubectl rollout restart deploy/billing-2",
    ]
    assert one.confidence == pytest.approx(0.925)
    assert {memory for memory, _ in one.evidence} == {record.id for record in deployments()}


def test_one_session_makes_no_procedure() -> None:
    assert procedures(deployments(1)) == ()


def test_requests_without_shared_words_make_no_procedure() -> None:
    asked = ("Paint the login page blue", "why is the ledger slow?", "Write docs for webhooks")
    other = [
        replace(record, content=asked[int(record.session[1:])])
        if record.session and record.role == "user"
        else record
        for record in deployments()
    ]
    assert procedures(other) == ()


def test_numbered_advice_is_no_procedure() -> None:
    advice = "1. Stay hydrated all day\n2. Set Goals: be realistic\n3. Sleep eight hours"
    records = [
        record
        for n in (1, 2)
        for record in (
            turn("How do I prepare for the marathon?", 10 * n, session=f"s{n}", turn=0),
            turn(advice, 10 * n + 1, role="assistant", session=f"s{n}", turn=1),
        )
    ]
    assert procedures(records) == ()


def test_untrusted_superseded_derived_and_foreign_sessions_do_not_count() -> None:
    mine, other = deployments(1), deployments(2)[4:]
    for change in ({"key": "group:dev"}, {"origin": "untrusted"}, {"status": "superseded"}):
        changed = [_with(record, **change) for record in other]
        assert procedures([*mine, *changed]) == ()
    derived = [_with(record, origin="derived") if record.role != "user" else record for record in other]
    assert procedures([*mine, *derived]) == ()


def _with(record: Record, **fields: str) -> Record:
    return replace(record, **fields)  # type: ignore[arg-type]


_STEPS = ("git pull", "make build", "pytest -q", "docker push x", "kubectl apply -f x", "npm ci")
_SESSION = st.lists(st.sampled_from(_STEPS), min_size=1, max_size=8)


@settings(max_examples=40, deadline=None)
@given(st.lists(_SESSION, min_size=1, max_size=5), st.randoms())
def test_procedures_come_from_two_sessions_in_any_order(sessions: list[list[str]], chance) -> None:  # type: ignore[no-untyped-def]
    records = []
    for number, steps in enumerate(sessions):
        at: dict[str, object] = {"session": f"s{number}", "days": 50 - number}
        records.append(turn("deploy the ledger", 100 * number, turn=0, **at))
        records += [
            observation(f"$ {step}", 100 * number + place, turn=place, origin="tool", **at)
            for place, step in enumerate(steps, 1)
        ]
    found = procedures(records)
    mixed = list(records)
    chance.shuffle(mixed)
    assert procedures(mixed) == found
    by_id = {record.id: record for record in records}
    for one in found:
        check_promoted(one, records)
        assert len({by_id[memory].session for memory, _ in one.evidence}) > 1
        steps = [line.split(". ", 1)[1] for line in one.text.split("\n")[2:]]
        assert len(steps) >= 3
        assert all(any(step in record.content for record in by_id.values()) for step in steps)
