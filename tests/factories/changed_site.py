"""A site on which each route that changes something is called once, with success."""

import base64
import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from factories.announced import hello, mount, workload
from factories.clock import MovedClock
from factories.histories import confirmed_change, history, levels
from factories.measured import Measured
from factories.scratch_sets import scratch_set
from fastapi.testclient import TestClient
from sqlalchemy import select

from iotide_server.accounts.models import AuditEntry
from iotide_server.accounts.sessions import service as sessions
from iotide_server.alerts.raising import raise_alerts
from iotide_server.kit.db import Database, Json
from iotide_server.main import API
from iotide_server.runs.models import Order
from iotide_server.scheduling.queues import NodeQueues
from iotide_server.scheduling.repository import Offer
from iotide_server.scheduling.starting import start_runs

CSRF = {"X-Iotide-Csrf": "1"}
PASSWORD = "correct horse battery"
SIGNING_KEY = "whsec_" + base64.b64encode(b"k" * 32).decode()


@dataclass(frozen=True)
class Done:
    """A change and its audit entries."""

    route: str
    shape: str
    entries: list[AuditEntry]


@dataclass
class ChangedSite:
    """Calls routes as an admin in a browser, and remembers each secret created on the way."""

    client: TestClient
    database: Database
    clock: MovedClock
    done: list[Done] = field(default_factory=list)
    secrets: list[str] = field(default_factory=list)
    ids: dict[str, int] = field(default_factory=dict)

    def change(self, shape: str, route: str, body: Any = None, *, headers: Json | None = None, **ids: int) -> Any:  # noqa: ANN401 - JSON
        """Call the route; `shape` is the kind of its audit entry: `made`, `changed`, `removed`, or `neither`."""
        method, path = route.split(" ")
        known = self._newest()
        url = re.sub(r"\{(\w+)\}", lambda match: str((self.ids | ids)[match[1]]), path)
        answer = self.client.request(method, API + url, json=body, headers=headers or CSRF)
        assert answer.is_success, (route, answer.text)
        with self.database.transaction() as session:
            entries = list(session.scalars(select(AuditEntry).where(AuditEntry.id > known).order_by(AuditEntry.id)))
        self.done.append(Done(f"{method} {API}{path}", shape, entries))
        return answer.json() if answer.content else None

    def read(self, path: str) -> Any:  # noqa: ANN401 - JSON
        answer = self.client.get(API + path)
        assert answer.is_success, (path, answer.text)
        return answer.json()

    def all_entries(self) -> list[AuditEntry]:
        with self.database.transaction() as session:
            return list(session.scalars(select(AuditEntry)))

    def _newest(self) -> int:
        with self.database.transaction() as session:
            return session.scalar(select(AuditEntry.id).order_by(AuditEntry.id.desc()).limit(1)) or 0


def people(site: ChangedSite) -> None:
    """Sign in and out; change a person and their tokens."""
    for how in ("link", "password"):
        if how == "link":
            with site.database.transaction() as session:
                secret = sessions.admin_link(session, "http://127.0.0.1", site.clock()).partition("#token=")[2]
            site.secrets.append(secret)
            site.change("neither", "POST /session/link", {"token": secret})
            passwords = {"old_password": None, "new_password": PASSWORD}
            site.change("neither", "PUT /session/password", passwords)
            site.secrets += [site.client.cookies["iotide_session"], PASSWORD]
            site.change("neither", "DELETE /session")
        else:
            site.change("neither", "POST /session", {"name": "admin", "password": PASSWORD})
            site.secrets.append(site.client.cookies["iotide_session"])
    for route in ("DELETE /sessions/{session_id}", "DELETE /sessions"):
        signed_in(site)
        others = [one["id"] for one in site.read("/sessions")["items"] if not one["is_this_one"]]
        site.change("neither" if "{" in route else "made", route, session_id=others[0])
    token = site.change("made", "POST /tokens", {"name": "nightly", "scopes": ["read"]})
    site.secrets.append(token["token"])
    site.change("removed", "DELETE /tokens/{token_id}", token_id=token["id"])
    login = {"name": "iotide", "scopes": ["read"], "secret_sha256": "0" * 64, "asked_at": site.clock().isoformat()}
    site.change("made", "POST /tokens/login", login)
    grace = site.change("made", "POST /users", {"name": "grace", "roles": [{"cluster_id": None, "role": "viewer"}]})
    link = site.change("made", "POST /users/{user_id}/link", user_id=grace["id"])
    site.secrets.append(link["url"].partition("#token=")[2])
    site.change("neither", "POST /session/link", {"token": site.secrets[-1]})
    signed_in(site)
    site.change("made", "DELETE /users/{user_id}/sessions", user_id=grace["id"])
    reset = site.change("changed", "POST /users/{user_id}/password-reset", user_id=grace["id"])
    site.secrets.append(reset["url"].partition("#token=")[2])
    site.change("changed", "PUT /users/{user_id}", {"roles": [], "disabled": True}, user_id=grace["id"])


