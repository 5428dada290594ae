"""Greeting of a start channel: each end proves that it knows the token, which is never sent.

The member sends a nonce. The head answers with its own nonce and a keyed hash over both; the member answers with
another keyed hash. A recorded greeting is worthless, because the member's next nonce differs. Both derive a key for
each direction from the nonces.
"""

import hashlib
import hmac
from typing import Final, NamedTuple

NONCE_BYTES: Final = 32
PROOF_BYTES: Final = 32
FEWEST_TOKEN_BYTES: Final = 16
_MAGIC: Final = b"iotide-start-1\0\0"

CHALLENGE_BYTES: Final = len(_MAGIC) + NONCE_BYTES
ANSWER_BYTES: Final = NONCE_BYTES + PROOF_BYTES


class GreetingError(Exception):
    """The other end does not know the token, or speaks something else."""


class Keys(NamedTuple):
    """Keys of the two directions."""

    from_head: bytes
    from_member: bytes


class Nonces(NamedTuple):
    of_member: bytes
    of_head: bytes


def check_token(token: str) -> None:
    """Raise ValueError for a token that could be guessed, such as an empty one."""
    if len(bytes.fromhex(token)) < FEWEST_TOKEN_BYTES:
        raise ValueError(f"a start channel needs a token of at least {FEWEST_TOKEN_BYTES} bytes")


def challenge(nonce: bytes) -> bytes:
    return _MAGIC + nonce


def challenged(data: bytes) -> bytes:
    """Return the member's nonce; raise GreetingError."""
    if not data.startswith(_MAGIC) or len(data) != CHALLENGE_BYTES:
        raise GreetingError("no iotide agent of this release listens there")
    return data[len(_MAGIC) :]


def answer(token: str, nonces: Nonces) -> bytes:
    return nonces.of_head + _keyed(token, b"head", nonces)


def answered(token: str, nonce: bytes, data: bytes) -> Nonces:
    """Return both nonces after a head's answer to a member with this nonce; raise GreetingError."""
    nonces = Nonces(nonce, data[:NONCE_BYTES])
    _check(data[NONCE_BYTES:], _keyed(token, b"head", nonces))
    return nonces


def welcome(token: str, nonces: Nonces) -> bytes:
    return _keyed(token, b"member", nonces)


def check_welcome(token: str, nonces: Nonces, data: bytes) -> None:
    _check(data, _keyed(token, b"member", nonces))


def keys(token: str, nonces: Nonces) -> Keys:
    return Keys(_keyed(token, b"from head", nonces), _keyed(token, b"from member", nonces))


def _check(given: bytes, expected: bytes) -> None:
    if not hmac.compare_digest(given, expected):
        raise GreetingError("the other end does not know the token of this attempt")


def _keyed(token: str, purpose: bytes, nonces: Nonces) -> bytes:
    return hmac.digest(bytes.fromhex(token), purpose + b"\0" + b"".join(nonces), hashlib.sha256)
