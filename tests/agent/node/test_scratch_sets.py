"""The agent asks a helper on a real socket for the node's scratch sets."""

import json
import socket
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from factories.scratch_sets import disk, scratch_set

from iotide_agent.node import scratch_sets
from iotide_agent.node.config import AgentConfig
from iotide_agent.node.inventory import take_inventory
from iotide_agent.node.scratch_sets import read_scratch_sets

MARKED: dict[str, Any] = {
    "device": "wwn-0x5000c500a1b20001",
    "problem": None,
    "id": disk(1).id,
    "wwn": disk(1).wwn,
    "serial": disk(1).serial,
    "model": disk(1).model,
    "name": "sdb",
    "size_bytes": disk(1).size_bytes,
    "bay": "1",
    "adopted_at_s": int(disk(1).adopted_at.timestamp()),
    "state": "clean",
    "order": "",
    "fence": 0,
    "variant": "",
    "since_s": 1_780_000_000,
}
LOST = MARKED | {
    "device": "wwn-0x5000c500a1b20003",
    "id": disk(3).id,
    "serial": "ZC0003",
    "state": "lost",
    "problem": "ZC0003 is adopted, but not there",
}
ABSENT = {"device": "wwn-0x5000c500a1b20002", "state": "absent", "problem": "wwn-0x5000c500a1b20002 is not there"}


def listed(*disks: dict[str, Any], **changes: object) -> dict[str, Any]:
    """Return a set as the helper lists it."""
    return {"set": "bays", "mount": "/srv/iotide-scratch/bays", "disks": disks, "last": None, **changes}


@pytest.fixture
def answering(tmp_path: Path) -> Iterator[Callable[..., Path]]:
    """Start a helper that answers each page with these bytes, or not at all with none; return its socket."""
    ends: list[Callable[[], None]] = []

    def start(*pages: bytes) -> Path:
        path = tmp_path / "scratch.sock"
        listening = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        listening.bind(str(path))
        listening.listen()
        asked = threading.Event()

        def serve() -> None:
            for number, answer in enumerate(pages):
                connection, _ = listening.accept()
                with connection:
                    assert json.loads(connection.recv(1000)) == {"verb": "list", **({"from": number} if number else {})}
                    if answer:
                        connection.send(answer)
                    if answer is pages[-1]:
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
    read = read_scratch_sets(answering(json.dumps({"sets": [listed(MARKED)], "unlisted": []}).encode()))
    assert read == (scratch_set("bays", disk(1)),)


def test_sets_are_read_page_by_page(answering: Callable[..., Path]) -> None:
    second = listed(MARKED | {"id": disk(2).id}, set="more", mount="/srv/iotide-scratch/more")
    pages = ({"sets": [listed(MARKED)], "next": 1}, {"sets": [second], "next": None})
    read = read_scratch_sets(answering(*(json.dumps(page).encode() for page in pages))) or ()
    assert [one.name for one in read] == ["bays", "more"]


def test_what_the_node_lacks_is_announced_with_each_set(answering: Callable[[bytes], Path]) -> None:
    answer = {"sets": [listed(MARKED)], "lacks": ["mkfs.jfs", "jfs.ko"]}
    (read,) = read_scratch_sets(answering(json.dumps(answer).encode())) or ()
    assert read.lacks == ("mkfs.jfs", "jfs.ko")


@pytest.mark.parametrize(
    ("disks", "state", "reason"),
    [
        ([MARKED, ABSENT], "absent", "wwn-0x5000c500a1b20002 is not there"),
        ([MARKED | {"problem": "it holds ext4"}, ABSENT], "foreign", "it holds ext4; wwn-0x5000c500a1b20002"),
        ([MARKED | {"state": "dirty", "order": 7}], "dirty", "dd (pid 7) holds it; ZC0001 holds what order 7 left"),
        ([MARKED | {"state": "invented"}], "dirty", "order unknown left"),
        ([LOST, MARKED | {"problem": "it holds ext4"}], "lost", "ZC0003 is adopted, but not there; it holds ext4"),
        ([], "absent", "it has no disks"),
    ],
)
def test_a_set_is_as_its_worst_disk_and_says_why(
    answering: Callable[[bytes], Path], disks: list[dict[str, Any]], state: str, reason: str
) -> None:
    last = {"verb": "wipe", "outcome": "dirty", "reason": "dd (pid 7)\nholds it", "commands": []}
    answer = {"sets": [listed(*disks, last=last)]}
    (read,) = read_scratch_sets(answering(json.dumps(answer).encode())) or ()
    assert read.state == state
    assert reason in read.reason
    assert bool(read.reason) is bool(reason)


@pytest.mark.parametrize(
    ("verb", "outcome", "state"),
    [
        ("recover", "dirty", "dirty"),
        ("wipe", "killed", "dirty"),
        ("unmount", "failed", "dirty"),
        ("recover", "refused", "in_use"),
        ("recover", "done", "in_use"),
        ("mount", "failed", "in_use"),
    ],
)
def test_a_made_set_that_could_not_be_cleaned_is_dirty_and_says_what_holds_it(
    answering: Callable[[bytes], Path], verb: str, outcome: str, state: str
) -> None:
    made = MARKED | {"state": "made", "order": 7, "variant": "single / xfs / default"}
    last = {"verb": verb, "outcome": outcome, "reason": "stays mounted: process 7 (dd)"}
    answer = {"sets": [listed(made, last=last)]}
    (read,) = read_scratch_sets(answering(json.dumps(answer).encode())) or ()
    assert read.state == state
    assert read.reason == ("stays mounted: process 7 (dd)" if state == "dirty" else "")


def test_a_reason_fits_and_begins_with_what_holds_the_set(answering: Callable[[bytes], Path]) -> None:
    disks = [MARKED | {"state": "dirty", "order": 7, "id": disk(number).id} for number in range(1, 65)]
    last = {"verb": "recover", "outcome": "dirty", "reason": "process 7 (dd) holds it"}
    answer = {"sets": [listed(*disks, last=last)]}
    (read,) = read_scratch_sets(answering(json.dumps(answer).encode())) or ()
    assert read.reason.startswith("process 7 (dd) holds it; ZC0001 holds what order 7 left")
    assert len(read.reason) == 1000


def test_the_use_of_a_set_is_that_of_its_newest_order(answering: Callable[[bytes], Path]) -> None:
    made = MARKED | {"state": "made", "order": 7, "variant": "single / xfs / default"}
    (read,) = read_scratch_sets(answering(json.dumps({"sets": [listed(made)]}).encode())) or ()
    assert read.variant == "single / xfs / default"
    assert read.last_used_at == datetime.fromtimestamp(1_780_000_000, UTC)


@pytest.mark.parametrize(
    "answer",
    [
        b"no JSON",
        b'{"refused": "busy"}',
        json.dumps({"sets": [listed(MARKED, mount="/etc")]}).encode(),
        json.dumps({"sets": [listed(MARKED | {"order": 1, "since_s": 10**18})]}).encode(),
        json.dumps({"sets": [listed(MARKED), listed(MARKED)]}).encode(),
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
