"""Repeated parsing of raw output; new values replace the former ones."""

from collections.abc import Iterable
from datetime import datetime

from sqlalchemy.orm import Session

from iotide_server.accounts.audit import trail as audit
from iotide_server.accounts.audit.trail import Action
from iotide_server.accounts.models import Role
from iotide_server.accounts.roles.principal import Principal
from iotide_server.change_feed import service as live
from iotide_server.kit.digests import canonical_sha256
from iotide_server.kit.people import OPERATOR
from iotide_server.kit.work import want_work
from iotide_server.results.errors import (
    ORDERS_DIFFER,
    RAW_OUTPUT_REMOVED,
    READING_NOT_FOUND,
    RUN_NOT_READABLE,
)
from iotide_server.results.ingest import readings, repository
from iotide_server.results.ingest.checks import check_flags, check_samples, check_size
from iotide_server.results.ingest.limits import DEFAULTS, ReportLimits
from iotide_server.results.ingest.service import (
    POINTS,
    check_day,
    check_member,
    concerned,
    count_day,
    is_rejected,
    store_samples,
)
from iotide_server.results.models import Reading, ThinnedRun
from iotide_server.results.schemas import ReadingDetail
from iotide_server.runs import repository as run_repository
from iotide_server.runs import service as runs
from iotide_server.runs.lifecycle import RunState
from iotide_server.runs.models import Order, Run, RunEvent
from iotide_wire.measured import FlagCode
from iotide_wire.reading import OrderReading, RunReading

_OF_SERVER = frozenset({FlagCode.CLOCK, FlagCode.NODE_TIME})
"""Flags of the server about a result; those of older releases may also be the node's."""
_FROM_OTHER_RUNS = frozenset({FlagCode.ENV_CHANGED, FlagCode.OUTLIER, FlagCode.PEER_ODD})
"""Flags that are computed again with the points, or later."""


def read_again(  # noqa: PLR0913 - each is a part of what is asked
    session: Session,
    principal: Principal,
    run_id: int,
    said: RunReading,
    now: datetime,
    *,
    limits: ReportLimits = DEFAULTS,
) -> None:
    """Replace the current reading of a run, and request the points of its cell.

    Safe to repeat. Bytes count towards the day of the order's node. A run that failed because its output could not be
    parsed becomes finished.

    Raises:
        RUN_NOT_FOUND, RAW_OUTPUT_REMOVED, RUN_NOT_READABLE, ORDERS_DIFFER: it cannot be read again.
        REVISION_UNKNOWN, InvalidInputError: its workload announced no such revision, metric or label.
        REPORT_TOO_LARGE, DAY_FULL: it exceeds a limit.
    """
    run = runs.lock_changeable(session, principal, run_id)
    thinned = session.get(ThinnedRun, run_id)
    if thinned is not None and thinned.raw_removed_at is not None:
        raise RAW_OUTPUT_REMOVED(run_id=run_id, removed_at=thinned.raw_removed_at)
    orders = {order.id: order for order in run_repository.last_orders(session, run_id)}
    is_unread = runs.is_unread(session, run)
    former = {order_id: found for order_id in orders if (found := readings.current(session, order_id))}
    is_readable = run.state == RunState.FINISHED or is_unread
    if not is_readable or not orders or orders.keys() != former.keys():
        raise RUN_NOT_READABLE(run_id=run_id, state=run.state)
    if sorted(orders) != sorted(of_order.order_id for of_order in said.orders):
        raise ORDERS_DIFFER(run_id=run_id, order_ids=sorted(orders))
    cell = repository.measured_cell(session, run.cell_id, said.workload_revision)
    for index, of_order in enumerate(said.orders):
        check_size(of_order.samples, limits, f"orders[{index}].samples")
        check_member(cell, orders[of_order.order_id].node_id, of_order.samples, f"orders[{index}].samples")
        check_samples(of_order.samples, cell.metrics, cell.target_ids, f"orders[{index}].samples")
        check_flags(of_order.flags, cell.target_ids, limits, f"orders[{index}].flags")
    superseded = []
    counted: dict[int, tuple[int, int]] = {}
    for index, of_order in enumerate(said.orders):
        order, before = orders[of_order.order_id], former[of_order.order_id]
        if not _is_same(session, order, before, said, of_order):
            size_bytes = len(of_order.model_dump_json().encode())
            check_day(session, order.node_id, size_bytes, limits, f"orders[{index}]")
            before.samples = readings.samples(session, order)
            after = _reading(principal, said, of_order, before, now)
            session.add(after)
            session.flush()
            readings.forget_older(session, order.id)
            field = f"orders[{index}].samples"
            new_series = store_samples(session, cell, order, of_order.samples, limits, field=field)
            counted[order.node_id] = (size_bytes, new_series)
            superseded.append((before, after))
    if superseded:
        _replace_flags(run, former.values(), said)
        if is_unread:
            runs.finish_unread(session, run)
        _write_down(session, principal, run, *superseded[0])
        run.validity = (
            "rejected"
            if is_rejected(run.flags, concerned(one for own in said.orders for one in own.samples))
            else "valid"
        )
        session.flush()
        want_work(session, POINTS, run.cell_id, now)
        live.publish(session, "run", run.id, run.cluster_id)
    for node_id, (size_bytes, new_series) in sorted(counted.items()):
        count_day(session, node_id, size_bytes, new_series)


