from __future__ import annotations

import random
from pathlib import Path

from scrubjay.storage.sqlite import postings
from scrubjay.storage.sqlite.connection import connect, write_transaction
from scrubjay.storage.sqlite.postings import Vocabulary
from scrubjay.storage.sqlite.rows import get_or_create_tenant
from scrubjay.text.tokenizer import nearest_terms


def test_no_term_that_is_near_enough_is_left_out_and_few_others_are_read(tmp_path: Path) -> None:
    rng = random.Random(7)
    # Few letters: so trigrams come again within one word, and very short words are near each other.
    known = sorted({"".join(rng.choices("abn", k=rng.randint(1, 9))) for _ in range(2_000)})
    db = connect(tmp_path / "store.db")
    with write_transaction(db):
        tenant = get_or_create_tenant(db, "ours", b"secret").number
        other = get_or_create_tenant(db, "theirs", b"secret").number
        Vocabulary().numbers(db, tenant, known)
        Vocabulary().numbers(db, other, ["banananab"])
    read = 0
    for word in ["banana", "aaaaaa", "ab", "nnnbnn", "abababab", "b", *rng.sample(known, 40)]:
        found = postings.trigram_candidates(db, tenant, word)
        read += len(found)
        assert len(found) == len(set(found))
        assert nearest_terms(word, found, len(known)) == nearest_terms(word, known, len(known))
        assert "banananab" not in set(found) - set(known)
    assert 0 < read < 46 * len(known) / 2
    db.close()
