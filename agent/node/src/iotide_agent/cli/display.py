"""Answers for people: tables, results and a live progress bar."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Final

from rich.console import Console
from rich.table import Table

from iotide_agent.cli.answers import (
    Attempt,
    Campaign,
    Cell,
    CellResult,
    DeathStatement,
    Drain,
    Firing,
    Headline,
    Pause,
    Preview,
    Run,
    RunDetail,
    RunOrder,
    SampleAnswer,
    Schedule,
)
from iotide_agent.cli.names import Catalogue, Marks
from iotide_agent.cli.problems import Problem
from iotide_agent.cli.reparse import Difference, Reread
from iotide_agent.judging.quiet import SAMPLE_SECONDS
from iotide_wire.cautions import flag_words
from iotide_wire.foreign import ForeignLoad
from iotide_wire.measured import Flag
from iotide_wire.messages import OrderRole
from iotide_wire.units import (
    Unit,
    format_bytes,
    format_estimate,
    format_number,
    format_percent,
    format_rate,
    format_seconds,
    format_shift,
    format_value,
)

_NOT_MEASURED: Final = "not measured"
SHOWN_DIFFERENCES: Final = 200
"""Of one run; a surface has thousands."""


def show_problems(console: Console, problems: Iterable[Problem]) -> None:
    """Each as place, field, value and message, with the remedy below."""
    for problem in problems:
        place = f"{problem.place}: " if problem.place else ""
        value = "" if problem.value is None else f" = {problem.value!r}"
        field = f"{problem.field}{value}: " if problem.field else ""
        remedy = [f"  remedy: {problem.remedy}"] if problem.remedy else []
        show_lines(console, [f"error: {place}{field}{problem.message}", *remedy])


def campaign_table(campaigns: Iterable[Campaign]) -> Table:
    """One campaign a row."""
    table = _table("id", "name", "cluster", "state", "finished", "failed", "progress", "created")
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
            _minute(campaign.created_at),
        )
    return table


def schedule_table(schedules: Iterable[Schedule]) -> Table:
    """One schedule a row."""
    table = _table("id", "name", "cluster", "owner", "state", "calendar", "next", "last")
    for schedule in schedules:
        table.add_row(
            str(schedule.id),
            schedule.name,
            schedule.cluster_name,
            schedule.owner or "",
            schedule.state,
            f"{schedule.words} {schedule.time_zone}",
            _minute(schedule.next_firings[0].fires_at) if schedule.next_firings else "",
            fired_line(schedule.last_firing) if schedule.last_firing else "",
        )
    return table


def firing_lines(schedule: Schedule) -> list[str]:
    """When a schedule fires next, a firing a line."""
    if not schedule.next_firings:
        return [f"it is {schedule.state} and fires no more"]
    return [f"fires {_minute(firing.fires_at)}" for firing in schedule.next_firings]


def fired_line(firing: Firing) -> str:
    """What a firing came to."""
    came_to = firing.outcome if firing.campaign_id is None else f"campaign {firing.campaign_id}"
    problem = f": {firing.problem}" if firing.problem else ""
    missed = f", {firing.missed} missed" if firing.missed else ""
    return f"{_minute(firing.fired_at)} {came_to}{missed}{problem}"


def _minute(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M} UTC"


def stage_lines(campaign: Campaign) -> list[str]:
    """Each stage of a campaign, and what it waits for."""
    lines = [
        f"stage {stage.ordinal} ({stage.variant}): {stage.state}, {stage.ended} of {stage.runs} runs ended"
        for stage in campaign.stages
    ]
    if campaign.state == "paused":
        lines += [
            f"waits for you: {stage.pause}; then `iotide campaign confirm {campaign.id}`"
            for stage in campaign.stages
            if stage.state == "paused"
        ]
    return lines


def pause_lines(pause: Pause) -> list[str]:
    """What a confirmation would accept, a mount a line."""
    lines = [f"stage {pause.ordinal} ({pause.variant}) waits for you: {pause.pause}"]
    for on in pause.mounts:
        was = f"{on.was.fstype} from {on.was.source}"
        now = f"{on.now.fstype} from {on.now.source} ({on.now.mount_options})" if on.now else "nothing"
        change = f"was {was}, is now {now}" if on.is_change else f"is {now}, as before"
        what = f"below them, target {on.target}" if on.is_backing else f"target {on.target}"
        lines.append(f"{what} on {on.node} {change}" + (f": {on.problem}" if on.problem else ""))
    return lines


def show_results(console: Console, cells: Iterable[Cell], catalogue: Catalogue) -> None:
    """Each cell with its options once, then one metric a row with the range of its runs, primary metrics first."""
    marks = Marks()
    for cell in cells:
        where = f"{', '.join(cell.target_names)} from {', '.join(cell.node_names)}"
        variant = f" in {cell.variant}" if cell.variant else ""
        options = catalogue.described(cell.workload, cell.options)
        heading = f"cell {cell.ordinal}: {cell.workload} on {where}{variant}; {options}"
        show_lines(console, [heading])
        table = _table("  metric", "median", "lowest", "highest", "runs")
        for result in sorted(cell.results, key=partial(_place, catalogue, cell.workload)):
            labels = {name: value for name, value in result.labels.items() if cell.options.get(name) != value}
            values = [format_value(value, result.unit) for value in (result.median, result.low, result.high)]
            name = catalogue.named(cell.workload, result.title or result.metric, labels)
            table.add_row(f"  {name}", f"{values[0]}{marks.of(result.flags)}", *values[1:], str(result.n))
        console.print(table if cell.results else "  no results", highlight=False)
    show_lines(console, marks.lines())


def _place(catalogue: Catalogue, workload: str, number: CellResult | SampleAnswer) -> tuple[object, ...]:
    return (*catalogue.place(workload, number.metric), sorted(map(str, number.labels.items())))


def show_lines(console: Console, lines: Iterable[str]) -> None:
    """Print each as it is."""
    for line in lines:
        console.print(line, markup=False, highlight=False, soft_wrap=True)


def run_table(runs: Iterable[Run], headlines: Mapping[int, Headline] | None = None) -> Table:
    """Make a row of each run, with the number that it is known by where `headlines` has it."""
    of_run = headlines or {}
    value = [] if headlines is None else ["value"]
    before, after = (
        ("id", "campaign", "repeat", "node", "target", "workload", "state"),
        ("progress", "cautions", "reason"),
    )
    table = _table(*before, *value, *after)
    for run in runs:
        state = run.state if run.validity == "valid" else f"{run.state}, rejected"
        table.add_row(
            str(run.id),
            run.campaign_name,
            str(run.repeat),
            ", ".join(run.node_names),
            ", ".join(run.target_names),
            run.workload,
            state,
            *([headline_words(of_run[run.id]) if run.id in of_run else ""] if value else []),
            "" if run.progress is None else format_percent(run.progress),
            ", ".join(dict.fromkeys(flag_words(flag.code) for flag in run.flags)),
            run.reason or run.phase or "",
        )
    return table


def headline_words(headline: Headline) -> str:
    """Say a number and which one it is, for instance `1.23 GB/s write, 64 MiB`."""
    labels = headline.labels
    words = [
        *([] if headline.metric == "throughput" else [headline.title]),
        *(str(labels[name]).replace("_", " ") for name in ("operation",) if name in labels),
        *(f"writer {labels[name]}" for name in ("writer",) if name in labels),
        *(format_bytes(value) for name, value in labels.items() if name.endswith("_bytes")),
        *(["all nodes"] if labels.get("nodes") == "all" else []),
    ]
    return f"{format_value(headline.value, headline.unit)} {', '.join(words) or headline.title}"


def preview_lines(preview: Preview) -> list[str]:
    """What a plan would do, in sentences."""
    seconds, reason = preview.seconds_estimated, preview.seconds_unknown_because
    time = f"unknown: {reason}" if seconds is None else f"about {format_estimate(seconds)}"
    return [
        f"{preview.run_count} runs of {preview.cell_count} cells",
        f"time: {time}",
        f"space: {format_bytes(preview.bytes_peak)} at once",
        f"data: {format_bytes(preview.bytes_moved)} written and read in all",
        *(f"warning: {warning.message}" for warning in preview.warnings),
    ]


def show_run(console: Console, run: RunDetail, catalogue: Catalogue) -> None:
    """All that is known of a run: state, commands, samples and flags."""
    console.print(run_table([run]))
    show_lines(console, _waiting_lines(run))
    for attempt in run.attempts:
        for order in attempt.orders:
            show_lines(console, _order_lines(attempt, order))
    is_partial = run.state in {"failed", "cancelled"}
    table = _table("metric", "value of a part" if is_partial else "value")
    marks = Marks()
    for sample in sorted(run.samples, key=partial(_place, catalogue, run.workload)):
        codes = [flag.code for flag in run.flags if flag.concerns(sample.labels, sample.target_id)]
        mark = " (superseded)" if sample.superseded else marks.of(codes)
        name = catalogue.named(run.workload, sample.title or sample.metric, sample.labels)
        table.add_row(name, format_value(sample.value, sample.unit) + mark)
    if run.samples:
        console.print(table)
    show_lines(console, [*marks.lines(), *flag_lines(run.flags), *not_judged_lines(run)])


def _order_lines(attempt: Attempt, order: RunOrder) -> Iterator[str]:
    if order.role is OrderRole.OBSERVE:
        yield f"attempt {attempt.ordinal} observed by {order.node_name}: {order.outcome or order.state}"
        return
    part = f", the {order.step_role}" if order.step_role else ""
    reason = f" ({attempt.reason})" if attempt.reason else ""
    yield f"attempt {attempt.ordinal} on {order.node_name}{part}: {attempt.state}{reason}"
    yield from (f"  $ {' '.join(step.argv)}" for step in order.steps)
    yield from (f"  {line}" for line in foreign_lines(order.foreign_load))


def not_judged_lines(run: RunDetail) -> list[str]:
    """Checks that had too little to answer, one a line."""
    return [
        f"not judged: {check.title} ({f'{check.phase}: ' if check.phase else ''}{check.because})"
        for check in run.not_judged or ()
    ]


def foreign_lines(foreign: ForeignLoad | None) -> list[str]:
    """Return the use of a node by others, before and during the load, or that it was not measured."""
    if foreign is None:
        return []
    lines = []
    before, during = foreign.before, foreign.during
    if before is None or before.seconds < SAMPLE_SECONDS:
        seconds = 0.0 if before is None else before.seconds
        lines.append(f"others before: {_NOT_MEASURED}, {format_seconds(seconds)} of {format_seconds(SAMPLE_SECONDS)}")
    else:
        found = [
            *_share("processors", before.cpu_ratio),
            *_rate("disks", before.disk_bytes_per_second),
            *_rate("network", before.network_bytes_per_second),
            *([f"sessions {before.sessions}"] if before.sessions else []),
            *([f"batch jobs {', '.join(before.jobs)}"] if before.jobs else []),
        ]
        lines.append(f"others before: {', '.join(found) or _NOT_MEASURED}")
    found = []
    if during is not None:
        found = [
            *_share("processors", during.cpu_ratio),
            *_share("storage", during.storage_ratio),
            *_rate("network", during.network_bytes_per_second),
        ]
    return [*lines, f"others during: {', '.join(found) or _NOT_MEASURED}"]


def _share(what: str, ratio: float | None) -> list[str]:
    return [] if ratio is None else [f"{what} {format_percent(ratio)}"]


def _rate(what: str, rate: float | None) -> list[str]:
    return [] if rate is None else [f"{what} {format_rate(rate)}"]


def _waiting_lines(run: RunDetail) -> Iterator[str]:
    if run.waiting_because:
        yield f"waiting because {run.waiting_because}"
    if run.expected_start_at:
        yield f"expected to start {_minute(run.expected_start_at)}"
    elif run.expected_start_unknown_because:
        yield f"its start cannot be foreseen: {run.expected_start_unknown_because}"


def show_reread(console: Console, reread: Reread) -> None:
    """What another reading of a run changes, one number a row."""
    if reread.reading is None:
        show_lines(console, [f"run {reread.run_id}: not read again: {reread.refused_because}"])
        return
    numbers = f"{len(reread.differences)} of {reread.number_count} numbers differ"
    revisions = f"revision {reread.former_revision} -> {reread.reading.workload_revision}"
    found = "; it failed and can be read now" if reread.is_unread else ""
    show_lines(console, [f"run {reread.run_id}: {revisions}, {numbers}{found}"])
    table = _table("  metric", "before", "after", "change")
    for difference in reread.differences[:SHOWN_DIFFERENCES]:
        name = f"  {Catalogue().named('', difference.metric, difference.labels)}"
        values = [_number(value, difference.unit) for value in (difference.before, difference.after)]
        table.add_row(name, *values, _change(difference))
    if reread.differences:
        console.print(table, highlight=False)
    if len(reread.differences) > SHOWN_DIFFERENCES:
        console.print(f"  and {len(reread.differences) - SHOWN_DIFFERENCES} more", highlight=False)
    for sign, lines in (("-", reread.flags_gone), ("+", reread.flags_new)):
        show_lines(console, (f"  {sign} {line}" for line in lines))


def _number(value: float | None, unit: str | None) -> str:
    if value is None:
        return "none"
    return format_number(value) if unit is None else format_value(value, Unit(unit))


def _change(difference: Difference) -> str:
    if not difference.before or difference.after is None:
        return ""
    return format_shift(difference.after / difference.before)


def flag_lines(flags: Sequence[Flag]) -> list[str]:
    """What a sceptic must know, one flag a line."""
    return [f"{flag_words(flag.code)} ({flag.effect}): {flag.measured}; limit {flag.limit}" for flag in flags]


def drain_table(drains: Iterable[Drain]) -> Table:
    """One drain a row."""
    table = _table("what", "name", "reason", "by", "since", "until")
    for drain in drains:
        table.add_row(drain.kind, drain.name, drain.reason, drain.by, _minute(drain.since), until(drain.until))
    return table


def until(end: datetime | None) -> str:
    """When a drain ends."""
    return "until it is resumed" if end is None else f"until {_minute(end)}"


def death_lines(statement: DeathStatement) -> list[str]:
    """What calling a node dead would do, two lines a run."""
    lines = [f"{statement.node_name} was last heard of at {statement.last_seen_at:%Y-%m-%d %H:%M:%S} UTC"]
    for run in statement.runs:
        lines += run.lines(run.ends)
    if not statement.runs:
        lines.append("it holds no order: nothing is freed and nothing ends")
    lines.append(f"{statement.waiting_count} runs wait for it and go on waiting until its agent is back and idle")
    return lines


def _table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold")
    return table
