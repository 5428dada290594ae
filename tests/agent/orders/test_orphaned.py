"""Orphaned directories on targets: removed later, found by their marks if the disk lost their names, never
another's.
"""

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


def test_an_orphan_without_a_record_is_found_by_its_mark_after_the_hello(
    node: Node, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    shutil.rmtree(node.begun().directory)
    assert node.runs.recover() == []
    assert not (node.spool.orphans / "wanted.json").exists()
    node.runs.allow_search(is_idle=True)
    node.until(lambda: list(node.target.iterdir()) == [])
    node.until(lambda: node.spool.leftovers() == [])
    place = f"{node.target}/iotide-run-101-1"
    assert caplog.messages == [f"orphan_found order_id=1 paths={place}", f"removed order_id=1 paths={place}"]


@pytest.mark.parametrize("torn", ["", "\0\0\0\0", '{"order_id": 1', "[1]"])
def test_a_set_aside_order_with_a_damaged_card_is_found_by_its_mark(node: Node, torn: str) -> None:
    node.begun().card.write_text(torn)
    node.spool.set_aside(1)
    node.runs.allow_search(is_idle=True)
    node.until(lambda: list(node.target.iterdir()) == [])
    node.until(lambda: node.spool.leftovers() == [])


def test_a_directory_of_a_held_or_set_aside_order_is_not_orphaned(node: Node, caplog: pytest.LogCaptureFixture) -> None:
    for order_id in (1, 2):
        node.begun(order_id)
    shutil.rmtree(node.begun(3).directory)
    node.spool.set_aside(2)
    node.runs.allow_search(is_idle=True)
    node.until(lambda: [path.name for path in node.target.iterdir()] == ["iotide-run-101-1"])
    node.until(lambda: node.spool.leftovers() == [])
    orphans = [message for message in caplog.messages if message.startswith("orphan")]
    assert orphans == [f"orphan_found order_id=3 paths={node.target}/iotide-run-103-1"]


def test_a_card_that_cannot_be_read_waits_and_stops_nothing(node: Node, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    card = node.begun().card
    card.unlink()
    card.mkdir()
    node.spool.set_aside(1)
    assert node.runs.recover() == []
    assert [directory.name for directory in node.spool.leftovers()] == ["1"]
    assert caplog.messages[-1].startswith("leftovers_wait")


def test_a_set_aside_order_waits_while_an_order_of_its_number_is_held(node: Node) -> None:
    held = node.begun().directory
    shutil.copytree(held, node.spool.aside_orphan(1, 10))
    node.runs.clean_leftovers()
    assert not (node.spool.aside_orphan(1, 10) / "runner.log").exists()
    shutil.rmtree(held)
    node.runs.clean_leftovers()
    node.until(lambda: list(node.target.iterdir()) == [])


def test_an_orphan_that_cannot_be_removed_is_remembered_and_logged(
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


def test_a_search_for_orphans_ends_when_a_run_begins_and_restarts_after_it(
    node: Node, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    shutil.rmtree(node.begun(2).directory)
    orphan = node.target / "iotide-run-102-1"
    searches: list[RunnerProcess] = []
    look_for_orphans = node.executor.look_for_orphans

    def look() -> RunnerProcess:
        searches.append(look_for_orphans())
        signal.pidfd_send_signal(searches[-1].pidfd, signal.SIGSTOP)
        return searches[-1]

    monkeypatch.setattr(node.executor, "look_for_orphans", look)
    node.runs.allow_search(is_idle=True)
    node.until_ready()
    assert len(searches) == 1
    assert searches[0].child is not None
    assert searches[0].child.returncode == -signal.SIGKILL
    assert caplog.messages == []
    monkeypatch.undo()
    node.runs.clean_leftovers()
    assert not (node.spool.orphans / "found.json").exists()
    node.runs.cancel(1, Verdict(Outcome.CANCELLED, "cancelled", "cancelled by the user"))
    node.until(lambda: RunnerEnded(1) in node.events)
    assert orphan.exists()
    node.runs.clean_leftovers()
    node.until(lambda: list(node.target.iterdir()) == [])
    node.until(lambda: node.spool.leftovers() == [])


def test_orphans_are_not_searched_during_a_measurement(node: Node) -> None:
    shutil.rmtree(node.begun().directory)
    measuring = node.spool.lock_node("exclusive")
    node.runs.allow_search(is_idle=True)
    assert not (node.spool.orphans / "wanted.json").exists()
    os.close(measuring)
    node.runs.clean_leftovers()
    node.until(lambda: list(node.target.iterdir()) == [])
    node.until(lambda: node.spool.leftovers() == [])


def test_paths_in_the_log_are_bounded_and_counted() -> None:
    assert shown(["/a", "/b"]) == "/a /b"
    assert shown(["/" + "x" * 90] * 1000).endswith("... (1000 in all)")
    assert len(shown(["/" + "x" * 90] * 1000)) < 5000
