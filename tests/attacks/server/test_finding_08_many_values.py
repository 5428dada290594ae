"""More values than a statement can have parameters, and the log entry of a failed statement."""

import ast
import io
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import pytest
import structlog
from factories.measured import Measured, finish, sample
from sqlalchemy import select, text
from sqlalchemy.engine import Engine
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from iotide_server.campaigns.models import Cell
from iotide_server.kit.logs import LogFormat, configure_logs
from iotide_server.runs.models import Run
from iotide_server.trends.peers.marks import judge_peers
from iotide_server.trends.points.service import recompute_points

NOW: Final = datetime(2026, 11, 21, 10, 0, tzinfo=UTC)
MANY: Final = 65_536
"""One more than PostgreSQL's maximum number of parameters."""
SECRET: Final = "swordfish"
SOURCE: Final = Path(__file__).parents[3] / "backend/src/iotide_server"


def test_the_peers_of_a_campaign_with_very_many_cells_are_judged(session: Session) -> None:
    measured = Measured(session, NOW)
    campaign = measured.campaign()
    cell = measured.cell(campaign)
    measured.deliver(cell, finish(NOW, sample(100.0, operation="write")), minutes=1)
    recompute_points(session, cell.id)
    session.execute(
        text(
            "INSERT INTO cell (campaign_id, ordinal, workload_id, options, options_sha256, bytes_needed, bytes_moved)"
            " SELECT campaign_id, 10 + number, workload_id, options, options_sha256, 0, 0"
            " FROM cell CROSS JOIN generate_series(1, :many) AS number WHERE id = :cell_id"
        ),
        {"many": MANY, "cell_id": cell.id},
    )
    run = session.scalars(select(Run).where(Run.cell_id == cell.id)).one()
    stale: dict[str, object] = {
        "code": "PEER_ODD",
        "effect": "marked",
        "measured": "1",
        "limit": "2",
        "labels": {},
        "target_id": None,
    }
    run.flags = [stale]
    session.flush()
    judge_peers(session, campaign.id)
    session.expire_all()
    assert run.flags == []
    assert session.scalars(select(Cell.id).where(Cell.campaign_id == campaign.id)).all()[MANY]


@pytest.fixture(params=LogFormat)
def logged(request: pytest.FixtureRequest) -> Iterator[io.StringIO]:
    """Return the worker's log, in either form; structlog is restored afterwards."""
    stream = io.StringIO()
    configure_logs("worker", request.param, stream)
    yield stream
    structlog.reset_defaults()


def failure(engine: Engine, statement: str, **values: object) -> DBAPIError:
    with pytest.raises(DBAPIError) as raised, engine.begin() as connection:
        connection.execute(text(statement), values)
    return raised.value


def test_a_failed_statement_is_logged_without_its_parameters_and_cut(engine: Engine, logged: io.StringIO) -> None:
    error = failure(engine, f'SELECT 1 / 0 AS "{"x" * 3_000_000}", :secret', secret=SECRET)
    structlog.get_logger().error("work_failed", exc_info=ExceptionGroup("200 of 200 failed", [error] * 200))
    assert "SELECT 1 / 0" in logged.getvalue()
    assert SECRET not in logged.getvalue()
    assert len(logged.getvalue()) < 100_000
    assert len(str(error)) < 3000


def test_a_value_that_postgresql_repeats_is_not_logged(engine: Engine, database_url: str, logged: io.StringIO) -> None:
    del database_url
    insert = "INSERT INTO cluster (name) SELECT CAST(:name AS text) FROM generate_series(1, 2)"
    error = failure(engine, insert, name=SECRET)
    structlog.get_logger().error("work_failed", exc_info=error)
    assert "duplicate key" in logged.getvalue()
    assert SECRET not in logged.getvalue()


def test_a_long_line_of_a_library_is_cut(logged: io.StringIO) -> None:
    structlog.get_logger().warning("broker_away", error="x" * 1_000_000)
    assert len(logged.getvalue()) < 3000
    assert "998000 more characters" in logged.getvalue()


def test_no_statement_has_a_parameter_for_each_of_many_values() -> None:
    found = [
        f"{path.relative_to(SOURCE)}:{line} {what}"
        for path in sorted(SOURCE.rglob("*.py"))
        for line, what in unbounded(ast.parse(path.read_text()))
    ]
    assert found == [], "compare with any_of, any_text_of or none_of of kit/db.py; insert from unnest(:values)"


@pytest.mark.parametrize(
    "statement",
    [
        "query.where(Cell.id.in_(cell_ids))",
        "query.where(Cell.id.not_in([cell.id for cell in cells]))",
        "query.where(tuple_(Cell.id, Cell.stage).in_(pairs))",
        "query.where(Cell.id.in_({*cell_ids}))",
        "insert(Cell).values(rows)",
        "insert(Cell).values([{'id': 1}])",
        "text('id IN :ids').bindparams(bindparam('ids', expanding=True))",
    ],
)
def test_a_statement_that_grows_with_its_values_is_found(statement: str) -> None:
    assert len(list(unbounded(ast.parse(statement)))) == 1


@pytest.mark.parametrize(
    "statement",
    [
        "query.where(Run.state.in_(('waiting', 'active')))",
        "query.where(Alert.state.in_([*OPEN, 'fixed', State.ENDED]))",
        "query.where(Series.unit.in_(_RATES))",
        "query.where(Cell.id.in_(select(Run.cell_id).where(Run.id == 1)))",
        "last = select(Firing.id)\nquery.where(Firing.id.in_(last))",
        "insert(Cell).values(id=1)",
        "found.values()",
        "json.dumps({'a': 1})",
    ],
)
def test_a_statement_of_fixed_size_is_not_found(statement: str) -> None:
    assert list(unbounded(ast.parse(statement))) == []


def unbounded(module: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield line and text of each statement that has as many parameters as there are values."""
    queries = {
        target.id
        for node in ast.walk(module)
        if isinstance(node, ast.Assign) and is_query(node.value)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(module):
        if not isinstance(node, ast.Call):
            continue
        is_expanding = any(keyword.arg == "expanding" for keyword in node.keywords)
        is_long = isinstance(node.func, ast.Attribute) and (
            (node.func.attr in {"in_", "not_in", "notin_"} and not is_bounded(node.args[0], queries))
            or (node.func.attr == "values" and bool(node.args))
        )
        if is_long or is_expanding:
            yield node.lineno, ast.unparse(node)


def is_bounded(given: ast.expr, queries: set[str]) -> bool:
    """Check that the source fixes the number of values, or that it is a query."""
    match given:
        case ast.List() | ast.Tuple() | ast.Set():
            return all(isinstance(one, ast.Constant | ast.Attribute) or is_constant(one) for one in given.elts)
        case ast.Name(id=name) if name in queries:
            return True
        case _:
            return is_query(given) or is_constant(given)


def is_constant(given: ast.expr) -> bool:
    """Check that it is a module constant's name, or a display of such names and literals."""
    match given:
        case ast.Starred(value=value):
            return is_constant(value)
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name.isupper()
        case _:
            return False


def is_query(given: ast.expr) -> bool:
    """Check that it is a call chain on `select(...)`."""
    while isinstance(given, ast.Call | ast.Attribute):
        if isinstance(given, ast.Call) and isinstance(given.func, ast.Name):
            return given.func.id == "select"
        given = given.func if isinstance(given, ast.Call) else given.value
    return False
