"""Health checks and Prometheus metrics.

Labels are route patterns, never paths, which may contain names.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

from fastapi import FastAPI, Request, Response
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from scrubjay.errors import ScrubjayError, StoreBusyError, StoreError
from scrubjay.models.dates import SECOND
from scrubjay.server.auth import TokensUnreadableError
from scrubjay.server.http.schemas import Failure, describe_response, object_model
from scrubjay.server.middleware import method_label
from scrubjay.server.requests import ApiRouter, ReadAccess, log_error
from scrubjay.services.inspection import store_totals
from scrubjay.tracing import set_route

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from scrubjay.memory import Memory
    from scrubjay.models.reports import StoreStatus
    from scrubjay.server.session import Session
    from scrubjay.services.inspection import StoreTotals


router = ApiRouter(tags=["health"])

_STATE: Final = object_model("State", "State.", status=str)


@router.head("/healthz", include_in_schema=False)
@router.get("/healthz", responses={200: describe_response(_STATE, "It lives.")})
async def healthz() -> dict[str, str]:
    """Report that the process is alive; checks nothing else."""
    return {"status": "ok"}


@router.head("/readyz", include_in_schema=False)
@router.get(
    "/readyz",
    responses={
        200: describe_response(_STATE, "Ready; `read-only` if the store takes no writes."),
        503: {"model": Failure},
    },
)
async def readyz(request: Request) -> dict[str, str]:
    """Report whether the store answers; 503 if it cannot be read, its disk is full, or the tokens cannot be read."""
    session: Session = request.app.state.session
    try:
        request.app.state.tokens.all()
    except ScrubjayError as error:
        raise TokensUnreadableError from error
    return {"status": await session.ready()}


BUCKETS: Final = (0.002, 0.005, 0.01, 0.015, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
"""Seconds; the first ones are near the targets for a search."""

HIDDEN_METRICS_NOTE: Final = (
    b"# Memories are those visible to the caller. Metrics of requests, the proxy's queue, the worker and the whole "
    b"store need a token of the owner's tenant with the admin scope.\n"
)
"""Comment that explains missing metrics."""


class MetricsMiddleware:
    def __init__(self, app: ASGIApp, registry: CollectorRegistry) -> None:
        self._app = app
        self._answered = Counter(
            "scrubjay_http_requests", "Requests answered.", ("method", "route", "status"), registry=registry
        )
        self._seconds = Histogram(
            "scrubjay_http_request_seconds",
            "Seconds until the response started.",
            ("method", "route"),
            buckets=BUCKETS,
            registry=registry,
        )
        self._open = Gauge("scrubjay_http_requests_open", "Requests in progress.", registry=registry)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = time.perf_counter()
        status, seconds = 499, 0.0  # the usual status for a client that disconnected

        async def measure(message: Message) -> None:
            nonlocal status, seconds
            if message["type"] == "http.response.start":
                status, seconds = message["status"], time.perf_counter() - started
            await send(message)

        self._open.inc()
        try:
            await self._app(scope, receive, measure)
        except BaseException:
            status = status if seconds else 500
            raise
        finally:
            route = getattr(scope.get("route"), "path", "") or "none"
            seconds = seconds or time.perf_counter() - started
            method = method_label(scope["method"])
            if route != "none":
                set_route(method, route)
            self._open.dec()
            self._answered.labels(method, route, str(status)).inc()
            self._seconds.labels(method, route).observe(seconds)


def add_metrics(app: FastAPI) -> None:
    """Measure an application's requests; the outermost of its middleware."""
    app.state.registry = CollectorRegistry()
    app.add_middleware(MetricsMiddleware, registry=app.state.registry)


