"""Fixtures of the server's tests."""

from collections.abc import Iterator

import pytest
from backend.fixtures import *
from backend.fixtures import QUICK_PASSWORDS
from pwdlib import PasswordHash

from iotide_server.accounts import passwords


@pytest.fixture(scope="session", autouse=True)
def slow_passwords() -> Iterator[PasswordHash]:
    """Make password hashing fast in these tests; return the parameters of an installation."""
    with pytest.MonkeyPatch.context() as patch:
        slow = passwords._passwords
        patch.setattr(passwords, "_passwords", QUICK_PASSWORDS)
        yield slow
