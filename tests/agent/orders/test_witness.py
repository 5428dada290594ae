"""Data that the node collects about a run in addition to its output."""

import threading
from pathlib import Path
from typing import NoReturn

import pytest

from iotide_agent.core.spool import OrderFiles
from iotide_agent.orders.plan import Plan
from iotide_agent.orders.witness import begin_witness, end_witness
from iotide_agent.probes.condition import Condition

NO_PLACES = Plan((), ())


@pytest.fixture
def files(tmp_path: Path) -> OrderFiles:
    return OrderFiles(tmp_path)


def test_storage_that_cannot_be_looked_at_costs_none_of_the_runs_numbers(
    files: OrderFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> NoReturn:
        raise LookupError("unknown output of a pool")

    monkeypatch.setattr("iotide_agent.orders.witness.look_below", fail)
    witness = end_witness(files, {}, NO_PLACES)
    assert (witness.before, witness.after, list(witness.rows)) == (None, None, [])


def test_storage_that_hangs_holds_a_run_up_for_a_while_and_its_loss_is_in_the_log(
    files: OrderFiles, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    may_answer, begun, looking = threading.Event(), threading.Event(), threading.Event()

    def hang(*_: object) -> Condition:
        looking.set()
        may_answer.wait(20.0)
        return Condition((), {})

    monkeypatch.setattr("iotide_agent.orders.witness.look_below", hang)
    monkeypatch.setattr("iotide_agent.orders.witness.LOOK_SECONDS", 0.05)
    threads = set(threading.enumerate())
    begin_witness(files, NO_PLACES, begun.set)
    assert looking.wait(20.0)
    assert begun.wait(20.0)
    may_answer.set()
    for thread in set(threading.enumerate()) - threads:
        thread.join(20.0)
    assert not files.condition.exists(), "it was seen when the load may have begun"
    assert end_witness(files, {}, NO_PLACES).before is None
    assert caplog.messages == [f"condition_before_unknown directory={files.directory}"]


def test_a_look_at_the_storage_of_a_run_that_is_forgotten_meanwhile_is_no_fault(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    begun = threading.Event()
    begin_witness(OrderFiles(tmp_path / "1.is-gone"), NO_PLACES, begun.set)
    assert begun.wait(20.0)
    assert caplog.messages == []
