"""An export of a store in which a bit was flipped: an error that names it, and never a file that looks whole."""

from __future__ import annotations

import io
import random
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from http_here import asking, good, refused

from scrubjay import Memory
from scrubjay.config.loader import load_settings
from scrubjay.embeddings.hash_embedder import HashEmbedder
from scrubjay.errors import ScrubjayError, StoreDamagedError
from scrubjay.models.lifecycle import NewMemory

TEXT, TIER, TAGS, PAGE = b"mast number 30", b"observation", b'["rigging"]', b""


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of sixty memories, all of it in one file."""
    folder = tmp_path_factory.mktemp("sound")
    settings = load_settings(environ={"XDG_CONFIG_HOME": str(folder)})
    with Memory.open(
        folder / "memory.db", user="ann", settings=settings, embedders=[HashEmbedder(64)]
    ) as memory:
        texts = [f"The mast number {number} is of ash wood." for number in range(60)]
        memory.add_many([NewMemory(text, tags=("rigging",)) for text in texts])
    return folder / "memory.db"


@pytest.fixture
def store(environ: dict[str, str], sound: Path) -> Path:
    """A copy of it, to be damaged."""
    return Path(shutil.copy(sound, environ["SCRUBJAY_STORE"]))


def damage(store: Path, what: bytes) -> None:
    """Flip a bit of what is stored; of a page, all of them."""
    data = bytearray(store.read_bytes())
    places = [found.start() for found in re.finditer(re.escape(what or TEXT), data)]
    if what not in (TEXT, PAGE):
        del places[1:]
    assert places
    for at in places:  # a text may also stand where it stood before, in what is free now
        if what == PAGE:
            start = at // 4096 * 4096
            data[start : start + 4096] = bytes(4096)
        else:
            data[at + 1] ^= 4
    store.write_bytes(data)


@pytest.mark.parametrize(
    ("what", "named"),
    [
        (TEXT, "is not the one that was written"),
        (TIER, "'ofservation'"),
        (TAGS, "JSONDecodeError"),
        (PAGE, "malformed"),
    ],
    ids=["text", "tier", "tags", "page"],
)
def test_a_flipped_bit_ends_an_export_in_an_error_that_names_it(
    cli: Any, store: Path, tmp_path: Path, what: bytes, named: str
) -> None:
    damage(store, what)
    place = tmp_path / "out" / "memories.jsonl"
    place.parent.mkdir()

    to_file = cli("export", place)
    assert to_file.code == 4
    assert named in to_file.err
    assert f"{store} is damaged" in to_file.err
    assert "No export was written" in to_file.err
    assert "backup" in to_file.err
    assert list(place.parent.iterdir()) == []

    to_stream = cli.process("export", "-")
    lines = to_stream.out.splitlines()
    assert to_stream.code == 4
    assert f"{len(lines):,} lines were written, and no footer" in to_stream.err
    assert "Traceback" not in to_stream.err
    assert not any('"line":"footer"' in line for line in lines)
    place.write_text(to_stream.out)
    assert cli("import", place).code == 2  # it is not whole
    place.unlink()

    stream = io.BytesIO()
    with (
        Memory.open(store, user="ann", embedders=[HashEmbedder(64)]) as memory,
        pytest.raises(StoreDamagedError, match="is damaged"),
    ):
        memory.export(stream)
    assert b'"line":"footer"' not in stream.getvalue()


@pytest.mark.parametrize("what", [TEXT, TIER, PAGE], ids=["text", "tier", "page"])
def test_a_flipped_bit_ends_an_export_over_http_before_a_line_is_sent(
    environ: dict[str, str], store: Path, what: bytes
) -> None:
    damage(store, what)
    with asking(environ) as client:
        said = client.get("/v1/export")
        assert "No export was written" in refused(said, 503)
        assert "backup" in said.json()["error"]["hint"]
        assert good(client.get("/healthz")) == {"status": "ok"}


def test_the_memory_that_is_named_can_be_forgotten_and_the_rest_exported(
    cli: Any, store: Path, tmp_path: Path
) -> None:
    damage(store, TEXT)
    said = cli("export", tmp_path / "memories.jsonl").err
    found = re.search(r"The text of (obs_\w+)", said)
    assert found, said
    assert cli("forget", found[1], "--yes").code == 0
    assert cli("export", tmp_path / "memories.jsonl", "--json").json["counts"]["memory"] == 59


def test_flipped_bits_anywhere_end_an_export_whole_or_in_an_error_of_ours(
    store: Path, tmp_path: Path, rounds: int | None, seed: int
) -> None:
    chance, data = random.Random(seed), store.read_bytes()
    place = tmp_path / "flipped.db"
    texts = {f"The mast number {number} is of ash wood." for number in range(60)}
    for _ in range(40 * (rounds or 1)):
        for left in tmp_path.glob("flipped.db*"):
            left.unlink()
        flipped = bytearray(data)
        flipped[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        place.write_bytes(flipped)
        stream = io.BytesIO()
        try:
            with Memory.open(place, user="ann", embedders=[HashEmbedder(64)]) as memory:
                done = memory.export(stream)
        except ScrubjayError:  # and no other
            assert b'"line":"footer"' not in stream.getvalue()
        else:
            assert done.counts["memory"] == 60
            assert all(text.encode() in stream.getvalue() for text in texts)
