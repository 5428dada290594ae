"""What other slices ask of results: store what a node measured."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final

from sqlalchemy.orm import Session

from iotide_server.kit.db import Json, number
from iotide_server.kit.digests import canonical_sha256
from iotide_server.kit.work import want_work
from iotide_server.results.concerned import all_are_concerned
from iotide_server.results.errors import (
    ARTEFACT_KEPT,
    DAY_FULL,
    RAW_OUTPUT_FULL,
    TOO_MANY_ARTEFACTS,
)
from iotide_server.results.ingest import readings, repository
from iotide_server.results.ingest.checks import (
    check_artefact,
    check_curve,
    check_described,
    check_flags,
    check_samples,
    check_size,
    check_steps,
    too_large,
)
from iotide_server.results.ingest.curves import Stretch, weave
from iotide_server.results.ingest.keys import Label
from iotide_server.results.ingest.limits import DEFAULTS, ReportLimits
from iotide_server.results.ingest.race import Racer, race_flags
from iotide_server.results.ingest.repository import SeriesCell
from iotide_server.results.ingest.series import Measured, series_ids
from iotide_server.results.ingest.superseded import superseded
from iotide_server.results.ingest.unjudged import unmeasured_by_old_agent
from iotide_server.runs.models import Order, Run, RunEvent
from iotide_server.runs.repository import node_name
from iotide_server.targets.backing import backing_facts
from iotide_wire.facts import Facts
from iotide_wire.measured import Flag, FlagEffect, SampleMessage
from iotide_wire.messages import ArtefactFact, CurvePiece, FinishRequest, OrderState, Outcome

MOST_ARTEFACTS = 1000  # of one order, as many as its result may name

_VALUE_BYTES: Final = 4
_CURVE_ROW_BYTES: Final = 100  # of a curve as PostgreSQL keeps it; a new row has a head and a place in two indexes
SENDER: Final = "sender"  # label of what was measured between two nodes: the name of the one that sent
POINTS = "points"  # kind of the work that recomputes a cell's points; its key is the cell


def ingest(
    session: Session, order: Order, finish: FinishRequest, now: datetime, limits: ReportLimits = DEFAULTS
) -> int:
    """Store the result of an order that loads: samples, flags, environment and curves; return how many series it began.

    Asks for the points of the cell to be computed when the run finished. Doing it again changes nothing.

    Raises:
        InvalidInputError, REPORT_TOO_LARGE: the announcement does not cover it, or it is more than the node may report.
    """
    check_size(finish.samples, limits)
    check_described(finish, limits)
    run = session.get_one(Run, order.run_id)
    cell = repository.measured_cell(session, run.cell_id)
    check_samples(finish.samples, cell.metrics, cell.target_ids)
    check_flags(finish.flags, cell.target_ids, limits)
    check_steps(finish.steps, cell.target_ids)
    if finish.artefacts:
        _note_missing_artefacts(session, order, finish.artefacts, limits, now)
    new_series = store_samples(session, cell, order, finish.samples, limits)
    readings.put_first(session, order, cell.revision, [flag.model_dump(mode="json") for flag in finish.flags], now)
    store_curves(session, order.id, finish.curves, limits.of_order(order.offered_at, now))
    environment = backing_facts(session, cell.target_ids, finish.environment)
    is_gang = len(cell.node_ids) > 1
    if is_gang:
        environment = _environment_of_gang(session, run, order, environment)
    is_later = is_gang and repository.earlier_result_in_attempt(session, order)
    _describe(session, run, finish, environment, is_later=is_later)
    others = run.not_judged if is_later else []
    run.not_judged = _not_judged(others, finish, node_name(session, order.node_id) if is_gang else "")
    # Sender and receiver wait for each other and do different things: there is no race between them.
    if is_gang and cell.sender is None:
        _judge_race(session, run, order, finish)
    if finish.outcome is Outcome.FINISHED:
        want_work(session, POINTS, cell.id, now)
    return new_series


def ingest_observed(
    session: Session, order: Order, finish: FinishRequest, now: datetime, limits: ReportLimits = DEFAULTS
) -> None:
    """Store what a node saw that only observed: its curves, and what it said of itself, which is not the run's own."""
    check_described(finish, limits)
    store_curves(session, order.id, finish.curves, limits.of_order(order.offered_at, now))
    order.environment_sha256 = canonical_sha256(finish.environment)
    repository.ensure_environment(session, order.environment_sha256, finish.environment)
    session.flush()


def check_day(
    session: Session, node_id: int, size_bytes: int, limits: ReportLimits = DEFAULTS, field: str = "result"
) -> None:
    """Refuse with DAY_FULL a result of a node that has sent as many bytes today as it may."""
    today_bytes = repository.RAW_BYTES.today(session, node_id) + size_bytes
    if today_bytes > limits.raw_bytes_a_day:
        raise DAY_FULL(field=field, size_bytes=today_bytes, limit_bytes=limits.raw_bytes_a_day)


def count_day(session: Session, node_id: int, size_bytes: int, new_series: int) -> None:
    """Count a stored result; last in its transaction, since heartbeats of the node write the same row."""
    repository.RAW_BYTES.add(session, node_id, size_bytes)
    if new_series:
        repository.NEW_SERIES.add(session, node_id, new_series)


