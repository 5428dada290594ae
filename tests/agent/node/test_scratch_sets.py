"""The agent asks a helper on a real socket for the node's scratch sets."""

import json
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from factories.scratch_sets import disk, scratch_set

from iotide_agent.node import scratch_sets
from iotide_agent.node.config import AgentConfig
from iotide_agent.node.inventory import take_inventory
from iotide_agent.node.scratch_sets import read_scratch_sets

LISTED: dict[str, Any] = {
    "name": "bays",
    "mount_path": "/srv/iotide-scratch/bays",
    "state": "clean",
    "reason": "",
    "variant": "",
    "last_used_s": 0,
    "order": 0,
    "disks": [
        {
            "id": disk(1).id,
            "wwn": disk(1).wwn,
            "serial": disk(1).serial,
            "model": disk(1).model,
            "size_bytes": disk(1).size_bytes,
            "bay": "1",
            "adopted_at_s": int(disk(1).adopted_at.timestamp()),
            "adopted_by": "root",
            "state": "clean",
        }
    ],
}


@pytest.fixture
def answering(tmp_path: Path) -> Iterator[Callable[[bytes], Path]]:
    """Start a helper that answers one question with these bytes, or not at all with none; return its socket."""
    ends: list[Callable[[], None]] = []

    def start(answer: bytes) -> Path:
        path = tmp_path / "scratch.sock"
        listening = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        listening.bind(str(path))
        listening.listen()
        asked = threading.Event()

        def serve() -> None:
            connection, _ = listening.accept()
            with connection:
                assert json.loads(connection.recv(1000)) == {"verb": "list"}
                if answer:
                    connection.send(answer)
                asked.wait()

        thread = threading.Thread(target=serve)
        thread.start()
        ends.extend((asked.set, thread.join, listening.close))
        return path

    yield start
    for end in ends:
        end()


def test_a_node_without_helper_has_no_sets(tmp_path: Path) -> None:
    assert read_scratch_sets(tmp_path / "scratch.sock") == ()


def test_the_helpers_list_is_read_and_unknown_fields_are_ignored(answering: Callable[[bytes], Path]) -> None:
    read = read_scratch_sets(answering(json.dumps({"sets": [LISTED]}).encode()))
    assert read == (scratch_set("bays", disk(1)),)


@pytest.mark.parametrize(
    "answer",
    [
        b"no JSON",
        b'{"error": "busy"}',
        json.dumps({"sets": [LISTED | {"mount_path": "/etc"}]}).encode(),
        json.dumps({"sets": [LISTED | {"last_used_s": 10**18}]}).encode(),
        json.dumps({"sets": [LISTED, LISTED]}).encode(),
    ],
)
def test_after_a_wrong_answer_the_sets_are_unknown(answering: Callable[[bytes], Path], answer: bytes) -> None:
    assert read_scratch_sets(answering(answer)) is None


def test_a_helper_that_does_not_answer_is_given_up(
    answering: Callable[[bytes], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scratch_sets, "_PATIENCE_SECONDS", 0.01)
    assert read_scratch_sets(answering(b"")) is None


def test_a_dead_socket_is_no_error(tmp_path: Path) -> None:
    path = tmp_path / "scratch.sock"
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as unheard:
        unheard.bind(str(path))
    assert read_scratch_sets(path) is None


def test_runs_may_write_below_a_set_only_while_it_is_in_use() -> None:
    made, clean = scratch_set("made", disk(1), state="in_use"), scratch_set("clean", disk(2))
    inventory = take_inventory(AgentConfig(), read_sets=lambda: (made, clean))
    assert inventory.approved_directories == ("/srv/iotide-scratch/made",)
    assert inventory.scratch_sets == (made, clean)
    assert take_inventory(AgentConfig(), read_sets=lambda: None).scratch_sets is None
