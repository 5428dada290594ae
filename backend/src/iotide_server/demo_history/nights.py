"""Campaigns of the sample data, run as by agents."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from math import exp, sqrt
from random import Random
from typing import Any, Final

from sqlalchemy import Row, select, text
from sqlalchemy.orm import Session

from iotide_server.agent_api import service as agent_api
from iotide_server.campaigns.models import Campaign, Cell
from iotide_server.campaigns.repository import insert_cells
from iotide_server.demo_history.commands import Directories, commands_of
from iotide_server.demo_history.founding import BOOT, INSTANCE, Founded
from iotide_server.demo_history.records import cautions_of, curves_of, end_of, quiet_node, steps_of
from iotide_server.demo_history.sites import Figure, Routine, SampleLoad, SampleTarget
from iotide_server.demo_history.truth import Truth, TruthKind
from iotide_server.kit.digests import canonical_sha256
from iotide_server.runs import repository as runs
from iotide_server.runs.handed_over import hand_over, past_result, past_runs
from iotide_server.schedules.models import Firing
from iotide_wire.facts import FactValue
from iotide_wire.measured import Flag, FlagCode, FlagEffect, SampleMessage
from iotide_wire.messages import FinishRequest, Outcome
from iotide_wire.plan import Exclusivity

_SPIKES: Final = 0.01  # share of runs that are slower by a tenth to a half


@dataclass(slots=True)
class SeriesNoise:
    figure: Figure
    truths: Sequence[Truth]
    random: Random
    _wave: float = 0.0

    def value(self, at: float) -> float:
        """Return the next run's value at `at`, a fraction of all days."""
        ratio, spread = 1.0, self.figure.variation
        for truth in self.truths:
            if truth.kind is TruthKind.DRIFT:
                ratio *= 1 + (truth.ratio - 1) * at
            elif not truth.is_true(at):
                continue
            elif truth.kind is TruthKind.NOISIER:
                spread *= truth.ratio
            elif truth.kind is not TruthKind.MODES or self.random.random() < truth.share:
                ratio *= truth.ratio
        memory = self.figure.memory
        self._wave = memory * self._wave + sqrt(1 - memory**2) * self.random.gauss()
        ratio *= exp(spread * self._wave)
        if self.random.random() < _SPIKES:
            ratio *= self.random.uniform(0.5, 0.9)
        return self.figure.level / ratio if self.figure.is_time else self.figure.level * ratio


_BETWEEN_RUNS: Final = timedelta(seconds=30)
_LEAD: Final = timedelta(seconds=20)
"""From offer to start, while the idle node is sampled."""
_REFUSED_AFTER: Final = timedelta(seconds=1)
_ROOT_DISK: Final = "xfs from '/dev/mapper/root' at /"

_CLAIMED_BEFORE_START: Final = text(
    """
    WITH claimed AS (
        UPDATE node_order SET offered_at = coalesce(started_at, ended_at) - CAST(:lead AS interval),
                              claimed_at = coalesce(started_at, ended_at) - CAST(:lead AS interval)
        WHERE run_id IN (SELECT id FROM run WHERE campaign_id = :campaign_id) RETURNING attempt_id, claimed_at
    )
    UPDATE attempt SET opened_at = claimed.claimed_at, go_at = claimed.claimed_at
    FROM claimed WHERE attempt.id = claimed.attempt_id
    """
)


