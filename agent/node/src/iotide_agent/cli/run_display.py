"""Tables and lines of text for runs."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Final

from rich.console import Console
from rich.table import Table

from iotide_agent.cli.answers import (
    Attempt,
    Headline,
    Run,
    RunDetail,
    RunOrder,
)
from iotide_agent.cli.display import minute, place_of, show_lines, table_of
from iotide_agent.cli.names import Catalogue, Marks
from iotide_agent.cli.reparse import Difference, Reread
from iotide_agent.judging.quiet import SAMPLE_SECONDS
from iotide_wire.cautions import flag_words, notes
from iotide_wire.foreign import ForeignLoad
from iotide_wire.measured import Flag, FlagRank
from iotide_wire.messages import OrderRole
from iotide_wire.units import (
    Unit,
    format_bytes,
    format_number,
    format_percent,
    format_rate,
    format_seconds,
    format_shift,
    format_value,
)

_NOT_MEASURED: Final = "not measured"
SHOWN_DIFFERENCES: Final = 200
"""Maximum number of values shown per run; a surface has thousands."""


def run_table(runs: Iterable[Run], headlines: Mapping[int, Headline] | None = None) -> Table:
    of_run = headlines or {}
    value = [] if headlines is None else ["value"]
    before, after = (
        ("id", "campaign", "repeat", "node", "target", "workload", "state"),
        ("progress", "cautions", "reason"),
    )
    table = table_of(*before, *value, *after)
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
            _remarks(run.flags),
            run.reason or run.phase or "",
        )
    return table


def _remarks(flags: Sequence[Flag]) -> str:
    """Return for instance `read warm, 2 notes`: flags that make numbers doubtful, and the count of others."""
    count = len(notes(flag.code for flag in flags if flag.rank is FlagRank.DISTURBED))
    counted = [f"{count} {'note' if count == 1 else 'notes'}"] if count else []
    return ", ".join([*dict.fromkeys(_doubts(flags)), *counted])


def _doubts(flags: Iterable[Flag]) -> list[str]:
    return [flag_words(flag.code) for flag in flags if flag.rank <= FlagRank.UNLIKE]


def headline_words(headline: Headline) -> str:
    """Return for instance `1.23 GB/s write, 64 MiB`."""
    labels = headline.labels
    words = [
        *([] if headline.metric == "throughput" else [headline.title]),
        *(str(labels[name]).replace("_", " ") for name in ("operation",) if name in labels),
        *(f"writer {labels[name]}" for name in ("writer",) if name in labels),
        *(format_bytes(value) for name, value in labels.items() if name.endswith("_bytes")),
        *(["all nodes"] if labels.get("nodes") == "all" else []),
    ]
    return f"{format_value(headline.value, headline.unit)} {', '.join(words) or headline.title}"


def show_run(console: Console, run: RunDetail, catalogue: Catalogue) -> None:
    console.print(run_table([run]))
    show_lines(console, _waiting_lines(run))
    for attempt in run.attempts:
        for order in attempt.orders:
            show_lines(console, _order_lines(attempt, order))
    is_partial = run.state in {"failed", "cancelled"}
    table = table_of("metric", "partial value" if is_partial else "value")
    marks = Marks()
    for sample in sorted(run.samples, key=partial(place_of, catalogue, run.workload)):
        concerning = [flag for flag in run.flags if flag.concerns(sample.labels, sample.target_id)]
        mark = " (superseded)" if sample.superseded else marks.of(_doubts(concerning))
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


def _waiting_lines(run: RunDetail) -> Iterator[str]:
    if run.waiting_because:
        yield run.waiting_because
    if run.expected_start_at:
        yield f"expected start: {minute(run.expected_start_at)}"
    elif run.expected_start_unknown_because:
        yield f"start time unknown: {run.expected_start_unknown_because}"


def not_judged_lines(run: RunDetail) -> list[str]:
    return [
        f"not judged: {check.title} ({f'{check.phase}: ' if check.phase else ''}{check.because})"
        for check in run.not_judged or ()
    ]


def foreign_lines(foreign: ForeignLoad | None) -> list[str]:
    if foreign is None:
        return []
    lines = []
    before, during = foreign.before, foreign.during
    if before is None or before.seconds < SAMPLE_SECONDS:
        seconds = 0.0 if before is None else before.seconds
        sampled = f"{format_seconds(seconds)} sampled, {format_seconds(SAMPLE_SECONDS)} needed"
        lines.append(f"load before the run: {_NOT_MEASURED} ({sampled})")
    else:
        found = [
            *_share("CPU", before.cpu_ratio),
            *_rate("disks", before.disk_bytes_per_second),
            *_rate("network", before.network_bytes_per_second),
            *([f"sessions {before.sessions}"] if before.sessions else []),
            *([f"batch jobs {', '.join(before.jobs)}"] if before.jobs else []),
        ]
        lines.append(f"load before the run: {', '.join(found) or _NOT_MEASURED}")
    found = []
    if during is not None:
        found = [
            *_share("CPU", during.cpu_ratio),
            *_share("storage", during.storage_ratio),
            *_rate("network", during.network_bytes_per_second),
        ]
    return [*lines, f"other load during the run: {', '.join(found) or _NOT_MEASURED}"]


def _share(what: str, ratio: float | None) -> list[str]:
    return [] if ratio is None else [f"{what} {format_percent(ratio)}"]


def _rate(what: str, rate: float | None) -> list[str]:
    return [] if rate is None else [f"{what} {format_rate(rate)}"]


def flag_lines(flags: Sequence[Flag]) -> list[str]:
    """Describe the flags of a run, without those of its plan."""
    return [
        f"{flag_words(flag.code)} ({flag.effect}): {flag.measured}; limit {flag.limit}"
        for flag in sorted(flags, key=lambda flag: flag.rank)
        if flag.rank is not FlagRank.SMALL_PLAN
    ]


def show_reread(console: Console, reread: Reread) -> None:
    if reread.reading is None:
        show_lines(console, [f"run {reread.run_id} cannot be parsed again: {reread.refused_because}"])
        return
    numbers = f"{len(reread.differences)} of {reread.number_count} values differ"
    revisions = f"revision {reread.former_revision} -> {reread.reading.workload_revision}"
    found = "; it had failed and can now be parsed" if reread.is_unread else ""
    show_lines(console, [f"run {reread.run_id}: {revisions}, {numbers}{found}"])
    table = table_of("  metric", "before", "after", "change")
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
