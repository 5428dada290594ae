"""Encrypts secrets with a key outside the database."""

import json
from collections.abc import Mapping
from typing import Final

from cryptography.fernet import Fernet, InvalidToken, MultiFernet

from iotide_server.kit.app_values import AppValue

VAULT: Final[AppValue["Vault | None"]] = AppValue("vault")


KEY_REMEDY: Final = "generate a key with `openssl rand -base64 32` (32 random bytes in base64)"


class SealBrokenError(Exception):
    pass


class Vault:
    """Encrypts small sets of secrets with Fernet (AES-128-CBC and HMAC-SHA256).

    A key is 32 bytes in base64 (either alphabet). Of several comma-separated keys, the first encrypts and all
    decrypt (rotation). Raise ValueError for an invalid key.
    """

    def __init__(self, keys: str) -> None:
        try:
            self._fernet = MultiFernet([Fernet(_fernet_key(key.strip())) for key in keys.split(",")])
        except ValueError as error:
            raise ValueError(KEY_REMEDY) from error

    def seal(self, secrets: Mapping[str, str]) -> str:
        return self._fernet.encrypt(json.dumps(dict(secrets)).encode()).decode()

    def open(self, sealed: str) -> dict[str, str]:
        """Raise SealBrokenError for a wrong key or changed text."""
        try:
            opened: dict[str, str] = json.loads(self._fernet.decrypt(sealed))
        except InvalidToken as error:
            raise SealBrokenError from error
        return opened


def _fernet_key(text: str) -> str:
    bare = text.rstrip("=").replace("+", "-").replace("/", "_")
    return bare + "=" * (-len(bare) % 4)
