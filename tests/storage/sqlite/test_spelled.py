"""Words spelled like a word: among few of a tenant's own, or by the trigrams of a whole file; the same either way."""

from __future__ import annotations

import random
from contextlib import closing
from pathlib import Path

from scrubjay.models.records import Scope
from scrubjay.storage.changes import PutMemory
from scrubjay.storage.sqlite import postings
from scrubjay.storage.sqlite.reader import SQLiteReader
from scrubjay.storage.sqlite.store import SQLiteStore
from scrubjay.text.tokenizer import nearest_terms
from store_contract.samples import sample_memory, write_changes

MANY, FEW = Scope("many", "ann"), Scope("few", "ann")


def test_a_small_tenant_of_a_large_file_compares_its_own_words_and_finds_what_trigrams_find(
    tmp_path: Path,
) -> None:
    rng = random.Random(1)
    words = {"".join(rng.choices("aborst", k=rng.randint(3, 9))) for _ in range(600)}
    held = {MANY: words, FEW: {*rng.sample(sorted(words), 20), "harbour"}}
    with closing(SQLiteStore(tmp_path / "memory.db")) as store:
        for who, own in held.items():
            write_changes(store, who, PutMemory(sample_memory(" ".join(sorted(own)), who.key())))
        for who in held:
            with store.reader(who) as reader:
                assert isinstance(reader, SQLiteReader)
                few = postings.small_vocabulary(reader._db, reader._tenant)
                assert (few is not None) == (who is FEW), "the small tenant alone has few of the file's words"
                known = reader._db.execute(
                    "SELECT text FROM term WHERE tenant = ?", (reader._tenant,)
                ).fetchall()
                own = {text for (text,) in known}
                for asked in [*sorted(words)[::40], "harbou", "zz", ""]:
                    near = [pair for pair in nearest_terms(asked, own, len(own)) if pair[0] != asked]
                    assert reader.similar_terms(asked, 50) == near[:50], asked


def test_what_a_small_tenant_writes_is_among_its_words_at_once(tmp_path: Path) -> None:
    with closing(SQLiteStore(tmp_path / "memory.db")) as store:
        write_changes(
            store,
            MANY,
            PutMemory(sample_memory(" ".join(f"word{number}" for number in range(300)), MANY.key())),
        )
        for text, found in (("an old harbour", ["harbour"]), ("two harbours", ["harbour", "harbours"])):
            write_changes(store, FEW, PutMemory(sample_memory(text, FEW.key())))
            with store.reader(FEW) as reader:
                assert [word for word, _ in reader.similar_terms("harbou")] == found
