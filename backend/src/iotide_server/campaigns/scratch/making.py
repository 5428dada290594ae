"""Stages that make a file system on a scratch set, fill it, mount it on clients, and at the end clean the set.

Each make, mount and the cleaning is a run of the workload `scratch` in a stage of its own, without a target. A fill is
a run of the workload `fill` on the set's target.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Final, NamedTuple

from sqlalchemy import Row
from sqlalchemy.orm import Session

from iotide_server.accounts.audit import trail as audit
from iotide_server.accounts.audit.trail import Action
from iotide_server.accounts.roles.principal import Principal, PrincipalKind
from iotide_server.campaigns.errors import SCRATCH_NOTHING_MADE, SCRATCH_RUN_FAILED, SCRATCH_SERVES
from iotide_server.campaigns.models import Campaign, CampaignStage, Cell, CellNode, CellTarget
from iotide_server.campaigns.planned import PlannedCampaign
from iotide_server.campaigns.repository import places_of
from iotide_server.campaigns.scratch import filling, repository
from iotide_server.campaigns.scratch.estimate import DiskRates, make_seconds
from iotide_server.campaigns.scratch.expansion import MadeStage
from iotide_server.campaigns.scratch.filling import Fill, fills_of
from iotide_server.clusters import repository as cluster_repository
from iotide_server.clusters.models import Node
from iotide_server.kit.db import Json
from iotide_server.kit.digests import canonical_sha256
from iotide_server.kit.errors import ConflictError, IotideError
from iotide_server.kit.people import Sentence
from iotide_server.runs import line_repository as lines
from iotide_server.runs import repository as runs_repository
from iotide_server.runs.models import Run
from iotide_server.scratch import service as sets
from iotide_server.scratch.models import KnownSet
from iotide_server.targets.changes import mount_changes
from iotide_server.targets.mounts import mount_of
from iotide_server.workloads import service as workloads
from iotide_server.workloads.models import Workload
from iotide_server.workloads.options import complete_options
from iotide_wire.facts import MountFacts
from iotide_wire.measured import StepRole
from iotide_wire.messages import FinishRequest, Outcome
from iotide_wire.plan import Exclusivity
from iotide_wire.units import MIB

WORKLOAD: Final = "scratch"
NOT_MADE: Final = "scratch_not_made"
_SLOW_BYTES_PER_SECOND: Final = 40 * MIB
"""A slow disk, for time limits."""
_LEAST_LIMIT_SECONDS: Final = 900.0
_RECORDS: Final = ".stdout"
"""Raw output of a make or a cleaning: records with each command of root, its exit status and its seconds."""


class Doing(StrEnum):
    """Work of the runs of a stage."""

    MEASURE = "measure"
    MAKE = "make"
    FILL = "fill"
    MOUNT = "mount"
    CLEAN = "clean"


@dataclass(frozen=True, slots=True)
class _Work:
    """A run of a stage that does not measure."""

    does: Doing
    workload: Workload
    node_ids: Sequence[int]
    options: Json
    variant: str = ""
    seconds: float = 0.0
    filled_bytes: float = 0.0


class Maker:
    """Adds the makes, fills and mounts of a new campaign."""

    def __init__(self, session: Session, campaign: Campaign, found: KnownSet, sort_key: float) -> None:
        self._session = session
        self._campaign = campaign
        self._set = found
        self._sort_key = sort_key
        self._cells = 0

    def add(self, planned: PlannedCampaign) -> None:
        """Add stages, cells and runs of all makes, fills and mounts, and of the cleaning.

        Raise as `workload_for`, or SCRATCH_SERVES for a client that cannot mount.
        """
        resolved, scratch = planned.resolved, planned.resolved.plan.scratch
        if scratch is None:
            return
        fills, own = fills_of(scratch), [self._set.node_id]
        maker = workloads.workload_for(self._session, WORKLOAD, [self._set.node_id], field="scratch.node")
        filler = fill_workload(self._session, self._set.node_id) if fills else maker
        disk_bytes = max(disk.size_bytes for disk in self._set.present.disks)
        rates = DiskRates(disk_bytes, _SLOW_BYTES_PER_SECOND)
        made = [stage.made for stage in resolved.stages if stage.made is not None]
        self._cells = resolved.cell_count
        groups, clients = list(_client_groups(planned)), list(resolved.clients)
        self._check_clients([node_id for group in groups for node_id in group.node_ids])
        for number, stage in enumerate(made, start=1):
            seconds = make_seconds(scratch, stage, rates)
            options = self._options(Doing.MAKE, stage.make.model_dump(mode="json"), clients=clients)
            make = _Work(Doing.MAKE, maker, own, options, stage.variant, 2 * (seconds.total - seconds.fill))
            mounts = [
                _Work(Doing.MOUNT, maker, group.node_ids, self._options(Doing.MOUNT, paths=group.paths), stage.variant)
                for group in groups
            ]
            steps = [[make], *([_filling(fill, filler, own, stage, 2 * seconds.fill)] for fill in fills)]
            first = resolved.stage_ordinal(number - 1) + 1
            for ordinal, works in enumerate([*steps, mounts] if mounts else steps, start=first):
                self._add(ordinal, works)
        clean = _Work(Doing.CLEAN, maker, own, self._options(Doing.CLEAN))
        self._add(resolved.stage_ordinal(len(made)) + 1, [clean])

    def _check_clients(self, node_ids: Sequence[int]) -> None:
        try:
            if node_ids:
                workloads.workload_for(self._session, WORKLOAD, [self._set.node_id, *node_ids])
        except ConflictError as error:
            remedy = "set remount_command in agent.toml of each client, and run one release of the agent on all nodes"
            raise SCRATCH_SERVES(problem=error.message, remedy=remedy) from error

    def _options(
        self, verb: Doing, make: Json | None = None, *, clients: Sequence[str] = (), paths: Sequence[str] = ()
    ) -> Json:
        return {"set": self._set.name, "verb": verb, "make": make, "clients": [*clients], "paths": [*paths]}

    def _add(self, ordinal: int, works: Sequence[_Work]) -> None:
        shown = works[0].variant or Doing.CLEAN
        stage = CampaignStage(campaign_id=self._campaign.id, ordinal=ordinal, variant=shown, state="held")
        stage.does, stage.scratch_set_id = works[0].does, self._set.id
        self._session.add(stage)
        for work in works:
            self._add_run(ordinal, work)

    def _add_run(self, ordinal: int, work: _Work) -> None:
        self._cells += 1
        cell = Cell(
            campaign_id=self._campaign.id,
            ordinal=self._cells,
            stage=ordinal,
            variant=work.variant,
            workload_id=work.workload.id,
            options=work.options,
            options_sha256=canonical_sha256(work.options),
            bytes_needed=work.filled_bytes,
            bytes_moved=work.filled_bytes,
        )
        self._session.add(cell)
        self._session.flush()
        is_fill = work.does is Doing.FILL
        step_role = None if is_fill else StepRole.MAKER
        self._session.add_all(
            CellNode(cell_id=cell.id, node_id=node_id, step_role=step_role) for node_id in work.node_ids
        )
        if is_fill:
            self._session.add(CellTarget(cell_id=cell.id, target_id=self._set.target_id))
        self._session.add(
            Run(
                campaign_id=self._campaign.id,
                cell_id=cell.id,
                cluster_id=self._campaign.cluster_id,
                repeat=1,
                exclusive=Exclusivity.NODE,
                sort_key=self._sort_key,
                time_limit_seconds=max(_LEAST_LIMIT_SECONDS, work.seconds),
                attempts_allowed=self._campaign.plan["attempts_allowed"],
                created_at=self._campaign.created_at,
            )
        )


def fill_workload(session: Session, node_id: int) -> Workload:
    """Raise as `workload_for`."""
    return workloads.workload_for(session, filling.WORKLOAD, [node_id], field="scratch.node")


def _filling(fill: Fill, workload: Workload, node_ids: Sequence[int], stage: MadeStage, seconds: float) -> _Work:
    size_bytes = stage.size_bytes or 0
    given = fill.options(size_bytes)
    options = complete_options(workload.options_schema, workload.option_defaults, given, "scratch.fill_ratio")
    return _Work(Doing.FILL, workload, node_ids, options, stage.variant, seconds, fill.ratio * size_bytes)


class _ClientGroup(NamedTuple):
    """Clients that mount the export at the same directories."""

    node_ids: Sequence[int]
    paths: Sequence[str]


def _client_groups(planned: PlannedCampaign) -> Iterator[_ClientGroup]:
    wanted = {(node, target) for node, names in planned.resolved.clients.items() for target in names}
    views = {place.target.target.id: place.target for block in planned.blocks for place in block.places}
    paths: defaultdict[int, set[str]] = defaultdict(set)
    for view in views.values():
        for on in view.mounts:
            if (on.node_name, view.target.name) in wanted:
                paths[on.mount.node_id].add(on.mount.path)
    groups: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
    for node_id, found in sorted(paths.items()):
        groups[tuple(sorted(found))].append(node_id)
    for directories, node_ids in groups.items():
        yield _ClientGroup(node_ids, directories)


def record_work(session: Session, run: Run, finish: FinishRequest) -> None:
    """Add an audit entry for a make or a cleaning that began. Its actor is who submitted the campaign."""
    row = repository.work_of(session, run.cell_id)
    began = finish.started_at is not None and finish.outcome is not Outcome.DECLINED
    found = None if row is None or not began else session.get(KnownSet, row.scratch_set_id)
    if row is None or found is None:
        return
    records = (fact.sha256 for fact in finish.artefacts if fact.name.endswith(_RECORDS))
    after: Json = {
        "name": found.name,
        "disks": sets.shown_disks(found.present.disks),
        "campaign_id": run.campaign_id,
        "run_id": run.id,
        "outcome": finish.outcome.value,
        "commands_sha256": next(records, None),
    }
    if row.does == Doing.MAKE:
        after["variant"] = row.variant
    actor = audit.actor_of(session, "campaign_submitted", Campaign.__tablename__, run.campaign_id)
    node = session.get_one(Node, found.node_id)
    name = "scratch_made" if row.does == Doing.MAKE else "scratch_wiped"
    principal = actor or Principal(PrincipalKind.NODE, node.id, node.name)
    audit.record(session, principal, Action.on(name, found, after=after))


def cleaning_runs(session: Session, campaign_id: int) -> Sequence[int]:
    """Return the open run that cleans the set of a campaign, once it made anything on it."""
    return repository.cleaning_runs(session, campaign_id)


def release_sets(session: Session) -> None:
    """Release the sets of campaigns that have ended."""
    repository.release_sets(session)


def may_begin(session: Session, stage: CampaignStage, now: datetime) -> bool | None:
    """Return whether a due stage may open now; None if its runs were cancelled, because it can never open."""
    try:
        match Doing(stage.does):
            case Doing.CLEAN:
                return _holds_set(session, stage)
            case Doing.MAKE:
                return _takes_set(session, stage)
            case Doing.MOUNT:
                return (
                    _require_finished(repository.preparing_runs(session, stage.campaign_id, stage.ordinal)) is not None
                )
            case Doing.MEASURE | Doing.FILL:
                return _is_made(session, stage, now)
    except IotideError as error:
        run_ids = lines.lock_waiting_in(session, stage.campaign_id, stage.ordinal)
        runs_repository.cancel_waiting(session, run_ids, NOT_MADE, Sentence(error.message, None), now)
        return None


def _takes_set(session: Session, stage: CampaignStage) -> bool:
    """Hold the set for the campaign; return false while another one holds it. Raise as `enabled_set`."""
    found = sets.enabled_set(session, stage.scratch_set_id)
    if found.campaign_id not in {None, stage.campaign_id}:
        return False
    found.campaign_id = stage.campaign_id
    return True


def _holds_set(session: Session, stage: CampaignStage) -> bool:
    """Raise SCRATCH_NOTHING_MADE if no make of the campaign began."""
    if not repository.cleaning_runs(session, stage.campaign_id):
        raise SCRATCH_NOTHING_MADE()
    return True


def _is_made(session: Session, stage: CampaignStage, now: datetime) -> bool:
    """Accept the mounts of the file system that was made; return false until their nodes have reported them.

    Raise SCRATCH_RUN_FAILED, or as `enabled_set`, `accept_made_mount` and `accept_served_mount`.
    """
    before = repository.preparing_runs(session, stage.campaign_id, stage.ordinal)
    ended_at = _require_finished(before)
    if ended_at is None:
        return True
    found = sets.enabled_set(session, stage.scratch_set_id)
    places = places_of(session, stage) if any(run.does == Doing.MOUNT for run in before) else set()
    served = [on for on in mount_changes(session, places) if on.target.id != found.target_id and not on.is_backing]
    made_on = session.get_one(Node, found.node_id)
    silent = [node for node in {made_on, *(on.node for on in served)} if not node.told_at or node.told_at <= ended_at]
    if silent:
        unasked = {node.id for node in silent if node.look_answered >= node.look_asked}
        cluster_repository.want_look(session, unasked)
        return False
    mount = mount_of(found.present.mount_path, map(MountFacts.model_validate, made_on.mounts))
    sets.accept_made_mount(session, found, mount, now)
    for on in served:
        sets.accept_served_mount(session, found, on, now)
    return True


def _require_finished(runs: Sequence[Row[Any]]) -> datetime | None:
    """Return when the last of these runs ended, None without any; raise SCRATCH_RUN_FAILED."""
    for run in runs:
        if run.state != "finished":
            raise SCRATCH_RUN_FAILED(run_id=run.id, does=run.does)
    return max((run.ended_at for run in runs), default=None)
