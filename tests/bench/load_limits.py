"""Limits of `./dev bench load`, and a sentence for each one that is exceeded."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

SAMPLES_PER_SECOND: Final = 200.0
MOST_HEARTBEAT_P95_MS: Final = 250.0
MOST_INGEST_P95_MS: Final = 500.0
MOST_GROWTH_MB: Final = 20.0
"""All parts together in seven minutes with some 200,000 requests: a leak of 100 bytes per request is found."""
LEAST_JUDGED_MINUTES: Final = 5.0
LEAST_SAMPLES_SHARE: Final = 0.95
"""Share of the samples due since the first runs ended."""
LONGEST_SILENCE_SECONDS: Final = 30.0
"""From then on the server reports a node as silent."""
MOST_SLOWER: Final = 2.0
"""Largest ratio of any request group's p95 with hostile traffic to that without."""


@dataclass(frozen=True)
class Measured:
    """Values that the limits apply to.

    Attributes:
        growth_mb: None if the bench was too short to measure it.
        online: nodes that the server reports as online at the end.
        deaf_pages: pages without any update, though runs change all the time.
        hostile: comparison with hostile traffic; None without it.
    """

    errors: int
    heartbeat_p95_ms: float
    ingest_p95_ms: float
    samples_per_second: float
    growth_mb: float | None
    agents: int
    online: int
    longest_silence_seconds: float
    deaf_pages: int
    hostile: "Hostile | None" = None


@dataclass(frozen=True)
class Hostile:
    """Ordinary requests with and without hostile traffic.

    Attributes:
        p95_ms: by group of requests, without hostile traffic and with it.
    """

    requests: int
    errors: int
    p95_ms: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    @property
    def slower(self) -> float:
        """Return the ratio for the group that hostile traffic slowed down most."""
        return max((after / before for before, after in self.p95_ms.values() if before), default=1.0)


def passed_limits(found: Measured) -> list[str]:
    """Return a sentence for each exceeded limit."""
    least_samples = LEAST_SAMPLES_SHARE * SAMPLES_PER_SECOND
    checks = [
        (found.errors > 0, f"{found.errors} requests failed, none may"),
        (
            found.heartbeat_p95_ms > MOST_HEARTBEAT_P95_MS,
            (
                f"the p95 of heartbeats is {found.heartbeat_p95_ms:.0f} ms,"
                f" at most {MOST_HEARTBEAT_P95_MS:.0f} ms are allowed"
            ),
        ),
        (
            found.ingest_p95_ms > MOST_INGEST_P95_MS,
            f"the p95 of ingest is {found.ingest_p95_ms:.0f} ms, at most {MOST_INGEST_P95_MS:.0f} ms are allowed",
        ),
        (
            found.samples_per_second < least_samples,
            f"{found.samples_per_second:.0f} samples/s were taken, {least_samples:.0f} or more are needed",
        ),
        (
            found.growth_mb is not None and found.growth_mb > MOST_GROWTH_MB,
            f"memory grew by {found.growth_mb or 0:.1f} MB, at most {MOST_GROWTH_MB:.0f} MB are allowed",
        ),
        (found.online < found.agents, f"{found.agents - found.online} of {found.agents} nodes are not online"),
        (
            found.longest_silence_seconds > LONGEST_SILENCE_SECONDS,
            f"a node was silent for {found.longest_silence_seconds:.0f} s, {LONGEST_SILENCE_SECONDS:.0f} s are allowed",
        ),
        (found.deaf_pages > 0, f"{found.deaf_pages} pages got no update at all"),
    ]
    passed = [sentence for is_passed, sentence in checks if is_passed]
    return passed if found.hostile is None else [*passed, *_passed_under_attack(found.hostile)]


def _passed_under_attack(hostile: Hostile) -> list[str]:
    passed = [f"{hostile.errors} requests failed under hostile traffic, none may"] if hostile.errors else []
    return passed + [
        f"the p95 of {group} is {after:.0f} ms under hostile traffic and {before:.0f} ms without it, at most"
        f" {MOST_SLOWER:g} times as long is allowed"
        for group, (before, after) in hostile.p95_ms.items()
        if after > MOST_SLOWER * before
    ]
