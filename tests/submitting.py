"""Plans and runs of any cluster under test."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from itertools import count
from typing import Any, ClassVar, Final

from bring_up import wait_for
from local_stack import LocalStack

TARGET: Final = "scratch"
_ENDED: Final = {"finished", "failed", "cancelled"}
_numbers = count(1)


class Submitting(ABC):
    """A cluster with one target, for submitted plans.

    Attributes:
        longest_start_seconds, longest_run_seconds: time limits of the waits for a load and for an end.
    """

    stack: LocalStack
    cluster: str
    longest_start_seconds: ClassVar[float] = 30
    longest_run_seconds: ClassVar[float] = 60

    @property
    @abstractmethod
    def first_node(self) -> str:
        """Return the node of its plans."""

    def plan(self, workload: str, options: Mapping[str, Any], **more: object) -> dict[str, Any]:
        """Return a campaign plan of one cell on the first node and the target; `more` are fields of the plan."""
        return {
            "name": f"{workload}-{next(_numbers)}",
            "cluster": self.cluster,
            "nodes": [self.first_node],
            "targets": [TARGET],
            "workloads": [{"workload": workload, "options": dict(options)}],
            "repeats": 1,
            **more,
        }

    def submit(self, workload: str, options: Mapping[str, Any], **more: object) -> int:
        """Submit such a plan; return the campaign's id."""
        campaign_id: int = self.stack.post("/campaigns", self.plan(workload, options, **more))["id"]
        return campaign_id

    def runs(self, campaign_id: int) -> list[dict[str, Any]]:
        """Return the campaign's runs in detail, oldest first."""
        items = self.stack.get("/runs", campaign_id=campaign_id, limit=500)["items"]
        return [self.run(item["id"]) for item in sorted(items, key=lambda item: item["id"])]

    def submit_one(self, workload: str, options: Mapping[str, Any], **more: object) -> int:
        """Submit a plan of one run; return the run's id."""
        return int(self.runs(self.submit(workload, options, **more))[0]["id"])

    def run(self, run_id: int) -> dict[str, Any]:
        """Return a run in detail."""
        found: dict[str, Any] = self.stack.get(f"/runs/{run_id}")
        return found

    def wait_running(self, run_id: int) -> dict[str, Any]:
        """Return the run as soon as its load reports progress."""

        def running() -> dict[str, Any] | None:
            run = self.run(run_id)
            if run["state"] in _ENDED:
                raise AssertionError(f"run {run_id} ended before it was seen running: {run['reason']}")
            return run if run["progress"] else None

        return wait_for(f"progress of run {run_id}", running, seconds=self.longest_start_seconds)

    def wait_ended(self, run_id: int, *, seconds: float | None = None) -> dict[str, Any]:
        """Return the run as soon as it has ended with any outcome."""

        def ended() -> dict[str, Any] | None:
            run = self.run(run_id)
            return run if run["state"] in _ENDED else None

        return wait_for(f"the end of run {run_id}", ended, seconds=seconds or self.longest_run_seconds)
