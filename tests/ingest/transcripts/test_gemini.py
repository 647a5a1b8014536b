import json
from pathlib import Path

from scrubjay import Memory
from scrubjay.embeddings.hash_embedder import HashEmbedder
from scrubjay.ingest.transcripts import gemini
from scrubjay.ingest.transcripts.base import TranscriptFormat
from scrubjay.models.dates import parse_when

TALK = "9f0c1a52-1111-4c6b-9a41-aaaaaaaaaaaa"
BRANCH = f"{TALK}~77777777"
FOLDER = "gemini/shop"


def write(file: Path, *records: object) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(one) + "\n" for one in records))
    return file


def test_a_conversation_is_its_words_with_the_rest_left_out_and_counted(read, fixtures) -> None:
    found = read(gemini.GEMINI_LOG, fixtures / FOLDER / "chats/session-2026-03-01T10-00-9f0c1a52.jsonl")
    assert found.brief() == [
        (TALK, "user", "Explain @cart.py"),
        (TALK, "assistant", "It adds up the cart."),
        (TALK, "user", "Rename it to sum."),
        (TALK, "assistant", "Renamed."),
        (BRANCH, "user", "Leave the name, /etc/cart is empty."),
        (BRANCH, "assistant", "Understood."),
    ]
    assert found.left == {
        "context": 2, "info": 1, "thought": 1, "message written again": 2, "command": 1, "$rewindTo": 1,
    }  # fmt: skip
    assert found.unknown == {"message telepathy": 1, "record novelty": 1}
    assert [turn.key for turn in found.turns] == ["g3", "g5", "g7", "g8", "77777777-aaaa", "s2"]
    assert {turn.cwd for turn in found.turns} == {"/home/ann/shop"}
    assert [turn.title for turn in found.turns[1:3]] == ["", "The cart"]
    moment = parse_when("2026-03-01T10:00:02Z")
    assert moment is not None
    assert found.turns[0].at == moment.start
    assert found.turns[-1].at is None


def test_a_sub_agents_conversation_is_its_own_and_an_agent_asked(read, fixtures) -> None:
    found = read(gemini.GEMINI_LOG, fixtures / FOLDER / f"chats/{TALK}/sub7.jsonl")
    assert found.brief() == [
        (f"{TALK}/sub7", "user", "Find who calls total."),
        (f"{TALK}/sub7", "assistant", "Nobody does."),
    ]
    assert [turn.origin for turn in found.turns] == ["agent", "agent"]


def test_reading_in_two_halves_gives_what_reading_at_once_gives(read, fixtures) -> None:
    file = fixtures / FOLDER / "chats/session-2026-03-01T10-00-9f0c1a52.jsonl"
    whole = read(gemini.GEMINI_LOG, file).turns
    for cut in (turn.end for turn in whole):
        later = read(gemini.GEMINI_LOG, file, cursor=cut).turns
        assert [turn for turn in whole if turn.end <= cut] + later == whole


def test_a_conversation_written_whole_is_read_as_one(read, fixtures) -> None:
    found = read(gemini.GEMINI_FILE, fixtures / FOLDER / "chats/session-2025-11-01T10-00-0ldc0ffe.json")
    session = "0ldc0ffe-2222-4c6b-9a41-bbbbbbbbbbbb"
    assert found.brief() == [(session, "user", "Which port?"), (session, "assistant", "8080.")]
    assert [(turn.line, turn.title, turn.agent) for turn in found.turns] == [
        (1, "Old talk", "gemini-cli"),
        (2, "Old talk", "gemini-cli"),
    ]
    assert found.unknown == {"message": 1}


def test_the_list_of_prompts_gives_only_what_no_conversation_beside_it_has(read, fixtures) -> None:
    found = read(gemini.GEMINI_FILE, fixtures / FOLDER / "logs.json")
    session = "deadbeef-3333-4c6b-9a41-cccccccccccc"
    assert found.brief() == [(session, "user", "We ship on Fridays.")]
    assert found.turns[0].key == f"{session}:1"
    assert found.left == {"prompt that is in chats": 1, "command": 1}
    assert [(one.line, one.message) for one in found.broken] == [(4, "is not a JSON object")]


