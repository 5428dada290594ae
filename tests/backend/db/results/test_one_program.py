"""Results of one program over several nodes: the head has all values, and its facts about MPI are the program's."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

import pytest
from factories.measured import Measured, announced_again, finish, sample, step
from factories.people import ADMIN
from sqlalchemy import select
from sqlalchemy.orm import Session

from iotide_server.campaigns.models import Cell
from iotide_server.clusters.models import Node
from iotide_server.kit.digests import canonical_sha256
from iotide_server.kit.errors import InvalidInputError
from iotide_server.results.ingest.headlines import put_headlines
from iotide_server.results.ingest.rereading import read_again
from iotide_server.results.models import Environment, Point, RunHeadline, Sample, Series
from iotide_server.runs.models import Order, Run
from iotide_server.trends.models import Event
from iotide_server.trends.points.service import recompute_points
from iotide_wire.facts import FactValue
from iotide_wire.measured import Flag, FlagCode, FlagEffect
from iotide_wire.messages import FinishRequest
from iotide_wire.reading import OrderReading, RunReading

NOW = datetime(2026, 12, 1, 10, 0, tzinfo=UTC)
CHOICE = {"kind": "name", "name": "program_per_node"}
MPICH: dict[str, FactValue] = {"mpi.kind": "mpich", "mpi.version": "5.0.2", "mpi.transport": "ucx"}


@pytest.fixture
def measured(session: Session) -> Measured:
    return Measured(session, NOW)


def gang(measured: Measured, /, **options: object) -> tuple[Cell, Node, Node]:
    """Return a cell with one program over two nodes, its head and its member."""
    cell = measured.cell(None, **options)
    member = measured.add_node(f"node{cell.id}-2", cell)
    measured.lead_from(measured.node, cell)
    return cell, measured.node, member


def of_head(*rates: float, flags: tuple[Flag, ...] = (), facts: Mapping[str, FactValue] = MPICH) -> FinishRequest:
    values = [sample(rate, operation=operation) for rate, operation in zip(rates, ("write", "read"), strict=False)]
    return finish(NOW, *values, flags=flags, environment={"kernel.release": "6.1.0", **facts})


def of_member(*, seconds: float = 100.0, late: float = 0.0, facts: Mapping[str, FactValue] = MPICH) -> FinishRequest:
    ran = step("write", "remote part", NOW, seconds)
    said = finish(NOW, environment={"kernel.release": "6.1.0", **facts})
    return said.model_copy(update={"steps": (ran,), "started_at": NOW + timedelta(seconds=late)})


@pytest.mark.parametrize("is_head_first", [True, False])
def test_the_values_of_the_head_are_those_of_the_run_and_no_sum_is_made(
    session: Session,
    measured: Measured,
    is_head_first: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    cell, head, member = gang(measured)
    both = [(head.id, of_head(100, 90)), (member.id, of_member())]
    run = measured.deliver_together(cell, dict(both if is_head_first else reversed(both)))
    recompute_points(session, cell.id)
    put_headlines(session, [cell.id])
    assert sorted(session.scalars(select(Point.median))) == [90, 100]
    assert sorted(labels["operation"] for labels in session.scalars(select(Series.labels))) == ["read", "write"]
    assert session.get_one(RunHeadline, run.id).value == 100
    assert (run.state, run.validity) == ("finished", "valid")


def test_the_values_of_a_member_are_refused_with_their_place(measured: Measured) -> None:
    cell, head, member = gang(measured)
    with pytest.raises(InvalidInputError, match=r"samples: a member of one program .* has no values") as refusal:
        measured.deliver_together(cell, {head.id: of_head(100), member.id: of_head(99)})
    assert (refusal.value.field, bool(refusal.value.remedy)) == ("samples", True)


def test_a_member_of_one_program_is_neither_late_nor_a_straggler(session: Session, measured: Measured) -> None:
    cell, head, member = gang(measured)
    quick = of_head(100).model_copy(update={"steps": (step("write", "mpiexec", NOW, 1.0),)})
    run = measured.deliver_together(cell, {head.id: quick, member.id: of_member(seconds=500.0, late=8.0)})
    session.refresh(run)
    assert run.flags == []


@pytest.mark.parametrize("is_head_first", [True, False])
def test_a_member_without_values_does_not_reject_those_of_the_head(
    session: Session,
    measured: Measured,
    is_head_first: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    cell, head, member = gang(measured)
    cold = Flag(code=FlagCode.ZEROES, effect=FlagEffect.REJECTED, measured="0", limit="1", labels={"operation": "read"})
    both = [(head.id, of_head(100, 90, flags=(cold,))), (member.id, of_member())]
    run = measured.deliver_together(cell, dict(both if is_head_first else reversed(both)))
    session.refresh(run)
    assert (len(run.flags), run.validity) == (1, "valid")


def facts(session: Session, run: Run) -> dict[str, FactValue]:
    return dict(session.get_one(Environment, run.environment_sha256).facts)


def test_facts_about_mpi_are_those_of_the_head_and_have_no_node(session: Session, measured: Measured) -> None:
    cell, head, member = gang(measured)
    run = measured.deliver_together(
        cell, {member.id: of_member(facts=MPICH | {"mpi.version": "4.0"}), head.id: of_head(100)}
    )
    assert facts(session, run) == {
        "node1/kernel.release": "6.1.0",
        f"{member.name}/kernel.release": "6.1.0",
        **MPICH,
    }


def test_another_head_with_the_same_mpi_changes_no_environment(measured: Measured) -> None:
    cell, head, member = gang(measured)
    before = measured.deliver_together(cell, {head.id: of_head(100), member.id: of_member()})
    measured.lead_from(member, cell)
    after = measured.deliver_together(cell, {head.id: of_member(), member.id: of_head(101)})
    assert before.environment_sha256 == after.environment_sha256


def test_another_mpi_is_an_event_of_the_series_and_no_other_series(session: Session, measured: Measured) -> None:
    cell, head, member = gang(measured)
    measured.deliver_together(cell, {head.id: of_head(100), member.id: of_member()})
    newer = of_head(120, facts=MPICH | {"mpi.version": "5.0.3", "mpi.transport": "ofi"})
    measured.deliver_together(cell, {head.id: newer, member.id: of_member()}, minutes=30)
    recompute_points(session, cell.id)
    assert session.scalars(select(Event.text)).all() == ["mpi.transport: ucx -> ofi; mpi.version: 5.0.2 -> 5.0.3"]
    assert len(session.scalars(select(Series.id)).all()) == 1


def test_programs_of_each_node_and_one_program_over_them_are_never_one_series(
    session: Session, measured: Measured
) -> None:
    """The first cell is of a revision without the choice, the others have it as planned, see `KeyOptions`."""
    together = measured.cell()
    second = measured.add_node("second", together)
    measured.workload = announced_again(measured, 2, digest="revision-2", own_programs=CHOICE)
    one_program, own = measured.cell(program_per_node=False), measured.cell(program_per_node=True)
    one_program.options_sha256, own.options_sha256 = canonical_sha256({"program_per_node": False}), canonical_sha256({})
    for cell in (one_program, own):
        measured.join(second, cell)
    measured.lead_from(measured.node, one_program)
    for cell in (together, own):
        measured.deliver_together(cell, {measured.node.id: of_head(50), second.id: of_head(40)})
    measured.deliver_together(one_program, {measured.node.id: of_head(95), second.id: of_member()})
    by_cell: dict[int, set[int]] = {}
    for cell_id, series_id in session.execute(
        select(Run.cell_id, Sample.series_id).join(Run, Run.id == Sample.run_id)
    ).all():
        by_cell.setdefault(cell_id, set()).add(series_id)
    assert by_cell[together.id] == by_cell[own.id]
    assert by_cell[one_program.id].isdisjoint(by_cell[own.id])
    series = session.get_one(Series, by_cell[one_program.id].pop())
    assert (series.options, series.options_sha256) == ({"program_per_node": False}, one_program.options_sha256)


def test_another_number_of_nodes_is_another_series(session: Session, measured: Measured) -> None:
    two, head, member = gang(measured)
    three = measured.cell()
    third = measured.add_node("third", three)
    measured.join(member, three)
    measured.lead_from(head, three)
    measured.deliver_together(two, {head.id: of_head(100), member.id: of_member()})
    measured.deliver_together(three, {head.id: of_head(140), member.id: of_member(), third.id: of_member()})
    node_ids = [series.node_ids for series in session.scalars(select(Series).order_by(Series.id))]
    assert node_ids == [sorted([head.id, member.id]), sorted([head.id, member.id, third.id])]


def test_output_of_a_member_that_is_read_again_gives_no_values(session: Session, measured: Measured) -> None:
    cell, head, member = gang(measured)
    run = measured.deliver_together(cell, {head.id: of_head(100), member.id: of_member()})
    orders = {order.node_id: order.id for order in session.scalars(select(Order).where(Order.run_id == run.id))}

    def read(*of_member: float) -> None:
        rates = {head.id: (101.0,), member.id: of_member}
        readings = [
            OrderReading(
                order_id=orders[node_id], samples=tuple(sample(rate, operation="write") for rate in own), flags=()
            )
            for node_id, own in rates.items()
        ]
        said = RunReading(workload_revision=1, parser_version="0.4", orders=tuple(readings))
        read_again(session, ADMIN, run.id, said, NOW)

    with pytest.raises(InvalidInputError, match=r"orders\[1\]\.samples: a member of one program"):
        read(99.0)
    read()
    assert session.scalars(select(Sample.value)).all() == [101.0]
