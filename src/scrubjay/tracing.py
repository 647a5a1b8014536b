"""OpenTelemetry traces: spans of operations and their steps, by `span` and `traced`; nothing until `enable`.

While traces are off, which is the default, no library is imported and a span costs one comparison. Names and attributes
of spans are fixed words, counts, names of models and types of errors: never the text of a memory, a question, a path,
a user, or the message of an error.
"""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, Final, ParamSpec, TypeAlias, TypeVar

from scrubjay.errors import ConfigError

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.trace import Span, Tracer, TracerProvider


P = ParamSpec("P")
T = TypeVar("T")
Attributes: TypeAlias = "Mapping[str, str | bool | int | float | tuple[str, ...]]"
Carrier: TypeAlias = "Mapping[str, str]"
"""W3C trace context: ``traceparent`` and ``tracestate``."""

NAME: Final = "scrubjay"
EXPORTERS: Final = ("otlp", "console", "none")
"""Values of OTEL_TRACES_EXPORTER."""
PROTOCOL: Final = "http/protobuf"
"""The value of OTEL_EXPORTER_OTLP_PROTOCOL."""
EXPORT_SECONDS: Final = 2.0
"""Seconds for one export, unless OTEL_EXPORTER_OTLP_TIMEOUT says otherwise: a process that ends waits for its last."""

_NO_SPAN: Final = nullcontext()
_lock: Final = threading.Lock()
_tracer: Tracer | None = None


def enable(environment: Mapping[str, str], version: str) -> None:
    """Record traces from now on and send them where the ``OTEL_`` variables say; a second call does nothing.

    A program that has set a tracer provider of its own gets the spans there.

    Raises:
        ConfigError: OpenTelemetry is not installed, or a variable asks for an exporter that there is not.
    """
    with _lock:
        if _tracer is not None or environment.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
            return
        kind = environment.get("OTEL_TRACES_EXPORTER", "").strip() or EXPORTERS[0]
        if kind == "none":
            return
        try:
            from opentelemetry import trace
            from opentelemetry.sdk.trace import TracerProvider
        except ImportError as error:
            raise ConfigError(
                "[telemetry] traces is on, but OpenTelemetry is not installed. Nothing was started.",
                hint="pip install 'scrubjay[otel]', or traces = false",
            ) from error
        provider = trace.get_tracer_provider()
        use(provider if isinstance(provider, TracerProvider) else _make_provider(kind, environment, version))


def use(provider: TracerProvider | None) -> None:
    """Record traces by a provider; None records none."""
    global _tracer
    _tracer = None if provider is None else provider.get_tracer(NAME)


def _make_provider(kind: str, environment: Mapping[str, str], version: str) -> TracerProvider:
    import logging
    import sys

    from opentelemetry.sdk.resources import OTELResourceDetector, Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor, ConsoleSpanExporter, SpanExporter

    exporter: SpanExporter
    if kind == "console":
        out: Any = sys.__stderr__  # standard output may carry MCP
        exporter = ConsoleSpanExporter(out=out, formatter=lambda one: one.to_json(indent=None) + "\n")
    elif kind == "otlp":
        for name in ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"):
            if environment.get(name, PROTOCOL) != PROTOCOL:
                raise ConfigError(
                    f"{name} is {environment[name]!r:.40}, but traces are sent by {PROTOCOL} alone. "
                    "Nothing was started.",
                    hint=f"{name}={PROTOCOL}, and the collector's port for it, by default 4318",
                )
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

        limited = any(f"OTEL_EXPORTER_OTLP_{part}TIMEOUT" in environment for part in ("TRACES_", ""))
        exporter = OTLPSpanExporter(timeout=None if limited else EXPORT_SECONDS)
    else:
        raise ConfigError(
            f"OTEL_TRACES_EXPORTER is {kind!r:.40}, which is no exporter. Nothing was started.",
            hint=f"one of {', '.join(EXPORTERS)}",
        )
    # Each failed attempt would be a warning in the middle of somebody's output.
    logging.getLogger("opentelemetry").setLevel(logging.ERROR)
    resource = Resource({"service.name": NAME, "service.version": version}).merge(
        OTELResourceDetector().detect()
    )
    provider = TracerProvider(resource=Resource.create().merge(resource))
    provider.add_span_processor(BatchSpanProcessor(exporter))
    return provider


