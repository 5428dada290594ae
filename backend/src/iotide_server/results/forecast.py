"""What a planned campaign would take, by what its targets did before: time, space and bytes written."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy.orm import Session

from iotide_server.campaigns.planned import PlannedCampaign, PlannedCell, PlannedRoom
from iotide_server.results.pace import IDLE_SAMPLE_SECONDS, Wanted, idle_sample_seconds, load_seconds
from iotide_server.results.past import LastRate, last_rates, past_cells
from iotide_server.runs.queued import turnover_seconds, were_loaded
from iotide_server.runs.resources import Mode, Resource, ResourceKind, needs
from iotide_server.targets.memory import IN_MEMORY, memory_words
from iotide_server.workloads.models import Workload
from iotide_wire.plan import CachePolicy, CampaignPlan, QuietPolicy
from iotide_wire.units import Unit, format_estimate, format_value

USUAL_TURNOVER_SECONDS: Final = 0.5
"""What passes between two runs of a node where the cluster has no history: end, upload, scheduling, preparation."""
_NEAR_LIMIT_RATIO: Final = 0.8
_ENOUGH_REPEATS: Final = 4


@dataclass(frozen=True, slots=True)
class Caution:
    """Something that a person should know before submitting.

    Attributes:
        field: of the plan, for instance `repeats`.
    """

    code: str
    message: str
    field: str


@dataclass(frozen=True, slots=True)
class Wear:
    """What a campaign writes to a target, which uses up flash.

    Attributes:
        bytes_least: the files of all runs, each written once.
        bytes_most: all that is written and read; None where runs last by time and write as much as they can.
    """

    target_name: str
    bytes_least: int
    bytes_most: int | None


@dataclass(frozen=True, slots=True)
class Forecast:
    """The expected cost of a campaign.

    Attributes:
        seconds: of the busiest node, or of what the runs have to themselves: its runs one after another with what
            passes between them, to two digits; None where a cell cannot be foreseen.
        seconds_unknown_because: why it is None.
        run_seconds: of one run's load in each cell, likewise.
        bytes_peak: of the largest run.
        bytes_moved: written and read in all.
        wear: of each target, in the order of the plan.
    """

    seconds: float | None
    seconds_unknown_because: str | None
    run_seconds: Sequence[float | None]
    bytes_peak: int
    bytes_moved: int
    wear: Sequence[Wear]
    cautions: Sequence[Caution]


def forecast(session: Session, planned: PlannedCampaign, now: datetime) -> Forecast:
    """The expected cost of a resolved plan that is submitted now."""
    past = _Past(session, planned)
    of_runs = [past.run_seconds(cell) for cell in planned.cells]
    node_ids = {node.id for cell in planned.cells for node in cell.nodes}
    was_loaded = were_loaded(session, planned.cluster.id, node_ids, now - timedelta(minutes=1))
    unknown = next((cell for cell, seconds in zip(planned.cells, of_runs, strict=True) if seconds is None), None)
    return Forecast(
        seconds=_all_seconds(planned, of_runs, _between_seconds(session, planned), was_loaded=was_loaded),
        seconds_unknown_because=None if unknown is None else _why_unknown(unknown, past),
        run_seconds=[None if seconds is None else two_digits(seconds) for seconds in of_runs],
        bytes_peak=round(max(cell.bytes_needed for cell in planned.cells)),
        bytes_moved=round(sum(cell.bytes_moved for cell in planned.cells) * planned.plan.repeats),
        wear=[_wear(planned, name) for name in planned.plan.targets],
        cautions=[*_cautions(planned), *_cautions_of_time(planned, of_runs, past)],
    )


def _why_unknown(cell: PlannedCell, past: "_Past") -> str:
    return f"target {past.unmeasured(cell)} was never measured with {cell.option_set.workload.name}"


def _wear(planned: PlannedCampaign, target_name: str) -> Wear:
    places = [place for cell in planned.cells for place in cell.places if place.target.target.name == target_name]
    least = sum(place.bytes_needed for place in places)
    most = max(least, sum(place.bytes_moved for place in places))
    repeats = planned.plan.repeats
    is_by_time = any(place.run_seconds for place in places)
    return Wear(target_name, round(least * repeats), None if is_by_time else round(most * repeats))


class _Past:
    """What the planned targets did before, by workload, read once each."""

    def __init__(self, session: Session, planned: PlannedCampaign) -> None:
        ids = {place.target.target.id for cell in planned.cells for place in cell.places}
        names = {cell.option_set.workload.name for cell in planned.cells}
        self._rates = {name: last_rates(session, ids, name) for name in names}
        self._cells = {name: past_cells(session, ids, name) for name in names}

    def run_seconds(self, cell: PlannedCell) -> float | None:
        """Return the time of the file system that takes longest; None where one is not known."""
        known = [self._room_seconds(cell, room) for room in cell.rooms]
        return None if None in known else max(seconds for seconds in known if seconds is not None)

    def unmeasured(self, cell: PlannedCell) -> str:
        """Return the name of the first target that tells nothing of the cell."""
        return next(room.target.target.name for room in cell.rooms if self._room_seconds(cell, room) is None)

    def borrowed(self, cell: PlannedCell) -> LastRate | None:
        """Return the rate of another workload that stands in where the cell's own never ran."""
        name = cell.option_set.workload.name
        for room in cell.rooms:
            target_id = room.target.target.id
            rate = self._rates[name].get(target_id)
            if rate and rate.workload != name and not self._cells[name].get(target_id) and not room.run_seconds:
                return rate
        return None

    def _room_seconds(self, cell: PlannedCell, room: PlannedRoom) -> float | None:
        workload, target_id = cell.option_set.workload, room.target.target.id
        rate = self._rates[workload.name].get(target_id)
        past = self._cells[workload.name].get(target_id, [])
        # Another workload's rate says nothing of work that is not told in bytes, nor of one that has a pace of its own.
        counts = rate is not None and (rate.workload == workload.name or (not past and _is_in_bytes(workload)))
        wanted = Wanted(
            cell.option_set.options_sha256,
            len(cell.nodes),
            len(cell.targets),
            room.bytes_moved,
            1 / len(cell.rooms),
            room.run_seconds,
        )
        return load_seconds(wanted, past, rate.bytes_per_second if rate and counts else None)


