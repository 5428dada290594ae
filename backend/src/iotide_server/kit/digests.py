"""Digests of values and of secrets; equal values have equal digests, however they were written down."""

import hashlib
import json
import secrets
from collections.abc import Iterable, Mapping


def canonical_json(value: object) -> str:
    """Return JSON with sorted keys and no white space, in which 64 is 64.0; raise ValueError for NaN."""
    return json.dumps(_normal(value), sort_keys=True, separators=(",", ":"), allow_nan=False)


def canonical_sha256(value: object) -> str:
    """SHA-256 of the canonical JSON; hexadecimal."""
    return hashlib.sha256(canonical_json(value).encode()).hexdigest()


def canonical_member(name: str, value: object) -> str:
    """Return a member of an object as it stands in the object's canonical JSON."""
    return f"{json.dumps(name)}:{canonical_json(value)}"


def sha256_of_members(members: Iterable[str]) -> str:
    """Return the `canonical_sha256` of an object from its `canonical_member`s, sorted; empty texts are left out."""
    return hashlib.sha256(f"{{{','.join(filter(None, members))}}}".encode()).hexdigest()


def _normal(value: object) -> object:
    match value:
        case float() if value.is_integer():
            return int(value)
        case Mapping():
            return {name: _normal(member) for name, member in value.items()}
        case list() | tuple():
            return [_normal(member) for member in value]
        case _:
            return value


def new_secret(prefix: str = "") -> str:
    """Return an unguessable secret of 256 bits that is safe in URLs, cookies and shells."""
    return prefix + secrets.token_urlsafe(32)


def digest(secret: str) -> str:
    """Return what the server stores of a secret; its 256 random bits need no salt and no slow hash."""
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()
