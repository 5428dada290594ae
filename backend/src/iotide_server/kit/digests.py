"""Digests of values and secrets."""

import hashlib
import json
import secrets
from collections.abc import Iterable, Mapping


def canonical_json(value: object) -> str:
    """Return JSON with sorted keys and no white space; 64.0 becomes 64. Raise ValueError for NaN."""
    return json.dumps(_normal(value), sort_keys=True, separators=(",", ":"), allow_nan=False)


def canonical_sha256(value: object) -> str:
    return hashlib.sha256(canonical_json(value).encode()).hexdigest()


def canonical_member(name: str, value: object) -> str:
    return f"{json.dumps(name)}:{canonical_json(value)}"


def sha256_of_members(members: Iterable[str]) -> str:
    """Return the `canonical_sha256` of an object from its sorted members. Empty strings are ignored."""
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
    """Return 256 random bits, safe in URLs, cookies and shells."""
    return prefix + secrets.token_urlsafe(32)


def digest(secret: str) -> str:
    """Return the stored form of a secret. 256 random bits need no salt and no slow hash."""
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()