def _is_same(session: Session, order: Order, before: Reading, said: RunReading, of_order: OrderReading) -> bool:
    by_same = (before.workload_revision, before.parser_version) == (said.workload_revision, said.parser_version)
    if not by_same or before.flags != [flag.model_dump(mode="json") for flag in of_order.flags]:
        return False
    now = [
        (sample["metric"], sample["labels"], sample["target_id"], sample["value"])
        for sample in readings.samples(session, order)
    ]
    return now == [(sample.metric, sample.labels, sample.target_id, sample.value) for sample in of_order.samples]


def _reading(principal: Principal, said: RunReading, of_order: OrderReading, before: Reading, now: datetime) -> Reading:
    return Reading(
        run_id=before.run_id,
        order_id=before.order_id,
        ordinal=before.ordinal + 1,
        workload_revision=said.workload_revision,
        parser_version=said.parser_version,
        read_at=now,
        read_by=principal.name,
        flags=[flag.model_dump(mode="json") for flag in of_order.flags],
        samples=None,
    )


def _replace_flags(run: Run, former: Iterable[Reading], said: RunReading) -> None:
    """Keep the server's own flags; flags derived from other runs are added later."""
    before = {canonical_sha256(flag) for reading in former for flag in reading.flags}
    flags = {canonical_sha256(flag): flag for flag in run.flags if flag["code"] not in _FROM_OTHER_RUNS}
    kept = {key: flag for key, flag in flags.items() if key not in before or flag["code"] in _OF_SERVER}
    read = (flag.model_dump(mode="json") for of_order in said.orders for flag in of_order.flags)
    run.flags = list((kept | {canonical_sha256(flag): flag for flag in read}).values())


def _write_down(session: Session, principal: Principal, run: Run, before: Reading, after: Reading) -> None:
    change = [
        {"workload_revision": one.workload_revision, "parser_version": one.parser_version} for one in (before, after)
    ]
    audit.record(session, principal, Action("run_read_again", "run", run.id, run.cluster_id, *change))
    was, now_is = (f"revision {one['workload_revision']} of iotide {one['parser_version']}" for one in change)
    words = f"read again by {OPERATOR} with the parser of {now_is} instead of {was}"
    session.add(RunEvent(run_id=run.id, at=after.read_at, kind="read_again", text=words, actor=principal.actor))


def reading(session: Session, principal: Principal, reading_id: int) -> ReadingDetail:
    found = readings.visible(session, reading_id)
    row = principal.require_row(Role.VIEWER, found, READING_NOT_FOUND(reading_id=reading_id)).Reading
    kept = row.samples
    if kept is None:
        kept = readings.samples(session, session.get_one(Order, row.order_id))
    return ReadingDetail.of_row(row, samples=kept)