@dataclass(slots=True)
class Nights:
    founded: Founded
    truths: Sequence[Truth]
    seed: int
    ended_at: dict[int, datetime] = field(default_factory=dict)
    _noises: dict[tuple[object, ...], list[SeriesNoise]] = field(default_factory=dict)

    def spend(
        self, session: Session, routine: Routine, began_at: datetime, at: float, *, has_curves: bool = False
    ) -> list[int]:
        """Create a campaign at that time, which is `at` of all days; return its cell ids."""
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
        insert_cells(session, campaign.id, planned)
        new = past_runs(
            *(campaign.id, campaign.cluster_id, began_at),
            exclusive=Exclusivity.NODE,
            time_limit_seconds=planned.plan.time_limit_seconds,
        )
        runs.insert_runs(session, new, routine.repeats)
        schedule_id = self.founded.schedules.get(routine.name)
        if schedule_id is not None:
            session.add(
                Firing(schedule_id=schedule_id, planned_at=began_at, fired_at=began_at, campaign_id=campaign.id)
            )
        night = Night(
            {cell.ordinal: loads[cell.workload.name, cell.block.targets[0].target.name] for cell in planned.cells},
            at,
            has_curves,
        )
        self._hand_in(session, campaign, night)
        return list(session.scalars(select(Cell.id).where(Cell.campaign_id == campaign.id).order_by(Cell.id)))

    def _hand_in(self, session: Session, campaign: Campaign, night: "Night") -> None:
        ended_at = campaign.created_at
        for order in hand_over(session, campaign.id, campaign.created_at, INSTANCE, BOOT):
            result = self._result(night, order, ended_at + _BETWEEN_RUNS)
            ended_at = result.ended_at
            agent_api.finish(session, order.node_id, order.order_id, result, ended_at)
            self.ended_at[order.node_id] = ended_at
        session.flush()
        session.execute(_CLAIMED_BEFORE_START, {"campaign_id": campaign.id, "lead": _LEAD})

    def _result(self, night: "Night", order: Row[Any], began_at: datetime) -> FinishRequest:
        site, load = self.founded.site, night.loads[order.ordinal]
        node = self.founded.node_names[order.node_id]
        here = [truth for truth in self.truths if truth.scope.has(site.name, node, load.target)]
        values = self._values(load, node, here, night.at)
        mounted = site.target(load.target)
        gone = next((truth for truth in here if truth.kind is TruthKind.STOPS and truth.is_true(night.at)), None)
        if gone:
            return _refused(order, mounted, began_at)
        directories = Directories(
            run=f"{mounted.path}/iotide-run-{order.fence}-1-{order.order_id}",
            scratch=f"/var/lib/iotide-agent/orders/{order.order_id}/scratch/target-{self.founded.targets[load.target]}",
        )
        commands = commands_of(load, directories, values)
        steps = steps_of(commands, began_at)
        degraded = [
            Flag(code=FlagCode.DEGRADED, effect=FlagEffect.MARKED, measured=truth.words, limit="no rebuild")
            for truth in here
            if truth.kind is TruthKind.SPELL and truth.is_true(night.at)
        ]
        return past_result(
            *(order, INSTANCE, end_of(steps), values),
            started_at=began_at,
            steps=steps,
            samples=tuple(
                SampleMessage(metric=figure.metric, value=value, labels=dict(figure.labels), target_id=None)
                for figure, value in zip(load.figures, values, strict=True)
            ),
            flags=(*cautions_of(load, mounted, site.memory_bytes, commands), *degraded),
            environment=self._environment(load, node, night.at),
            curves=curves_of(commands, steps) if night.has_curves else (),
            foreign=quiet_node(site.processors, commands),
        )

    def _values(self, load: SampleLoad, node: str, here: Sequence[Truth], at: float) -> list[float]:
        values: list[float] = []
        for noise in self._noises_of(load, node, here):
            factor = noise.figure.of_previous
            values.append(noise.value(at) if factor is None else factor * values[-1])
        return values

    def _environment(self, load: SampleLoad, node: str, at: float) -> dict[str, FactValue]:
        site = self.founded.site
        mounted = site.target(load.target)
        facts = {
            **site.facts,
            **mounted.facts,
            "host.name": node,
            "mount.fstype": mounted.fstype,
            "mount.options": mounted.options,
        }
        for truth in self.truths:
            if truth.is_true(at) and truth.has_facts_at(site.name, node, load.target):
                facts |= truth.facts
        return facts

    def _noises_of(self, load: SampleLoad, node: str, here: Sequence[Truth]) -> list[SeriesNoise]:
        key = (node, load.target, load.workload, load.options.get("mode"))
        if key not in self._noises:
            name = f"{self.seed} {self.founded.site.name} {node} {load.target} {load.workload}"
            self._noises[key] = [
                SeriesNoise(
                    figure,
                    [truth for truth in here if truth.scope.has_figure(load, figure)],
                    Random(f"{name} {figure.metric} {_which(figure)}"),  # noqa: S311 - noise, no secret
                )
                for figure in load.figures
            ]
        return self._noises[key]


@dataclass(frozen=True, slots=True)
class Night:
    loads: Mapping[int, SampleLoad]
    at: float
    has_curves: bool


def _refused(order: Row[Any], mounted: SampleTarget, began_at: datetime) -> FinishRequest:
    expected = f"{mounted.fstype} from {mounted.source!r} at {mounted.path}"
    return past_result(
        *(order, INSTANCE, began_at + _REFUSED_AFTER, "refused"),
        outcome=Outcome.FAILED,
        reason_code="wrong_mount",
        reason=f"{mounted.path} is on {_ROOT_DISK}, but the target is {expected}; mount it, or accept on the"
        " target's page what is mounted now",
        not_judged=None,
    )


def _which(figure: Figure) -> str:
    labels = figure.labels
    sizes = [labels["file_size_bytes"], labels["record_size_bytes"]] if "record_size_bytes" in labels else []
    return " ".join(map(str, [labels["operation"], *sizes]))
