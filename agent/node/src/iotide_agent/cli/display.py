"""Tables and lines of text for the server's answers."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from functools import partial
from itertools import chain

from rich.console import Console
from rich.table import Table

from iotide_agent.cli.answers import (
    Campaign,
    Cell,
    CellResult,
    DeathStatement,
    Drain,
    Firing,
    Pause,
    PowerAnswer,
    PowerRow,
    Preview,
    SampleAnswer,
    Schedule,
    ScratchAnswer,
    WorkloadPower,
)
from iotide_agent.cli.names import Catalogue, Marks
from iotide_agent.cli.problems import Problem
from iotide_wire.cautions import cautions, flag_words, ranked
from iotide_wire.measured import FlagRank
from iotide_wire.power import FEWEST_REPEATS, MOST_REPEATS
from iotide_wire.units import (
    format_bytes,
    format_estimate,
    format_percent,
    format_value,
)


def show_problems(console: Console, problems: Iterable[Problem]) -> None:
    for problem in problems:
        place = f"{problem.place}: " if problem.place else ""
        value = "" if problem.value is None else f" = {problem.value!r}"
        field = f"{problem.field}{value}: " if problem.field else ""
        remedy = [f"  remedy: {problem.remedy}"] if problem.remedy else []
        show_lines(console, [f"error: {place}{field}{problem.message}", *remedy])


def campaign_table(campaigns: Iterable[Campaign]) -> Table:
    table = table_of("id", "name", "cluster", "state", "finished", "failed", "progress", "created")
    for campaign in campaigns:
        total = sum(dict(campaign.counts).values())
        table.add_row(
            str(campaign.id),
            campaign.name,
            campaign.cluster_name,
            campaign.state,
            f"{campaign.counts.finished} of {total}",
            str(campaign.counts.failed),
            format_percent(campaign.progress),
            minute(campaign.created_at),
        )
    return table


def schedule_table(schedules: Iterable[Schedule]) -> Table:
    table = table_of("id", "name", "cluster", "owner", "state", "calendar", "next", "last")
    for schedule in schedules:
        table.add_row(
            str(schedule.id),
            schedule.name,
            schedule.cluster_name,
            schedule.owner or "",
            schedule.state,
            f"{schedule.words} {schedule.time_zone}",
            minute(schedule.next_firings[0].fires_at) if schedule.next_firings else "",
            fired_line(schedule.last_firing) if schedule.last_firing else "",
        )
    return table


def firing_lines(schedule: Schedule) -> list[str]:
    if not schedule.next_firings:
        return [f"the schedule is {schedule.state}; no campaigns are planned"]
    return [f"next campaign {minute(firing.fires_at)}" for firing in schedule.next_firings]


def fired_line(firing: Firing) -> str:
    came_to = firing.outcome if firing.campaign_id is None else f"campaign {firing.campaign_id}"
    problem = f": {firing.problem}" if firing.problem else ""
    missed = f", {firing.missed} missed" if firing.missed else ""
    return f"{minute(firing.fired_at)} {came_to}{missed}{problem}"


def minute(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M} UTC"


def minute_of(moment: str | None, missing: str = "never") -> str:
    """Return the minute of a time as the server sends it."""
    return missing if moment is None else minute(datetime.fromisoformat(moment))


def stage_lines(campaign: Campaign) -> list[str]:
    lines = [
        f"stage {stage.ordinal} ({stage.variant}): {stage.state}, {stage.ended} of {stage.runs} runs ended"
        for stage in campaign.stages
    ]
    if campaign.adaptive is not None:
        lines.append(campaign.adaptive.words)
    if campaign.next_release_at is not None:
        lines.append(f"next repeats at {minute(campaign.next_release_at)}")
    if campaign.state == "paused":
        lines += [
            f"paused until you confirm: {stage.pause}; then run `iotide campaign confirm {campaign.id}`"
            for stage in campaign.stages
            if stage.state == "paused"
        ]
    return lines


def pause_lines(pause: Pause) -> list[str]:
    lines = [f"stage {pause.ordinal} ({pause.variant}) is paused until you confirm: {pause.pause}"]
    for on in pause.mounts:
        was = f"{on.was.fstype} from {on.was.source}"
        now = f"{on.now.fstype} from {on.now.source} ({on.now.mount_options})" if on.now else "nothing"
        change = f"changed: {was} -> {now}" if on.is_change else f"is unchanged: {now}"
        what = f"storage node's target {on.target}" if on.is_backing else f"target {on.target}"
        lines.append(f"{what} on {on.node} {change}" + (f": {on.problem}" if on.problem else ""))
    return lines


def show_results(console: Console, cells: Sequence[Cell], catalogue: Catalogue) -> None:
    marks = Marks()
    for cell in cells:
        where = f"{', '.join(cell.target_names)} from {', '.join(cell.node_names)}"
        variant = f" in {cell.variant}" if cell.variant else ""
        options = catalogue.described(cell.workload, cell.options)
        heading = f"configuration {cell.ordinal}: {cell.workload} on {where}{variant}; {options}"
        show_lines(console, [heading, *([f"  {cell.adaptive.words}"] if cell.adaptive else [])])
        table = table_of("  metric", "median", "lowest", "highest", "runs")
        for result in sorted(cell.results, key=partial(place_of, catalogue, cell.workload)):
            labels = {name: value for name, value in result.labels.items() if cell.options.get(name) != value}
            values = [format_value(value, result.unit) for value in (result.median, result.low, result.high)]
            name = catalogue.named(cell.workload, result.title or result.metric, labels)
            table.add_row(f"  {name}", f"{values[0]}{marks.of(cautions(result.flags))}", *values[1:], str(result.n))
        console.print(table if cell.results else "  no results", highlight=False)
    show_lines(console, [*marks.lines(), *plan_lines(cells)])


def plan_lines(cells: Sequence[Cell]) -> list[str]:
    """Return what the plan measures too little of, once for all its configurations."""
    of_cells = [ranked((code for one in cell.results for code in one.flags), FlagRank.SMALL_PLAN) for cell in cells]
    counts = Counter(chain.from_iterable(of_cells))
    measured = sum(bool(cell.results) for cell in cells)
    return [f"{flag_words(code)}: {count} of {measured} configurations" for code, count in counts.items()]


def place_of(catalogue: Catalogue, workload: str, number: CellResult | SampleAnswer) -> tuple[object, ...]:
    """Return the key that sorts a workload's numbers: primary metrics first."""
    return (*catalogue.place(workload, number.metric), sorted(map(str, number.labels.items())))