def _note_missing_artefacts(
    session: Session, order: Order, artefacts: Sequence[ArtefactFact], limits: ReportLimits, now: datetime
) -> None:
    """Log which raw output never came: the run's numbers are worth keeping without it."""
    stored = {(name, row.sha256) for name, row in repository.artefacts(session, order.id).items()}
    missing = [artefact for artefact in artefacts if (artefact.name, artefact.sha256) not in stored]
    words = [
        f"raw output {artefact.name} ({artefact.size_bytes} bytes, SHA-256 {artefact.sha256}) never arrived"
        for artefact in missing[: limits.log_lines]
    ]
    if len(missing) > limits.log_lines:
        words[-1] = f"raw output of {len(missing) - limits.log_lines + 1} further names never arrived"
    kind = "artefact_missing"
    session.add_all(RunEvent(run_id=order.run_id, order_id=order.id, at=now, kind=kind, text=line) for line in words)


def store_samples(  # noqa: PLR0913 - the last says where they stand in what was sent
    session: Session,
    cell: SeriesCell,
    order: Order,
    samples: Sequence[SampleMessage],
    limits: ReportLimits,
    *,
    field: str = "samples",
) -> int:
    """Make these the samples of an order, of series that are made where they are new; return how many it began.

    Where one node sends to another its name is a label, since a series' nodes have no order, and there and back differ.
    More series than a node may begin in a day are refused with REPORT_TOO_LARGE.
    """
    newest_id = repository.newest_series(session)
    direction: dict[str, Label] = {SENDER: cell.sender} if cell.sender is not None else {}
    marks = superseded(cell.workload, cell.revision, len(cell.target_ids), samples)
    measured = [
        Measured(sample.metric, {**sample.labels, **direction}, mark or "")
        for sample, mark in zip(samples, marks, strict=True)
    ]
    ids = series_ids(session, cell, measured)
    new_series = len({series_id for series_id in ids if series_id > newest_id})
    today = repository.NEW_SERIES.today(session, order.node_id) + new_series if new_series else 0
    if today > limits.new_series_a_day:
        words = "series that the node began today"
        remedy = (
            "take fewer configurations, or labels with fewer values, or have an administrator of the server raise the"
            " limit (docs/isolation.md)"
        )
        raise too_large(words, field, today, limits.new_series_a_day, remedy)
    repository.replace_samples(session, order, ids, samples)
    return new_series


def _environment_of_gang(session: Session, run: Run, order: Order, own: Facts) -> Facts:
    """What the nodes of the attempt said so far, each fact with its node: `node2/kernel.release`."""
    name = node_name(session, order.node_id)
    is_first = run.environment_sha256 is None or not repository.earlier_result_in_attempt(session, order)
    others = {} if is_first else repository.environment_of(session, run)
    return others | {f"{name}/{fact}": value for fact, value in own.items()}


def _judge_race(session: Session, run: Run, order: Order, finish: FinishRequest) -> None:
    """When the last node of a gang has delivered, say whether they loaded at the same time."""
    others = repository.others_in_attempt(session, order)
    if finish.started_at is None or any(one.result_sha256 is None or one.started_at is None for one in others):
        return
    racers = [_racer(session, order.node_id, finish.started_at, [step.wall_seconds for step in finish.steps])]
    for one in others:
        walls = [number(step["wall_seconds"]) or 0.0 for step in one.steps]
        racers.append(_racer(session, one.node_id, one.started_at or finish.started_at, walls))
    flags = [flag.model_dump(mode="json") for flag in race_flags(racers)]
    run.flags = run.flags + [flag for flag in flags if flag not in run.flags]


def _racer(session: Session, node_id: int, started_at: datetime, wall_seconds: Sequence[float]) -> Racer:
    return Racer(node_name(session, node_id), started_at, sum(wall_seconds))


def _not_judged(others: list[Json] | None, finish: FinishRequest, node: str) -> list[Json] | None:
    """Return the checks of a run without an answer, with the node of each where others delivered before.

    None where one of its agents does not report them.
    """
    if others is None or finish.not_judged is None:
        return None
    own = [answer.model_dump(mode="json") for answer in finish.not_judged]
    prefix = f"{node}: " if node else ""
    return [*others, *({**answer, "because": f"{prefix}{answer['because']}"} for answer in own)]


def _describe(session: Session, run: Run, finish: FinishRequest, environment: Facts, *, is_later: bool) -> None:
    """Flags, validity and environment of the run; flags of the other nodes of the same attempt stay."""
    flags_of_others = run.flags if is_later else []
    unmeasured = unmeasured_by_old_agent(finish, repository.quiet_policy(session, run.campaign_id))
    own = [flag.model_dump(mode="json") for flag in (*finish.flags, *unmeasured)]
    run.flags = list({canonical_sha256(flag): flag for flag in (*flags_of_others, *own)}.values())
    run.validity = "rejected" if is_rejected(run.flags, finish.samples) else "valid"
    run.environment_sha256 = canonical_sha256(environment)
    repository.ensure_environment(session, run.environment_sha256, environment)
    session.flush()