def signed_in(site: ChangedSite) -> None:
    """Sign the admin in with another browser."""
    site.client.cookies.clear()
    site.change("neither", "POST /session", {"name": "admin", "password": PASSWORD})
    site.secrets.append(site.client.cookies["iotide_session"])


def identities(site: ChangedSite) -> None:
    """Approve one of two pending nodes: rotate its credentials, enrol it again, revoke it."""
    token = site.change("made", "POST /clusters/{cluster_id}/join-tokens", {"uses": 2, "needs_approval": True})
    site.secrets.append(token["token"])
    joined = []
    for name in ("n3", "n4"):
        joining = {"join_token": token["token"], "node_name": name, "role": "compute", "agent_version": "1"}
        joined.append(site.change("made", "POST /agent/enroll", joining | {"wire_version": 2}))
        site.secrets.append(joined[-1]["node_token"])
    approved, kept_out = (one["node_id"] for one in joined)
    chosen = "/clusters/{cluster_id}/pending-nodes"
    site.change("made", f"POST {chosen}/approve", {"pending_ids": [approved]})
    site.change("removed", f"POST {chosen}/refuse", {"pending_ids": [kept_out]})
    said = hello("instance-n3").model_copy(update={"wire_version": 2}).model_dump(mode="json")
    agent(site, "/hello", said, joined[0]["node_token"])
    site.change("neither", "POST /nodes/{node_id}/rotate", node_id=approved)
    given = agent(site, "/rotation", {"agent_instance": "instance-n3"}, joined[0]["node_token"])
    site.secrets.append(given["node_token"])
    confirming = {"Authorization": f"Bearer {given['node_token']}"}
    site.change("neither", "POST /agent/rotation/confirm", headers=confirming)
    again = site.change("made", "POST /nodes/{node_id}/join-token", {}, node_id=approved)
    site.secrets.append(again["token"])
    site.change("made", "POST /nodes/{node_id}/revoke", node_id=approved)


def cluster(site: ChangedSite) -> None:
    """Make a cluster with an enrolled node and two targets; drain everything in it once."""
    site.ids["cluster_id"] = site.change("made", "POST /clusters", {"name": "blade"})["id"]
    site.change("changed", "PATCH /clusters/{cluster_id}", {"description": "rack 4"})
    token = site.change("made", "POST /clusters/{cluster_id}/join-tokens", {"uses": 2, "needs_approval": False})
    spare = site.change("made", "POST /clusters/{cluster_id}/join-tokens", {})
    site.secrets += [token["token"], spare["token"]]
    site.change("removed", "DELETE /join-tokens/{token_id}", token_id=spare["id"])
    for name in ("n1", "n2"):
        joining = {"join_token": token["token"], "node_name": name, "role": "compute", "agent_version": "1"}
        joined = site.change("made", "POST /agent/enroll", joining | {"wire_version": 1})
        site.secrets.append(joined["node_token"])
        site.ids[name] = joined["node_id"]
    site.ids["node_id"] = site.ids["n1"]
    agent_says_hello(site)
    window = {"starts_at": "2999-01-01T00:00:00Z", "ends_at": "2999-01-02T00:00:00Z", "reason": "firmware"}
    maintenance = site.change("made", "POST /clusters/{cluster_id}/blackouts", window)
    site.change("removed", "DELETE /blackouts/{blackout_id}", blackout_id=maintenance["id"])
    site.change("changed", "PATCH /nodes/{node_id}", {"slots": 2})
    target = {"cluster_id": site.ids["cluster_id"], "path": "/scratch", "scope": "node", "nodes": [site.ids["n1"]]}
    site.ids["target_id"] = site.change("made", "POST /targets", target | {"name": "scratch"})["id"]
    spare_target = site.change("made", "POST /targets", target | {"name": "spare", "path": "/scratch/spare"})
    site.change("changed", "PATCH /targets/{target_id}", {"reserve_bytes": 1})
    site.change("changed", "PUT /targets/{target_id}/backed-by", {"targets": []})
    site.change("removed", "DELETE /targets/{target_id}", target_id=spare_target["id"])
    (found,) = site.read(f"/scratch-sets?node_id={site.ids['n1']}")["items"]
    enabling = {"name": "bays", "disks_sha256": found["disks_sha256"], "target_name": "n1-bays"}
    site.change("made", "POST /scratch-sets/{set_id}/enable", enabling, set_id=found["id"])
    site.change("removed", "POST /scratch-sets/{set_id}/disable", set_id=found["id"])
    for path in ("", "/clusters/{cluster_id}", "/nodes/{node_id}", "/targets/{target_id}"):
        site.change("made", f"PUT {path}/drain", {"reason": "its disk is replaced"})
        site.change("removed", f"DELETE {path}/drain")
    site.change("removed", "DELETE /nodes/{node_id}", node_id=site.ids["n2"])


