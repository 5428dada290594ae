"""Clusters of the sample data."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from iotide_server.accounts.audit import trail as audit
from iotide_server.accounts.audit.trail import Action
from iotide_server.accounts.roles.principal import Principal
from iotide_server.agent_api import service as agent_api
from iotide_server.campaigns.planned import PlannedCampaign
from iotide_server.campaigns.planning import foresee
from iotide_server.campaigns.resolved import resolve
from iotide_server.clusters.models import Cluster, Node
from iotide_server.clusters.views import Origin
from iotide_server.demo_history.errors import DEMO_HISTORY_LOADED, DEMO_HISTORY_NAME_TAKEN
from iotide_server.demo_history.sites import Routine, SampleCluster, SampleTarget
from iotide_server.demo_history.truth import Truth, TruthKind
from iotide_server.kit.db import any_text_of
from iotide_server.schedules.models import Schedule
from iotide_server.targets.models import Target, TargetMount
from iotide_server.workloads.service import recorded_announcements
from iotide_wire.facts import FactValue, MountFacts
from iotide_wire.messages import HelloRequest
from iotide_wire.plan import CampaignPlan, WorkloadChoice
from iotide_wire.versions import WIRE_VERSION

INSTANCE: Final = "made-up-agent"
BOOT: Final = "made-up-boot"
_WORKLOADS: Final = ("dd", "create", "fio", "iozone", "mdtest")
_FREE_SHARE: Final = 0.6
_LONGEST_SECONDS: Final = 8 * 3600.0


@dataclass(frozen=True, slots=True)
class Founded:
    site: SampleCluster
    cluster_id: int
    # nodes, targets, schedules: ids by name
    nodes: dict[str, int]
    targets: dict[str, int]
    schedules: dict[str, int]
    planned: dict[str, PlannedCampaign]

    @property
    def node_names(self) -> dict[int, str]:
        return {node_id: name for name, node_id in self.nodes.items()}


def require_room(session: Session, sites: tuple[SampleCluster, ...]) -> None:
    """Raise DEMO_HISTORY_LOADED or DEMO_HISTORY_NAME_TAKEN."""
    loaded = session.scalars(
        select(Cluster.name).where(Cluster.origin == Origin.SAMPLE_DATA).order_by(Cluster.name)
    ).all()
    if loaded:
        raise DEMO_HISTORY_LOADED(clusters=loaded)
    taken = session.scalar(
        select(Cluster.name).where(Cluster.name == any_text_of([site.name for site in sites])).limit(1)
    )
    if taken is not None:
        raise DEMO_HISTORY_NAME_TAKEN(name=taken)


def found(session: Session, principal: Principal, site: SampleCluster, seed: int, began_at: datetime) -> Founded:
    words = f"Sample data of iotide-server load-demo-history --seed {seed}: nothing was measured. {site.description}"
    cluster = Cluster(name=site.name, description=words, origin=Origin.SAMPLE_DATA)
    session.add(cluster)
    session.flush()
    nodes = {name: _add_node(session, cluster, name, role, began_at) for name, role in site.nodes.items()}
    targets = {mounted.name: _add_target(session, cluster, mounted, nodes, began_at) for mounted in site.targets}
    for name, node_id in nodes.items():
        say_hello(session, site, (name, node_id), (), began_at)
    planned = {routine.name: foresee(session, cluster, resolve(_plan(site, routine))) for routine in site.routines}
    schedules = {
        routine.name: _add_schedule(session, cluster, routine, planned[routine.name].plan, began_at)
        for routine in site.routines
        if routine.every_days is not None
    }
    after = {"name": site.name, "seed": seed}
    audit.record(session, principal, Action("demo_history_loaded", "cluster", cluster.id, cluster.id, after=after))
    return Founded(site, cluster.id, nodes, targets, schedules, planned)


def say_hello(
    session: Session, site: SampleCluster, node: tuple[str, int], truths: Sequence[Truth], now: datetime
) -> None:
    name, node_id = node
    lost = {one.scope.target for one in truths if one.kind is TruthKind.STOPS and name in _nodes_of(site, one)}
    mounted = [one for one in site.targets if name in one.nodes and one.name not in lost]
    facts = {**site.facts, "host.name": name}
    for truth in truths:
        place = truth.facts_at or truth.scope
        if place.cluster == site.name and place.node in {None, name} and place.target is None:
            facts |= truth.facts
    request = HelloRequest(
        agent_instance=INSTANCE,
        previous_instance=None,
        boot_id=BOOT,
        agent_version="sample data",
        wire_version=WIRE_VERSION,
        sent_at=now,
        facts=facts,
        mounts=tuple(
            _mount(one, [truth for truth in truths if truth.has_facts_at(site.name, name, one.name)]) for one in mounted
        ),
        approved_directories=tuple(one.path for one in mounted),
        workloads=recorded_announcements(_WORKLOADS),
        holds=(),
    )
    agent_api.hello(session, node_id, request, now)


def _nodes_of(site: SampleCluster, stopped: Truth) -> set[str]:
    scope = stopped.scope
    loads = (load for routine in site.routines for load in routine.loads)
    return {
        name
        for load in loads
        if (load.workload, load.target) == (scope.workload, scope.target)
        for name in load.nodes
        if scope.has(site.name, name, load.target)
    }


def _add_node(session: Session, cluster: Cluster, name: str, role: str, now: datetime) -> int:
    # No secret has this digest.
    unusable_digest = f"made-up-{cluster.id}-{name}"
    node = Node(
        cluster_id=cluster.id,
        name=name,
        role=role,
        token_sha256=unusable_digest,
        redis_password_sha256=unusable_digest,
        created_at=now,
    )
    session.add(node)
    session.flush()
    return node.id


def _add_target(session: Session, cluster: Cluster, mounted: SampleTarget, nodes: dict[str, int], now: datetime) -> int:
    target = Target(cluster_id=cluster.id, name=mounted.name, path=mounted.path, scope=mounted.scope, created_at=now)
    session.add(target)
    session.flush()
    session.add_all(
        TargetMount(
            target_id=target.id,
            node_id=nodes[name],
            path=mounted.path,
            fstype=mounted.fstype,
            source=mounted.source,
            mount_point=mounted.path,
            root="/",
            mount_options=mounted.options,
            total_bytes=mounted.total_bytes,
            free_bytes=int(mounted.total_bytes * _FREE_SHARE),
            seen_at=now,
        )
        for name in mounted.nodes
    )
    session.flush()
    return target.id


def _plan(site: SampleCluster, routine: Routine) -> CampaignPlan:
    return CampaignPlan(
        name=routine.name,
        cluster=site.name,
        nodes=list(dict.fromkeys(name for load in routine.loads for name in load.nodes)),
        targets=list(dict.fromkeys(load.target for load in routine.loads)),
        workloads=[
            WorkloadChoice(
                workload=load.workload, options=dict(load.options), nodes=list(load.nodes), targets=[load.target]
            )
            for load in routine.loads
        ],
        repeats=routine.repeats,
        time_limit_seconds=_LONGEST_SECONDS,
        note="sample data",
    )


def _add_schedule(session: Session, cluster: Cluster, routine: Routine, plan: CampaignPlan, now: datetime) -> int:
    """Create a paused schedule as the origin of campaigns."""
    weekday = f"{now:%a}".upper()
    schedule = Schedule(
        cluster_id=cluster.id,
        name=routine.name,
        plan=plan.model_dump(mode="json"),
        cron=f"0 {routine.hour} * * {'*' if routine.every_days == 1 else weekday}",
        time_zone="UTC",
        random_offset_seconds=0.0,
        missed="skip",
        state="paused",
        created_at=now - timedelta(days=1),
    )
    session.add(schedule)
    session.flush()
    return schedule.id


def _mount(mounted: SampleTarget, truths: Sequence[Truth]) -> MountFacts:
    facts: dict[str, FactValue] = dict(mounted.facts)
    for truth in truths:
        if (truth.facts_at or truth.scope).target is not None:
            facts |= truth.facts
    return MountFacts(
        path=mounted.path,
        mount_point=mounted.path,
        fstype=mounted.fstype,
        source=mounted.source,
        mount_options=str(facts.pop("mount.options", mounted.options)),
        total_bytes=mounted.total_bytes,
        free_bytes=int(mounted.total_bytes * _FREE_SHARE),
        approved=True,
        facts=facts,
    )