def span(
    name: str, attributes: Attributes | None = None, *, kind: str = "internal", parent: Carrier | None = None
) -> AbstractContextManager[None]:
    """Return a context manager that records its block as a span.

    Args:
        name: Name of the span, one of few.
        attributes: What is known of it at its beginning; more by `annotate`.
        kind: ``internal``, ``server`` or ``client``.
        parent: Trace context of a caller in another process; by default, and if it has none, the current span's.
    """
    return _NO_SPAN if _tracer is None else _recorded(_tracer, name, attributes, kind, parent)


@contextmanager
def _recorded(
    tracer: Tracer, name: str, attributes: Attributes | None, kind: str, parent: Carrier | None
) -> Iterator[None]:
    from opentelemetry.trace import SpanKind, StatusCode

    with tracer.start_as_current_span(
        name,
        _extract(parent) if parent else None,
        SpanKind[kind.upper()],
        attributes,
        # Messages of errors name memories and files.
        record_exception=False,
        set_status_on_exception=False,
    ) as current:
        try:
            yield
        except Exception as error:
            current.set_attribute("error.type", type(error).__name__)
            current.set_status(StatusCode.ERROR)
            raise


def traced(name: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Return a decorator that records each call of a function as a span."""

    def decorate(function: Callable[P, T]) -> Callable[P, T]:
        @wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> T:
            if _tracer is None:
                return function(*args, **kwargs)
            with span(name):
                return function(*args, **kwargs)

        return call

    return decorate


def traced_items(name: str, items: Iterable[T]) -> Iterator[T]:
    """Yield items, and record the work of making each as a span."""
    iterator, end = iter(items), object()
    while True:
        with span(name):
            item: Any = next(iterator, end)
        if item is end:
            return
        yield item


def annotate(attributes: Attributes, *, failed: bool = False) -> None:
    """Add attributes to the current span, and mark it as failed."""
    if _tracer is None:
        return
    from opentelemetry.trace import StatusCode

    current = _current()
    current.set_attributes(attributes)
    if failed:
        current.set_status(StatusCode.ERROR)


def set_route(method: str, route: str) -> None:
    """Name the current span, an HTTP request's, by the pattern of its route."""
    if _tracer is not None:
        current = _current()
        current.update_name(f"{method} {route}")
        current.set_attribute("http.route", route)


def carry(work: Callable[[], T]) -> Callable[[], T]:
    """Return a function that does the work in another thread within the current span."""
    return work if _tracer is None else partial(contextvars.copy_context().run, work)


def current_context() -> dict[str, str]:
    """Return the trace context of the current span, for another process; empty for none."""
    carrier: dict[str, str] = {}
    if _tracer is not None:
        _propagator().inject(carrier)
    return carrier


@contextmanager
def continued(carrier: Carrier) -> Iterator[None]:
    """Continue a trace of another process in a block."""
    found = _extract(carrier) if _tracer is not None and carrier else None
    if found is None:
        yield
        return
    from opentelemetry.context import attach, detach

    token = attach(found)
    try:
        yield
    finally:
        detach(token)


def _current() -> Span:
    from opentelemetry.trace import get_current_span

    return get_current_span()


def _propagator() -> Any:
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    return TraceContextTextMapPropagator()


def _extract(carrier: Carrier) -> Context | None:
    """Return a caller's context; None if it has no valid one."""
    from opentelemetry.trace import get_current_span

    given = {
        name: value for name in ("traceparent", "tracestate") if isinstance(value := carrier.get(name), str)
    }
    found: Context = _propagator().extract(given)
    return found if get_current_span(found).get_span_context().is_valid else None