def agent_says_hello(site: ChangedSite, look: int | None = None) -> None:
    has: Json = {"workloads": (workload("copy"),), "mounts": (mount("/scratch"),), "look": look}
    has |= {"scratch_sets": (scratch_set(),)}
    said = hello("instance-n1", previous="instance-n1").model_copy(update=has)
    agent(site, "/hello", said.model_dump(mode="json"))


def agent(site: ChangedSite, path: str, body: Json, token: str | None = None) -> Json:
    headers = {"Authorization": f"Bearer {token or next(one for one in site.secrets if one.startswith('ion_'))}"}
    answer = site.client.post(f"{API}/agent{path}", json=body, headers=headers)
    assert answer.is_success, (path, answer.text)
    reply: Json = answer.json()
    return reply


def plan(**changes: object) -> Json:
    return {
        "name": "nightly",
        "cluster": "blade",
        "nodes": ["n1"],
        "targets": ["scratch"],
        "workloads": [{"workload": "copy", "options": {"file_size_bytes": "1 MiB"}}],
        "repeats": 1,
        **changes,
    }


def campaigns(site: ChangedSite) -> None:
    """Make a campaign with cancelled and retried runs, one in stages, schedules and saved plans."""
    campaign = site.change("made", "POST /campaigns", plan())["id"]
    site.change("changed", "PATCH /campaigns/{campaign_id}", {"priority": 7}, campaign_id=campaign)
    site.change("made", "POST /campaigns/{campaign_id}/repeats", {"repeats": 1}, campaign_id=campaign)
    run = site.read(f"/runs?campaign_id={campaign}")["items"][0]["id"]
    site.change("changed", "POST /runs/{run_id}/cancel", run_id=run)
    site.change("changed", "POST /runs/{run_id}/retry", run_id=run)
    site.change("changed", "POST /campaigns/{campaign_id}/cancel", campaign_id=campaign)
    staged_campaign(site)
    calendar = {"cron": "30 2 * * *", "time_zone": "Europe/Zurich", "plan": plan()}
    schedule = site.change("made", "POST /schedules", calendar | {"name": "nightly"})["id"]
    site.change("changed", "PUT /schedules/{schedule_id}", calendar | {"name": "early"}, schedule_id=schedule)
    site.change("changed", "POST /schedules/{schedule_id}/pause", schedule_id=schedule)
    site.change("changed", "POST /schedules/{schedule_id}/resume", schedule_id=schedule)
    site.change("made", "POST /schedules/{schedule_id}/run", schedule_id=schedule)
    site.change("made", "POST /schedules/{schedule_id}/duplicate", schedule_id=schedule)
    site.change("removed", "DELETE /schedules/{schedule_id}", schedule_id=schedule)
    template = site.change("made", "POST /templates", {"name": "weekly", "plan": plan()})["id"]
    site.change("changed", "PATCH /templates/{template_id}", {"name": "monthly"}, template_id=template)
    site.change("removed", "DELETE /templates/{template_id}", template_id=template)
    view = site.change("made", "POST /explorer/views", {"name": "slow", "query": "sort=longest"})["id"]
    site.change("changed", "PUT /explorer/views/{view_id}", {"name": "slow", "query": ""}, view_id=view)
    site.change("removed", "DELETE /explorer/views/{view_id}", view_id=view)
    stuck_node(site)
    site.clock.move(3600)
    death = site.read(f"/nodes/{site.ids['n1']}/dead")["statement_sha256"]
    site.change("changed", "POST /nodes/{node_id}/dead", {"statement_sha256": death})


def stuck_node(site: ChangedSite) -> None:
    """Add a load that no signal ends; an operator frees its leases."""
    site.change("made", "POST /campaigns", plan(name="hung"))
    ((offer,),) = start_runs(site.database, NodeQueues(), site.clock())
    hand_in(site, offer, {"outcome": "failed", "reason_code": "stuck", "reason": "cannot be killed"})
    held = site.read(f"/nodes/{site.ids['n1']}/stuck")["statement_sha256"]
    site.change("changed", "POST /nodes/{node_id}/stuck", {"statement_sha256": held})


