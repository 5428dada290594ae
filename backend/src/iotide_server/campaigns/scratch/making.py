"""Stages that make a file system on a scratch set and fill it, and the last one, which cleans the set.

Each make and the cleaning is a run of the workload `scratch` in a stage of its own, without a target. A fill is a run
of the workload `fill` on the set's target.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from sqlalchemy.orm import Session

from iotide_server.accounts.audit import trail as audit
from iotide_server.accounts.audit.trail import Action
from iotide_server.accounts.roles.principal import Principal, PrincipalKind
from iotide_server.campaigns.errors import SCRATCH_NOTHING_MADE, SCRATCH_RUN_FAILED
from iotide_server.campaigns.models import Campaign, CampaignStage, Cell, CellNode, CellTarget
from iotide_server.campaigns.resolved import ResolvedPlan
from iotide_server.campaigns.scratch import filling, repository
from iotide_server.campaigns.scratch.estimate import DiskRates, make_seconds
from iotide_server.campaigns.scratch.expansion import MadeStage
from iotide_server.campaigns.scratch.filling import Fill, fills_of
from iotide_server.clusters import repository as cluster_repository
from iotide_server.clusters.models import Node
from iotide_server.kit.db import Json
from iotide_server.kit.digests import canonical_sha256
from iotide_server.kit.errors import IotideError
from iotide_server.kit.people import Sentence
from iotide_server.runs import line_repository as lines
from iotide_server.runs import repository as runs_repository
from iotide_server.runs.models import Run
from iotide_server.scratch import service as sets
from iotide_server.scratch.models import KnownSet
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
    CLEAN = "clean"


@dataclass(frozen=True, slots=True)
class _Work:
    """The run of a stage that does not measure."""

    does: Doing
    workload: Workload
    options: Json
    variant: str = ""
    seconds: float = 0.0
    filled_bytes: float = 0.0


class Maker:
    """Adds the makes and fills of a new campaign."""

    def __init__(self, session: Session, campaign: Campaign, found: KnownSet, sort_key: float) -> None:
        self._session = session
        self._campaign = campaign
        self._set = found
        self._sort_key = sort_key
        self._cells = 0

    def add(self, resolved: ResolvedPlan) -> None:
        """Add stages, cells and runs of all makes and fills and of the cleaning. Raise as `workload_for`."""
        scratch, fills = resolved.plan.scratch, fills_of(resolved.plan.scratch)
        if scratch is None:
            return
        maker = workloads.workload_for(self._session, WORKLOAD, [self._set.node_id], field="scratch.node")
        filler = fill_workload(self._session, self._set.node_id) if fills else maker
        disk_bytes = max(disk.size_bytes for disk in self._set.present.disks)
        rates = DiskRates(disk_bytes, _SLOW_BYTES_PER_SECOND)
        made = [stage.made for stage in resolved.stages if stage.made is not None]
        self._cells = resolved.cell_count
        for number, stage in enumerate(made, start=1):
            seconds = make_seconds(scratch, stage, rates)
            options: Json = {"set": self._set.name, "verb": Doing.MAKE, "make": stage.make.model_dump(mode="json")}
            make = _Work(Doing.MAKE, maker, options, stage.variant, 2 * (seconds.total - seconds.fill))
            first = resolved.stage_ordinal(number) - 1 - len(fills)
            steps = [make, *(_filling(fill, filler, stage, 2 * seconds.fill) for fill in fills)]
            for ordinal, work in enumerate(steps, start=first):
                self._add(ordinal, work)
        clean: Json = {"set": self._set.name, "verb": Doing.CLEAN, "make": None}
        self._add(resolved.stage_ordinal(len(made)) + 1, _Work(Doing.CLEAN, maker, clean))

    def _add(self, ordinal: int, work: _Work) -> None:
        shown = work.variant or Doing.CLEAN
        stage = CampaignStage(campaign_id=self._campaign.id, ordinal=ordinal, variant=shown, state="held")
        stage.does, stage.scratch_set_id = work.does, self._set.id
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
        self._session.add_all([stage, cell])
        self._session.flush()
        is_fill = work.does is Doing.FILL
        step_role = None if is_fill else StepRole.MAKER
        self._session.add(CellNode(cell_id=cell.id, node_id=self._set.node_id, step_role=step_role))
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


def _filling(fill: Fill, workload: Workload, stage: MadeStage, seconds: float) -> _Work:
    size_bytes = stage.size_bytes or 0
    given = fill.options(size_bytes)
    options = complete_options(workload.options_schema, workload.option_defaults, given, "scratch.fill_ratio")
    return _Work(Doing.FILL, workload, options, stage.variant, seconds, fill.ratio * size_bytes)


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
    """Accept the mount of the file system that was made; return false until its node has reported it.

    Raise SCRATCH_RUN_FAILED, or as `enabled_set` and `accept_made_mount`.
    """
    preparing = repository.preparing_runs(session, stage.campaign_id, stage.ordinal)
    for run in preparing:
        if run.state != "finished":
            raise SCRATCH_RUN_FAILED(run_id=run.id, does=run.does)
    if not preparing:
        return True
    prepared_at = preparing[-1].ended_at
    found = sets.enabled_set(session, stage.scratch_set_id)
    node = session.get_one(Node, found.node_id)
    if node.told_at is None or node.told_at <= prepared_at:
        if node.look_answered >= node.look_asked:
            cluster_repository.want_look(session, {node.id})
        return False
    mount = mount_of(found.present.mount_path, map(MountFacts.model_validate, node.mounts))
    sets.accept_made_mount(session, found, mount, now)
    return True
