from __future__ import annotations

from dataclasses import fields, replace

from scrubjay.models.ids import EmbeddingModel

MODEL = EmbeddingModel("bundled", "all-MiniLM-L6-v2", "abc", 384, "mean", 256)


def test_a_fingerprint_changes_with_everything_that_changes_the_vectors() -> None:
    changed = {
        replace(MODEL, **{f.name: 7 if f.type == "int" else "other"}).fingerprint
        for f in fields(EmbeddingModel)
    }
    assert len(changed | {MODEL.fingerprint}) == len(fields(EmbeddingModel)) + 1


def test_a_fingerprint_is_twelve_hex_digits_and_the_same_tomorrow() -> None:
    assert MODEL.fingerprint == replace(MODEL).fingerprint == "f80b20a07d42"


def test_parts_of_a_model_do_not_run_into_one_another() -> None:
    assert (
        EmbeddingModel("a", "bc", "", 1, "mean").fingerprint
        != EmbeddingModel("ab", "c", "", 1, "mean").fingerprint
    )
