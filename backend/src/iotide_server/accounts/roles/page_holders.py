"""Names who asks for a page by the headers alone, before the request waits for others of the same person."""

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


_MOST_KNOWN: Final = 50_000  # sessions and tokens, some 150 bytes each
_PAGES: Final = frozenset({"GET", "HEAD"})
_log = structlog.get_logger(__name__)
_Found = Mapping[Proof, int | IotideError]


@dataclass(slots=True)
class _Round:
    """Proofs that one look at the database is about."""

    proofs: set[Proof] = field(default_factory=set)
    found: _Found | None = None


class PageHolders:
    """Remembers whose tokens and sessions are whose. Its answers open nothing: who calls is asked each time."""

    # All without a proof of a known person count together by the network that they come from.

    def __init__(self) -> None:
        self._known: dict[bytes, Holder] = {}
        self._gathering = _Round()
        self._turn = Lock()

    def holder_of(self, request: Request) -> Holder | None:
        """Name who sends a request; None for a known person's change, and for their heavy request with its own turn."""
        holder = self.known_holder_of(request) or network_holder(request)
        is_heavy = ONE_HEAVY_REQUEST in getattr(request.scope.get("route"), "dependencies", ())
        return None if holder.is_known and (request.method not in _PAGES or is_heavy) else holder

    def known_holder_of(self, request: Request) -> Holder | None:
        """Name who sends a request; None for a proof that was not seen before, or is nobody's."""
        proof = proof_of(request)
        return network_holder(request) if proof is None else self._known.get(_key(proof))

    async def introduce(self, state: State, proof: Proof) -> IotideError | None:
        """Learn whose a proof is, unless that is known; return why it opens nothing."""
        # All proofs that come meanwhile are looked up together, so invented ones take no longer than one. What the
        # database does not say now, the request's own transaction meets again, and says why.
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
        """Look the proof up again when it comes next: it opens nothing any more."""
        self._known.pop(_key(proof), None)

    def _learn(self, found: _Found) -> None:
        people = {_key(proof): _person(user_id) for proof, user_id in found.items() if isinstance(user_id, int)}
        if len(self._known) + len(people) > _MOST_KNOWN:
            self._known.clear()
        self._known.update(people)


def holder(caller: Principal) -> Holder:
    """Name the person, or the network of one who reads unknown."""
    return _unknown_reader(caller.address) if caller.user_id is None else _person(caller.user_id)


def network_holder(request: Request) -> Holder:
    """Name the network that a request comes from, whoever sends it."""
    return _unknown_reader(caller_address(request))


def _person(user_id: int) -> Holder:
    return Holder(f"user {user_id}")


def _unknown_reader(address: str | None) -> Holder:
    return Holder(f"unknown reader of {network_of(address)}", is_known=False)


def _key(proof: Proof) -> bytes:
    return sha256(f"{proof.is_token} {proof.secret}".encode()).digest()


def _look(state: State, proofs: set[Proof]) -> _Found:
    database = DATABASE.of(state).beats
    now = CLOCK.of(state)()
    try:
        with database.transaction() as session:
            return authentication.owners_of(session, proofs, now, idle_since=now - SESSION_TERMS.of(state).idle)
    except SQLAlchemyError as error:
        _log.debug("introduction_left_to_the_request", error=str(error))
        return {}
