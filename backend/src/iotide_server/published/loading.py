"""Storage of published results through the ordinary ingest, without analysis."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time
from typing import Any, Final

from sqlalchemy import Row
from sqlalchemy.orm import Session

from iotide_server.accounts.audit import trail as audit
from iotide_server.accounts.audit.trail import Action
from iotide_server.accounts.roles.principal import Principal
from iotide_server.accounts.sessions import service as sessions
from iotide_server.agent_api import service as agent_api
from iotide_server.campaigns.models import Campaign, Cell, CellNode, CellTarget, PublishedCampaign, PublishedSource
from iotide_server.change_feed import service as live
from iotide_server.clusters.models import Cluster, Node
from iotide_server.clusters.views import Origin
from iotide_server.forgetting import forget_clusters, forget_work
from iotide_server.kit.clock import Clock
from iotide_server.kit.db import Database
from iotide_server.kit.digests import canonical_sha256
from iotide_server.published import repository
from iotide_server.published.errors import PUBLISHED_ABSENT, PUBLISHED_NAME_TAKEN
from iotide_server.published.sources import Edition, PublishedCell, PublishedReference, Table, cells_of
from iotide_server.runs import repository as runs
from iotide_server.runs.handed_over import hand_over, past_result, past_runs
from iotide_server.targets.models import Target, TargetMount
from iotide_server.trends.points.service import recompute_points
from iotide_server.workloads import service as workloads
from iotide_server.workloads.key_options import KeyOptions
from iotide_server.workloads.models import Workload
from iotide_server.workloads.service import recorded_announcements
from iotide_wire.catalogue import MetricSpec
from iotide_wire.measured import Flag, FlagCode, FlagEffect, SampleMessage
from iotide_wire.messages import FinishRequest
from iotide_wire.plan import CachePolicy, CampaignPlan, Exclusivity, QuietPolicy, WorkloadChoice

NODE: Final = "node"
_PATH: Final = "not published"
_CLAIMED_BY: Final = "published"
_LIMIT: Final = "measured by a node of iotide"
_FORGOTTEN: Final = "published_results_forgotten"


@dataclass(frozen=True, slots=True)
class LoadedEdition:
    sources: int
    clusters: int
    runs: int
    is_new: bool
    had_other: bool


def load_published(database: Database, edition: Edition, digest: str, clock: Clock) -> LoadedEdition:
    """Load this edition in one transaction, or raise PUBLISHED_NAME_TAKEN. Safe to repeat."""
    now = clock()
    with database.transaction() as session:
        taken = repository.taken_name(session, list(edition.clusters))
        if taken is not None:
            raise PUBLISHED_NAME_TAKEN(name=taken)
        before = repository.sources(session)
        is_new = {source.edition_sha256 for source in before} != {digest}
        if is_new:
            principal = sessions.console_principal(session, now)
            if before:
                _forget(session, principal)
            _Loading(session, edition, digest, now).load(principal)
        run_count = sum(row.runs for row in repository.campaigns(session))
    return LoadedEdition(len(edition.sources), len(edition.clusters), run_count, is_new, is_new and bool(before))


def forget_published(database: Database, now: datetime) -> int:
    """Remove all published results and return the number of rows, or raise PUBLISHED_ABSENT."""
    with database.transaction() as session:
        if not repository.clusters(session):
            raise PUBLISHED_ABSENT()
        return _forget(session, sessions.console_principal(session, now))


def _forget(session: Session, principal: Principal) -> int:
    count = forget_clusters(session, principal, repository.clusters(session), _FORGOTTEN)
    repository.delete_sources(session)
    return count


class _Loading:
    def __init__(self, session: Session, edition: Edition, digest: str, now: datetime) -> None:
        self._session = session
        self._edition = edition
        self._digest = digest
        self._now = now
        self._nodes: dict[str, Node] = {}
        self._targets: dict[tuple[str, str], Target] = {}
        self._workloads: dict[str, Workload] = {}

    def load(self, principal: Principal) -> None:
        live.mute(self._session)
        tables = [table for source in self._edition.sources for table in source.tables]
        recorded = recorded_announcements({table.workload for table in tables})
        self._workloads = {one.name: workloads.ensure(self._session, one) for one in recorded}
        for name, description in self._edition.clusters.items():
            self._found(principal, name, description)
        for source in self._edition.sources:
            printed = source.model_dump(mode="json", exclude={"tables"})
            row = PublishedSource(key=source.key, edition_sha256=self._digest, printed=printed)
            self._session.add(row)
            self._session.flush()
            for table in source.tables:
                campaign = self._store(source, table)
                self._session.add(PublishedCampaign(campaign_id=campaign.id, source_id=row.id))
        # Published values never change.
        forget_work(self._session, [node.cluster_id for node in self._nodes.values()])

    def _found(self, principal: Principal, name: str, description: str) -> None:
        """Create a cluster with a retired node that no agent can use."""
        cluster = Cluster(name=name, description=description, origin=Origin.PUBLISHED)
        self._session.add(cluster)
        self._session.flush()
        unusable_digest = f"published-{cluster.id}"
        node = Node(cluster_id=cluster.id, name=NODE, role="compute", created_at=self._now, retired_at=self._now)
        node.token_sha256 = node.redis_password_sha256 = unusable_digest
        self._session.add(node)
        self._session.flush()
        self._nodes[name] = node
        loaded = Action("published_results_loaded", "cluster", cluster.id, cluster.id, after={"name": name})
        audit.record(self._session, principal, loaded)

    def _store(self, source: PublishedReference, table: Table) -> Campaign:
        node, workload = self._nodes[table.cluster], self._workloads[table.workload]
        specs = map(MetricSpec.model_validate, workload.metrics)
        cells = cells_of(table, {spec.name: spec for spec in specs})
        plan = _plan(source, table, cells)
        campaign = Campaign(
            cluster_id=node.cluster_id,
            name=table.campaign,
            plan=plan,
            # The date of measurement is unknown.
            created_at=datetime.combine(source.published_on, time(), UTC) if source.published_on else self._now,
            request_sha256=canonical_sha256(plan),
        )
        self._session.add(campaign)
        self._session.flush()
        rows = [self._cell(campaign, ordinal, table, cell) for ordinal, cell in enumerate(cells, start=1)]
        at = campaign.created_at
        runs.insert_runs(self._session, past_runs(campaign.id, campaign.cluster_id, at), repeats=1)
        for order in hand_over(self._session, campaign.id, at, _CLAIMED_BY, _CLAIMED_BY):
            result = _result(source, cells[order.ordinal - 1], order, at)
            agent_api.finish(self._session, order.node_id, order.order_id, result, at)
        for row in rows:
            recompute_points(self._session, row.id)
        return campaign

    def _cell(self, campaign: Campaign, ordinal: int, table: Table, printed: PublishedCell) -> Cell:
        workload = self._workloads[table.workload]
        baseline = workloads.baseline(self._session, workload)
        cell = Cell(
            campaign_id=campaign.id,
            ordinal=ordinal,
            workload_id=workload.id,
            options=printed.options,
            options_sha256=canonical_sha256(KeyOptions(baseline.option_defaults).chosen(printed.options)),
            bytes_needed=0.0,
            bytes_moved=0.0,
        )
        target = self._target(table.cluster, printed)
        self._session.add(cell)
        self._session.flush()
        self._session.add(CellNode(cell_id=cell.id, node_id=self._nodes[table.cluster].id))
        self._session.add(CellTarget(cell_id=cell.id, target_id=target.id))
        self._session.flush()
        return cell

    def _target(self, cluster: str, printed: PublishedCell) -> Target:
        known = self._targets.get((cluster, printed.target))
        if known is not None:
            return known
        node = self._nodes[cluster]
        target = Target(
            cluster_id=node.cluster_id, name=printed.target, path=_PATH, scope="shared", created_at=self._now
        )
        self._session.add(target)
        self._session.flush()
        mount = TargetMount(target_id=target.id, node_id=node.id, path=_PATH, fstype=printed.fstype)
        mount.source = ", ".join(str(value) for value in printed.facts.values())
        mount.mount_options, mount.seen_at = "", self._now
        self._session.add(mount)
        self._targets[cluster, printed.target] = target
        return target


def _plan(source: PublishedReference, table: Table, cells: Sequence[PublishedCell]) -> dict[str, Any]:
    plan = CampaignPlan(
        name=table.campaign,
        cluster=table.cluster,
        nodes=[NODE],
        targets=list(dict.fromkeys(cell.target for cell in cells)),
        workloads=[WorkloadChoice(workload=table.workload)],
        repeats=1,
        exclusive=Exclusivity.NONE,
        cache=CachePolicy.NONE,
        quiet=QuietPolicy.IGNORE,
        note=f"{source.cited}. {source.shows} {source.caution}",
    )
    return plan.model_dump(mode="json")


def _result(source: PublishedReference, cell: PublishedCell, order: Row[Any], at: datetime) -> FinishRequest:
    samples = tuple(
        SampleMessage(metric=metric, value=value, labels=dict(labels), target_id=None)
        for metric, labels, value in cell.values
    )
    flag = Flag(code=FlagCode.PUBLISHED, effect=FlagEffect.MARKED, measured=source.cited, limit=_LIMIT)
    filesystem = {"mount.fstype": cell.fstype} if cell.fstype else {}
    environment = {**cell.facts, **filesystem, "published.source": source.cited}
    return past_result(order, _CLAIMED_BY, at, cell.values, samples=samples, flags=(flag,), environment=environment)
