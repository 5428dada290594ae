from datetime import UTC, datetime, timedelta

import pytest
from pydantic import ValidationError

from iotide_agent.orders.progress import added_up, check_curve
from iotide_agent.workloads.base import Curve

BEGIN = datetime(2026, 11, 21, 12, tzinfo=UTC)


def curve(counter: str, after_seconds: float, *values: float) -> Curve:
    return Curve(counter, BEGIN + timedelta(seconds=after_seconds), values)


def test_steps_side_by_side_add_up_in_the_seconds_of_the_load() -> None:
    [piece] = added_up([curve("a", 1.2, 1.0, 2.0), curve("a", 1.9, 10.0)], BEGIN)
    assert piece.started_at == BEGIN + timedelta(seconds=1)
    assert piece.values == (1.0, 12.0)


def test_steps_one_after_another_are_pieces_with_a_gap_between() -> None:
    pieces = added_up([curve("a", 10, 3.0), curve("a", 0, 1.0, 2.0), curve("b", 0, 9.0)], BEGIN)
    assert [(piece.counter, (piece.started_at - BEGIN).seconds, piece.values) for piece in pieces] == [
        ("a", 0, (1.0, 2.0)),
        ("a", 10, (3.0,)),
        ("b", 0, (9.0,)),
    ]


def test_long_curve_is_cut_into_messages_that_may_be_sent() -> None:
    pieces = added_up([curve("a", 0, *range(1300))], BEGIN)
    assert [len(piece.values) for piece in pieces] == [600, 600, 100]
    assert pieces[2].started_at == BEGIN + timedelta(seconds=1200)
    assert pieces[2].values[0] == 1200


def test_curve_that_none_could_store_is_refused_where_it_was_made() -> None:
    with pytest.raises(ValidationError, match="counter"):
        check_curve(curve("No Name", 0, 1.0))
    with pytest.raises(ValueError, match="not finite"):
        check_curve(curve("a", 0, float("nan")))
    check_curve(curve("a", 0))
