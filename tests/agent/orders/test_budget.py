"""Write budgets: what counts, for how long, and how long orders wait."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from iotide_agent.orders.budget import BudgetUnknownError, Ledger, Spent, written_bytes
from iotide_wire.units import GIB

NOON = datetime(2026, 11, 25, 12, tzinfo=UTC).timestamp()
HOUR = 3600.0


class Clock:
    """Seconds since the epoch, set by the test."""

    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def ledger(tmp_path: Path, clock: Clock) -> Ledger:
    return Ledger(tmp_path, {"/fast": 10 * GIB}, clock)


def test_written_bytes_count_for_a_day_and_the_next_run_waits_until_there_is_room(ledger: Ledger, clock: Clock) -> None:
    for order_id in (1, 2, 3):
        assert ledger.reserve(order_id, {"/fast/a": 3 * GIB}) is None
        clock.now += HOUR
    spent = ledger.reserve(4, {"/fast/a": 4 * GIB})
    assert spent is not None
    # The oldest order alone releases enough.
    assert spent.suffices_at == datetime.fromtimestamp(NOON, UTC) + timedelta(days=1)
    assert spent.sentence == (
        "runs may write 10 GiB per day below /fast; 9 GiB were written, and this run needs 4 GiB; the budget has "
        "room from 2026-11-26 12:00 UTC"
    )
    two = ledger.reserve(4, {"/fast/a": 5 * GIB})
    assert two is not None
    assert two.suffices_at == datetime.fromtimestamp(NOON + HOUR, UTC) + timedelta(days=1)
    assert ledger.reserve(5, {"/fast/a": GIB}) is None
    clock.now = NOON + 24 * HOUR
    assert ledger.reserve(4, {"/fast/a": 3 * GIB}) is None


def test_written_bytes_replace_the_estimate(ledger: Ledger) -> None:
    assert ledger.reserve(1, {"/fast/a": GIB, "/fast/b": GIB}) is None
    ledger.settle(1, 9 * GIB)
    assert isinstance(ledger.reserve(2, {"/fast/a": 2 * GIB}), Spent)
    assert ledger.spent_bytes("/fast") == 9 * GIB
    ledger.settle(1, 0)
    assert ledger.reserve(2, {"/fast/a": 10 * GIB}) is None


def test_run_with_unknown_bytes_counts_with_its_estimate(ledger: Ledger) -> None:
    assert ledger.reserve(1, {"/fast": 9 * GIB}) is None
    ledger.settle(1, None)
    assert isinstance(ledger.reserve(2, {"/fast": 2 * GIB}), Spent)


def test_ledger_survives_the_agent(tmp_path: Path, ledger: Ledger, clock: Clock) -> None:
    assert ledger.reserve(1, {"/fast": 9 * GIB}) is None
    again = Ledger(tmp_path, {"/fast": 10 * GIB}, clock)
    assert isinstance(again.reserve(2, {"/fast": 2 * GIB}), Spent)
    assert again.reserve(1, {"/fast": 10 * GIB}) is None, "the same order, restarted after its agent was killed"


def test_each_directory_has_a_budget_of_its_own_and_the_stricter_one_holds(tmp_path: Path, clock: Clock) -> None:
    ledger = Ledger(tmp_path, {"/fast": 10 * GIB, "/fast/small": GIB}, clock)
    assert ledger.reserve(1, {"/fast/small/a": GIB}) is None
    assert isinstance(ledger.reserve(2, {"/fast/small/b": 1}), Spent)
    assert ledger.reserve(3, {"/fast/smaller": 9 * GIB}) is None
    assert isinstance(ledger.reserve(4, {"/fast/smaller": 1}), Spent)
    assert ledger.reserve(5, {"/slow": 10**15, "/faster": 10**15}) is None


def test_run_that_needs_more_than_the_whole_budget_never_has_room(ledger: Ledger) -> None:
    spent = ledger.reserve(1, {"/fast": 11 * GIB})
    assert spent == Spent(
        "runs may write 10 GiB per day below /fast, and this run needs 11 GiB; reduce its sizes, or raise the limit "
        "in [budget]",
        None,
    )


def test_ledger_that_cannot_be_read_lets_nothing_pass(tmp_path: Path, ledger: Ledger) -> None:
    for torn in ("{", "[[1]]", "7"):
        (tmp_path / "written.json").write_text(torn)
        with pytest.raises(BudgetUnknownError, match="delete the file to start the budget again at zero"):
            ledger.reserve(1, {"/fast": 1})


def test_without_budgets_nothing_is_kept(tmp_path: Path, clock: Clock) -> None:
    ledger = Ledger(tmp_path, {}, clock)
    assert ledger.reserve(1, {"/fast": 10**15}) is None
    ledger.settle(1, 10**15)
    assert list(tmp_path.iterdir()) == []


def test_bytes_of_all_steps_are_read_from_the_seconds_of_the_runner(tmp_path: Path) -> None:
    curve = tmp_path / "curve.jsonl"
    assert written_bytes(curve) is None
    curve.write_text("")
    assert written_bytes(curve) is None
    rows = [(0, 5), (0, 20), (1, 3), (1, 4)]
    lines = [f'{{"step": {step}, "step_written_bytes": {size}}}\n' for step, size in rows]
    curve.write_text("".join(lines) + '{"step": 1, "step_wri')
    assert written_bytes(curve) == 24
