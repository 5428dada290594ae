"""Requests that cost seconds: each person has one at a time, over all processes of the API.

A route is one of them where it expands a plan, compares campaigns or exports all that there is. What the largest plan
costs is shown by `./dev bench plan`.
"""

from typing import Final

from fastapi import Depends, Request

from iotide_server.accounts.errors import OneAtATimeError
from iotide_server.accounts.principal import Principal
from iotide_server.accounts.rules import Caller
from iotide_server.kit.guard import after_answer
from iotide_server.kit.turns import Turns

TRY_AGAIN_SECONDS: Final = 1


def _take_turn(request: Request, caller: Caller) -> None:
    """Keep the person's turn until the answer was sent.

    Raises:
        OneAtATimeError: another heavy request of the same person is under way.
    """
    turns: Turns = request.app.state.turns
    holder = _holder(caller)
    if not turns.take(holder):
        raise OneAtATimeError(TRY_AGAIN_SECONDS)
    after_answer(request.scope, lambda: turns.give_back(holder))


def _holder(caller: Principal) -> str:
    """Name the person; all who read unknown are one, however many addresses they have."""
    return f"user {caller.user_id}" if caller.user_id is not None else "unknown readers"


ONE_HEAVY_REQUEST = Depends(_take_turn, scope="function")
"""Of a route: refuses a person's second heavy request with 429, so that others are served meanwhile."""
