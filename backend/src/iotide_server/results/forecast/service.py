"""Forecast of a campaign from its targets' history."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import chain, islice
from operator import mul
from typing import Final

from sqlalchemy.orm import Session

from iotide_server.campaigns.option_sets import ByKind, OptionSets
from iotide_server.campaigns.planned import PlannedBlock, PlannedCampaign, PlannedCell, PlannedRoom
from iotide_server.campaigns.resolved import ResolvedPlan
from iotide_server.campaigns.scratch.pace import KnownDisks
from iotide_server.clusters.models import Node
from iotide_server.results.forecast.makes import scratch_cautions, scratch_preview
from iotide_server.results.forecast.pace import IDLE_SAMPLE_SECONDS, PlannedLoad, idle_sample_seconds, load_seconds
from iotide_server.results.forecast.past import last_rates, past_cells
from iotide_server.results.forecast.power import forecast_power
from iotide_server.results.schemas import CautionOutput, Preview, PreviewCell, WearOutput
from iotide_server.runs.queued import turnover_seconds, were_loaded
from iotide_server.runs.resources import Mode, Resource, ResourceKind, needs
from iotide_server.statistics.adaptive import LOOKS
from iotide_server.targets.mounts import IN_MEMORY, memory_words
from iotide_server.workloads.models import Workload
from iotide_wire.plan import CachePolicy, CampaignPlan, QuietPolicy
from iotide_wire.units import Unit, format_estimate, format_percent, format_value

USUAL_TURNOVER_SECONDS: Final = 0.5
"""Between two runs of a node, without history in the cluster: end, upload, scheduling, preparation."""
_NEAR_LIMIT_RATIO: Final = 0.8
_ENOUGH_REPEATS: Final = 4
_SHORT_SECONDS: Final = 30.0
"""A run with data phases only is flagged DURATION below it."""
_SHOWN_CELLS: Final = 200


def preview(session: Session, planned: PlannedCampaign, now: datetime, disks: KnownDisks | None = None) -> Preview:
    """Return what the plan would run; `disks` are those of the set of its block `scratch`."""
    scratch = scratch_preview(planned.resolved, disks)
    make_seconds, bytes_filled = (0.0, 0) if scratch is None else (scratch.make_seconds_known, scratch.bytes_filled)
    past = _Past(session, planned)
    times = [past.times(block) for block in planned.blocks]
    node_ids = {node.id for block in planned.blocks for node in block.nodes}
    was_loaded = were_loaded(session, planned.cluster.id, node_ids, now - timedelta(minutes=1))
    run_seconds = _all_seconds(planned, times, _between_seconds(session, planned), was_loaded=was_loaded)
    unknown = next((block for block, of_runs in zip(planned.blocks, times, strict=True) if of_runs.has_unknown), None)
    cells = zip(planned.cells, chain.from_iterable(map(_Times.each, times)), strict=False)
    return Preview(
        cells=[_shown(cell, seconds) for cell, seconds in islice(cells, _SHOWN_CELLS)],
        cell_count=planned.resolved.cell_count,
        run_count=planned.resolved.run_count,
        power=forecast_power(session, planned, past.measured_digests()),
        seconds_estimated=None if run_seconds is None else two_digits(run_seconds + make_seconds),
        seconds_unknown_because=None if unknown is None else past.why_unknown(unknown),
        bytes_peak=round(max(max(block.bytes_needed) for block in planned.blocks)),
        bytes_moved=round(
            sum(_of_all(block, block.bytes_moved) for block in planned.blocks) * planned.resolved.repeats + bytes_filled
        ),
        wear=_wear(planned, bytes_filled),
        scratch=scratch,
        warnings=[
            *_cautions(planned),
            *scratch_cautions(planned.resolved, disks),
            *_cautions_of_time(planned, times, past),
        ],
    )


def _shown(cell: PlannedCell, run_seconds: float | None) -> PreviewCell:
    block = cell.block
    return PreviewCell(
        ordinal=cell.ordinal,
        stage=block.stage,
        variant=block.variant,
        node_names=[node.name for node in block.nodes],
        sender_name=None if block.sender is None else block.sender.name,
        program=cell.program,
        observer_names=[node.name for node in block.observers],
        target_names=[view.target.name for view in block.targets],
        workload=cell.workload.name,
        options=cell.options,
        bytes_needed=round(cell.bytes_needed),
        run_seconds_estimated=None if run_seconds is None else two_digits(run_seconds),
    )


def _of_all(block: PlannedBlock, by_kind: ByKind) -> float:
    return float(sum(map(mul, block.option_sets.counts, by_kind)))


def _wear(planned: PlannedCampaign, bytes_filled: int) -> list[WearOutput]:
    """Return the bytes written to each target; `bytes_filled` go to that of the scratch set."""
    least: defaultdict[str, float] = defaultdict(float)
    moved: defaultdict[str, float] = defaultdict(float)
    by_time = set[str]()
    known: dict[int, tuple[float, float, bool]] = {}
    for block in planned.blocks:
        for place in block.places:
            key = id(place.bytes_needed)
            if key not in known:
                totals = _of_all(block, place.bytes_needed), _of_all(block, place.bytes_moved)
                known[key] = (*totals, any(place.run_seconds))
            name = place.target.target.name
            needed_bytes, moved_bytes, is_by_time = known[key]
            least[name] += needed_bytes
            moved[name] += moved_bytes
            if is_by_time:
                by_time.add(name)
    repeats = planned.resolved.repeats
    filled = {planned.resolved.set_target or "": bytes_filled} if bytes_filled else {}
    return [
        WearOutput(
            target_name=name,
            bytes_least=round(least[name] * repeats) + filled.get(name, 0),
            bytes_most=None
            if name in by_time
            else round(max(least[name], moved[name]) * repeats) + filled.get(name, 0),
        )
        for name in dict.fromkeys((*planned.plan.targets, *filled))
    ]


@dataclass(frozen=True, slots=True)
class _Times:
    sets: OptionSets
    by_kind: Sequence[float | None]  # by kind of option set; None: unknown
    measured: Mapping[int, float]

    @property
    def has_unknown(self) -> bool:
        return None in self.by_kind

    def each(self) -> Iterator[float | None]:
        numbers = range(len(self.sets))
        return (self.measured.get(number, self.by_kind[self.sets.kind_of(number)]) for number in numbers)

    def total(self) -> float:
        """All times must be known."""
        known = [seconds or 0.0 for seconds in self.by_kind]
        apart = sum(seconds - known[self.sets.kind_of(number)] for number, seconds in self.measured.items())
        return float(sum(map(mul, self.sets.counts, known)) + apart)

    def longest(self) -> float:
        apart = Counter(map(self.sets.kind_of, self.measured))
        others = [
            seconds
            for kind, (seconds, count) in enumerate(zip(self.by_kind, self.sets.counts, strict=True))
            if seconds is not None and count > apart[kind]
        ]
        return max([*others, *self.measured.values()], default=0.0)


class _Past:
    def __init__(self, session: Session, planned: PlannedCampaign) -> None:
        ids = {place.target.target.id for block in planned.blocks for place in block.places}
        names = {block.option_sets.workload.name for block in planned.blocks}
        self._blocks = planned.blocks
        self._rates = {name: last_rates(session, ids, name) for name in names}
        self._cells = {name: past_cells(session, ids, name) for name in names}
        self._by_kind: dict[tuple[object, ...], Sequence[float | None]] = {}
        self._numbers: dict[tuple[str, bool], Mapping[str, Sequence[int]]] = {}

    def times(self, block: PlannedBlock) -> _Times:
        by_room = [self._room_seconds(block, room) for room in block.rooms]
        measured = [self._measured(block, room) for room in block.rooms]
        sets = block.option_sets
        by_kind = by_room[0] if len(by_room) == 1 else list(map(_longest, zip(*by_room, strict=True)))
        apart: dict[int, float] = {}
        for number in set[int]().union(*measured):
            kind = sets.kind_of(number)
            longest = _longest([own.get(number, seconds[kind]) for own, seconds in zip(measured, by_room, strict=True)])
            if longest is not None:
                apart[number] = longest
        return _Times(sets, by_kind, apart)

    def measured_digests(self) -> Mapping[str, set[str]]:
        """Return, by workload, the options that earlier cells have in common with the plan."""
        found: defaultdict[str, set[str]] = defaultdict(set)
        for block in {(block.option_sets.field, block.is_gang): block for block in self._blocks}.values():
            found[block.option_sets.workload.name].update(self._numbers_of(block))
        return found

    def why_unknown(self, block: PlannedBlock) -> str:
        by_room = [self._room_seconds(block, room) for room in block.rooms]
        row = next(row for row in zip(*by_room, strict=True) if None in row)
        name = block.rooms[row.index(None)].target.target.name
        return f"target {name} was never measured with {block.option_sets.workload.name}"

    def borrowed(self, block: PlannedBlock) -> set[str]:
        name = block.option_sets.workload.name
        left = list(range(len(block.option_sets.firsts)))
        found = set()
        for room in block.rooms:
            target_id = room.target.target.id
            rate = self._rates[name].get(target_id)
            if rate and rate.workload != name and not self._cells[name].get(target_id):
                by_bytes = [kind for kind in left if not room.run_seconds[kind]]
                if by_bytes:
                    found.add(rate.workload)
                    left = [kind for kind in left if room.run_seconds[kind]]
        return found

    def _room_seconds(self, block: PlannedBlock, room: PlannedRoom) -> Sequence[float | None]:
        workload, target_id = block.option_sets.workload, room.target.target.id
        counts = len(block.nodes), len(block.targets), len(block.rooms)
        # The columns live as long as the plan, so their ids are valid keys.
        key = (block.option_sets.field, target_id, *counts, id(room.bytes_moved), id(room.run_seconds))
        if key in self._by_kind:
            return self._by_kind[key]
        rate = self._rates[workload.name].get(target_id)
        past = self._cells[workload.name].get(target_id, [])
        # Another workload's rate applies neither to work not measured in bytes, nor to a workload with its own
        # history.
        is_own = rate is not None and (rate.workload == workload.name or (not past and _is_in_bytes(workload)))
        bytes_per_second = rate.bytes_per_second if rate and is_own else None
        known: dict[tuple[float, float, bool], float | None] = {}
        programs = block.option_sets.has_one_program if block.is_gang else [False] * len(room.bytes_moved)
        amounts_by_kind = list(zip(room.bytes_moved, room.run_seconds, programs, strict=True))
        for amounts in set(amounts_by_kind):
            moved, seconds, is_one_program = amounts
            share = 1 / len(block.rooms)
            wanted = PlannedLoad(None, *counts[:2], moved, share, seconds, is_one_program=is_one_program)
            known[amounts] = load_seconds(wanted, past, bytes_per_second)
        found = [known[amounts] for amounts in amounts_by_kind]
        self._by_kind[key] = found
        return found

    def _measured(self, block: PlannedBlock, room: PlannedRoom) -> Mapping[int, float]:
        past = self._cells[block.option_sets.workload.name].get(room.target.target.id, [])
        counts = len(block.nodes), len(block.targets)
        newest: dict[str, float] = {}
        for cell in past:
            if (cell.node_count, cell.target_count) == counts:
                newest.setdefault(cell.options_sha256, cell.seconds)
        numbers = self._numbers_of(block) if newest else {}
        return {number: seconds for digest, seconds in newest.items() for number in numbers.get(digest, ())}

    def _numbers_of(self, block: PlannedBlock) -> Mapping[str, Sequence[int]]:
        sets, key = block.option_sets, (block.option_sets.field, block.is_gang)
        if key not in self._numbers:
            known = {cell.options_sha256 for past in self._cells[sets.workload.name].values() for cell in past}
            found: defaultdict[str, list[int]] = defaultdict(list)
            for number, digest in enumerate(sets.digests(is_gang=block.is_gang) if known else ()):
                if digest in known:
                    found[digest].append(number)
            self._numbers[key] = found
        return self._numbers[key]


def _longest(seconds: Iterable[float | None]) -> float | None:
    known = list(seconds)
    return None if None in known else max(one for one in known if one is not None)


def _is_in_bytes(workload: Workload) -> bool:
    return any(metric["unit"] == Unit.BYTES_PER_SECOND for metric in workload.metrics)


def _between_seconds(session: Session, planned: PlannedCampaign) -> float:
    known = turnover_seconds(session, planned.cluster.id)
    between = USUAL_TURNOVER_SECONDS if known is None else known
    if planned.plan.quiet in {QuietPolicy.WAIT, QuietPolicy.REFUSE}:
        between = max(between, IDLE_SAMPLE_SECONDS + USUAL_TURNOVER_SECONDS)
    return between + planned.plan.cool_down_seconds


def _all_seconds(
    planned: PlannedCampaign, times: Sequence[_Times], between: float, *, was_loaded: bool
) -> float | None:
    if any(of_runs.has_unknown for of_runs in times):
        return None
    busy: defaultdict[Resource, float] = defaultdict(float)
    gaps: defaultdict[Resource, float] = defaultdict(float)
    for block, of_runs in zip(planned.blocks, times, strict=True):
        shared = [view.target.id for view in block.targets if view.target.scope == "shared"]
        node_ids = [node.id for node in block.nodes]
        gap = between * planned.resolved.repeats * block.cell_count
        seconds = of_runs.total() * planned.resolved.repeats
        for need in needs(planned.plan.exclusive, node_ids, shared, planned.cluster.id):
            if need.mode is Mode.EXCLUSIVE or need.resource.kind is ResourceKind.NODE:
                busy[need.resource] += seconds + gap
                gaps[need.resource] += gap
    busiest = max(busy, key=busy.__getitem__)
    sampled = 0.0
    if planned.plan.quiet is QuietPolicy.FLAG:
        gap_ratio = gaps[busiest] / busy[busiest] if busy[busiest] else 0.0
        sampled = idle_sample_seconds(busy[busiest], gap_ratio, between, was_loaded=was_loaded)
    return max(busy[busiest] + sampled, _released_seconds(planned.resolved))


def _released_seconds(resolved: ResolvedPlan) -> float:
    """Return when the last repeat of a spread plan is released in its last stage."""
    spread_seconds = resolved.plan.spread_seconds or 0.0
    return max(1, len(resolved.stages)) * spread_seconds * (resolved.repeats - 1) / resolved.repeats


def two_digits(seconds: float) -> float:
    return float(f"{seconds:.1e}")


def _caution(code: str, message: str, field: str) -> CautionOutput:
    return CautionOutput(code=code, message=message, field=field)


def _cautions(planned: PlannedCampaign) -> list[CautionOutput]:
    cautions = []
    if planned.plan.repeats < _ENOUGH_REPEATS:
        message = f"fewer than {_ENOUGH_REPEATS} repeats: comparisons have no confidence interval and no verdict"
        cautions.append(_caution("few_repeats", message, "repeats"))
    if planned.plan.adaptive is not None:
        message = (
            f"runs, time and bytes are the maximum; a configuration ends after {LOOKS[0]} runs if its scatter is well"
            f" below {format_percent(planned.plan.adaptive.until_ratio)}, and rarely before the maximum if it is twice"
            " that"
        )
        cautions.append(_caution("adaptive_maximum", message, "repeats"))
    if planned.plan.cache is CachePolicy.NONE:
        message = "caches are not dropped before reads: reads are flagged as warm unless they use O_DIRECT"
        cautions.append(_caution("reads_warm", message, "cache"))
    if planned.plan.cache is CachePolicy.REMOUNT:
        message = "runs are declined on nodes whose agent.toml has no remount_command for the target"
        cautions.append(_caution("remount_by_node", message, "cache"))
    return cautions + _cautions_of_quiet(planned.plan) + _cautions_of_memory(planned)


def _cautions_of_memory(planned: PlannedCampaign) -> list[CautionOutput]:
    """Return warnings where memory is measured instead of storage."""
    places = [place for block in planned.blocks for place in block.places]
    in_memory = {place.target.target.name: place.fstype for place in places if place.fstype in IN_MEMORY}
    found = {_caution("target_is_memory", memory_words(name, in_memory[name]), "targets") for name in in_memory}
    for block in planned.blocks:
        sets = block.option_sets
        if block.is_in_memory or not _is_in_bytes(sets.workload):
            continue
        for node in _cached_on(block):
            remedy = (
                "use larger files or O_DIRECT" if block.size_fits(node) else "larger files do not fit: use O_DIRECT"
            )
            message = (
                f"{sets.workload.name} moves less than twice the node's memory and measures the page cache; {remedy}"
            )
            found.add(_caution("cache_measured", message, f"{sets.field}.options"))
    return sorted(found, key=lambda caution: (caution.code, caution.field, caution.message))


def _cached_on(block: PlannedBlock) -> Iterator[Node]:
    """Yield each node whose memory holds more than half of the data."""
    seen = set[int]()
    for kind, goes_past_cache in enumerate(block.option_sets.goes_past_cache):
        found = None if goes_past_cache else block.cached_on(kind)
        if found is not None and found[1] and found[0].id not in seen:
            seen.add(found[0].id)
            yield found[0]


def _cautions_of_time(planned: PlannedCampaign, times: Sequence[_Times], past: "_Past") -> list[CautionOutput]:
    found = set()
    limit = planned.plan.time_limit_seconds
    longest = [of_runs.longest() for of_runs in times]
    seconds = max(longest)
    name = planned.blocks[longest.index(seconds)].option_sets.workload.name
    if seconds > _NEAR_LIMIT_RATIO * limit:
        message = (
            f"a run of {name} is expected to take about {format_estimate(seconds)}, with a time limit of"
            f" {format_estimate(limit)}: raise the limit or reduce the size"
        )
        found.add(_caution("time_limit_short", message, "time_limit_seconds"))
    for block, of_runs in zip(planned.blocks, times, strict=True):
        name, field = block.option_sets.workload.name, block.option_sets.field
        most = of_runs.longest()
        if most < _SHORT_SECONDS and not of_runs.has_unknown and _is_in_bytes(block.option_sets.workload):
            message = (
                f"runs of {name} are expected to take at most {format_estimate(most)}: data phases below"
                f" {format_estimate(_SHORT_SECONDS)} do not show the steady state; increase the size or the run time"
            )
            found.add(_caution("runs_short", message, field))
        for workload in past.borrowed(block):
            message = f"{name} never ran there: its time is estimated from the rate of {workload}"
            found.add(_caution("time_by_other_workload", message, field))
    return sorted(found, key=lambda caution: (caution.code, caution.field))


def _cautions_of_quiet(plan: CampaignPlan) -> list[CautionOutput]:
    match plan.quiet:
        case QuietPolicy.IGNORE:
            message = "runs with other load on the node are not flagged; the load is stored with each run"
            return [_caution("foreign_load_ignored", message, "quiet")]
        case QuietPolicy.WAIT:
            longest = format_value(plan.quiet_wait_seconds, Unit.SECONDS)
            message = (
                f"a run on a busy node holds it for up to {longest}, then releases it and is retried; "
                "the estimate does not include this"
            )
            return [_caution("waits_for_quiet", message, "quiet")]
        case QuietPolicy.REFUSE:
            return [_caution("busy_nodes_refused", "a run on a busy node fails immediately", "quiet")]
        case QuietPolicy.FLAG:
            return []
