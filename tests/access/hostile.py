"""Texts that a careless page would execute, in every text field of the API: entered by people and by a node's agent."""

import hashlib
from collections.abc import Mapping
from typing import Any, Final

from access.site import AccessSite
from factories.announced import NOW, mount
from factories.measured import Measured, finish, sample

from iotide_server.main import API
from iotide_server.trends.points.service import recompute_points

SIGN: Final = "iotideRan"
"""A script from one of these texts sets this name in the window; the name is also in every displayed text."""

SHORT: Final = f"<img src=x onerror=window.{SIGN}=1>"
EVIL: Final = (
    f"{SHORT}\"'><script>window.{SIGN}=1</script><svg/onload=window.{SIGN}=1>"
    f'<a href="javascript:window.{SIGN}=1">in</a><a href="https://elsewhere.invalid/">out</a>'
)
FORMULA: Final = '=HYPERLINK("https://elsewhere.invalid/";"look")'


PLAN: Final[Mapping[str, Any]] = {
    "name": "alpha-evil",
    "cluster": "alpha",
    "nodes": ["alpha-n1"],
    "targets": ["alpha-scratch"],
    "note": EVIL,
    "workloads": [{"workload": "dd", "options": {"file_size_bytes": "1 GiB"}}],
}


class HostileSite:
    """The site of the table after people and its node have written such texts to every field.

    Attributes:
        refused: requests with a field that takes no such text, with the status.
    """

    def __init__(self, site: AccessSite) -> None:
        self._site = site
        self.refused: dict[str, int] = {}
        self._by_the_node()
        self._by_people()
        self._by_results()

    def _send(self, who: str, method: str, path: str, body: Any, **more: str) -> dict[str, Any]:  # noqa: ANN401 - JSON
        headers = {**self._site.headers[who], **more}
        url = f"{API}{path}".format(**self._site.ids)
        content = {"content": body} if isinstance(body, bytes) else {"json": body}
        response = self._site.client.request(method, url, headers=headers, **content)
        assert response.status_code < 500, response.text
        if response.is_error:
            self.refused[f"{method} {path}"] = response.status_code
        return response.json() if response.content and response.is_success else {}

    def _by_people(self) -> None:
        plan = PLAN
        times = {"starts_at": "2997-01-01T00:00:00Z", "ends_at": "2997-01-02T00:00:00Z"}
        webhook = {"kind": "webhook", "url": f"https://example.org/{SHORT.replace(' ', '/')}", "secret": None}
        for method, path, body in (
            ("PATCH", "/clusters/{cluster_id}", {"description": EVIL}),
            ("PUT", "/drain", {"reason": EVIL}),
            ("PUT", "/clusters/{cluster_id}/drain", {"reason": EVIL}),
            ("PUT", "/nodes/{node_id}/drain", {"reason": EVIL}),
            ("PUT", "/targets/{target_id}/drain", {"reason": EVIL}),
            ("POST", "/clusters/{cluster_id}/blackouts", {**times, "reason": SHORT}),
            ("POST", "/trend-events", {"cluster": "alpha-measured", "text": EVIL, "at": "2026-11-25T10:00:00Z"}),
            ("POST", "/alerts/{alert_id}/actions", {"action": "acknowledge", "comment": EVIL}),
            ("POST", "/incidents/{incident_id}/actions", {"action": "comment", "comment": EVIL}),
            ("POST", "/tokens", {"name": SHORT, "scopes": ["read"]}),
            ("POST", "/explorer/views", {"name": SHORT, "query": f"text={SHORT}"}),
            ("POST", "/users", {"name": SHORT, "roles": []}),
            ("POST", "/clusters", {"name": SHORT}),
            ("POST", "/alert-rules", {"name": SHORT, "cluster": "alpha-measured"}),
            ("POST", "/templates", {"name": SHORT, "plan": plan}),
            ("POST", "/schedules", {"name": SHORT, "plan": plan, "cron": "30 2 * * *", "time_zone": "UTC"}),
            ("POST", "/channels", {"name": "alpha-evil", "receiver": webhook}),
            ("POST", "/campaigns", plan),
            ("POST", "/campaigns", {**plan, "stages": [{"variant": SHORT, "pause": EVIL}]}),
            ("POST", "/campaigns", {**plan, "name": SHORT}),
        ):
            self._send("admin of all", method, path, body)

    def _by_the_node(self) -> None:
        node, ids = "the order's node", self._site.ids
        facts = {"kernel.release": EVIL, "cpu.model": EVIL, "memory.total_bytes": 1}
        place = mount("/scratch", fstype="ext4", source=EVIL).model_copy(update={"mount_options": EVIL})
        hello = {
            "agent_instance": ids["instance"],
            "previous_instance": ids["instance"],
            "boot_id": "boot-1234",
            "agent_version": EVIL[:60],
            "wire_version": 1,
            "sent_at": NOW.isoformat(),
            "facts": facts,
            "mounts": [place.model_dump(mode="json")],
            "approved_directories": ["/scratch"],
            "workloads": [],
            "holds": [{"order_id": ids["order_id"], "fence": ids["fence"]}],
        }
        said = {"agent_instance": ids["instance"], "boot_id": "boot-1234"}
        order = f"/agent/orders/{ids['order_id']}"
        self._send(node, "POST", f"{order}/claim", {"fence": ids["fence"], **said})
        self._send(node, "POST", "/agent/hello", hello)
        running = {
            "order_id": ids["order_id"],
            "fence": ids["fence"],
            "state": "running",
            "progress": 0.5,
            "phase": EVIL,
        }
        heartbeat = {**said, "sent_at": NOW.isoformat(), "orders": [{**running, "started_at": NOW.isoformat()}]}
        self._send(node, "POST", "/agent/beat", heartbeat)
        raw = f"<html><script>window.{SIGN}=1</script>{EVIL}".encode()
        sha256 = hashlib.sha256(raw).hexdigest()
        upload = f"{order}/artefacts/page.html?sha256={sha256}"
        self._send(node, "PUT", upload, raw, **{"X-Iotide-Fence": str(ids["fence"])})
        result = finish(NOW).model_dump(mode="json") | {
            "fence": ids["fence"],
            "outcome": "failed",
            "reason_code": "because",
            "reason": EVIL,
            "environment": {"kernel.release": EVIL},
        }
        self._send(node, "POST", f"{order}/finish", result)

    def _by_results(self) -> None:
        """Two campaigns with samples and options with such texts as names and values, as an agent reports them."""
        with self._site.database.transaction() as session:
            measured = Measured(session, NOW, name="alpha-evil")
            self._cluster_id = measured.cluster.id
            self._campaign_ids = [self._campaign(measured, number) for number in (1, 2)]

    @staticmethod
    def _campaign(measured: Measured, number: int) -> int:
        campaign = measured.campaign(f"alpha-evil-{number}")
        campaign.plan = dict(PLAN)
        for value in (EVIL, "plain"):
            cell = measured.cell(campaign, pattern=value)
            for minute in (1, 2, 3):
                shown = (sample(100.0 * number + minute, operation=EVIL), sample(0.5, "wait", operation=FORMULA))
                measured.deliver(cell, finish(NOW, *shown, environment={"kernel.release": EVIL}), minutes=minute)
            recompute_points(measured.session, cell.id)
        return campaign.id

    @property
    def pages(self) -> list[str]:
        """Return every page that may show one of the texts."""
        ids, (first, second) = self._site.ids, self._campaign_ids
        cluster, measured = ids["cluster_id"], self._cluster_id
        listed = f"%5B{first}%2C{second}%5D"
        return [
            "/",
            f"/clusters/{cluster}",
            f"/nodes/{ids['node_id']}",
            f"/targets/{ids['target_id']}",
            f"/queues/{cluster}",
            "/campaigns",
            f"/campaigns/new?cluster={cluster}&from={ids['campaign_id']}",
            "/schedules",
            f"/campaigns/{ids['campaign_id']}?tab=runs",
            *(f"/campaigns/{first}?tab={tab}" for tab in ("results", "runs", "timeline", "plan")),
            f"/campaigns/{first}/report",
            "/runs",
            f"/runs/{ids['first_run_id']}",
            "/trends",
            f"/clusters/{measured}/trend?workload=dd",
            f"/clusters/{measured}/trend?workload=dd&view=table",
            "/changes?unconfirmed=true",
            f"/compare?a={first}&b={second}",
            f"/compare?campaigns={listed}",
            "/surfaces",
            f"/alerts/{ids['alert_id']}",
            "/incidents?state=all",
            f"/incidents/{ids['incident_id']}",
            f"/peers?cluster={measured}",
            "/published",
            "/settings",
        ]
