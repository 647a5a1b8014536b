"""A secret that only another turn names is redacted, whichever way the turns come, and nothing else is."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from scrubjay import Memory
from scrubjay.config.loader import load_settings
from scrubjay.embeddings.hash_embedder import HashEmbedder
from scrubjay.models.lifecycle import NewMemory

MARK = "[secret:password]"
ASKED = (
    ("wifi password?", "rotkehlchen-7"),
    ("What's the admin password of the router?", "it's Ofenkartoffel-3, all lower but the O"),
    ("Please send me the password for the shared mailbox.", "of course:\nFliederbusch!12"),
    ("Mi a wifi jelszava?", "galuska77fozelek"),
    ("Mikä on mökin wifin salasana?", "mustikkapiirakka-4"),
    ("Ποιος είναι ο κωδικός πρόσβασης για το wifi;", "thalassa-2031x"),
    ("Jaké je heslo na wifi v chatě?", "bramborak-15"),
    ("Wie ist das Passwort?", "Kachelofen!Blau3"),
    ("What's the code of the front door?", "4471"),
    ("What is the combination of the bike lock?", "4471"),
    ("I need the MySQL root password to go on.", "Wurzelwerk5"),
)
LEFT = (
    ("what's the wifi password?", "ask Ben, he knows"),
    ("the code?", "see src/app.py"),
    ("which key?", "the primary key of orders"),
    ("what is the token limit?", "4096"),
    ("port?", "8443"),
    ("zip code?", "94107"),
    ("where's the db password?", "secret/data/orders/prod"),
    ("who knows the alarm code?", "Jean-Luc2 and the caretaker"),
    ("which commit removed the password check?", "4f9c2ae"),
    ("what's the wifi password?", "Before that: did the parcel from Berlin-42 arrive?"),
    ("code name of the release?", "Blue-Falcon-7"),
    ("what is the combination of the Christmas blend?", "50-30-20"),
    ("what is the pin count of the connector?", "2048"),
)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


@pytest.fixture
def memory(store: Path) -> Iterator[Memory]:
    with Memory.open(store, user="ann", embedders=[HashEmbedder(64)]) as opened:
        yield opened


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    (tmp_path / "logs" / "garden").mkdir(parents=True)
    return tmp_path / "logs"


def line(number: int, text: str) -> str:
    first = "00000001-0000-4000-8000"
    role = "user" if number % 2 else "assistant"
    record = {
        "type": role,
        "uuid": f"{first}-{number:012d}",
        "parentUuid": f"{first}-{number - 1:012d}" if number > 1 else None,
        "sessionId": "s1",
        "isSidechain": False,
        "cwd": "/not/here/garden",
        "timestamp": f"2026-03-01T10:{number % 60:02d}:00Z",
        "message": {"role": role, "content": text},
    }
    return json.dumps(record) + "\n"


def append(logs: Path, *lines: str) -> None:
    with (logs / "garden" / "s1.jsonl").open("a") as log:
        log.writelines(lines)


def said(memory: Memory, session: str = "s1") -> list[str]:
    """Every turn of a session, in order."""
    desk = memory.workspace
    with desk.store.reader(desk.scope) as reader:
        return [one.content for one in reader.turns(session, 0, 1_000)]


def turn(number: int, text: str) -> NewMemory:
    return NewMemory(text, session="s1", turn=number, role=("user", "assistant")[number % 2])


@pytest.mark.parametrize(("question", "answer"), ASKED)
def test_the_answer_to_a_question_for_a_secret_is_redacted_in_another_call(
    memory: Memory, question: str, answer: str
) -> None:
    memory.add(question, session="s1", turn=0, role="user")
    memory.add(answer, session="s1", turn=1, role="assistant")
    first, second = said(memory)
    assert first == question
    assert "[secret:" in second
    assert not any(
        word in second for word in ("-7", "-3", "!12", "77f", "-4", "2031", "-15", "Blau", "4471", "werk5")
    )


@pytest.mark.parametrize(("question", "answer"), LEFT)
def test_an_answer_that_is_no_secret_stays_word_for_word(memory: Memory, question: str, answer: str) -> None:
    memory.add_many([turn(0, question), turn(1, answer)])
    assert said(memory) == [question, answer]


def test_a_transcript_that_is_read_piece_by_piece_loses_the_secret_and_reads_the_same_again(
    memory: Memory, logs: Path, tmp_path: Path
) -> None:
    append(logs, line(1, "what's the vpn password?"), line(2, "one moment"))
    memory.sync(logs)
    append(logs, line(3, "tulpenbeet-North-5"))
    assert memory.sync(logs).scrubbed == {"password": 1}
    wanted = ["what's the vpn password?", "one moment", MARK]
    assert said(memory) == wanted
    assert memory.sync(logs).added == 0
    with Memory.open(tmp_path / "again.db", user="ann", embedders=[HashEmbedder(64)]) as other:
        other.sync(logs)
        assert said(other) == wanted


def test_a_turn_that_a_later_one_calls_a_password_is_taken_out_of_the_store(
    memory: Memory, logs: Path, store: Path
) -> None:
    append(logs, line(1, "bramble-Fox-3312"))
    memory.sync(logs)
    assert said(memory) == ["bramble-Fox-3312"]
    append(logs, line(2, "Is that a message for me?"), line(3, "sorry, that was my password"))
    assert memory.sync(logs).scrubbed == {"password": 1}
    assert said(memory) == [MARK, "Is that a message for me?", "sorry, that was my password"]
    assert [(one.kind, one.line) for one in memory.redactions()] == [("password", 1)]
    assert all("3312" not in one.snippet for one in memory.search("bramble-Fox-3312").results)
    memory.sync(logs)
    assert said(memory)[0] == MARK
    held = b"".join(path.read_bytes() for path in store.parent.glob(f"{store.name}*"))
    assert b"ramble-Fox-3312" not in held


def test_an_added_turn_that_a_later_one_calls_a_password_keeps_its_place(memory: Memory) -> None:
    memory.add("bramble-Fox-3312", session="s1", turn=0, role="user")
    memory.add("oops, that was my password", session="s1", turn=1, role="user")
    assert said(memory) == [MARK, "oops, that was my password"]
    assert [one.kind for one in memory.redactions()] == ["password"]


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("report_final_v7.docx", "sorry, that was my old draft with the password"),
        ("OPS-3321", "that's the ticket for the password reset"),
        ("Blue-Falcon-7", "was that my password?"),
        ("I left the bramble-Fox-3312 there", "that was my password"),
        ("swordfish", "that was my password"),
    ],
)
def test_an_earlier_turn_stays_where_it_is_not_plain_that_it_is_a_password(
    memory: Memory, earlier: str, later: str
) -> None:
    memory.add(earlier, session="s1", turn=0)
    memory.add(later, session="s1", turn=1)
    assert said(memory) == [earlier, later]


def test_a_password_that_is_added_again_behind_what_called_it_one_is_not_stored(memory: Memory) -> None:
    for _ in range(2):
        memory.add("bramble-Fox-3312", session="s1", turn=0)
        memory.add("that was my password", session="s1", turn=1)
    assert "3312" not in " ".join(said(memory))


def test_turns_without_numbers_follow_in_the_order_of_one_call(memory: Memory) -> None:
    memory.add_many([NewMemory("wifi password?", session="s1"), NewMemory("rotkehlchen-7", session="s1")])
    assert [one.kind for one in memory.redactions()] == ["password"]


def test_an_import_of_turns_reads_them_with_those_before_and_again_adds_nothing(
    memory: Memory, tmp_path: Path
) -> None:
    file = tmp_path / "talk.jsonl"
    turns = ("wifi password?", "rotkehlchen-7", "thanks")
    rows = [{"content": text, "session": "s1", "turn": number} for number, text in enumerate(turns)]
    file.write_text("\n".join(map(json.dumps, rows)))
    assert memory.import_(file).added == 3
    assert said(memory) == ["wifi password?", MARK, "thanks"]
    assert memory.import_(file).added == 0


def test_what_is_allowed_stays_in_answers_and_in_earlier_turns(store: Path) -> None:
    file = store.with_name("config.toml")
    file.write_text('[redaction]\nallow = ["rotkehlchen-7", "bramble-Fox-3312"]\n')
    settings = load_settings(file)
    with Memory.open(store, user="ann", embedders=[HashEmbedder(64)], settings=settings) as memory:
        memory.add_many([turn(0, "wifi password?"), turn(1, "rotkehlchen-7"), turn(2, "bramble-Fox-3312")])
        memory.add("that was my password", session="s1", turn=3)
        assert said(memory)[1:3] == ["rotkehlchen-7", "bramble-Fox-3312"]


def test_another_session_and_a_far_turn_ask_for_nothing(memory: Memory) -> None:
    memory.add("wifi password?", session="s2", turn=0)
    memory.add("wifi password?", session="s1", turn=0)
    memory.add("rotkehlchen-7", session="s1", turn=5)
    assert said(memory) == ["wifi password?", "rotkehlchen-7"]


def test_turns_added_together_are_redacted_as_one_by_one(memory: Memory) -> None:
    """The last turn is a secret only behind the others as they were said, and not as they are stored."""
    texts = ["what's the wifi password?", "mauve-otter-42", "the password is bluebird", "387984"]
    memory.add_many([turn(number, text) for number, text in enumerate(texts)])
    for number, text in enumerate(texts):
        memory.add(text, session="s2", turn=number)
    assert said(memory) == said(memory, "s2")
    assert said(memory)[1] == "[secret:password]"


def test_adding_the_same_turns_again_adds_nothing(memory: Memory) -> None:
    for _ in range(2):
        memory.add("wifi password?", session="s1", turn=0)
        memory.add("rotkehlchen-7", session="s1", turn=1)
    assert said(memory) == ["wifi password?", MARK]
