"""Server responses about a campaign, its cells and its runs."""

from typing import Any

RATE = {"metric": "throughput", "unit": "bytes_per_second", "better": "higher", "labels": {"operation": "write"}}
CELL = {
    "id": 1,
    "ordinal": 0,
    "stage": 1,
    "variant": "",
    "node_names": ["n1"],
    "target_names": ["disk"],
    "workload": "dd",
    "options": {"file_size_bytes": 67_108_864},
    "runs": [11],
    "results": [RATE | {"series_id": 5, "n": 4, "median": 1.2e8, "low": 1.1e8, "high": 1.3e8}],
}
NOT_WAITING = {"waiting_because": None, "expected_start_at": None, "expected_start_unknown_because": None}
RUN = {
    "id": 11,
    "campaign_id": 7,
    "campaign_name": "first",
    "repeat": 1,
    "node_names": ["n1"],
    "target_names": ["disk"],
    "workload": "dd",
    "state": "finished",
    "validity": "rejected",
    "flags": [{"code": "FSYNC", "effect": "rejected", "measured": "page cache", "limit": "fsync"}],
    "progress": 1.0,
    "phase": None,
    "reason": None,
}


def campaign(state: str = "waiting", **counts: int) -> dict[str, Any]:
    return {
        "id": 7,
        "name": "first",
        "cluster_name": "demo",
        "owner": "ada",
        "state": state,
        "created_at": "2026-11-21T10:00:00Z",
        "ended_at": None,
        "stages": [],
        "counts": {"waiting": 0, "active": 0, "finished": 0, "failed": 0, "cancelled": 0} | counts,
        "progress": 0.5,
        "seconds_remaining_estimated": 30.0,
    }


def page(*items: object, cursor: str | None = None) -> tuple[int, dict[str, object]]:
    return 200, {"items": list(items), "next_cursor": cursor}
