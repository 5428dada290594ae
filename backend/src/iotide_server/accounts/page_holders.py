"""Names who asks for a page by the headers alone, before the database is asked who that is."""

from hashlib import sha256
from typing import Final

from fastapi import Request

from iotide_server.accounts.browser_cookies import caller_address, read_cookie
from iotide_server.accounts.heavy import ONE_HEAVY_REQUEST
from iotide_server.accounts.principal import Principal
from iotide_server.kit.proxies import network_of

_MOST_KNOWN: Final = 50_000
"""Sessions and tokens, some 150 bytes each."""
_NEWCOMERS_AT_ONCE: Final = 64
"""Bounds the turns of one network in one process. A newcomer is known from its first answer on."""
_PAGES: Final = frozenset({"GET", "HEAD"})


class PageHolders:
    """Remembers whose tokens and sessions are whose. Its answers open nothing: who calls is asked each time.

    Requests with a secret that was not seen before count together by their network and a part of the secret's digest:
    after a restart of the server all people behind one address are new, and invented secrets share these turns.
    Requests without a secret count together by the network that they come from.
    """

    def __init__(self) -> None:
        self._known: dict[bytes, str] = {}

    def holder_of(self, request: Request) -> str | None:
        """Name who sends a request; None for one that is no page, or a heavy one, which has its own turn."""
        if request.method not in _PAGES or ONE_HEAVY_REQUEST in getattr(request.scope.get("route"), "dependencies", ()):
            return None
        return self.known_holder_of(request) or _newcomer(request)

    def known_holder_of(self, request: Request) -> str | None:
        """Name who sends a request; None for a secret that was not seen before."""
        digest = _digest(request)
        return _unknown_reader(caller_address(request)) if digest is None else self._known.get(digest)

    def learn(self, request: Request, caller: Principal) -> None:
        """Note whose token or session came with the request."""
        digest = _digest(request)
        if digest is None or caller.user_id is None:
            return
        if digest not in self._known and len(self._known) >= _MOST_KNOWN:
            self._known.clear()
        self._known[digest] = holder(caller)


def holder(caller: Principal) -> str:
    """Name the person, or the network of one who reads unknown."""
    return _unknown_reader(caller.address) if caller.user_id is None else f"user {caller.user_id}"


def _newcomer(request: Request) -> str:
    number = (_digest(request) or b"\0")[0] % _NEWCOMERS_AT_ONCE
    return f"newcomer {number} of {network_of(caller_address(request))}"


def _unknown_reader(address: str | None) -> str:
    """Name the network of one who reads unknown."""
    return f"unknown reader of {network_of(address)}"


def _digest(request: Request) -> bytes | None:
    secret = request.headers.get("authorization") or read_cookie(request)
    return None if secret is None else sha256(secret.encode()).digest()
