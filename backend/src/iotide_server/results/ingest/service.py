"""Storage of results that nodes report."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final

from sqlalchemy.orm import Session

from iotide_server.campaigns.scratch.filling import made_facts
from iotide_server.kit.db import Json, number
from iotide_server.kit.digests import canonical_sha256
from iotide_server.kit.errors import InvalidInputError
from iotide_server.kit.work import want_work
from iotide_server.results.concerned import Number, all_are_concerned
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
from iotide_wire.measured import Flag, FlagRank, SampleMessage
from iotide_wire.messages import ArtefactFact, CurvePiece, FinishRequest, OrderState, Outcome

MOST_ARTEFACTS = 1000

_VALUE_BYTES: Final = 4
_CURVE_ROW_BYTES: Final = 100
SENDER: Final = "sender"
OF_MPI: Final = "mpi."
"""Facts of the program that starts tasks: kind, version, transport."""
POINTS = "points"  # kind of work that recomputes a cell's points; its key is the cell


def ingest(
    session: Session, order: Order, finish: FinishRequest, now: datetime, limits: ReportLimits = DEFAULTS
) -> int:
    """Store the result of an order and return the number of new series. Safe to repeat.

    Requests the points of the cell if the run finished.

    Raises:
        InvalidInputError, REPORT_TOO_LARGE: the announcement does not cover it, or it exceeds a limit.
    """
    check_size(finish.samples, limits)
    check_described(finish, limits)
    run = session.get_one(Run, order.run_id)
    cell = repository.measured_cell(session, run.cell_id)
    check_member(cell, order.node_id, finish.samples)
    check_samples(finish.samples, cell.metrics, cell.target_ids)
    check_flags(finish.flags, cell.target_ids, limits)
    check_steps(finish.steps, cell.target_ids)
    if finish.artefacts:
        _note_missing_artefacts(session, order, finish.artefacts, limits, now)
    new_series = store_samples(session, cell, order, finish.samples, limits)
    readings.put_first(session, order, cell.revision, [flag.model_dump(mode="json") for flag in finish.flags], now)
    store_curves(session, order.id, finish.curves, limits.of_order(order.offered_at, now))
    own = {**finish.environment, **(made_facts(cell.scratch, cell.variant) if cell.is_measured else {})}
    environment = backing_facts(session, cell.target_ids, own)
    is_gang = len(cell.node_ids) > 1
    if is_gang:
        environment = _environment_of_gang(session, cell, run, order, environment)
    is_later = is_gang and repository.earlier_result_in_attempt(session, order)
    _describe(session, run, finish, environment, is_later=is_later)
    if is_later and order.node_id in cell.members:
        values = repository.concerned_values(session, order)
        run.validity = "rejected" if is_rejected(run.flags, values) else "valid"
    others = run.not_judged if is_later else []
    run.not_judged = _not_judged(others, finish, node_name(session, order.node_id) if is_gang else "")
    # Sender and receiver, or head and members, do different things and wait for each other.
    if is_gang and cell.sender is None and cell.head is None:
        _judge_race(session, run, order, finish)
    if finish.outcome is Outcome.FINISHED:
        want_work(session, POINTS, cell.id, now)
    return new_series


def check_member(cell: SeriesCell, node_id: int, samples: Sequence[SampleMessage], field: str = "samples") -> None:
    """Reject values of a node that only starts parts of another node's program."""
    if samples and node_id in cell.members:
        words = "a member of one program over several nodes has no values of its own"
        raise InvalidInputError(
            f"{field}: {words}", field=field, value=len(samples), remedy="send those of the program by its head"
        )


def ingest_observed(
    session: Session, order: Order, finish: FinishRequest, now: datetime, limits: ReportLimits = DEFAULTS
) -> None:
    """Store curves and facts of an observing node; its facts are not part of the run's environment."""
    check_described(finish, limits)
    store_curves(session, order.id, finish.curves, limits.of_order(order.offered_at, now))
    order.environment_sha256 = canonical_sha256(finish.environment)
    repository.ensure_environment(session, order.environment_sha256, finish.environment)
    session.flush()


def check_day(
    session: Session, node_id: int, size_bytes: int, limits: ReportLimits = DEFAULTS, field: str = "result"
) -> None:
    """Raise DAY_FULL if a node's results exceed its bytes of today."""
    today_bytes = repository.RAW_BYTES.today(session, node_id) + size_bytes
    if today_bytes > limits.raw_bytes_a_day:
        raise DAY_FULL(field=field, size_bytes=today_bytes, limit_bytes=limits.raw_bytes_a_day)


def count_day(session: Session, node_id: int, size_bytes: int, new_series: int) -> None:
    """Count a stored result. Call it last, because heartbeats write the same row."""
    repository.RAW_BYTES.add(session, node_id, size_bytes)
    if new_series:
        repository.NEW_SERIES.add(session, node_id, new_series)


def _note_missing_artefacts(
    session: Session, order: Order, artefacts: Sequence[ArtefactFact], limits: ReportLimits, now: datetime
) -> None:
    """Log raw output that never arrived; the values count without it."""
    stored = {(name, row.sha256) for name, row in repository.artefacts(session, order.id).items()}
    missing = [artefact for artefact in artefacts if (artefact.name, artefact.sha256) not in stored]
    words = [
        f"raw output {artefact.name} ({artefact.size_bytes} bytes, SHA-256 {artefact.sha256}) never arrived"
        for artefact in missing[: limits.log_lines]
    ]
    if len(missing) > limits.log_lines:
        words[-1] = f"{len(missing) - limits.log_lines + 1} further files of raw output never arrived"
    kind = "artefact_missing"
    session.add_all(RunEvent(run_id=order.run_id, order_id=order.id, at=now, kind=kind, text=line) for line in words)


