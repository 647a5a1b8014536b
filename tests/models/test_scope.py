from __future__ import annotations

import pytest

from scrubjay.errors import InputError
from scrubjay.models.records import Scope

ANN = Scope("home", "ann", ("ops", "dev", "ops"))


def test_one_sees_ones_own_the_groups_and_what_is_public() -> None:
    assert ANN.keys == ("group:dev", "group:ops", "public", "user:ann")
    assert Scope("home", "bob").keys == ("public", "user:bob")


def test_a_memory_is_written_under_one_key_that_its_writer_sees() -> None:
    written = [ANN.key(), ANN.key("public"), ANN.key("group", "dev")]
    assert written == ["user:ann", "public", "group:dev"]
    assert set(written) <= set(ANN.keys)


@pytest.mark.parametrize(("group", "said"), [(None, "named:"), ("", "not"), ("sales", "not")])
def test_a_group_that_is_not_ones_own_is_refused_with_ones_own(group: str | None, said: str) -> None:
    match = rf"{said} one of ann's groups \(ops, dev, ops\)\. Nothing was written"
    with pytest.raises(InputError, match=match):
        ANN.key("group", group)


def test_an_unknown_visibility_is_refused_with_those_there_are() -> None:
    with pytest.raises(InputError, match="user, group, public"):
        ANN.key("everyone")


def test_names_of_users_and_groups_cannot_pass_for_one_another() -> None:
    assert not set(Scope("t", "dev").keys) & {"group:dev"}
    assert "user:ann" not in Scope("t", "x", ("ann",)).keys
