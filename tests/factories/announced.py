"""Announcements of an agent without any tool of its own: generated hellos, mounts and workloads."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from iotide_wire.catalogue import MetricSpec, WorkloadAnnouncement
from iotide_wire.expressions import Option
from iotide_wire.facts import FactValue, MountFacts
from iotide_wire.messages import HelloRequest
from iotide_wire.units import GIB, Unit
from iotide_wire.versions import WIRE_VERSION

NOW = datetime(2026, 11, 21, 10, 0, tzinfo=UTC)


def mount(
    mount_point: str = "/scratch",
    fstype: str = "ext4",
    source: str = "/dev/sdb1",
    *,
    path: str | None = None,
    **facts: FactValue,
) -> MountFacts:
    return MountFacts(
        path=path or mount_point,
        mount_point=mount_point,
        fstype=fstype,
        source=source,
        mount_options="noatime,rw",
        total_bytes=10 * GIB,
        free_bytes=8 * GIB,
        approved=True,
        facts=facts,
    )


OPTIONS_SCHEMA: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["file_size_bytes"],
    "properties": {
        "file_size_bytes": {"type": "integer", "exclusiveMinimum": 0, "x-unit": "bytes"},
        "block_size_bytes": {"type": "integer", "minimum": 512, "multipleOf": 512, "x-unit": "bytes"},
        "sync": {"enum": ["none", "fsync"], "type": "string"},
        "runtime_seconds": {"anyOf": [{"type": "number", "minimum": 1}, {"type": "null"}], "x-unit": "seconds"},
        "record_sizes_bytes": {
            "type": "array",
            "minItems": 1,
            "items": {"type": "integer", "minimum": 1, "x-unit": "bytes"},
        },
    },
}
OPTION_DEFAULTS: dict[str, Any] = {
    "block_size_bytes": 1024**2,
    "sync": "fsync",
    "runtime_seconds": None,
    "record_sizes_bytes": [4096],
}


def workload(name: str = "dd", **changes: Any) -> WorkloadAnnouncement:  # noqa: ANN401 - any field
    fields: dict[str, Any] = {
        "name": name,
        "revision": 1,
        "title": name,
        "description": "",
        "options_schema": OPTIONS_SCHEMA,
        "option_defaults": OPTION_DEFAULTS,
        "metrics": (
            MetricSpec(
                name="write_bytes_per_second",
                title="write",
                unit=Unit.BYTES_PER_SECOND,
                better="higher",
                labels=("operation",),
            ),
        ),
        "bytes_needed": Option.of("file_size_bytes"),
        "bytes_moved": Option.of("file_size_bytes"),
        "breaks_series": False,
        "tool": name,
        "tool_version": "1.0",
        "available": True,
        "unavailable_because": None,
    }
    return WorkloadAnnouncement.model_validate(fields | changes)


def hello(
    instance: str = "instance-1",
    *,
    previous: str | None = None,
    boot_id: str = "boot-0001",
    mounts: Sequence[MountFacts] = (),
    approved: Sequence[str] = ("/scratch",),
) -> HelloRequest:
    return HelloRequest(
        agent_instance=instance,
        previous_instance=previous,
        boot_id=boot_id,
        agent_version="0.1.0",
        wire_version=WIRE_VERSION,
        sent_at=NOW,
        facts={"memory.total_bytes": 16 * GIB},
        mounts=tuple(mounts) or (mount("/", "ext4", "/dev/sda1"), mount()),
        approved_directories=tuple(approved),
        workloads=(),
        holds=(),
    )
