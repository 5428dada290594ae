"""A node's report of a run, and the server's error for a report that it rejects."""

from typing import Any, Final

from factories.site import Offered, SimulatedAgent, Site

SAMPLE: Final = {"metric": "throughput", "value": 1.0, "labels": {"operation": "write"}, "target_id": None}
FLAG: Final = {"code": "DURATION", "effect": "marked", "measured": "1 s", "limit": "2 s"}


def step(site: Site, **changes: object) -> dict[str, object]:
    took = {"wall_seconds": 60.0, "user_seconds": 0, "system_seconds": 0, "max_rss_bytes": 1}
    named = {"name": "w", "phase": "w", "argv": ["dd"], "target_id": None, "writer": None, "started_at": site.clock()}
    return {**named, **took, "exit_status": 0, "signal": None, **changes}


def refusal(site: Site, agent: SimulatedAgent, offer: Offered, changed: dict[str, Any]) -> str:
    """Hand a result in; return why its run failed."""
    assert agent.hand_in(offer, agent.result(offer, **{"samples": (SAMPLE,), **changed})).accepted
    run = site.run(offer.run_id)
    assert run.state == "failed"
    assert run.reason is not None
    return run.reason
