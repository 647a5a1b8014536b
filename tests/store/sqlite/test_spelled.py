"""Words spelled like a word: among few of a tenant's own, or by the trigrams of a whole file; the same either way."""

from __future__ import annotations

import random
from contextlib import closing
from pathlib import Path

from scrubjay.memory.scope import Scope
from scrubjay.store.changes import PutMemory
from scrubjay.store.sqlite import terms
from scrubjay.store.sqlite.reader import SQLiteReader
from scrubjay.store.sqlite.store import SQLiteStore
from scrubjay.testing.store_samples import memory, write
from scrubjay.text.grams import nearest

MANY, FEW = Scope("many", "ann"), Scope("few", "ann")


def test_a_small_tenant_of_a_large_file_compares_its_own_words_and_finds_what_trigrams_find(
    tmp_path: Path,
) -> None:
    rng = random.Random(1)
    words = {"".join(rng.choices("aborst", k=rng.randint(3, 9))) for _ in range(600)}
    held = {MANY: words, FEW: {*rng.sample(sorted(words), 20), "harbour"}}
    with closing(SQLiteStore(tmp_path / "memory.db")) as store:
        for who, own in held.items():
            write(store, who, PutMemory(memory(" ".join(sorted(own)), who.key())))
        for who in held:
            with store.reader(who) as reader:
                assert isinstance(reader, SQLiteReader)
                few = terms.few(reader._db, reader._tenant)
                assert (few is not None) == (who is FEW), "the small tenant alone has few of the file's words"
                known = reader._db.execute(
                    "SELECT text FROM term WHERE tenant = ?", (reader._tenant,)
                ).fetchall()
                own = {text for (text,) in known}
                for asked in [*sorted(words)[::40], "harbou", "zz", ""]:
                    near = [pair for pair in nearest(asked, own, len(own)) if pair[0] != asked]
                    assert reader.similar_terms(asked, 50) == near[:50], asked


def test_what_a_small_tenant_writes_is_among_its_words_at_once(tmp_path: Path) -> None:
    with closing(SQLiteStore(tmp_path / "memory.db")) as store:
        write(store, MANY, PutMemory(memory(" ".join(f"word{number}" for number in range(300)), MANY.key())))
        for text, found in (("an old harbour", ["harbour"]), ("two harbours", ["harbour", "harbours"])):
            write(store, FEW, PutMemory(memory(text, FEW.key())))
            with store.reader(FEW) as reader:
                assert [word for word, _ in reader.similar_terms("harbou")] == found
