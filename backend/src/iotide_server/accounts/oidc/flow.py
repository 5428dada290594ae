"""Ties the provider's response to the browser that started the sign-in, by a cookie; pure.

State, nonce and PKCE verifier are digests of the cookie. The server stores nothing, so no one can fill its disk.
"""

import hmac
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Final

from iotide_server.kit.digests import new_secret

LONGEST_SIGN_IN: Final = timedelta(minutes=10)
HOME: Final = "/"
_PARTS: Final = 3
_LONGEST_PATH: Final = 1000


@dataclass(frozen=True, slots=True)
class Flow:
    cookie: str
    begun_at: datetime
    landing: str

    @property
    def state(self) -> str:
        return self._derived("state")

    @property
    def nonce(self) -> str:
        return self._derived("nonce")

    @property
    def verifier(self) -> str:
        """PKCE verifier (RFC 7636)."""
        return self._derived("verifier")

    def accepts(self, state: str, now: datetime) -> bool:
        return hmac.compare_digest(state.encode(), self.state.encode()) and now < self.begun_at + LONGEST_SIGN_IN

    def _derived(self, purpose: str) -> str:
        return _text_of(hmac.new(self.cookie.encode(), purpose.encode(), sha256).digest())


def begin_flow(landing: str, now: datetime) -> Flow:
    path = local_path(landing)
    cookie = f"{int(now.timestamp())}.{new_secret()}.{_text_of(path.encode())}"
    return Flow(cookie, now, path)


def read_flow(cookie: str, now: datetime) -> Flow | None:
    parts = cookie.split(".")
    if len(parts) != _PARTS or not parts[0].isdecimal():
        return None
    try:
        begun_at = datetime.fromtimestamp(int(parts[0]), now.tzinfo)
        landing = urlsafe_b64decode(parts[2] + "=" * (-len(parts[2]) % 4)).decode()
    except (ValueError, OverflowError, OSError):
        return None
    return Flow(cookie, begun_at, local_path(landing))


def local_path(wanted: str) -> str:
    """Return a local path with its query, else `/`, because links must not redirect to other sites."""
    is_local = wanted.startswith("/") and not wanted.startswith(("//", "/\\"))
    is_plain = wanted.isascii() and wanted.isprintable() and "\\" not in wanted and len(wanted) <= _LONGEST_PATH
    return wanted if is_local and is_plain else HOME


def _text_of(value: bytes) -> str:
    return urlsafe_b64encode(value).rstrip(b"=").decode()
