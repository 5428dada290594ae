"""The fixtures of the server's tests."""

from collections.abc import Iterator

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from backend.fixtures import *
from backend.fixtures import QUICK_PASSWORDS
from fastapi import FastAPI
from fastapi.testclient import TestClient
from pwdlib import PasswordHash

from iotide_server.accounts import passwords


@pytest.fixture(scope="session", autouse=True)
def slow_passwords() -> Iterator[PasswordHash]:
    """Hash passwords at once in these tests, and return what an installation hashes them with."""
    with pytest.MonkeyPatch.context() as patch:
        slow = passwords._passwords
        patch.setattr(passwords, "_passwords", QUICK_PASSWORDS)
        yield slow


@pytest.fixture(scope="session")
def portal() -> Iterator[BlockingPortal]:
    """Share one event loop among the clients of this process."""
    with start_blocking_portal() as portal:
        yield portal


@pytest.fixture
def client(prepared_app: FastAPI, portal: BlockingPortal) -> TestClient:
    """The API, called by nobody, without what a process starts besides: a thread and a listening connection a test."""
    client = TestClient(prepared_app, raise_server_exceptions=False)
    client.portal = portal
    return client
