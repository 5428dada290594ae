"""What a planned campaign would take, by what its targets did before: time, space and bytes written."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy.orm import Session

from iotide_server.campaigns.planning import PlannedCampaign, PlannedRoom
from iotide_server.results.reading import last_rates_bytes_per_second, last_run_seconds
from iotide_wire.plan import CachePolicy, CampaignPlan, QuietPolicy
from iotide_wire.units import Unit, format_value

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
        seconds: of the busiest node, its runs one after another and each with its cool-down; None where a cell cannot
            be foreseen.
        seconds_unknown_because: why it is None.
        bytes_peak: of the largest run.
        bytes_moved: written and read in all.
        wear: of each target, in the order of the plan.
    """

    seconds: float | None
    seconds_unknown_because: str | None
    bytes_peak: int
    bytes_moved: int
    wear: Sequence[Wear]
    cautions: Sequence[Caution]


def forecast(session: Session, planned: PlannedCampaign) -> Forecast:
    """The expected cost of a resolved plan."""
    seconds, unknown = _seconds(session, planned)
    return Forecast(
        seconds=seconds,
        seconds_unknown_because=unknown,
        bytes_peak=round(max(cell.bytes_needed for cell in planned.cells)),
        bytes_moved=round(sum(cell.bytes_moved for cell in planned.cells) * planned.plan.repeats),
        wear=[_wear(planned, name) for name in planned.plan.targets],
        cautions=_cautions(planned),
    )


def _wear(planned: PlannedCampaign, target_name: str) -> Wear:
    places = [place for cell in planned.cells for place in cell.places if place.target.target.name == target_name]
    least = sum(place.bytes_needed for place in places)
    most = max(least, sum(place.bytes_moved for place in places))
    repeats = planned.plan.repeats
    is_by_time = any(place.run_seconds for place in places)
    return Wear(target_name, round(least * repeats), None if is_by_time else round(most * repeats))


def _seconds(session: Session, planned: PlannedCampaign) -> tuple[float | None, str | None]:
    names = {cell.option_set.workload.name for cell in planned.cells}
    target_ids = sorted({place.target.target.id for cell in planned.cells for place in cell.places})
    rates = {name: last_rates_bytes_per_second(session, target_ids, name) for name in names}
    durations = {name: last_run_seconds(session, target_ids, name) for name in names}
    by_node: defaultdict[int, float] = defaultdict(float)
    for cell in planned.cells:
        name, longest_seconds = cell.option_set.workload.name, 0.0
        for room in cell.rooms:
            target = room.target.target
            seconds = _room_seconds(room, rates[name].get(target.id), durations[name].get(target.id))
            if seconds is None:
                return None, f"nothing like {name} was measured on {target.name} yet"
            longest_seconds = max(longest_seconds, seconds)
        for node in cell.nodes:
            by_node[node.id] += (longest_seconds + planned.plan.cool_down_seconds) * planned.plan.repeats
    return max(by_node.values()), None


def _room_seconds(room: PlannedRoom, rate_bytes_per_second: float | None, last_seconds: float | None) -> float | None:
    """Several nodes are expected to share the rate that the target gave before."""
    if room.run_seconds:
        return room.run_seconds
    if room.bytes_moved and rate_bytes_per_second:
        return room.bytes_moved / rate_bytes_per_second
    return last_seconds


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
    cautions += _cautions_of_quiet(planned.plan)
    cached = {cell.option_set.field for cell in planned.cells if (on := cell.cached_on()) and cell.data_bytes(on)}
    for field in sorted(cached):
        message = "data smaller than twice the node's memory: unless O_DIRECT goes around it, the cache is measured"
        cautions.append(Caution("cache_measured", message, f"{field}.options"))
    return cautions


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
