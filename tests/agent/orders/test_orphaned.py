"""What runs left on targets: removed later, found by its mark where the disk lost its name, and never another's."""

import logging
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from agent.runs_node import Node

from iotide_agent.core.protocol import RunnerEnded
from iotide_agent.orders.orphaned import shown
from iotide_agent.orders.parsing import Verdict
from iotide_agent.orders.runner_process import RunnerProcess
from iotide_wire.messages import Outcome


@pytest.fixture
def node(tmp_path: Path) -> Iterator[Node]:
    made = Node(tmp_path)
    yield made
    made.close()


def test_what_an_order_left_whose_name_the_disk_lost_is_found_by_its_mark_once_the_server_greeted(
    node: Node, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    shutil.rmtree(node.begun().directory)
    assert node.runs.recover() == []
    assert not (node.spool.strays / "wanted.json").exists()
    node.runs.allow_search(is_idle=True)
    node.until(lambda: list(node.target.iterdir()) == [])
    node.until(lambda: node.spool.leftovers() == [])
    place = f"{node.target}/iotide-run-101-1"
    assert caplog.messages == [f"stray_found order_id=1 paths={place}", f"removed order_id=1 paths={place}"]


@pytest.mark.parametrize("torn", ["", "\0\0\0\0", '{"order_id": 1', "[1]"])
def test_a_set_aside_order_whose_card_is_torn_is_found_by_its_mark(node: Node, torn: str) -> None:
    node.begun().card.write_text(torn)
    node.spool.set_aside(1)
    node.runs.allow_search(is_idle=True)
    node.until(lambda: list(node.target.iterdir()) == [])
    node.until(lambda: node.spool.leftovers() == [])


def test_a_mark_of_an_order_that_is_held_or_set_aside_is_no_stray(node: Node, caplog: pytest.LogCaptureFixture) -> None:
    for order_id in (1, 2):
        node.begun(order_id)
    shutil.rmtree(node.begun(3).directory)
    node.spool.set_aside(2)
    node.runs.allow_search(is_idle=True)
    node.until(lambda: [path.name for path in node.target.iterdir()] == ["iotide-run-101-1"])
    node.until(lambda: node.spool.leftovers() == [])
    strays = [message for message in caplog.messages if message.startswith("stray")]
    assert strays == [f"stray_found order_id=3 paths={node.target}/iotide-run-103-1"]


def test_a_card_that_cannot_be_read_waits_and_stops_nothing(node: Node, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    card = node.begun().card
    card.unlink()
    card.mkdir()
    node.spool.set_aside(1)
    assert node.runs.recover() == []
    assert [directory.name for directory in node.spool.leftovers()] == ["1"]
    assert caplog.messages[-1].startswith("leftovers_wait")


def test_what_was_set_aside_waits_while_an_order_of_its_number_is_held(node: Node) -> None:
    held = node.begun().directory
    shutil.copytree(held, node.spool.aside_stray(1, 10))
    node.runs.clean_leftovers()
    assert not (node.spool.aside_stray(1, 10) / "runner.log").exists()
    shutil.rmtree(held)
    node.runs.clean_leftovers()
    node.until(lambda: list(node.target.iterdir()) == [])


def test_a_stray_that_cannot_be_removed_is_kept_in_mind_and_in_the_log(
    node: Node, caplog: pytest.LogCaptureFixture
) -> None:
    shutil.rmtree(node.begun().directory)
    place = node.target / "iotide-run-101-1"
    inside = place / "inside"
    inside.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "iotide-test", str(inside)], check=True)
    try:
        node.runs.allow_search(is_idle=True)
        node.until(lambda: f"files_left order_id=1 paths={place}" in caplog.messages)
    finally:
        subprocess.run(["umount", str(inside)], check=True)
    node.runs.clean_leftovers()
    node.until(lambda: node.spool.leftovers() == [])
    assert list(node.target.iterdir()) == []


def test_a_search_for_strays_ends_when_a_run_begins_and_begins_anew_after_it(
    node: Node, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    shutil.rmtree(node.begun(2).directory)
    stray = node.target / "iotide-run-102-1"
    searches: list[RunnerProcess] = []
    look_for_strays = node.executor.look_for_strays

    def look() -> RunnerProcess:
        searches.append(look_for_strays())
        signal.pidfd_send_signal(searches[-1].pidfd, signal.SIGSTOP)
        return searches[-1]

    monkeypatch.setattr(node.executor, "look_for_strays", look)
    node.runs.allow_search(is_idle=True)
    node.until_ready()
    assert len(searches) == 1
    assert searches[0].child is not None
    assert searches[0].child.returncode == -signal.SIGKILL
    assert caplog.messages == []
    monkeypatch.undo()
    node.runs.clean_leftovers()
    assert not (node.spool.strays / "found.json").exists()
    node.runs.cancel(1, Verdict(Outcome.CANCELLED, "cancelled", "the user said so"))
    node.until(lambda: RunnerEnded(1) in node.events)
    assert stray.exists()
    node.runs.clean_leftovers()
    node.until(lambda: list(node.target.iterdir()) == [])
    node.until(lambda: node.spool.leftovers() == [])


def test_strays_are_not_looked_for_beside_a_measurement(node: Node) -> None:
    shutil.rmtree(node.begun().directory)
    measuring = node.spool.lock_node("exclusive")
    node.runs.allow_search(is_idle=True)
    assert not (node.spool.strays / "wanted.json").exists()
    os.close(measuring)
    node.runs.clean_leftovers()
    node.until(lambda: list(node.target.iterdir()) == [])
    node.until(lambda: node.spool.leftovers() == [])


def test_paths_in_the_log_are_bounded_and_counted() -> None:
    assert shown(["/a", "/b"]) == "/a /b"
    assert shown(["/" + "x" * 90] * 1000).endswith("... (1000 in all)")
    assert len(shown(["/" + "x" * 90] * 1000)) < 5000