def show_lines(console: Console, lines: Iterable[str]) -> None:
    for line in lines:
        console.print(line, markup=False, highlight=False, soft_wrap=True)


def preview_lines(preview: Preview) -> list[str]:
    seconds, reason = preview.seconds_estimated, preview.seconds_unknown_because
    time = f"unknown: {reason}" if seconds is None else f"about {format_estimate(seconds)}"
    return [
        f"runs: {preview.run_count}, configurations: {preview.cell_count}",
        *dict.fromkeys(f"{cell.workload}: {cell.program}" for cell in preview.cells if cell.program is not None),
        f"time: {time}",
        f"space: {format_bytes(preview.bytes_peak)} at most at a time",
        f"data: {format_bytes(preview.bytes_moved)} written and read in total",
        *(power_lines(preview.power) if preview.power else []),
        *(scratch_lines(preview.scratch) if preview.scratch else []),
        *(f"warning: {warning.message}" for warning in preview.warnings),
    ]


def scratch_lines(scratch: ScratchAnswer) -> Iterator[str]:
    """Yield where file systems are made, how long it takes, and the variants of the first round in order."""
    seconds, rounds = scratch.make_seconds_estimated, max(stage.round for stage in scratch.stages)
    known = scratch.make_seconds_known
    partly = f"in about {format_estimate(known)} and unknown time for others" if known else "in unknown time"
    time = partly if seconds is None else f"in about {format_estimate(seconds)}"
    yield f"makes: {len(scratch.stages)} in {rounds} rounds on {scratch.node_name}/{scratch.set_name}, {time}"
    yield from (f"stage: {stage.variant}" for stage in scratch.stages if stage.round == 1)


def power_lines(power: PowerAnswer) -> Iterator[str]:
    """Yield the differences that a plan's repeats show: a line per workload, or per usual scatter if it is unknown."""
    for own in power.workloads:
        if own.scatter_source is None:
            yield f"{own.workload}: its scatter is unknown, as no runs were repeated"
        for row in own.rows:
            if row.difference_ratio is None:
                yield f"{own.workload}: {power.repeats} repeats show no difference; {FEWEST_REPEATS} or more do"
                break
            scatter, difference = format_percent(row.scatter_ratio), format_percent(row.difference_ratio)
            shown = f"{power.repeats} repeats at {_scatter(own, scatter)} show differences from {difference} on"
            yield f"{own.workload}: {shown}{_of_numbers(power, row)}"


def _scatter(own: WorkloadPower, scatter: str) -> str:
    if own.scatter_source is None:
        return f"a scatter of {scatter}"
    where = " on this cluster" if own.scatter_source == "workload" else ""
    return f"its scatter of {scatter} ({own.scatter_runs} runs){where}"


def _of_numbers(power: PowerAnswer, row: PowerRow) -> str:
    if power.numbers == 1:
        return ""
    if row.repeats_needed is not None and row.repeats_needed <= power.repeats:
        return f"; also with {power.numbers} numbers compared"
    return f"; with {power.numbers} numbers compared, {repeats_words(row.repeats_needed)} are needed"


def repeats_words(repeats: int | None) -> str:
    return f"more than {MOST_REPEATS} repeats" if repeats is None else f"{repeats} repeats"


def drain_table(drains: Iterable[Drain]) -> Table:
    table = table_of("what", "name", "reason", "by", "since", "until")
    for drain in drains:
        table.add_row(drain.kind, drain.name, drain.reason, drain.by, minute(drain.since), until(drain.until))
    return table


def until(end: datetime | None) -> str:
    return "until it is resumed" if end is None else f"until {minute(end)}"


def death_lines(statement: DeathStatement) -> list[str]:
    lines = [f"last heartbeat of {statement.node_name}: {statement.last_seen_at:%Y-%m-%d %H:%M:%S} UTC"]
    for run in statement.runs:
        lines += run.lines(run.ends)
    if not statement.runs:
        lines.append("the node has no active runs: nothing is released and no run ends")
    lines.append(f"{statement.waiting_count} runs wait for this node and keep waiting until its agent is back and idle")
    return lines


def table_of(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold")
    return table
