"""Runs that listen for another node: at one address, from before their start to their end."""

import errno
import socket
from collections.abc import Callable
from typing import Any

import pytest
from agent.order_rig import Rig, eventually, python, step

LISTENS = {"listen_address": "127.0.0.1", "sockets": 2}
PRINT_ONE = "import socket; print(socket.socket(fileno=0).recv(100).decode())"


@pytest.fixture
def listener(make_rig: Callable[..., Rig]) -> Rig:
    return make_rig(**LISTENS)


def ready(rig: Rig) -> dict[str, Any]:
    rig.start()
    return rig.until_phase("ready")


def is_free(port: int) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as trial:
        try:
            trial.bind(("127.0.0.1", port))
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
            return False
    return True


def test_each_socket_is_the_standard_input_of_its_step_and_has_what_came_before_it_began(listener: Rig) -> None:
    phase = ready(listener)
    assert phase["address"] == "127.0.0.1"
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        for number, port in enumerate(phase["ports"]):
            assert not is_free(port)
            sender.sendto(f"said to {number}".encode(), ("127.0.0.1", port))
    first, second = (step(*python(PRINT_ONE), name=f"take-{number}")._replace(socket=number) for number in range(2))
    ending = listener.run_ready((second,), (first,))
    assert ending["outcome"] == "finished"
    assert listener.output("000-take-1.stdout") == "said to 1\n"
    assert listener.output("001-take-0.stdout") == "said to 0\n"
    assert all(map(is_free, phase["ports"]))


def test_sending_to_an_ended_step_returns_an_error(listener: Rig) -> None:
    phase = ready(listener)
    quick = step(*python(PRINT_ONE), name="quick")._replace(socket=0)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.connect(("127.0.0.1", phase["ports"][0]))
        sender.send(b"first")
        listener.go((quick,), (step("sleep", "60", name="stays"),))
        listener.until(lambda: len(listener.phase().get("steps", [])) == 1)
        sender.send(b"too late")
        eventually(lambda: sender.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == errno.ECONNREFUSED)
    listener.cancel()
    listener.until_ended()


def test_a_step_without_a_socket_reads_nothing(listener: Rig) -> None:
    ready(listener)
    listener.run_ready((step("cat", name="cat"),))
    assert listener.output("000-cat.stdout") == ""


@pytest.mark.parametrize("ends", ["cancelled", "killed"])
def test_the_ports_are_gone_with_a_run_that_never_began(listener: Rig, ends: str) -> None:
    ports = ready(listener)["ports"]
    if ends == "cancelled":
        listener.cancel()
        listener.until_ended()
    else:
        assert listener.process is not None
        listener.process.kill()
        listener.process.wait()
    assert all(map(is_free, ports))


def test_an_address_that_the_node_does_not_have_is_declined_with_the_remedy(make_rig: Callable[..., Rig]) -> None:
    rig = make_rig(listen_address="192.0.2.7", sockets=1)
    rig.start()
    ending = rig.until_ended()
    assert (ending["outcome"], ending["code"]) == ("declined", "cannot_listen")
    assert "192.0.2.7: Cannot assign requested address; correct `data_address`" in ending["reason"]
    assert list(rig.target.iterdir()) == []
