"""Secrets that the server makes, and what is stored of them."""

import hashlib
import secrets


def new_secret(prefix: str = "") -> str:
    """An unguessable secret of 256 bits that is safe in URLs, cookies and shells."""
    return prefix + secrets.token_urlsafe(32)


def digest(secret: str) -> str:
    """What is stored of a secret; its 256 random bits need no salt and no slow hash."""
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()
