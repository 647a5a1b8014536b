"""Traces: which spans operations make, that they join their caller's trace, and that nothing private is in them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from http_server import serving, started
from mcp.client import Client
from mcp_clients import over_http, over_stdio, running, talk
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from scripted_model import Model

from fork_server import SCRUBJAY
from otlp_collector import Collector, collecting
from scrubjay import Memory, tracing
from scrubjay.errors import InputError

TRACE, CALLER = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
TRACEPARENT = f"00-{TRACE}-{CALLER}-01"
SECRET_WORDS = ("zeppelin", "hangar", "Albatross", "balloons.md", "annabel")
"""What is stored and asked for here, and by whom."""


@pytest.fixture
def exported(environ: dict[str, str]) -> Iterator[InMemorySpanExporter]:
    """Spans of this process."""
    provider, exporter = TracerProvider(), InMemorySpanExporter()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracing.use(provider)
    yield exporter
    tracing.use(None)
    provider.shutdown()


@pytest.fixture
def collector(environ: dict[str, str]) -> Iterator[Collector]:
    """A collector, and an environment and settings that name it."""
    with collecting() as found:
        environ |= {
            "SCRUBJAY_TELEMETRY_TRACES": "true",
            "SCRUBJAY_USER": "annabel",
            "OTEL_EXPORTER_OTLP_ENDPOINT": found.url,
            "OTEL_BSP_SCHEDULE_DELAY": "100",
        }
        yield found


def children(spans: tuple[ReadableSpan, ...], name: str) -> list[str]:
    """Names of the spans right below the only one of a name, in the order of their beginning."""
    (parent,) = [span for span in spans if span.name == name]
    below = [span for span in spans if span.parent and span.parent.span_id == parent.context.span_id]
    return [span.name for span in sorted(below, key=lambda span: span.start_time or 0)]


def test_a_sync_and_a_search_are_spans_with_their_steps(
    environ, exported: InMemorySpanExporter, tmp_path: Path
) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "balloons.md").write_text("# Balloons\n\nThe zeppelin is in the hangar.\n")
    with Memory.open(environ["SCRUBJAY_STORE"]) as memory:
        memory.sync(notes)
        done = exported.get_finished_spans()
        exported.clear()
        memory.search("Where is the zeppelin?")
    assert set(children(done, "scrubjay.sync")) == {
        "scrubjay.sync.scan",
        "scrubjay.sync.prepare",
        "scrubjay.sync.write",
        "scrubjay.sync.enrich",
    }
    assert children(done, "scrubjay.sync.enrich") == ["scrubjay.enrich.connect", "scrubjay.enrich.finalize"]
    (sync,) = [span for span in done if span.name == "scrubjay.sync"]
    assert sync.attributes is not None
    assert (sync.attributes["scrubjay.files"], sync.attributes["scrubjay.added"]) == (1, 1)

    found = exported.get_finished_spans()
    steps = ["files", "retrieve", "fuse", "expand", "order", "select", "abstain"]
    # Models are loaded once, and a file that changed a moment ago may be read again.
    optional = ("scrubjay.models.load", "scrubjay.search.ingest")
    below = [name for name in children(found, "scrubjay.search") if name not in optional]
    assert below == [f"scrubjay.search.{step}" for step in steps]
    channels = ["bm25", "vector", "ngram", "late"]
    assert children(found, "scrubjay.search.retrieve") == [f"scrubjay.search.{one}" for one in channels]
    (search,) = [span for span in found if span.name == "scrubjay.search"]
    assert search.attributes is not None
    assert search.attributes["db.system.name"] == "sqlite"
    assert search.attributes["scrubjay.results"] == 1
    everything = "".join(span.to_json() for span in (*done, *found))
    assert not [word for word in SECRET_WORDS if word in everything]


def test_a_failed_call_is_marked_by_the_type_of_its_error_alone(
    environ, exported: InMemorySpanExporter
) -> None:
    with Memory.open(environ["SCRUBJAY_STORE"]) as memory, pytest.raises(InputError, match="Albatross"):
        memory.search("Albatross", fusion="Albatross")
    (span,) = exported.get_finished_spans()
    assert (span.name, span.status.is_ok, span.status.description) == ("scrubjay.search", False, None)
    assert dict(span.attributes or {}) == {"error.type": "InputError"}
    assert not span.events


@pytest.mark.parametrize("readers", ["0", "1"])
def test_a_request_over_http_continues_its_clients_trace_down_to_the_steps_of_its_search(
    environ, collector: Collector, readers: str
) -> None:
    with serving(environ, "--readers", readers) as url:
        added = httpx.post(
            f"{url}/v1/memories", json={"content": "The zeppelin is in the hangar."}, timeout=60
        )
        assert added.status_code == 201
        headers = {"traceparent": TRACEPARENT, "x-name": "annabel"}
        found = httpx.get(f"{url}/v1/search", params={"query": "zeppelin"}, headers=headers, timeout=60)
        assert found.json()["results"]
        assert httpx.get(f"{url}/v1/memories/hangar", headers=headers, timeout=60).status_code == 404
        request = collector.named("GET /v1/search")
        spans = collector.wait_for(
            lambda spans: (
                {"scrubjay.search", "scrubjay.search.late", "GET /v1/memories/{id}"}
                <= {span.name for span in spans if span.trace == TRACE}
            )
        )
    assert (request.trace, request.parent, request.kind) == (TRACE, CALLER, 2)
    assert request.attributes == {
        "http.request.method": "GET",
        "http.response.status_code": 200,
        "http.route": "/v1/search",
        "network.protocol.version": "1.1",
        "url.scheme": "http",
    }
    ours = {span.id: span for span in spans if span.trace == TRACE}
    (search,) = [span for span in ours.values() if span.name == "scrubjay.search"]
    assert search.parent == request.id
    (retrieve,) = [span for span in ours.values() if span.name == "scrubjay.search.retrieve"]
    assert retrieve.parent == search.id
    assert all(resource["service.name"] == "scrubjay" for resource in collector.resources)
    assert not [word for word in SECRET_WORDS if word.encode() in collector.raw]


@pytest.mark.parametrize("transport", ["stdio", "http"])
@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_a_tool_call_continues_the_trace_in_its_message(
    environ, collector: Collector, transport: str, mode: str
) -> None:
    meta = {"traceparent": TRACEPARENT}

    async def use(client: Client) -> None:
        await client.call_tool("memory_add", {"content": "The zeppelin is in the hangar."}, meta=meta)
        done = await client.call_tool("memory_search", {"query": "zeppelin"}, meta=meta)
        assert "zeppelin" in done.content[0].text
        assert (await client.call_tool("memory_get", {"ids": []}, meta=meta)).is_error

    if transport == "stdio":
        talk(over_stdio(environ, mode), use)
    else:
        with running(environ) as url:
            talk(over_http(url, mode=mode), use)
            collector.named("tools/call memory_get")
    call = collector.named("tools/call memory_search")
    assert (call.trace, call.parent, call.kind) == (TRACE, CALLER, 2)
    version = "2026-07-28" if mode == "auto" else call.attributes["mcp.protocol.version"]
    assert call.attributes == {
        "mcp.method.name": "tools/call",
        "mcp.protocol.version": version,
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "memory_search",
    }
    (search,) = [span for span in collector.spans if span.name == "scrubjay.search"]
    assert (search.trace, search.parent) == (TRACE, call.id)
    failed = collector.named("tools/call memory_get")
    assert (failed.failed, failed.attributes["error.type"], failed.events) == (True, "tool_error", 0)
    assert not [word for word in SECRET_WORDS if word.encode() in collector.raw]


def test_a_tool_call_over_http_continues_the_trace_of_its_request(environ, collector: Collector) -> None:
    envelope = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    params = {"name": "memory_search", "arguments": {"query": "zeppelin"}, "_meta": envelope}
    headers = {
        "accept": "application/json, text/event-stream",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "tools/call",
        "mcp-name": "memory_search",
        "traceparent": TRACEPARENT,
    }
    with running(environ) as url:
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        assert httpx.post(url, json=message, headers=headers, timeout=60).status_code == 200
        request, call = collector.named("POST /mcp"), collector.named("tools/call memory_search")
    assert (request.trace, request.parent) == (TRACE, CALLER)
    assert (call.trace, call.parent) == (TRACE, request.id)


def test_a_proxied_request_has_its_search_and_its_upstreams_answer_in_one_trace(
    environ, collector: Collector, model: Model
) -> None:
    command = [*SCRUBJAY, "proxy", "127.0.0.1:0", "--openai", f"{model.url}/v1"]
    body = {"model": "m", "messages": [{"role": "user", "content": "Where is the zeppelin of annabel?"}]}
    headers = {"traceparent": TRACEPARENT, "authorization": "Bearer sk-1"}
    environ["SCRUBJAY_PROXY_BUDGET_MS"] = "30000"
    with started(command, environ, r"OpenAI at (\S+)/openai/v1") as url:
        answer = httpx.post(f"{url}/openai/v1/chat/completions", json=body, headers=headers, timeout=60)
        assert answer.status_code == 200
        request, upstream = collector.named("POST /openai/v1/{path}"), collector.named("POST")
    assert (request.trace, request.parent) == (TRACE, CALLER)
    assert (upstream.trace, upstream.parent, upstream.kind) == (TRACE, request.id, 3)
    assert upstream.attributes == {
        "http.request.method": "POST",
        "http.response.status_code": 200,
        "server.address": "127.0.0.1",
    }
    assert model.last.header("traceparent") == TRACEPARENT  # what passes is not changed
    assert "scrubjay.context" in {span.name for span in collector.spans if span.trace == TRACE}
    assert not [word for word in SECRET_WORDS if word.encode() in collector.raw]


def test_a_command_sends_its_spans_before_it_ends(environ, cli, collector: Collector, notes: Path) -> None:
    environ["OTEL_SERVICE_NAME"] = "my-memory"
    assert cli.process("sync", notes).code == 0
    assert "scrubjay.sync" in {span.name for span in collector.spans}
    assert {resource["service.name"] for resource in collector.resources} == {"my-memory"}


@pytest.mark.parametrize(
    "given",
    [
        {"SCRUBJAY_TELEMETRY_TRACES": ""},  # as where a coding agent has a collector for itself
        {"OTEL_SDK_DISABLED": "true"},
        {"OTEL_TRACES_EXPORTER": "none"},
    ],
)
def test_nothing_is_sent_unless_traces_are_on(
    environ, cli, collector: Collector, notes: Path, given: dict[str, str]
) -> None:
    environ |= given
    assert cli.process("sync", notes).code == 0
    assert collector.spans == []


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"OTEL_TRACES_EXPORTER": "zipkin"}, "OTEL_TRACES_EXPORTER is 'zipkin', which is no exporter"),
        ({"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, "traces are sent by http/protobuf alone"),
    ],
)
def test_an_exporter_that_is_not_there_is_an_error(
    environ, cli, collector: Collector, notes: Path, given: dict[str, str], why: str
) -> None:
    environ |= given
    said = cli.process("sync", notes)
    assert (said.code, why in said.err) == (2, True)


def test_a_collector_that_is_down_neither_stops_a_command_nor_talks_into_its_output(
    environ, cli, notes: Path
) -> None:
    with collecting() as gone:
        url = gone.url
    before = cli.process("sync", notes)
    environ |= {"SCRUBJAY_TELEMETRY_TRACES": "true", "OTEL_EXPORTER_OTLP_ENDPOINT": url}
    said = cli.process("search", "boats", "--json")
    assert (before.code, said.code, said.err) == (0, 0, "")
    assert cli.process("sync", notes).code == 0


def test_without_traces_the_library_is_not_loaded_and_one_call_says_so_where_it_is_missing(
    environ, tmp_path: Path
) -> None:
    script = (
        "import sys\n"
        "from scrubjay import Memory\n"
        "with Memory.open() as memory:\n"
        "    memory.add('The zeppelin is in the hangar.')\n"
        "    memory.search('zeppelin')\n"
        "print(sorted(name for name in sys.modules if name.startswith('opentelemetry')))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, **environ},
    )
    assert done.stdout == "[]\n", done.stderr
    missing = "import sys; sys.modules['opentelemetry.sdk.trace'] = None\n" + script
    traced = {**os.environ, **environ, "SCRUBJAY_TELEMETRY_TRACES": "true"}
    done = subprocess.run(
        [sys.executable, "-c", missing], capture_output=True, text=True, timeout=60, env=traced
    )
    assert "OpenTelemetry is not installed" in done.stderr
