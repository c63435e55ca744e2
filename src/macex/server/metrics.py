"""What the server counts, for Prometheus."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
METHODS = ("GET", "HEAD", "POST", "DELETE", "OPTIONS", "PUT", "PATCH")
REQUESTS = (1, 2, 4, 8, 16, 32, 64, 128, 256)


class Metrics:
    """The counters of one server."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._requests = Counter(
            "macex_requests",
            "Requests by route and status.",
            ("method", "route", "status"),
            registry=self.registry,
        )
        self._seconds = Histogram(
            "macex_request_seconds",
            "How long requests took.",
            ("route",),
            buckets=SECONDS,
            registry=self.registry,
        )
        self._explained = Counter(
            "macex_explained_rows", "Rows explained.", ("by",), registry=self.registry
        )
        self._shared = Histogram(
            "macex_shared_requests",
            "Requests answered by one call.",
            buckets=REQUESTS,
            registry=self.registry,
        )

    def request(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request."""
        kind = method if method in METHODS else "other"  # a stranger may send any word
        self._requests.labels(kind, route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def shared(self, requests: int, rows: int) -> None:
        """Count a call that answered some requests."""
        self._shared.observe(requests)
        self._explained.labels("request").inc(rows)

    def job_rows(self, rows: int) -> None:
        """Count rows that a job explained."""
        self._explained.labels("job").inc(rows)

    def text(self) -> bytes:
        """All of it, as Prometheus reads it."""
        return generate_latest(self.registry)
