"""Passwords: hashed with Argon2id, slowly and with 64 MiB each, so a process hashes one at a time."""

from functools import cache

from pwdlib import PasswordHash

from iotide_server.kit.digests import new_secret

_passwords = PasswordHash.recommended()


def hashed(password: str) -> str:
    return _passwords.hash(password)


def matches(password: str, stored: str | None) -> tuple[bool, str | None]:
    """Return whether it is the password, and a new hash where the stored one is of older parameters."""
    # It takes as long where nothing is stored, so that the time does not tell who has a password.
    is_right, renewed = _passwords.verify_and_update(password, stored or _hash_of_nobody())
    return (is_right, renewed) if stored is not None else (False, None)


@cache
def _hash_of_nobody() -> str:
    return _passwords.hash(new_secret())
