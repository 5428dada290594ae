"""The cluster of the table with one object of each kind, as rows that stay, and all callers."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from access.callers import CALLERS, Headers, Where, admit
from access.requests import REQUESTS
from factories.announced import NOW, mount
from factories.clock import MovedClock
from factories.clusters import make_cluster, node_token
from factories.histories import confirmed_change, history, levels
from factories.measured import Measured
from factories.people import Person, person
from factories.scratch_sets import scratch_set
from factories.site import Site
from fastapi.testclient import TestClient
from sqlalchemy import select, text, update
from sqlalchemy.orm import Session

from iotide_server.accounts.models import ApiToken, LoginLink, Role, User, UserSession
from iotide_server.agent_files.shelf import AUTHORITY
from iotide_server.alerts.raising import raise_alerts
from iotide_server.campaigns.models import Campaign
from iotide_server.clusters.models import Cluster, Node, PendingNode
from iotide_server.explorer.models import SavedView
from iotide_server.kit.db import Database
from iotide_server.kit.digests import digest
from iotide_server.main import API
from iotide_server.results.ingest.service import store_artefact
from iotide_server.results.models import Artefact, Reading, Series
from iotide_server.runs.models import Order, Run
from iotide_server.scratch import service as scratch
from iotide_server.scratch.models import KnownSet
from iotide_server.tables import metadata
from iotide_server.targets.models import Target

MARK = "alpha"
"""Part of the name of every object of the cluster, and of no other."""

RAW = b"raw output"
_LINK = "a-link-that-was-not-spent"


@dataclass
class AccessSite:
    """Two clusters of one owner, `alpha` with runs and `alpha-measured` with results, and a cluster of others.

    Attributes:
        ids: of the objects, by the names that routes have for them.
        headers: of each caller, by name.
    """

    client: TestClient
    database: Database
    clock: MovedClock
    ids: dict[str, Any] = field(default_factory=dict)
    headers: Mapping[str, Headers] = field(default_factory=dict)

    def __post_init__(self) -> None:
        site = Site(self.database, self.clock, node_count=3)
        self._offer(site)
        with self.database.transaction() as session:
            measured = self._measure(session)
            there = make_cluster(session, "beta")
            places = {
                Where.HERE: [site.cluster_id, measured.cluster.id],
                Where.ELSEWHERE: [there.id],
                Where.EVERYWHERE: [],
            }
            self._name_nodes(session, site, there)
            self.headers = {caller.name: admit(session, caller, places, NOW) for caller in CALLERS}
            admin = person(session, "ada", Role.ADMIN, now=NOW)
            self._note_accounts(session)
        self._make(admin)

    def _measure(self, session: Session) -> Measured:
        measured = Measured(session, NOW, name=f"{MARK}-measured")
        series = history(measured, levels((12, 100.0)))
        # The submitted plan: pages of a campaign show it.
        plan = REQUESTS[f"POST {API}/campaigns"].body
        assert plan is not None
        session.execute(update(Campaign).where(Campaign.plan == {}).values(plan=plan(self.ids)))
        run = session.scalars(select(Run).where(Run.cluster_id == measured.cluster.id)).one()
        order = session.scalars(select(Order).where(Order.run_id == run.id)).one()
        store_artefact(session, order, f"{MARK}.stdout", hashlib.sha256(RAW).hexdigest(), RAW)
        cells = session.execute(text("SELECT id, campaign_id FROM cell ORDER BY id LIMIT 2")).all()
        self.ids |= {
            "series_id": series.id,
            "measured_run_id": run.id,
            "measured_campaign_id": cells[0].campaign_id,
            "other_campaign_id": cells[1].campaign_id,
            "read_order_id": order.id,
            "reading_id": session.scalars(select(Reading.id).where(Reading.order_id == order.id)).one(),
            "artefact_id": session.scalars(select(Artefact.id)).one(),
            "artefact_sha256": hashlib.sha256(RAW).hexdigest(),
            "cell_id": cells[0].id,
            "other_cell_id": cells[1].id,
            "name": "n1.stdout",
            "agent_file": AUTHORITY,
        }
        return measured

    def _name_nodes(self, session: Session, site: Site, there: Cluster) -> None:
        for number, node_id in enumerate(site.node_ids, start=1):
            session.get_one(Node, node_id).token_sha256 = digest(node_token(f"n{number}"))
        for name in ("far", "retired", "revoked"):
            session.add(
                Node(
                    cluster_id=there.id if name == "far" else site.cluster_id,
                    name=name,
                    role="compute",
                    token_sha256=digest(node_token(name)),
                    redis_password_sha256="0" * 64,
                    retired_at=NOW if name == "retired" else None,
                    revoked_at=NOW if name == "revoked" else None,
                )
            )
        waiting = PendingNode(
            id=999_999,
            cluster_id=site.cluster_id,
            name="pending",
            role="compute",
            asked_at=NOW,
            expires_at=NOW + timedelta(days=1),
            token_sha256=digest(node_token("pending")),
            redis_password_sha256="0" * 64,
            agent_version="1",
            wire_version=1,
        )
        session.add(waiting)
        self.ids["pending_id"] = waiting.id
        session.flush()
        seen = "UPDATE node SET agent_instance = 'instance-1', boot_id = 'boot-1234', redis_password_sha256 = :any"
        session.execute(text(seen), {"any": "0" * 64})
        session.execute(text("UPDATE cluster SET name = 'alpha' WHERE name = 'blade'"))
        for table in (Node, Target, Campaign):
            _mark(session, table)
        self.ids |= {"cluster_id": site.cluster_id, "node_id": site.node_ids[0], "idle_node_id": site.node_ids[2]}
        self.ids |= {"target_id": site.target_ids["scratch"], "idle_target_id": site.target_ids["nfs"]}
        node = session.get_one(Node, site.node_ids[0])
        scratch.announce(session, node, [scratch_set(f"{MARK}-bays")], NOW)
        announced = session.scalars(select(KnownSet)).one()
        self.ids |= {"set_id": announced.id, "disks_sha256": announced.disks_sha256}

    def _note_accounts(self, session: Session) -> None:
        operator = f"caller-{[caller.name for caller in CALLERS].index('operator')}"
        user_id = session.scalars(select(User.id).where(User.name == operator)).one()
        token = ApiToken(user_id=user_id, name="mine", secret_sha256=digest("mine"), scopes=["read"])
        view = SavedView(user_id=user_id, name="mine", query="", created_at=NOW)
        other = person(session, f"{MARK}-person", now=NOW)
        link = LoginLink(
            user_id=other.principal.user_id, secret_sha256=digest(_LINK), expires_at=NOW + timedelta(days=1)
        )
        session.add_all([token, view, link])
        session.flush()
        of_operator = select(UserSession.id).where(UserSession.user_id == user_id)
        self.ids["session_id"] = session.scalars(of_operator).one()
        self.ids |= {"api_token_id": token.id, "view_id": view.id, "user_id": other.principal.user_id, "link": _LINK}

    def _offer(self, site: Site) -> None:
        """Make a campaign with a first run that is offered to the first node."""
        run_ids = site.add_runs([1], repeats=2)
        site.start()
        offer = site.agent(1).offer()
        self.ids |= {"campaign_id": site.run(run_ids[0]).campaign_id, "run_id": run_ids[1], "first_run_id": run_ids[0]}
        # Requirements of the new target of the table.
        site.agent(3).hello(instance="instance-1", mounts=(mount("/scratch"), mount("/nfs"), mount("/ost")))
        self.ids |= {"order_id": offer.order_id, "fence": offer.fence, "instance": "instance-1"}

    def _make(self, admin: Person) -> None:
        """Create objects through the API, each by the request of the table."""

        def made(path: str, *, changes: Mapping[str, object] | None = None) -> int:
            template = f"POST {API}{path}"
            body: Callable[..., Any] | None = REQUESTS[template].body
            assert body is not None, template
            content = {**body(self.ids), **(changes or {})}
            url = f"{API}{path}".format(**self.ids)
            response = self.client.post(url, json=content, headers=admin.headers)
            assert response.status_code == 201, response.text
            number: int = response.json()["id"]
            return number

        self.ids["template_id"] = made("/templates", changes={"name": "alpha-t"})
        self.ids["schedule_id"] = made("/schedules", changes={"name": "alpha-s"})
        self.ids["blackout_id"] = made("/clusters/{cluster_id}/blackouts", changes={"reason": MARK})
        self.ids["token_id"] = made("/clusters/{cluster_id}/join-tokens")
        self.ids["event_id"] = made("/trend-events", changes={"text": MARK})
        self.ids["channel_id"] = made("/channels", changes={"name": "alpha-ch"})
        self.ids["rule_id"] = made("/alert-rules", changes={"name": "alpha-r"})
        drained = self.client.put(
            f"{API}/nodes/{self.ids['node_id']}/drain", json={"reason": MARK}, headers=admin.headers
        )
        assert drained.status_code == 200, drained.text
        with self.database.transaction() as session:
            series = session.get_one(Series, self.ids["series_id"])
            confirmed_change(session, series, NOW + timedelta(days=5), 100.0, 80.0)
            raise_alerts(session, series.id)
            self.ids["alert_id"] = session.execute(metadata.tables["alert"].select()).one().id
            self.ids["incident_id"] = session.execute(metadata.tables["alert_group"].select()).one().id


def _mark(session: Session, table: type[Node] | type[Target] | type[Campaign]) -> None:
    """Put the mark before the names of all objects of the cluster."""
    here = table.cluster_id.in_(select(Cluster.id).where(Cluster.name.startswith(MARK)))
    session.execute(update(table).where(here).values(name=MARK + "-" + table.name))
