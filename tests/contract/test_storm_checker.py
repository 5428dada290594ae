"""The storm's checker finds each violation; otherwise a storm without findings would prove nothing."""

from typing import Any

from storm.checker import AskedRun, judge


def run(
    number: int = 1, *nodes: str, state: str = "finished", results: int = 1, cancelled: bool = False, frozen: str = ""
) -> AskedRun:
    return AskedRun(number, frozenset(nodes or ("n1",)), state, None, results, cancelled, frozenset(frozen.split()))


def load(order: int, *, number: int = 1, node: str = "n1", attempt: int = 1, **seen: bool) -> list[dict[str, Any]]:
    """Return a load's events from start to end; `ends=False` for one that was killed."""
    about = {"run": number, "attempt": attempt, "order": order, "node": node, "target": "nfs", "mode": "shared"}
    ends = seen.pop("ends", True)
    start = {"event": "start", **about, "is_node_free": True, "is_target_free": True, **seen}
    return [start, {"event": "end", **about}] if ends else [start]


def found(asked: AskedRun, *loads: list[dict[str, Any]]) -> tuple[str, ...]:
    return tuple(judge([asked], [event for one in loads for event in one]).found)


def test_a_success_is_not_a_finding() -> None:
    assert found(run(), load(1)) == ()
    assert found(run(1, "n1", "n2", results=2), load(1), load(2, node="n2")) == ()
    assert found(run(), load(1, ends=False), load(2, attempt=2)) == ()
    assert found(run(state="cancelled", cancelled=True), load(1, ends=False)) == ()
    assert found(run(state="failed"), load(1, ends=False)) == ()


def test_a_second_load_on_a_node_or_on_a_target_taken_alone_is_found() -> None:
    assert judge([run()], load(1, is_node_free=False)).overlaps == 1
    assert judge([run()], load(1, is_target_free=False)).target_violations == 1


def test_an_order_that_started_twice_and_a_run_tried_again_after_its_end_are_found() -> None:
    assert judge([run()], load(1, ends=False) + load(1)).double_attempts == 1
    assert judge([run()], load(1) + load(2, attempt=2)).double_attempts == 1
    gang = run(1, "n1", "n2", results=2)
    again = load(3, attempt=2) + load(4, node="n2", attempt=2)
    assert judge([gang], load(1) + load(2, node="n2") + again).double_attempts == 1
    assert judge([gang], load(1) + load(2, node="n2", ends=False) + again).is_clean


def test_a_gang_with_a_node_that_never_started_is_found() -> None:
    verdict = judge([run(1, "n1", "n2", state="failed")], load(1))
    assert verdict.partial_gangs == 1
    assert judge([run(1, "n1", "n2", state="cancelled", cancelled=True)], load(1)).is_clean
    assert judge([run(1, "n1", "n2", state="failed", frozen="n2")], load(1)).is_clean
    assert judge([run(1, "n1", "n2", state="failed", frozen="n1")], load(1)).partial_gangs == 1


def test_numbers_without_a_load_and_loads_without_numbers_are_found() -> None:
    assert judge([run(state="failed")], load(1)).lost == 1
    assert judge([run()], load(1, ends=False)).lost == 1
    assert judge([run(1, "n1", "n2", results=1)], load(1) + load(2, node="n2")).lost == 1


def test_a_run_that_never_ends_is_found() -> None:
    assert judge([run(state="active")], []).unended == 1