def test_a_checkpoint_is_a_session_of_its_projects_name(read, fixtures, tmp_path: Path) -> None:
    file = fixtures / FOLDER / "checkpoint-friday.json"
    found = read(gemini.GEMINI_FILE, file)
    assert found.brief() == [
        ("shop/checkpoint-friday", "assistant", "Got it."),
        ("shop/checkpoint-friday", "user", "Ship on Friday."),
        ("shop/checkpoint-friday", "assistant", "Planned."),
    ]
    assert [turn.key.rpartition(":")[2] for turn in found.turns] == ["2", "3", "4"]
    older = tmp_path / "shop" / "checkpoint-friday.json"
    older.parent.mkdir()
    older.write_text(json.dumps(json.loads(file.read_text())["history"]))
    assert read(gemini.GEMINI_FILE, older, tmp_path).brief() == found.brief()
    assert read(gemini.GEMINI_FILE, older, tmp_path / "shop").brief() == found.brief()


def test_each_file_is_known_by_its_head_and_by_one_format_alone(fixtures) -> None:
    def by(file: Path) -> list[TranscriptFormat]:
        head = file.read_bytes()[:65_536]
        return [
            form for form in (gemini.GEMINI_LOG, gemini.GEMINI_FILE) if form.recognise(file.as_posix(), head)
        ]

    files = [file for file in (fixtures / FOLDER).rglob("*") if file.suffix in {".json", ".jsonl"}]
    assert len(files) == 5
    for file in files:
        assert by(file) == [gemini.GEMINI_LOG if file.suffix == ".jsonl" else gemini.GEMINI_FILE]


def test_a_message_counts_from_the_first_line_that_has_its_words(read, tmp_path: Path) -> None:
    head = {"sessionId": "s", "projectHash": "p"}
    empty = {"id": "a", "type": "gemini", "content": "", "toolCalls": [{}]}
    file = write(
        tmp_path / "chats" / "s.jsonl",
        head,
        empty,
        {**empty, "content": "Now."},
        {**empty, "content": "Now."},
    )
    found = read(gemini.GEMINI_LOG, file, tmp_path)
    assert [(turn.line, turn.text) for turn in found.turns] == [(3, "Now.")]


def test_a_project_that_links_out_of_the_source_tells_no_directory(read, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("/etc")
    root = tmp_path / "tmp"
    file = write(
        root / "p" / "chats" / "s.jsonl",
        {"sessionId": "s", "projectHash": "p"},
        {"id": "a", "type": "user", "content": "hello"},
    )
    (root / "p" / ".project_root").symlink_to(tmp_path / "secret")
    assert [turn.cwd for turn in read(gemini.GEMINI_LOG, file, root).turns] == [None]


def test_a_checkpoint_saved_again_with_another_conversation_is_a_session_of_its_own(tmp_path: Path) -> None:
    file = tmp_path / "tmp" / "shop" / "checkpoint-work.json"
    file.parent.mkdir(parents=True)

    def save(*texts: str) -> None:
        roles = ("user", "model", "user", "model")
        history = [
            {"role": role, "parts": [{"text": text}]} for role, text in zip(roles, texts, strict=False)
        ]
        file.write_text(json.dumps(history))

    first = ("We use Postgres.", "Noted.")
    second = ("We moor the boat in Vigo from May on.", "Noted.", "The policy is number 4711.")
    with Memory.open("memory://", user="ann", embedders=[HashEmbedder()]) as memory:
        save(*first)
        assert memory.sync(tmp_path).added == 2
        for more in (second, (*second, "Understood, 4711.")):
            save(*more)
            memory.sync()
        save(*first, "Which version?")
        memory.sync()
        found: dict[str, list[str]] = {}
        turns = [one for one in memory.timeline().memories if one.turn is not None]
        for one in sorted(turns, key=lambda one: one.turn):
            found.setdefault(one.session.partition("~")[0] + "~" * ("~" in one.session), []).append(
                one.content
            )
        assert found == {
            "shop/checkpoint-work": [*first, "Which version?"],
            "shop/checkpoint-work~": [*second, "Understood, 4711."],
        }
