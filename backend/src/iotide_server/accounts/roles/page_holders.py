"""Identifies the sender of a page request before it waits for others."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Final

import structlog
from anyio import CapacityLimiter, Lock, to_thread
from fastapi import Request
from sqlalchemy.exc import SQLAlchemyError
from starlette.datastructures import State

from iotide_server.accounts.roles import authentication
from iotide_server.accounts.roles.authentication import Proof
from iotide_server.accounts.roles.heavy import ONE_HEAVY_REQUEST
from iotide_server.accounts.roles.principal import Principal
from iotide_server.accounts.roles.rules import proof_of
from iotide_server.accounts.sessions.cookies import caller_address
from iotide_server.accounts.sessions.rotation import SESSION_TERMS
from iotide_server.kit.app_values import AppValue
from iotide_server.kit.clock import CLOCK
from iotide_server.kit.db import DATABASE
from iotide_server.kit.errors import IotideError
from iotide_server.kit.one_each import Holder
from iotide_server.kit.proxies import network_of

INTRODUCTIONS: Final[AppValue[CapacityLimiter]] = AppValue("introductions")


_MOST_KNOWN: Final = 50_000
_PAGES: Final = frozenset({"GET", "HEAD"})
_log = structlog.get_logger(__name__)
_Found = Mapping[Proof, int | IotideError]


@dataclass(slots=True)
class _Round:
    proofs: set[Proof] = field(default_factory=set)
    found: _Found | None = None


class PageHolders:
    """Cache of the owners of tokens and sessions. It grants no access."""

    # Requests without a known proof count by network.

    def __init__(self) -> None:
        self._known: dict[bytes, Holder] = {}
        self._gathering = _Round()
        self._turn = Lock()

    def holder_of(self, request: Request) -> Holder | None:
        """Return the sender; None for a known person's change or expensive request, which have other limits."""
        holder = self.known_holder_of(request) or network_holder(request)
        is_heavy = ONE_HEAVY_REQUEST in getattr(request.scope.get("route"), "dependencies", ())
        return None if holder.is_known and (request.method not in _PAGES or is_heavy) else holder

    def known_holder_of(self, request: Request) -> Holder | None:
        proof = proof_of(request)
        return network_holder(request) if proof is None else self._known.get(_key(proof))

    async def introduce(self, state: State, proof: Proof) -> IotideError | None:
        """Look up the owner of an unknown proof. Return the error that rejects it."""
        # Proofs that arrive during a lookup share the next one, so invented ones cost one lookup. Database
        # errors appear in the request's own transaction.
        if _key(proof) in self._known:
            return None
        mine = self._gathering
        mine.proofs.add(proof)
        async with self._turn:
            if mine.found is None:
                self._gathering = _Round()
                mine.found = await to_thread.run_sync(_look, state, mine.proofs, limiter=INTRODUCTIONS.of(state))
                self._learn(mine.found)
        found = mine.found.get(proof)
        return found if isinstance(found, IotideError) else None

    def forget(self, proof: Proof) -> None:
        self._known.pop(_key(proof), None)

    def _learn(self, found: _Found) -> None:
        people = {_key(proof): _person(user_id) for proof, user_id in found.items() if isinstance(user_id, int)}
        if len(self._known) + len(people) > _MOST_KNOWN:
            self._known.clear()
        self._known.update(people)


def holder(caller: Principal) -> Holder:
    return _unknown_reader(caller.address) if caller.user_id is None else _person(caller.user_id)


def network_holder(request: Request) -> Holder:
    return _unknown_reader(caller_address(request))


def _person(user_id: int) -> Holder:
    return Holder(f"user {user_id}")


def _unknown_reader(address: str | None) -> Holder:
    return Holder(f"unknown reader of {network_of(address)}", is_known=False)


def _key(proof: Proof) -> bytes:
    return sha256(f"{proof.is_token} {proof.secret}".encode()).digest()


def _look(state: State, proofs: set[Proof]) -> _Found:
    database = DATABASE.of(state).heartbeats
    now = CLOCK.of(state)()
    try:
        with database.transaction() as session:
            return authentication.owners_of(session, proofs, now, idle_since=now - SESSION_TERMS.of(state).idle)
    except SQLAlchemyError as error:
        _log.debug("introduction_left_to_the_request", error=str(error))
        return {}
