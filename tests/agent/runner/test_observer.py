"""Runner that only observes: it samples its node and runs no load."""

import json
import signal
from collections.abc import Callable

import pytest
from agent.order_rig import Rig

from iotide_agent.runner.card import write_cancel
from iotide_agent.runner.doorbell import ring

OBSERVES = {"targets": (), "approved": (), "directory_name": "", "observes": True}


@pytest.fixture
def observer(make_rig: Callable[..., Rig]) -> Rig:
    return make_rig(**OBSERVES)


def rows(rig: Rig) -> list[dict[str, float]]:
    return [json.loads(line) for line in (rig.directory / "curve.jsonl").read_text().splitlines()]


def end(rig: Rig) -> None:
    """End it as the supervisor does after the server reported that the loads have ended."""
    write_cancel(rig.directory, "finished", "loads_ended", "the loads have ended")
    ring(rig.directory / "bell")


def test_samples_its_node_from_its_start_until_the_signal_to_end(observer: Rig) -> None:
    observer.start()
    assert observer.until_phase("running")["started_at_epoch_seconds"] > 0
    observer.until(lambda: len(rows(observer)) >= 2)
    end(observer)
    ending = observer.until_ended()
    assert (ending["outcome"], ending["code"], ending["steps"]) == ("finished", "loads_ended", [])
    assert ending["started_at_epoch_seconds"] == observer.phase()["started_at_epoch_seconds"]
    for row in rows(observer):
        assert {"cpu_user_ratio", "net_receive_bytes_per_second", "sampler_cpu_ratio"} <= row.keys()
        assert not {"write_bytes_per_second", "load_cpu_ratio", "step"} & row.keys()
    assert 0 < ending["sampler_cpu_seconds"] < 0.1


def test_makes_no_directory_anywhere_but_its_own_order(observer: Rig) -> None:
    observer.start()
    observer.until_phase("running")
    end(observer)
    ending = observer.until_ended()
    assert (ending["places"], ending["leftovers"], list(observer.target.iterdir())) == ([], [], [])
    assert not (observer.directory / "scratch").exists()


def test_ends_by_itself_once_no_load_can_run_any_more(make_rig: Callable[..., Rig]) -> None:
    observer = make_rig(**OBSERVES, time_limit_seconds=1.2)
    observer.start()
    ending = observer.until_ended()
    assert (ending["outcome"], ending["code"]) == ("finished", "unended")
    assert len(rows(observer)) == 1


def test_ends_at_a_shutdown_of_its_node(observer: Rig) -> None:
    observer.start()
    observer.until_phase("running")
    assert observer.process is not None
    observer.process.send_signal(signal.SIGTERM)
    assert observer.until_ended()["code"] == "node_shut_down"


def test_a_killed_observer_is_ended_by_its_aftermath_with_its_samples(observer: Rig) -> None:
    observer.start()
    observer.until(lambda: (observer.directory / "curve.jsonl").exists() and rows(observer))
    assert observer.process is not None
    observer.process.kill()
    observer.process.wait()
    observer.start("--aftermath")
    ending = observer.until_ended()
    assert (ending["code"], ending["leftovers"]) == ("runner_died", [])
    assert ending["started_at_epoch_seconds"] is not None