def store_samples(  # noqa: PLR0913 - the last one locates them in the request
    session: Session,
    cell: SeriesCell,
    order: Order,
    samples: Sequence[SampleMessage],
    limits: ReportLimits,
    *,
    field: str = "samples",
) -> int:
    """Replace the samples of an order and return the number of new series; may raise REPORT_TOO_LARGE.

    A run that only prepares a stage keeps none. The sender's name becomes a label: a series' nodes have no order, but
    directions differ.
    """
    if not cell.is_measured:
        samples = ()
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
            "use fewer configurations or label values, or ask the server's administrator to raise the"
            " limit (docs/isolation.md)"
        )
        raise too_large(words, field, today, limits.new_series_a_day, remedy)
    repository.replace_samples(session, order, ids, samples)
    return new_series


def _environment_of_gang(session: Session, cell: SeriesCell, run: Run, order: Order, own: Facts) -> Facts:
    """Return the facts of the attempt's nodes so far, prefixed: `node2/kernel.release`.

    Those about MPI are the head's, without prefix: of one program over all nodes, whichever node starts it.
    """
    name = node_name(session, order.node_id)
    is_first = run.environment_sha256 is None or not repository.earlier_result_in_attempt(session, order)
    others = {} if is_first else repository.environment_of(session, run)
    of_program: Facts = {}
    if cell.head is not None:
        of_program = {fact: value for fact, value in own.items() if fact.startswith(OF_MPI)}
        own = {fact: value for fact, value in own.items() if fact not in of_program}
    shared = of_program if order.node_id == cell.head else {}
    return others | shared | {f"{name}/{fact}": value for fact, value in own.items()}


def _judge_race(session: Session, run: Run, order: Order, finish: FinishRequest) -> None:
    """Flag nodes of a gang that did not run at the same time, once all have delivered."""
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
    if others is None or finish.not_judged is None:
        return None
    own = [answer.model_dump(mode="json") for answer in finish.not_judged]
    prefix = f"{node}: " if node else ""
    return [*others, *({**answer, "because": f"{prefix}{answer['because']}"} for answer in own)]


def _describe(session: Session, run: Run, finish: FinishRequest, environment: Facts, *, is_later: bool) -> None:
    """Set flags, validity and environment; keep flags of the attempt's other nodes."""
    flags_of_others = run.flags if is_later else []
    unmeasured = unmeasured_by_old_agent(finish, repository.quiet_policy(session, run.campaign_id))
    own = [flag.model_dump(mode="json") for flag in (*finish.flags, *unmeasured)]
    run.flags = list({canonical_sha256(flag): flag for flag in (*flags_of_others, *own)}.values())
    run.validity = "rejected" if is_rejected(run.flags, concerned(finish.samples)) else "valid"
    run.environment_sha256 = canonical_sha256(environment)
    repository.ensure_environment(session, run.environment_sha256, environment)
    session.flush()


def is_rejected(flags: Iterable[Json], values: Sequence[Number]) -> bool:
    """Check if one flag rejects the whole run, or several together reject each value, by its labels and target."""
    rejecting = [flag for flag in map(Flag.model_validate, flags) if flag.rank is FlagRank.NOT_MEASURED]
    return all_are_concerned(rejecting, values) if values else bool(rejecting)


def concerned(samples: Iterable[SampleMessage]) -> list[Number]:
    return [(sample.labels, sample.target_id) for sample in samples]


def store_artefact(  # noqa: PLR0913 - each is a part of what is stored
    session: Session, order: Order, name: str, sha256: str, content: bytes, *, limits: ReportLimits = DEFAULTS
) -> None:
    """Store raw output of a locked order. Safe to repeat.

    Raises:
        ARTEFACT_TOO_LARGE, RAW_OUTPUT_FULL, TOO_MANY_ARTEFACTS: it exceeds a limit.
        DIGEST_MISMATCH, ARTEFACT_KEPT: the content differs from its digest, or from that of an ended order.
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
    # Checked first: rows of a rejected write use space until the next VACUUM.
    _check_raw_day(name, repository.RAW_BYTES.today(session, order.node_id) + len(content), limits)
    repository.put_artefact(session, order, name, sha256, content)
    if name in stored:
        repository.drop_blob(session, stored[name].sha256)
    # Counted last: heartbeats write the same row.
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
    """Append per-second values; return the bytes that count towards the node's day. Safe to repeat.

    `day_bytes` is what the node sent today; 0 if the caller checks the limit. Raises DAY_FULL or InvalidInputError
    and stores nothing.
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
    stored = repository.chunk_counts(session, order_id)
    counters, pieces = len(stored.keys() | set(added)), sum(stored.values()) + len(added)
    if counters > limits.counters:
        raise too_large("counters", "curves", counters, limits.counters, "sample fewer counters")
    if pieces > limits.curve_pieces:
        remedy = "sample less often, or fewer counters"
        raise too_large("pieces of curves", "curves", pieces, limits.curve_pieces, remedy)
