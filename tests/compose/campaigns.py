"""Campaigns through the proxy on the agents inside and outside the containers, and their results."""

from typing import Any, Final

from compose.stack import Api, wait_for

INSIDE: Final = "compose-node"
_PAGE: Final = 500
WORKLOADS: Final = [
    {"workload": "dd", "options": {"file_size_bytes": "16 MiB", "block_size_bytes": "1 MiB"}},
    {"workload": "create", "options": {"file_count": 1000}},
    {"workload": "fio", "options": {"file_size_bytes": "16 MiB"}},
]


class Campaigns:
    """Campaigns through the proxy, counted."""

    def __init__(self, api: Api) -> None:
        self.api = api
        self.count = 0
        self.runs = 0

    def target(self, node: str, path: str) -> None:
        """Wait for a node and make a target on it with the node's name."""

        def online() -> Any:  # noqa: ANN401 - the node as the route answers
            found = self.api.call("GET", "/nodes?state=online")["items"]
            return next((item for item in found if item["name"] == node), None)

        seen = wait_for(f"the agent of {node}", online, 120)
        target = {"cluster_id": seen["cluster_id"], "name": node, "path": path, "scope": "node"}
        self.api.call("POST", "/targets", {**target, "nodes": [seen["id"]], "reserve_bytes": None})

    def run(self, node: str, workloads: list[dict[str, Any]], repeats: int) -> None:
        """Run one to its end.

        Raises:
            SystemExit: it did not finish well.
        """
        plan = {"name": f"compose-{self.count}", "cluster": "compose", "nodes": [node], "targets": [node]}
        made = self.api.call("POST", "/campaigns", {**plan, "repeats": repeats, "workloads": workloads})

        def ended() -> Any:  # noqa: ANN401 - the campaign as the route answers
            found = self.api.call("GET", f"/campaigns/{made['id']}")
            return found if found["state"] in {"finished", "failed", "cancelled"} else None

        found = wait_for(f"campaign {made['id']} on {node}", ended, 300)
        if found["state"] != "finished" or found["counts"]["failed"]:
            raise SystemExit(f"campaign {made['id']} on {node}: {found['state']}, {found['counts']}")
        self.count += 1
        self.runs += found["counts"]["finished"]

    def samples(self) -> list[tuple[int, int, float]]:
        """Return run, series and value of each number.

        Raises:
            SystemExit: there are more than one page has.
        """
        items = self.api.call("GET", f"/samples?limit={_PAGE}")["items"]
        if len(items) == _PAGE:
            raise SystemExit("there are more samples than are compared")
        return sorted((item["run_id"], item["series_id"], item["value"]) for item in items)