def is_rejected(flags: Iterable[Json], samples: Sequence[SampleMessage]) -> bool:
    """Whether a flag rejects the run as a whole, or flags together reject each of its samples."""
    rejecting = [flag for flag in map(Flag.model_validate, flags) if flag.effect is FlagEffect.REJECTED]
    if not samples:
        return bool(rejecting)
    return all_are_concerned(rejecting, [(sample.labels, sample.target_id) for sample in samples])


def store_artefact(  # noqa: PLR0913 - each is a part of what is stored
    session: Session, order: Order, name: str, sha256: str, content: bytes, *, limits: ReportLimits = DEFAULTS
) -> None:
    """Store a piece of raw output of a locked order, once however often it is sent.

    Raises:
        ARTEFACT_TOO_LARGE, RAW_OUTPUT_FULL, TOO_MANY_ARTEFACTS: it is more than may be kept.
        DIGEST_MISMATCH, ARTEFACT_KEPT: the content has another digest, or the order ended with another of the name.
    """
    check_artefact(name, sha256, content)
    stored = repository.artefacts(session, order.id)
    if name in stored and stored[name].sha256 == sha256:
        return
    if name in stored and order.state == OrderState.ENDED:
        raise ARTEFACT_KEPT(name=name)
    if name not in stored and len(stored) >= MOST_ARTEFACTS:
        raise TOO_MANY_ARTEFACTS(name=name, allowed=MOST_ARTEFACTS)
    size_bytes = sum(row.size_bytes for other, row in stored.items() if other != name) + len(content)
    if size_bytes > limits.raw_bytes:
        raise RAW_OUTPUT_FULL(name=name, whose="the order", size_bytes=size_bytes, limit_bytes=limits.raw_bytes)
    # First, since what is written and then refused takes room until the next VACUUM.
    _check_raw_day(name, repository.RAW_BYTES.today(session, order.node_id) + len(content), limits)
    repository.put_artefact(session, order, name, sha256, content)
    if name in stored:
        repository.drop_blob(session, stored[name].sha256)
    # Last, so that the node's row, which its beats write too, is held for a moment only.
    _check_raw_day(name, repository.RAW_BYTES.add(session, order.node_id, len(content)), limits)


def _check_raw_day(name: str, today_bytes: int, limits: ReportLimits) -> None:
    if today_bytes > limits.raw_bytes_a_day:
        raise RAW_OUTPUT_FULL(
            name=name, whose="the node today", size_bytes=today_bytes, limit_bytes=limits.raw_bytes_a_day
        )


def store_curves(
    session: Session,
    order_id: int,
    pieces: Iterable[CurvePiece],
    limits: ReportLimits = DEFAULTS,
    *,
    day_bytes: int = 0,
) -> int:
    """Append per-second values to the order's curves, and return the bytes that they count to the node's day.

    What is already known changes nothing. `day_bytes` is what the node has sent today; 0 where the caller judges that.

    Raises:
        DAY_FULL, InvalidInputError: nothing is stored, since it is too much or cannot be stored.
    """
    arrived: dict[str, list[Stretch]] = defaultdict(list)
    for piece in pieces:
        arrived[piece.counter].append(check_curve(piece))
    if not arrived:
        return 0
    repository.lock_order(session, order_id)
    stored = repository.chunks_between(session, order_id, arrived)
    grown: dict[int, tuple[float, ...]] = {}
    added: list[tuple[str, Stretch]] = []
    for counter, stretches in arrived.items():
        rows = stored.get(counter, {})
        for woven in weave((row.stretch for row in rows.values()), stretches):
            row = rows.get(woven.started_at)
            if row is None:
                added.append((counter, woven))
            elif len(woven.values) > len(row.stretch.values):
                grown[row.id] = woven.values[len(row.stretch.values) :]
    size_bytes = _VALUE_BYTES * sum(map(len, (*grown.values(), *(stretch.values for _, stretch in added))))
    size_bytes += _CURVE_ROW_BYTES * len(added)
    if size_bytes and day_bytes + size_bytes > limits.raw_bytes_a_day:
        raise DAY_FULL(field="curves", size_bytes=day_bytes + size_bytes, limit_bytes=limits.raw_bytes_a_day)
    if added:
        _check_room(session, order_id, [counter for counter, _ in added], limits)
    repository.grow_chunks(session, grown)
    repository.add_chunks(session, order_id, added)
    return size_bytes


def _check_room(session: Session, order_id: int, added: Sequence[str], limits: ReportLimits) -> None:
    """Refuse rows of curves, named by their counters, where the order has as many as it may."""
    stored = repository.chunk_counts(session, order_id)
    counters, pieces = len(stored.keys() | set(added)), sum(stored.values()) + len(added)
    if counters > limits.counters:
        raise too_large("counters", "curves", counters, limits.counters, "sample fewer counters")
    if pieces > limits.curve_pieces:
        remedy = "sample less often, or fewer counters"
        raise too_large("pieces of curves", "curves", pieces, limits.curve_pieces, remedy)