def hand_in(site: ChangedSite, offer: Offer, ending: dict[str, str | None]) -> None:
    """Claim an order as its agent does, and end it with this outcome."""
    claim = {"fence": offer.fence, "agent_instance": "instance-n1", "boot_id": hello().boot_id}
    agent(site, f"/orders/{offer.order_id}/claim", claim)
    at = site.clock().isoformat()
    digest = f"{offer.order_id:064x}"
    result: Json = {"fence": offer.fence, "agent_instance": "instance-n1", "digest": digest, **ending}
    result |= {"started_at": at, "ended_at": at, "environment": {}}
    result |= {name: [] for name in ("steps", "samples", "flags", "artefacts", "curves")}
    agent(site, f"/orders/{offer.order_id}/finish", result)


def staged_campaign(site: ChangedSite) -> None:
    stages = [{"variant": "ext4"}, {"variant": "xfs", "pause": "reformat the target"}]
    campaign = site.change("made", "POST /campaigns", plan(name="formats", stages=stages))["id"]
    ((offer,),) = start_runs(site.database, NodeQueues(), site.clock())
    hand_in(site, offer, {"outcome": "finished", "reason_code": None, "reason": None})
    at = site.clock().isoformat()
    assert not any(start_runs(site.database, NodeQueues(), site.clock()))
    answer = site.client.post(f"{API}/campaigns/{campaign}/pause/look", headers=CSRF)
    assert answer.is_success, answer.text
    heartbeat = {"agent_instance": "instance-n1", "boot_id": hello().boot_id, "sent_at": at, "orders": []}
    agent_says_hello(site, agent(site, "/beat", heartbeat)["look"])
    seen = site.read(f"/campaigns/{campaign}/pause")["found_sha256"]
    site.change("changed", "POST /campaigns/{campaign_id}/confirm", {"found_sha256": seen}, campaign_id=campaign)
    site.change("changed", "POST /campaigns/{campaign_id}/cancel", campaign_id=campaign)


def findings(site: ChangedSite) -> None:
    """Make a series that fell, its alert, a rereading of a run, channels and rules."""
    with site.database.transaction() as session:
        measured = Measured(session, site.clock(), name="lake")
        series = history(measured, levels((12, 100.0)))
        order = session.scalars(select(Order).order_by(Order.id.desc()).limit(1)).one()
        reading = {"order_id": order.id, "samples": [], "flags": []}
        series_id, run_id = series.id, order.run_id
    event = site.change("made", "POST /trend-events", {"cluster": "lake", "text": "RAID set 2 rebuilt"})
    site.change("removed", "DELETE /trend-events/{event_id}", event_id=event["id"])
    rule = {"name": "slower", "cluster": "lake", "directions": "both"}
    made = site.change("made", "POST /alert-rules", rule)
    with site.database.transaction() as session:
        confirmed_change(session, series, site.clock() + timedelta(days=5), 100.0, 80.0)
        raise_alerts(session, series_id)
    (alert,) = site.read("/alerts?state=untriaged")["items"]
    site.change("changed", "POST /alerts/{alert_id}/actions", {"action": "acknowledge"}, alert_id=alert["id"])
    site.change("changed", "PUT /alerts/{alert_id}/mute", {"until": "2999-01-01T00:00:00Z"}, alert_id=alert["id"])
    incident_id = alert["group"]["id"]
    taken = {"action": "comment", "comment": "seen in the meeting"}
    site.change("changed", "POST /incidents/{incident_id}/actions", taken, incident_id=incident_id)
    site.change("changed", "PUT /alert-rules/{rule_id}", rule | {"name": "slow"}, rule_id=made["id"])
    site.change("removed", "DELETE /alert-rules/{rule_id}", rule_id=made["id"])
    said = {"workload_revision": 1, "parser_version": "9.9", "orders": [reading]}
    site.change("changed", "POST /runs/{run_id}/readings", said, run_id=run_id)


def channels(site: ChangedSite) -> None:
    receiver = {"kind": "webhook", "url": "https://hooks.example.org/tide", "secret": SIGNING_KEY}
    site.secrets.append(SIGNING_KEY)
    channel = site.change("made", "POST /channels", {"name": "people", "receiver": receiver})["id"]
    chat = {"kind": "slack", "url": "https://hooks.slack.example/services/T0/B0/sesame"}
    site.secrets.append("sesame")
    site.change("changed", "PUT /channels/{channel_id}", {"name": "chat", "receiver": chat}, channel_id=channel)
    site.change("made", "POST /channels/{channel_id}/test", channel_id=channel)
    site.change("removed", "DELETE /channels/{channel_id}", channel_id=channel)


STORY: tuple[Callable[[ChangedSite], None], ...] = (
    *(people, cluster, identities, campaigns),
    *(findings, channels),
)


def digests(secrets: list[str]) -> list[str]:
    """Return the stored digests of secrets, which must not be in the audit log either."""
    return [hashlib.sha256(secret.encode()).hexdigest() for secret in secrets]
