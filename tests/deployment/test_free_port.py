"""Free ports for the demo and for tests: the search ends, and hides no error except a taken port."""

import errno
import secrets
import socket
from collections.abc import Iterator

import pytest
from bring_up import StackError, free_port

FIRST = 10_000
"""The lowest port that `free_port` draws."""


@pytest.fixture
def taken() -> Iterator[int]:
    """Listen on a port as long as the test runs."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", free_port()))
        listener.listen()
        yield int(listener.getsockname()[1])


def test_a_row_in_which_each_time_a_port_is_taken_ends_with_words(taken: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(secrets, "randbelow", lambda _: taken - 1 - FIRST)
    with pytest.raises(StackError, match=r"no 2 consecutive free ports on 127\.0\.0\.1 after 200 attempts"):
        free_port(in_a_row=2)


def test_an_error_other_than_a_taken_port_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> socket.socket:
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(socket, "socket", refuse)
    with pytest.raises(OSError, match="Too many open files"):
        free_port()
