"""A collector on the loopback that keeps the spans which processes send it by OTLP over HTTP."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from loopback import Handler, listening

PATIENCE = 30
"""Seconds that a test waits for spans."""


@dataclass(frozen=True)
class Received:
    """A span as it came."""

    name: str
    kind: int
    trace: str
    id: str
    parent: str
    failed: bool
    events: int
    attributes: dict[str, Any]


@dataclass
class Collector:
    """One running collector."""

    url: str = ""
    spans: list[Received] = field(default_factory=list)
    resources: list[dict[str, Any]] = field(default_factory=list)
    raw: bytes = b""
    _changed: threading.Condition = field(default_factory=threading.Condition)

    def wait_for(self, enough: Callable[[list[Received]], Any]) -> list[Received]:
        """Return all spans once there are enough of them."""
        end = time.monotonic() + PATIENCE
        with self._changed:
            while not enough(self.spans):
                assert self._changed.wait(end - time.monotonic()), [span.name for span in self.spans]
            return list(self.spans)

    def named(self, name: str) -> Received:
        """Return the only span of a name, once it is there."""
        spans = self.wait_for(lambda spans: any(span.name == name for span in spans))
        (found,) = [span for span in spans if span.name == name]
        return found

    def receive(self, body: bytes) -> None:
        request = ExportTraceServiceRequest.FromString(body)
        with self._changed:
            self.raw += body
            for group in request.resource_spans:
                self.resources.append(values(group.resource.attributes))
                for scope in group.scope_spans:
                    self.spans += [
                        Received(
                            span.name, span.kind, span.trace_id.hex(), span.span_id.hex(), span.parent_span_id.hex(),
                            span.status.code == 2, len(span.events), values(span.attributes),
                        )
                        for span in scope.spans
                    ]  # fmt: skip
            self._changed.notify_all()


def values(attributes: Any) -> dict[str, Any]:
    return {one.key: getattr(one.value, one.value.WhichOneof("value")) for one in attributes}


@contextmanager
def collecting() -> Iterator[Collector]:
    """Run a collector."""
    collector = Collector()

    class Receiving(Handler):
        def do_POST(self) -> None:
            collector.receive(self.body())
            self.send_response(200)
            self.send_header("content-type", "application/x-protobuf")
            self.send_header("content-length", "0")
            self.end_headers()

    with listening(Receiving) as url:
        collector.url = url
        yield collector