def _is_in_bytes(workload: Workload) -> bool:
    return any(metric["unit"] == Unit.BYTES_PER_SECOND for metric in workload.metrics)


def _between_seconds(session: Session, planned: PlannedCampaign) -> float:
    """Return what passes between two runs of a node: as it was in the cluster before, else as is usual."""
    known = turnover_seconds(session, planned.cluster.id)
    between = USUAL_TURNOVER_SECONDS if known is None else known
    if planned.plan.quiet in {QuietPolicy.WAIT, QuietPolicy.REFUSE}:
        between = max(between, IDLE_SAMPLE_SECONDS + USUAL_TURNOVER_SECONDS)
    return between + planned.plan.cool_down_seconds


def _all_seconds(
    planned: PlannedCampaign, of_runs: Sequence[float | None], between: float, *, was_loaded: bool
) -> float | None:
    """Return the time of the busiest node, or of what the runs take for themselves besides."""
    if None in of_runs:
        return None
    busy: defaultdict[Resource, float] = defaultdict(float)
    gaps: defaultdict[Resource, float] = defaultdict(float)
    for cell, seconds in zip(planned.cells, of_runs, strict=True):
        shared = [view.target.id for view in cell.targets if view.target.scope == "shared"]
        node_ids = [node.id for node in cell.nodes]
        for need in needs(planned.plan.exclusive, node_ids, shared, planned.cluster.id):
            if need.mode is Mode.EXCLUSIVE or need.resource.kind is ResourceKind.NODE:
                busy[need.resource] += ((seconds or 0.0) + between) * planned.plan.repeats
                gaps[need.resource] += between * planned.plan.repeats
    busiest = max(busy, key=busy.__getitem__)
    sampled = 0.0
    if planned.plan.quiet is QuietPolicy.FLAG:
        gap_ratio = gaps[busiest] / busy[busiest] if busy[busiest] else 0.0
        sampled = idle_sample_seconds(busy[busiest], gap_ratio, between, was_loaded=was_loaded)
    return two_digits(busy[busiest] + sampled)


