"""Metrics of the agent as a file for node_exporter's textfile collector.

Unlike a port, a file lets no client cause work. Put it on a tmpfs, so that it reaches no disk.
"""

import logging
import os
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from iotide_agent.core.protocol import Stage
from iotide_agent.runner.files import closing
from iotide_agent.runner.walls import OpenToOthersError, open_walled

IDLE_SECONDS: Final = 15.0
BUSY_SECONDS: Final = 60.0
_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class AgentFacts:
    """Values of the metrics.

    Attributes:
        is_up: False in the last file of an agent that ends.
        last_contact_seconds: On the node's clock since 1970; None: never.
        clock_offset_seconds: How far the node's clock is ahead of the server's; None: unknown.
        deaf_restarts: Worker starts because an offer was missed.
    """

    node: str
    version: str
    is_up: bool
    started_seconds: float
    is_connected: bool
    last_contact_seconds: float | None
    clock_offset_seconds: float | None
    stages: Sequence[Stage]
    spool_bytes: int
    worker_starts: int
    deaf_restarts: int


def exposition(facts: AgentFacts) -> str:
    held = Counter(facts.stages)
    families: list[tuple[str, str, str, list[tuple[str, float | None]]]] = [
        ("info", "gauge", "This agent.", [(_labels(node=facts.node, version=facts.version), 1)]),
        ("up", "gauge", "1 while the agent runs; ignore an old file.", [("", facts.is_up)]),
        ("start_timestamp_seconds", "gauge", "Start time of the agent.", [("", facts.started_seconds)]),
        ("connected", "gauge", "1 if the server answered the last request.", [("", facts.is_connected)]),
        (
            "last_contact_timestamp_seconds",
            "gauge",
            "Time of the server's last answer.",
            [("", facts.last_contact_seconds)],
        ),
        (
            "clock_offset_seconds",
            "gauge",
            "Offset of the node's clock from the server's.",
            [("", facts.clock_offset_seconds)],
        ),
        (
            "orders",
            "gauge",
            "Held orders by stage.",
            [(_labels(stage=stage.value), held[stage]) for stage in Stage],
        ),
        ("spool_bytes", "gauge", "Disk space of orders and unsent results.", [("", facts.spool_bytes)]),
        ("worker_starts_total", "counter", "Starts of the Celery worker.", [("", facts.worker_starts)]),
        (
            "worker_deaf_restarts_total",
            "counter",
            "Starts because the worker had missed an offer.",
            [("", facts.deaf_restarts)],
        ),
    ]
    return "".join(_family(*family) for family in families)


def _family(name: str, kind: str, words: str, samples: Sequence[tuple[str, float | None]]) -> str:
    lines = [f"iotide_agent_{name}{labels} {float(value)!r}\n" for labels, value in samples if value is not None]
    head = f"# HELP iotide_agent_{name} {words}\n# TYPE iotide_agent_{name} {kind}\n"
    return head + "".join(lines) if lines else ""


def _labels(**labels: str) -> str:
    escaped = (
        (name, value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")) for name, value in labels.items()
    )
    return "{" + ",".join(f'{name}="{value}"' for name, value in escaped) + "}"


@dataclass(slots=True)
class Textfile:
    path: Path
    _written_at: float | None = None
    _held: tuple[tuple[int, Stage], ...] = ()
    _has_failed: bool = field(default=False)

    def is_due(self, now: float, held: tuple[tuple[int, Stage], ...]) -> bool:
        if self._written_at is None or {order for order, _ in held} != {order for order, _ in self._held}:
            return True
        return now - self._written_at >= (BUSY_SECONDS if held else IDLE_SECONDS)

    def write(self, facts: AgentFacts, now: float, held: tuple[tuple[int, Stage], ...] = ()) -> None:
        """Log the first failure, and ignore others."""
        self._written_at, self._held = now, held
        try:
            self._replace(exposition(facts).encode())
        except (OSError, OpenToOthersError) as error:
            if not self._has_failed:
                _logger.warning("metrics_not_written path=%s error=%s", self.path, error)
            self._has_failed = True
        else:
            self._has_failed = False

    def _replace(self, text: bytes) -> None:
        # The directory may be node_exporter's own: follow no link in it.
        directory, _ = open_walled(str(self.path.parent), judges_last=False)
        draft = f".{self.path.name}.{os.getpid()}"
        with closing(directory):
            with suppress(FileNotFoundError):
                os.unlink(draft, dir_fd=directory)
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            file = os.open(draft, flags, 0o600, dir_fd=directory)
            with closing(file):
                os.write(file, text)
                os.fchmod(file, 0o644)
            os.rename(draft, self.path.name, src_dir_fd=directory, dst_dir_fd=directory)
