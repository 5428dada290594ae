"""The server at the public URL, read by TLS on loopback."""

import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from bring_up import free_port
from services import temporary_state

from iotide_server.bundled.tls import Certificates, prepare_certificates
from iotide_server.monitoring.doctor.machine import read_front

HOST = "127.0.0.2"


@pytest.fixture
def front() -> Iterator[tuple[int, Path]]:
    """Port at 127.0.0.2 of a server with a certificate for that address, and the authority that signed it."""
    with temporary_state() as state:
        files = prepare_certificates(state, names=[HOST], now=datetime.now(UTC))
        with serving(files) as port:
            yield port, files.ca


@contextmanager
def serving(files: Certificates) -> Iterator[int]:
    """Run a server with that certificate; yield its port."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(files.chain, files.key)
    with socket.create_server((HOST, 0)) as listener:
        thread = threading.Thread(target=answer, args=(listener, context))
        thread.start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()


def answer(listener: socket.socket, context: ssl.SSLContext) -> None:
    """Shake hands with every client until the listener is closed, even if some break off."""
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        with connection:
            try:
                context.wrap_socket(connection, server_side=True).close()
            except OSError:
                continue


def test_the_expiry_of_a_trusted_certificate_is_reported(front: tuple[int, Path]) -> None:
    port, ca = front
    found = read_front(f"https://{HOST}:{port}", ca)
    assert (found.silence, found.distrust) == (None, None)
    assert found.expires_at is not None
    assert found.expires_at - datetime.now(UTC) > timedelta(days=300)


def test_a_self_signed_certificate_is_not_trusted(front: tuple[int, Path]) -> None:
    port, _ = front
    assert read_front(f"https://{HOST}:{port}", None).distrust is not None


def test_one_for_another_name_is_not_trusted() -> None:
    with temporary_state() as state:
        ca = prepare_certificates(state, names=[], now=datetime.now(UTC))
        with serving(ca) as port:
            assert "mismatch" in (read_front(f"https://{HOST}:{port}", ca.ca).distrust or "")


def test_a_refused_connection_is_reported() -> None:
    assert read_front(f"http://127.0.0.1:{free_port()}", None).silence is not None
