"""Secrets that have to be sent again, sealed with a key that is not in the database."""

import json
from collections.abc import Mapping
from typing import Final

from cryptography.fernet import Fernet, InvalidToken, MultiFernet

from iotide_server.kit.app_values import AppValue

VAULT: Final[AppValue["Vault | None"]] = AppValue("vault")


KEY_REMEDY: Final = "give 32 random bytes in base64, as `openssl rand -base64 32` prints them"


class SealBrokenError(Exception):
    """What was sealed with another key, or changed since."""


class Vault:
    """Seals and opens small sets of secrets with Fernet (AES-128-CBC and HMAC-SHA256).

    A key is 32 bytes in base64, of either alphabet, with or without padding; of several with commas between them the
    first seals and each opens, so that a key can be changed. Raises ValueError for what is no key.
    """

    def __init__(self, keys: str) -> None:
        try:
            self._fernet = MultiFernet([Fernet(_fernet_key(key.strip())) for key in keys.split(",")])
        except ValueError as error:
            raise ValueError(KEY_REMEDY) from error

    def seal(self, secrets: Mapping[str, str]) -> str:
        """A text that says nothing without the key."""
        return self._fernet.encrypt(json.dumps(dict(secrets)).encode()).decode()

    def open(self, sealed: str) -> dict[str, str]:
        """Return what was sealed; raise SealBrokenError with another key, or where it was changed."""
        try:
            opened: dict[str, str] = json.loads(self._fernet.decrypt(sealed))
        except InvalidToken as error:
            raise SealBrokenError from error
        return opened


def _fernet_key(text: str) -> str:
    """As Fernet wants it: the URL-safe alphabet, padded."""
    bare = text.rstrip("=").replace("+", "-").replace("/", "_")
    return bare + "=" * (-len(bare) % 4)
