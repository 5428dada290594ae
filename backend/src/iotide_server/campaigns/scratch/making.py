"""Stages that make a file system on a scratch set, and the last one, which cleans the set.

Each make and the cleaning is a run of the workload `scratch` in a stage of its own, without a target.
"""

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import Final

from sqlalchemy.orm import Session

from iotide_server.campaigns.errors import SCRATCH_NOTHING_MADE, SCRATCH_RUN_FAILED
from iotide_server.campaigns.models import Campaign, CampaignStage, Cell, CellNode
from iotide_server.campaigns.resolved import ResolvedPlan
from iotide_server.campaigns.scratch import repository
from iotide_server.campaigns.scratch.estimate import DiskRates, make_seconds
from iotide_server.campaigns.scratch.expansion import MadeStage
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
from iotide_wire.facts import MountFacts
from iotide_wire.measured import StepRole
from iotide_wire.plan import Exclusivity
from iotide_wire.units import MIB

WORKLOAD: Final = "scratch"
NOT_MADE: Final = "scratch_not_made"
_SLOW_BYTES_PER_SECOND: Final = 40 * MIB
"""A slow disk, for time limits."""
_LEAST_LIMIT_SECONDS: Final = 900.0


class Doing(StrEnum):
    """Work of the runs of a stage."""

    MEASURE = "measure"
    MAKE = "make"
    CLEAN = "clean"


class Maker:
    """Adds the makes of a new campaign."""

    def __init__(self, session: Session, campaign: Campaign, found: KnownSet, sort_key: float) -> None:
        node = session.get_one(Node, found.node_id)
        self._session = session
        self._campaign = campaign
        self._set = found
        self._sort_key = sort_key
        self._workload = workloads.workload_for(session, WORKLOAD, [node.id], field="scratch.node")

    def add(self, resolved: ResolvedPlan) -> None:
        """Add stages, cells and runs of all makes and of the cleaning. Raise as `workload_for`."""
        scratch = resolved.plan.scratch
        if scratch is None:
            return
        disk_bytes = max(disk.size_bytes for disk in self._set.present.disks)
        rates = DiskRates(disk_bytes, _SLOW_BYTES_PER_SECOND)
        made = [stage.made for stage in resolved.stages if stage.made is not None]
        first = resolved.cell_count + 1
        for number, stage in enumerate(made):
            seconds = 2 * make_seconds(scratch, stage, rates).total
            options: Json = {"set": self._set.name, "verb": Doing.MAKE, "make": stage.make.model_dump(mode="json")}
            self._add_stage(Doing.MAKE, 2 * number + 1, stage.variant)
            self._add_run(first + number, 2 * number + 1, stage, options, seconds)
        last = 2 * len(made) + 1
        self._add_stage(Doing.CLEAN, last, Doing.CLEAN)
        self._add_run(first + len(made), last, None, {"set": self._set.name, "verb": Doing.CLEAN, "make": None}, 0.0)

    def _add_stage(self, does: Doing, ordinal: int, variant: str) -> None:
        stage = CampaignStage(campaign_id=self._campaign.id, ordinal=ordinal, variant=variant, state="held")
        stage.does, stage.scratch_set_id = does, self._set.id
        self._session.add(stage)

    def _add_run(self, ordinal: int, stage: int, made: MadeStage | None, options: Json, seconds: float) -> None:
        cell = Cell(
            campaign_id=self._campaign.id,
            ordinal=ordinal,
            stage=stage,
            variant="" if made is None else made.variant,
            workload_id=self._workload.id,
            options=options,
            options_sha256=canonical_sha256(options),
            bytes_needed=0.0,
            bytes_moved=0.0,
        )
        self._session.add(cell)
        self._session.flush()
        self._session.add(CellNode(cell_id=cell.id, node_id=self._set.node_id, step_role=StepRole.MAKER))
        self._session.add(
            Run(
                campaign_id=self._campaign.id,
                cell_id=cell.id,
                cluster_id=self._campaign.cluster_id,
                repeat=1,
                exclusive=Exclusivity.NODE,
                sort_key=self._sort_key,
                time_limit_seconds=max(_LEAST_LIMIT_SECONDS, seconds),
                attempts_allowed=self._campaign.plan["attempts_allowed"],
                created_at=self._campaign.created_at,
            )
        )


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
            case Doing.MEASURE:
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
    made = repository.make_before(session, stage.campaign_id, stage.ordinal)
    if made is None:
        return True
    if made.state != "finished" or made.ended_at is None:
        raise SCRATCH_RUN_FAILED(run_id=made.id)
    found = sets.enabled_set(session, stage.scratch_set_id)
    node = session.get_one(Node, found.node_id)
    if node.told_at is None or node.told_at <= made.ended_at:
        if node.look_answered >= node.look_asked:
            cluster_repository.want_look(session, {node.id})
        return False
    mount = mount_of(found.present.mount_path, map(MountFacts.model_validate, node.mounts))
    sets.accept_made_mount(session, found, mount, now)
    return True