def two_digits(seconds: float) -> float:
    """Round an estimate to its two leading digits: more would be false precision."""
    return float(f"{seconds:.1e}")


def _cautions(planned: PlannedCampaign) -> list[Caution]:
    cautions = []
    if planned.plan.repeats < _ENOUGH_REPEATS:
        message = f"fewer than {_ENOUGH_REPEATS} repeats give no interval: every point is shown, and no verdict"
        cautions.append(Caution("few_repeats", message, "repeats"))
    if planned.plan.cache is CachePolicy.NONE:
        message = "no cache is dropped before reads: each is flagged as warm, unless O_DIRECT goes around the cache"
        cautions.append(Caution("reads_warm", message, "cache"))
    if planned.plan.cache is CachePolicy.REMOUNT:
        message = "runs are declined on nodes whose agent.toml has no remount_command for the target"
        cautions.append(Caution("remount_by_node", message, "cache"))
    return cautions + _cautions_of_quiet(planned.plan) + _cautions_of_memory(planned)


def _cautions_of_memory(planned: PlannedCampaign) -> list[Caution]:
    """Say where memory is measured instead of storage, and what can be done about it there."""
    places = [place for cell in planned.cells for place in cell.places]
    in_memory = {place.target.target.name: place.fstype for place in places if place.fstype in IN_MEMORY}
    found = {Caution("target_is_memory", memory_words(name, in_memory[name]), "targets") for name in in_memory}
    for cell in planned.cells:
        on = None if cell.is_past_cache or cell.is_in_memory else cell.cached_on()
        # Files that are only created and looked up have no size to raise and no O_DIRECT to take.
        if on is not None and cell.data_bytes(on) and _is_in_bytes(cell.option_set.workload):
            room = "take more, or O_DIRECT" if cell.size_fits(on) else "more has no room there: take O_DIRECT"
            message = (
                f"{cell.option_set.workload.name} moves less than twice the node's memory: the cache is measured"
                f" unless O_DIRECT goes around it; {room}"
            )
            found.add(Caution("cache_measured", message, f"{cell.option_set.field}.options"))
    return sorted(found, key=lambda caution: (caution.code, caution.field, caution.message))


def _cautions_of_time(planned: PlannedCampaign, of_runs: Sequence[float | None], past: "_Past") -> list[Caution]:
    """Say which runs their time limit will end, and which times rest on the rates of another workload."""
    found = set()
    limit = planned.plan.time_limit_seconds
    longest = max(zip(planned.cells, of_runs, strict=True), key=lambda pair: pair[1] or 0.0)
    name, seconds = longest[0].option_set.workload.name, longest[1] or 0.0
    if seconds > _NEAR_LIMIT_RATIO * limit:
        message = (
            f"a run of {name} is expected to take about {format_estimate(seconds)}, and the time limit of"
            f" {format_estimate(limit)} would end it: raise the limit or reduce the size"
        )
        found.add(Caution("time_limit_short", message, "time_limit_seconds"))
    for cell in planned.cells:
        rate = past.borrowed(cell)
        if rate is not None:
            message = (
                f"{cell.option_set.workload.name} never ran there: its time is a guess by the rate of {rate.workload}"
            )
            found.add(Caution("time_by_other_workload", message, cell.option_set.field))
    return sorted(found, key=lambda caution: (caution.code, caution.field))


def _cautions_of_quiet(plan: CampaignPlan) -> list[Caution]:
    match plan.quiet:
        case QuietPolicy.IGNORE:
            message = "runs beside foreign load are not flagged; how much it was is stored with each of them"
            return [Caution("foreign_load_ignored", message, "quiet")]
        case QuietPolicy.WAIT:
            longest = format_value(plan.quiet_wait_seconds, Unit.SECONDS)
            message = (
                f"a run that meets a busy node holds it for up to {longest}, then gives it to others and is tried "
                "again; what that takes is not in the time"
            )
            return [Caution("waits_for_quiet", message, "quiet")]
        case QuietPolicy.REFUSE:
            return [Caution("busy_nodes_refused", "a run that meets a busy node fails at once", "quiet")]
        case QuietPolicy.FLAG:
            return []
