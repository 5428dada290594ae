"""State directory: it has one agent, the node has one lock holder, and partly written files are never used."""

import errno
import json
import os
import shutil
from pathlib import Path

import pytest
from agent.made_orders import make_order

from iotide_agent.core.spool import AgentRunsError, NodeBusyError, Offer, Spool
from iotide_agent.orders.parsing import Verdict
from iotide_agent.orders.results import refusal
from iotide_agent.runner.files import replace_file
from iotide_wire.messages import Outcome


@pytest.fixture
def spool(tmp_path: Path) -> Spool:
    made = Spool(tmp_path)
    made.prepare()
    return made


def test_offers_are_kept_once_until_dropped(spool: Spool) -> None:
    spool.write_offer(Offer(2, 20))
    spool.write_offer(Offer(1, 10))
    spool.write_offer(Offer(1, 10))
    assert spool.offers() == [Offer(1, 10), Offer(2, 20)]
    spool.drop_offer(Offer(1, 10))
    spool.drop_offer(Offer(1, 10))
    assert spool.offers() == [Offer(2, 20)]


def test_files_that_are_no_offers_are_passed_over(spool: Spool, tmp_path: Path) -> None:
    for name in ("1-10.json.99.new", "x-1.json", "1-0.json", f"1-{2**63}.json"):
        (tmp_path / "spool/offers" / name).write_text("{}")
    assert spool.offers() == []


def test_one_agent_has_the_state_directory(spool: Spool, tmp_path: Path) -> None:
    held = spool.lock_agent()
    with pytest.raises(AgentRunsError, match="another agent"):
        Spool(tmp_path).lock_agent()
    os.close(held)
    os.close(spool.lock_agent())


def test_the_node_is_held_by_one_alone_or_by_several_sharing(spool: Spool) -> None:
    shared = [spool.lock_node("shared"), spool.lock_node("shared")]
    with pytest.raises(NodeBusyError):
        spool.lock_node("exclusive")
    for descriptor in shared:
        os.close(descriptor)
    alone = spool.lock_node("exclusive")
    with pytest.raises(NodeBusyError):
        spool.lock_node("shared")
    os.close(alone)


def test_a_kept_order_is_found_again_and_a_half_forgotten_one_is_not(spool: Spool) -> None:
    spool.keep_order(make_order())
    assert list(spool.orders()) == [make_order()]
    spool.files(1).order.unlink()
    assert list(spool.orders()) == []
    assert not spool.files(1).directory.exists()


def test_a_late_writer_of_a_forgotten_order_finds_no_directory(spool: Spool, monkeypatch: pytest.MonkeyPatch) -> None:
    spool.keep_order(make_order())
    remove = shutil.rmtree

    def write_meanwhile(directory: Path, *, ignore_errors: bool) -> None:
        with pytest.raises(FileNotFoundError):
            replace_file(spool.files(1).condition, "{}", durable=False)
        remove(directory, ignore_errors=ignore_errors)

    monkeypatch.setattr(shutil, "rmtree", write_meanwhile)
    spool.forget(1)
    assert list(spool.held.iterdir()) == []
    spool.forget(1)


def test_the_rest_of_an_order_that_was_being_forgotten_goes_at_the_next_start(
    spool: Spool, monkeypatch: pytest.MonkeyPatch
) -> None:
    spool.keep_order(make_order())
    spool.files(1).card.write_text("{}")
    with monkeypatch.context() as killed:
        killed.setattr(shutil, "rmtree", lambda *_, **__: None)
        spool.forget(1)
    assert spool.used_bytes() > 0
    assert list(spool.orders()) == []
    assert (spool.used_bytes(), spool.leftovers(), list(spool.held.iterdir())) == (0, [], [])


def test_an_order_of_another_version_is_still_held_by_number_and_fence(spool: Spool) -> None:
    spool.keep_order(make_order())
    spool.files(1).order.write_text(json.dumps(json.loads(spool.files(1).order.read_text()) | {"later": 1}))
    spool.files(1).card.write_text('{"order_id": 1, "fence": 10, "later": 1}')
    assert [(order.order_id, order.fence) for order in spool.orders()] == [(1, 10)]
    assert spool.order(1).fence == 10


@pytest.mark.parametrize("text", [None, "{}", ""])
def test_a_former_order_with_a_runner_is_set_aside(spool: Spool, text: str | None) -> None:
    spool.keep_order(make_order())
    spool.files(1).card.write_text("{}")
    if text is None:
        spool.files(1).order.unlink()  # killed while it was being forgotten
    else:
        spool.files(1).order.write_text(text)
    assert list(spool.orders()) == []
    assert [directory.name for directory in spool.leftovers()] == ["1"]
    assert not spool.files(1).directory.exists()


def test_files_that_a_target_does_not_release_are_remembered(spool: Spool) -> None:
    spool.keep_order(make_order())
    spool.files(1).card.write_text("{}")
    spool.set_aside(1)
    assert list(spool.orders()) == []
    assert [directory.name for directory in spool.leftovers()] == ["1"]
    spool.drop_aside(spool.aside(1))
    assert spool.leftovers() == []


def test_the_agent_that_was_accepted_last_is_remembered(spool: Spool) -> None:
    assert spool.last_instance() is None
    spool.keep_instance("instance-1")
    assert spool.last_instance() == "instance-1"


def test_a_result_without_room_on_the_disk_is_still_sent(spool: Spool, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    spool.keep_order(make_order())
    result = refusal(make_order(), "instance-1", Verdict(Outcome.FAILED, "time_limit", "too long"))
    with monkeypatch.context() as context:
        context.setattr("iotide_agent.core.spool.replace_file", full)
        spool.keep_result(1, result)
    assert spool.result(1) == result
    spool.keep_result(1, result)
    assert Spool(spool.state_directory).result(1) == result


def test_used_space_is_that_of_the_orders(spool: Spool) -> None:
    spool.keep_order(make_order())
    before = spool.used_bytes()
    spool.files(1).artefacts.mkdir()
    (spool.files(1).artefacts / "out").write_bytes(bytes(1000))
    assert spool.used_bytes() - before == 1000


def test_a_file_that_disappears_during_the_count_of_space_is_ignored(
    spool: Spool, monkeypatch: pytest.MonkeyPatch
) -> None:
    spool.keep_order(make_order())
    before = spool.used_bytes()
    monkeypatch.setattr(os, "walk", lambda top: [(top / "1", [], ["order.json", "phase.json.99.new"])])
    assert spool.used_bytes() == before
