"""Rotation of credentials: one of the two sets is always valid, wherever the agent dies and whichever answer is
lost.
"""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx2
import pytest
from agent.gateway_double import GatewayDouble

from iotide_agent.core.calls import Speaker
from iotide_agent.core.clock import ServerClock
from iotide_agent.core.protocol import HeartbeatAnswered, HeartbeatUnanswered
from iotide_agent.core.spool import Spool
from iotide_agent.core.transport import Refusal, Unreachable, transport_of
from iotide_agent.node import rotation as rotating
from iotide_agent.node.identity import Identity, load_identity, next_identity, save_identity
from iotide_wire.messages import ClaimRequest
from iotide_wire.nodes import BrokerAccess

BROKER = BrokerAccess(url="redis://server", queue="node.1", ca_pem=None)


class Died(BaseException):
    """Raised where the agent is killed; nothing after it is executed."""


@pytest.fixture
def server() -> Iterator[GatewayDouble]:
    double = GatewayDouble(BROKER, 1)
    double.start()
    double.current_instance = "instance-1"
    double.rotation_wanted = True
    yield double
    double.close()


@pytest.fixture
def start(server: GatewayDouble, tmp_path: Path) -> Iterator[Callable[[], Speaker]]:
    """Start an agent on the state that is on the disk."""
    speakers: list[Speaker] = []
    identity = Identity(
        server_url=server.url, node_id=1, node_name="node-1", node_token=server.token, broker=BROKER, ca_pem=None
    )
    save_identity(tmp_path, identity)

    def begin() -> Speaker:
        spool = Spool(tmp_path)
        spool.prepare()
        transport = transport_of(load_identity(tmp_path))
        speakers.append(Speaker(transport, spool, ServerClock(), "instance-1", "boot-id-1"))
        return speakers[-1]

    yield begin
    for speaker in speakers:
        speaker.transport.close()


def is_in_order(speaker: Speaker, server: GatewayDouble) -> bool:
    """Return whether the server accepts the credentials on the node's disk and expects no others."""
    directory = speaker.spool.state_directory
    accepted = isinstance(speaker.heartbeat(9, ()), HeartbeatAnswered)
    on_disk = load_identity(directory).node_token
    return accepted and on_disk == server.token and next_identity(directory) is None and server.next_token is None


def test_a_heartbeat_answer_that_asks_for_a_rotation_starts_and_logs_it_once(
    start: Callable[[], Speaker], server: GatewayDouble
) -> None:
    speaker = start()
    first, second = speaker.heartbeat(1, ()), speaker.heartbeat(2, ())
    assert isinstance(first, HeartbeatAnswered)
    assert isinstance(second, HeartbeatAnswered)
    assert (first.is_rotated, second.is_rotated) == (True, False)
    assert server.token == "ion_secret+"
    assert is_in_order(speaker, server)


@pytest.mark.parametrize("moment", ["before_kept", "before_confirmed", "after_confirmed", "before_adopted"])
def test_an_agent_that_dies_at_any_moment_of_it_ends_it_at_its_next_start(
    start: Callable[[], Speaker], server: GatewayDouble, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    def die(*_: object) -> None:
        raise Died

    speaker = start()
    with monkeypatch.context() as patch:
        if moment == "before_kept":
            patch.setattr(rotating, "keep_next", die)
        elif moment == "before_confirmed":
            patch.setattr(speaker.transport, "confirm", die)
        elif moment == "after_confirmed":
            confirm = speaker.transport.confirm

            def confirm_and_die(token: str) -> None:
                confirm(token)
                raise Died

            patch.setattr(speaker.transport, "confirm", confirm_and_die)
        else:
            patch.setattr(rotating, "adopt_next", die)
        with pytest.raises(Died):
            speaker.heartbeat(1, ())
    again = start()
    again.heartbeat(1, ())
    again.heartbeat(2, ())
    assert is_in_order(again, server)
    assert server.token != "ion_secret"


@pytest.mark.parametrize("answer", ["/rotation", "/rotation/confirm"])
@pytest.mark.parametrize("is_restarted", [False, True])
def test_no_node_is_lost_with_an_answer(
    start: Callable[[], Speaker], server: GatewayDouble, answer: str, *, is_restarted: bool
) -> None:
    speaker = start()
    server.lose = {answer}
    speaker.heartbeat(1, ())
    if is_restarted:
        speaker = start()
    speaker.heartbeat(2, ())
    assert is_in_order(speaker, server)
    assert server.token != "ion_secret"


def test_while_it_is_not_known_which_ones_are_good_nothing_is_taken_for_a_refusal(
    start: Callable[[], Speaker], server: GatewayDouble
) -> None:
    speaker = start()
    server.lose = {"/rotation/confirm"}
    speaker.heartbeat(1, ())
    server.is_away = True
    assert isinstance(speaker.heartbeat(2, ()), HeartbeatUnanswered)
    assert next_identity(speaker.spool.state_directory) is not None


def test_ones_that_the_server_does_not_know_are_forgotten(start: Callable[[], Speaker], server: GatewayDouble) -> None:
    speaker = start()
    server.lose = {"/rotation/confirm"}
    speaker.heartbeat(1, ())
    server.token, server.next_token, server.rotation_wanted = "ion_secret", None, False  # a backup was restored
    assert is_in_order(speaker, server)


def test_a_call_that_the_new_token_overtook_is_made_again_and_taken_for_no_refusal(
    start: Callable[[], Speaker], server: GatewayDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    speaker = start()
    client = speaker.transport._client
    send = client.send

    def send_late(request: httpx2.Request) -> httpx2.Response:
        monkeypatch.setattr(client, "send", send)
        speaker.heartbeat(1, ())  # rotates
        return send(request)

    monkeypatch.setattr(client, "send", send_late)
    claim = ClaimRequest(fence=10, agent_instance="instance-1", boot_id="boot-id-1")
    with pytest.raises(Unreachable, match="sent with the previous token"):
        speaker.transport.claim(1, claim)
    server.token = "ion_invalid"
    with pytest.raises(Refusal):
        speaker.transport.claim(1, claim)


def test_a_concurrent_hello_and_heartbeat_end_one_rotation_once(
    start: Callable[[], Speaker], server: GatewayDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    speaker = start()
    server.lose = {"/rotation/confirm"}
    speaker.heartbeat(1, ())
    confirm, confirmed, ended = speaker.transport.confirm, [], threading.Event()
    errors: list[BaseException] = []

    def settle_too() -> None:
        try:
            speaker.rotation.settle()
        except BaseException as error:  # noqa: BLE001 - the test's own thread hands it over
            errors.append(error)
        ended.set()

    def confirm_with_a_concurrent_one(token: str) -> None:
        confirmed.append(token)
        confirm(token)
        if len(confirmed) == 1:
            threading.Thread(target=settle_too).start()
            ended.wait(0.5)  # without the lock it would be finished by now

    monkeypatch.setattr(speaker.transport, "confirm", confirm_with_a_concurrent_one)
    speaker.rotation.settle()
    assert ended.wait(10)
    assert errors == []
    assert len(confirmed) == 1
    assert is_in_order(speaker, server)