@router.get("/metrics", response_class=Response, responses={200: {"content": {"text/plain": {}}}})
async def metrics(access: ReadAccess) -> Response:
    """Return Prometheus metrics of the caller's memories and, for an operator, of the server."""
    session, state = access.session, access.request.app.state
    operator, gauges = access.is_operator, CollectorRegistry()
    parts: list[Collector] = [gauges]
    if operator:
        queue = ProxyQueueCollector(state.proxy.drops.turns, await state.proxy.queue_size())
        parts = [state.registry, queue, gauges]
        add_worker_gauge(gauges, session.job.last_check())
    tenants = {session.owner.tenant, *(token.tenant for token in state.tokens.all())}

    def read(memory: Memory) -> tuple[StoreStatus, StoreTotals | None, bool]:
        status = memory.status()
        totals = store_totals(memory.workspace.store, tenants) if operator else None
        return status, totals, is_writable(memory)

    try:
        add_store_gauges(gauges, *await access.read(read))
    except StoreBusyError:
        if not operator:
            raise
    except StoreError as error:
        log_error(access.request, "http", error)
        Gauge(*STORE_UP, registry=gauges).set(0)
    text = b"".join(generate_latest(part) for part in parts)
    return Response(text if operator else HIDDEN_METRICS_NOTE + text, media_type=CONTENT_TYPE_PLAIN_0_0_4)


class ProxyQueueCollector(Collector):
    def __init__(self, dropped: Mapping[str, int], waiting: int | None) -> None:
        self._dropped = dropped
        self._waiting = waiting

    def collect(self) -> Iterator[Metric]:
        dropped = CounterMetricFamily(
            "scrubjay_proxy_turns_dropped", "Proxied turns that were dropped.", labels=("why",)
        )
        for reason, turns in self._dropped.items():
            dropped.add_metric((reason,), turns)
        yield dropped
        if self._waiting is not None:
            description = "Proxied turns waiting to be stored."
            yield GaugeMetricFamily("scrubjay_proxy_turns_waiting", description, self._waiting)


STORE_UP: Final = ("scrubjay_store_up", "Whether the store could be read for these metrics.")


def add_worker_gauge(gauges: CollectorRegistry, looked: float | None) -> None:
    """``looked``: seconds since 1970, None if no worker of this store has run with this data folder."""
    if looked is not None:
        description = "When `scrubjay worker` last looked for pending work, in seconds since 1970."
        Gauge("scrubjay_worker_look_timestamp_seconds", description, registry=gauges).set(looked)


def is_writable(memory: Memory) -> bool:
    try:
        memory.workspace.store.check_writable()
    except StoreError:
        return False
    return True


def add_store_gauges(
    gauges: CollectorRegistry, status: StoreStatus, totals: StoreTotals | None, writable: bool
) -> None:
    """``totals``: sums over all users, which replace the caller's; None for the caller's own memories."""

    def gauge(name: str, about: str, *labels: str) -> Gauge:
        return Gauge(f"scrubjay_{name}", about, labels, registry=gauges)

    Gauge(*STORE_UP, registry=gauges).set(1)
    gauge("store_writable", "Whether the store takes writes now.").set(writable)
    tiers = gauge("memories", "Memories by tier.", "tier")
    for tier, count in (status.tiers if totals is None else totals.tiers).items():
        tiers.labels(tier).set(count)
    used = gauge("quota_used", "Memories counted against a [quota] limit.", "limit")
    allowed = gauge("quota_allowed", "Maximum of the [quota] limit.", "limit")
    for limit in status.quota:
        used.labels(limit.setting).set(limit.used)
        allowed.labels(limit.setting).set(limit.allowed)
    backlog = gauge("embedding_backlog", "Memories pending embedding by a model.", "model")
    by_model = {model.name: model.waiting for model in status.models}
    for name, pending in (by_model if totals is None else totals.waiting).items():
        backlog.labels(name).set(pending)
    if totals is not None:
        gauge("enrichment_backlog", "Memories pending enrichment.").set(totals.due)
        age = 0.0 if totals.oldest is None else max(time.time() - totals.oldest / SECOND, 0.0)
        gauge("pending_age_seconds", "How long the oldest pending memory has been pending.").set(age)
        gauge("store_bytes", "Bytes of the store on disk.").set(status.bytes)
