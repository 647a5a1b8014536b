"""The server's description of itself: complete, and true whatever is asked that it says can be asked."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis
import jsonschema
import schemathesis
from http_here import asking, good
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from starlette.testclient import TestClient

from scrubjay.server.http.schemas import COMMON_ERRORS

CHECKS = (
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
)
LONG = ("/v1/backup", "/v1/sync")
"""Paths that name places of this machine: nothing that is made up is written there."""
OPERATIONS = 55
"""How many there are at least: fewer would be a description that lost some."""


def every(told: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Every operation, with the shared responses that it refers to in their places."""
    for path, methods in told["paths"].items():
        for method, operation in methods.items():
            answers = {code: resolved(told, answer) for code, answer in operation["responses"].items()}
            yield path, method, operation | {"responses": answers}


def resolved(told: dict[str, Any], answer: dict[str, Any]) -> dict[str, Any]:
    name = answer.get("$ref", "").removeprefix("#/components/responses/")
    return told["components"]["responses"][name] if name else answer


def test_every_route_says_what_it_is_and_every_error_it_can_answer(client: TestClient) -> None:
    told = good(client.get("/openapi.json"))
    names = [operation["operationId"] for _, _, operation in every(told)]
    assert len(names) == len(set(names)) >= OPERATIONS
    for path, _, operation in every(told):
        assert operation["description"], path
        if operation["x-scope"] is None:
            continue
        answers = operation["responses"]
        assert {str(code) for code in COMMON_ERRORS} <= set(answers), path
        for code, said in answers.items():
            if int(code) >= 400:
                assert said["content"]["application/json"]["schema"]["$ref"].endswith("/Failure"), (
                    path,
                    code,
                )
    for name, schema in told["components"]["schemas"].items():
        assert schema.get("additionalProperties") is False, name


def test_each_error_is_described_once_so_that_generated_clients_have_one_type_for_it(
    client: TestClient,
) -> None:
    told = good(client.get("/openapi.json"))
    for path, methods in told["paths"].items():
        for operation in methods.values():
            for code, answer in operation["responses"].items():
                if int(code) >= 400:
                    assert answer == {"$ref": f"#/components/responses/Error{code}"}, path


def test_components_have_the_names_that_the_client_exports(client: TestClient) -> None:
    schemas = good(client.get("/openapi.json"))["components"]["schemas"]
    exports = (Path(__file__).parents[2] / "clients/typescript/src/index.ts").read_text("utf-8")
    named = set(re.findall(r'Schemas\["(\w+)"\]', exports))
    assert len(named) > 8
    assert named <= set(schemas)


def test_every_example_is_what_its_schema_says(client: TestClient) -> None:
    told = good(client.get("/openapi.json"))
    held = 0

    def sound(schema: dict[str, Any], example: Any) -> None:
        jsonschema.Draft202012Validator({**schema, "components": told["components"]}).validate(example)

    for path, method, operation in every(told):
        body = operation.get("requestBody", {}).get("content", {}).get("application/json")
        if body is not None:
            form = told["components"]["schemas"][body["schema"]["$ref"].rpartition("/")[2]]
            for example in form.get("examples", []):
                sound(form, example)
            assert "examples" in form or not form.get("required"), (path, method)
        for code, said in operation["responses"].items():
            answer = said.get("content", {}).get("application/json", {})
            if int(code) < 300 and answer:
                sound(answer["schema"], answer["example"])
                held += 1
    assert held >= OPERATIONS - 2


def test_every_request_that_the_description_shows_is_answered_as_it_says(client: TestClient) -> None:
    told = good(client.get("/openapi.json"))
    adds = [{"content": f"Kayak number {n} leaks.", "session": "talk", "turn": n} for n in range(4)]
    ids = [good(client.post("/v1/memories", json=each), 201)["id"] for each in adds]
    good(client.put(f"/v1/memories/{ids[0]}/links/{ids[1]}", json={}))
    good(client.post("/v1/concepts", json={"name": "Volvo", "aliases": ["Kayak"]}))
    places = {"{id}": ids[0], "{other}": ids[2], "{name}": "Volvo", "{run}": "run_none"}
    wanted = {"query": "kayak", "ids": ids[:2]}
    went_well: set[str] = set()
    # What takes something away is asked last.
    last = "/v1/forget/everything"
    for path, method, operation in sorted(
        every(told), key=lambda each: (each[0] == last, each[1] == "delete")
    ):
        if path in LONG:
            continue
        place = path
        for name, value in places.items():
            place = place.replace(name, value)
        form = operation.get("requestBody", {}).get("content", {}).get("application/json")
        example = (
            told["components"]["schemas"][form["schema"]["$ref"][21:]].get("examples", [{}])[0]
            if form
            else None
        )
        if form and "ids" in example:
            example = example | {"ids": ids[3:] if path == "/v1/forget" else ids[:2]}
        known = {each["name"] for each in operation.get("parameters", ())}
        asked = {name: value for name, value in wanted.items() if name in known}
        said = client.request(method, place, json=example, params=asked)
        answer = operation["responses"][str(said.status_code)].get("content", {})
        kind = said.headers["content-type"].partition(";")[0]
        assert kind in answer, (method, path, said.text)
        if kind == "application/json":
            schema = {**answer[kind]["schema"], "components": told["components"]}
            jsonschema.Draft202012Validator(schema).validate(said.json())
        if said.status_code < 300:
            went_well.add(operation["operationId"])
    names = {operation["operationId"] for path, _, operation in every(told) if path not in LONG}
    assert names - went_well == {
        "add_model", "use_model", "drop_model", "show_category", "remove_source", "undo_audit", "undo_consolidate",
        "import_file", "embeddings", "unlink",
    }  # fmt: skip


def test_what_the_description_says_can_be_asked_is_answered_as_it_says(
    environ: dict[str, str], rounds: int | None
) -> None:
    with asking(environ) as client:
        adds = [{"content": f"Kayak number {n} leaks.", "tags": ["boat"]} for n in range(9)]
        ids = [good(client.post("/v1/memories", json=each), 201)["id"] for each in adds]
        good(client.post("/v1/concepts", json={"name": "kayak"}))
        asked = 0
        schema = schemathesis.openapi.from_asgi(
            "/openapi.json", running(client.app), headers={"host": "127.0.0.1"}
        )
        for found in schema.get_all_operations():
            operation = found.ok()
            if operation.path in LONG:
                continue
            asked += 1
            _try(operation, ids, rounds or 2)
        assert asked >= OPERATIONS - len(LONG)
        assert good(client.get("/healthz")) == {"status": "ok"}


def running(app: Any) -> Any:
    """An application that runs already: who asks it need not start and end it."""

    async def asked(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            await app({**scope, "client": ("127.0.0.1", 50_000)}, receive, send)
            return
        for word in ("startup", "shutdown"):
            assert (await receive())["type"] == f"lifespan.{word}"
            await send({"type": f"lifespan.{word}.complete"})

    return asked


def _try(operation: Any, ids: list[str], examples: int) -> None:
    @hypothesis.seed(20_260_301)
    @hypothesis.settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=[hypothesis.Phase.explicit, hypothesis.Phase.generate],
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    @hypothesis.given(case=operation.as_strategy())
    def holds(case: Any) -> None:
        if "id" in (case.path_parameters or {}):
            case.path_parameters["id"] = ids[len(case.path_parameters["id"]) % len(ids)]
        said = case.call(headers={"host": "127.0.0.1"})
        case.validate_response(said, checks=list(CHECKS))

    holds()
