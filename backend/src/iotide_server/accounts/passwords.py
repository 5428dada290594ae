"""Argon2id password hashing. A hash takes 64 MiB, so a process computes one at a time."""

from functools import cache

from pwdlib import PasswordHash

from iotide_server.kit.digests import new_secret

_passwords = PasswordHash.recommended()


def hashed(password: str) -> str:
    return _passwords.hash(password)


def matches(password: str, stored: str | None) -> tuple[bool, str | None]:
    """Return whether the password is correct, and a new hash if its parameters are outdated."""
    # Take as long without a stored hash, so that times do not reveal who has a password.
    is_right, renewed = _passwords.verify_and_update(password, stored or _dummy_hash())
    return (is_right, renewed) if stored is not None else (False, None)


@cache
def _dummy_hash() -> str:
    return _passwords.hash(new_secret())
