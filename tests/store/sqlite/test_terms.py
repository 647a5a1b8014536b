from __future__ import annotations

import random
from pathlib import Path

from scrubjay.store.sqlite import terms
from scrubjay.store.sqlite.connect import connect, immediate
from scrubjay.store.sqlite.tenant import obtain
from scrubjay.store.sqlite.terms import Vocabulary
from scrubjay.text.grams import nearest


def test_no_term_that_is_near_enough_is_left_out_and_few_others_are_read(tmp_path: Path) -> None:
    rng = random.Random(7)
    # Few letters: so trigrams come again within one word, and very short words are near each other.
    known = sorted({"".join(rng.choices("abn", k=rng.randint(1, 9))) for _ in range(2_000)})
    db = connect(tmp_path / "store.db")
    with immediate(db):
        tenant = obtain(db, "ours", b"secret").number
        other = obtain(db, "theirs", b"secret").number
        Vocabulary().numbers(db, tenant, known)
        Vocabulary().numbers(db, other, ["banananab"])
    read = 0
    for word in ["banana", "aaaaaa", "ab", "nnnbnn", "abababab", "b", *rng.sample(known, 40)]:
        found = terms.near(db, tenant, word)
        read += len(found)
        assert len(found) == len(set(found))
        assert nearest(word, found, len(known)) == nearest(word, known, len(known))
        assert "banananab" not in set(found) - set(known)
    assert 0 < read < 46 * len(known) / 2
    db.close()
