"""One made-up campaign: submitted, run and handed in as agents do, all at the time at which it is said to have been."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random
from typing import Any, Final

from sqlalchemy import Row, select
from sqlalchemy.orm import Session

from iotide_server.campaigns.models import Campaign, Cell
from iotide_server.campaigns.planning import PlannedCell
from iotide_server.campaigns.repository import insert_cells
from iotide_server.demo_history.founding import BOOT, INSTANCE, Founded
from iotide_server.demo_history.noise import Noise
from iotide_server.demo_history.sites import Figure, Load, Routine
from iotide_server.demo_history.truth import Kind, Truth
from iotide_server.gateway import service as gateway
from iotide_server.kit.digests import canonical_sha256
from iotide_server.runs import repository as runs
from iotide_server.runs.handed_over import hand_over
from iotide_server.runs.repository import NewRuns
from iotide_server.schedules.models import Firing
from iotide_wire.facts import FactValue
from iotide_wire.measured import Flag, FlagCode, FlagEffect, SampleMessage
from iotide_wire.messages import FinishRequest, Outcome
from iotide_wire.plan import Exclusivity

_BETWEEN_RUNS: Final = timedelta(seconds=30)


@dataclass(slots=True)
class Nights:
    """The nights of one cluster, in their order."""

    founded: Founded
    truths: Sequence[Truth]
    seed: int
    _noises: dict[tuple[object, ...], list[Noise]] = field(default_factory=dict)

    def spend(self, session: Session, routine: Routine, began_at: datetime, at: float) -> list[int]:
        """A campaign of the routine that begins then, at that fraction of all days; the ids of its cells."""
        planned = self.founded.planned[routine.name]
        loads = {(load.workload, load.target): load for load in routine.loads}
        plan = planned.plan.model_dump(mode="json")
        campaign = Campaign(
            cluster_id=self.founded.cluster_id,
            name=routine.name,
            plan=plan,
            created_at=began_at,
            request_sha256=canonical_sha256(plan),
        )
        session.add(campaign)
        session.flush()
        insert_cells(session, campaign.id, planned.cells)
        runs.insert_runs(session, _runs(campaign, routine, planned.plan.time_limit_seconds))
        schedule_id = self.founded.schedules.get(routine.name)
        if schedule_id is not None:
            session.add(
                Firing(schedule_id=schedule_id, planned_at=began_at, fired_at=began_at, campaign_id=campaign.id)
            )
        self._hand_in(session, campaign, {cell.ordinal: loads[_what(cell)] for cell in planned.cells}, at)
        return list(session.scalars(select(Cell.id).where(Cell.campaign_id == campaign.id).order_by(Cell.id)))

    def _hand_in(self, session: Session, campaign: Campaign, loads: Mapping[int, Load], at: float) -> None:
        names = {node_id: name for name, node_id in self.founded.nodes.items()}
        ended_at = campaign.created_at
        for order in hand_over(session, campaign.id, campaign.created_at, INSTANCE, BOOT):
            load = loads[order.ordinal]
            started_at = ended_at + _BETWEEN_RUNS
            ended_at = started_at + timedelta(seconds=load.seconds)
            result = self._result(load, names[order.node_id], order, at, (started_at, ended_at))
            gateway.finish(session, order.node_id, order.order_id, result, ended_at)

    def _result(
        self, load: Load, node: str, order: Row[Any], at: float, times: tuple[datetime, datetime]
    ) -> FinishRequest:
        site = self.founded.site
        here = [truth for truth in self.truths if truth.scope.has(site.name, node, load.target)]
        values = [noise.value(at) for noise in self._noises_of(load, node, here)]
        gone = next((truth for truth in here if truth.kind is Kind.STOPS and truth.is_true(at)), None)
        degraded = [
            Flag(code=FlagCode.DEGRADED, effect=FlagEffect.MARKED, measured=truth.words, limit="no rebuild")
            for truth in here
            if truth.kind is Kind.SPELL and truth.is_true(at)
        ]
        return FinishRequest(
            fence=order.fence,
            agent_instance=INSTANCE,
            digest=hashlib.sha256(f"{order.order_id} {values}".encode()).hexdigest(),
            outcome=Outcome.FAILED if gone else Outcome.FINISHED,
            reason_code="target_not_mounted" if gone else None,
            reason=gone.words if gone else None,
            started_at=times[0],
            ended_at=times[1],
            steps=(),
            samples=()
            if gone
            else tuple(
                SampleMessage(metric=figure.metric, value=value, labels=dict(figure.labels), target_id=None)
                for figure, value in zip(load.figures, values, strict=True)
            ),
            flags=tuple(degraded),
            environment=self._environment(load, node, at),
            artefacts=(),
            not_judged=(),
            curves=(),
        )

    def _environment(self, load: Load, node: str, at: float) -> dict[str, FactValue]:
        site = self.founded.site
        mounted = next(mounted for mounted in site.targets if mounted.name == load.target)
        facts = {
            **site.facts,
            **mounted.facts,
            "host.name": node,
            "mount.fstype": mounted.fstype,
            "mount.options": mounted.options,
        }
        for truth in self.truths:
            if truth.is_true(at) and truth.tells(site.name, node, load.target):
                facts |= truth.facts
        return facts

    def _noises_of(self, load: Load, node: str, here: Sequence[Truth]) -> list[Noise]:
        key = (node, load.target, load.workload, load.options.get("mode"))
        if key not in self._noises:
            name = f"{self.seed} {self.founded.site.name} {node} {load.target} {load.workload}"
            self._noises[key] = [
                Noise(
                    figure,
                    [truth for truth in here if truth.scope.has_figure(load, figure)],
                    Random(f"{name} {figure.metric} {_which(figure)}"),  # noqa: S311 - noise, no secret
                )
                for figure in load.figures
            ]
        return self._noises[key]


def _which(figure: Figure) -> str:
    """Of all numbers of a load with this metric; those of a matrix differ by their sizes alone."""
    labels = figure.labels
    sizes = [labels["file_size_bytes"], labels["record_size_bytes"]] if "record_size_bytes" in labels else []
    return " ".join(map(str, [labels["operation"], *sizes]))


def _what(cell: PlannedCell) -> tuple[str, str]:
    return cell.option_set.workload.name, cell.targets[0].target.name


def _runs(campaign: Campaign, routine: Routine, time_limit_seconds: float) -> NewRuns:
    return NewRuns(
        campaign_id=campaign.id,
        cluster_id=campaign.cluster_id,
        repeats=routine.repeats,
        exclusive=Exclusivity.NODE,
        sort_key=campaign.created_at.timestamp(),
        time_limit_seconds=time_limit_seconds,
        cool_down_seconds=0.0,
        attempts_allowed=1,
        created_at=campaign.created_at,
    )
