"""Routes of channels and deliveries."""

from collections.abc import AsyncIterator, Callable
from typing import Annotated, Final

from anyio import CapacityLimiter, to_thread
from fastapi import APIRouter, Depends, Query, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from iotide_server.accounts.roles.known_callers import KnownCallerRoute
from iotide_server.accounts.roles.rules import Admin, Introduced, Operator
from iotide_server.kit.app_values import AppValue
from iotide_server.kit.db import DATABASE
from iotide_server.kit.one_each import OneEach
from iotide_server.kit.pagination import LARGEST_ID, Page, Paging
from iotide_server.kit.vault import VAULT
from iotide_server.kit.web import Id, Now, Tx, errors
from iotide_server.notifications import channels
from iotide_server.notifications.addresses import REACH
from iotide_server.notifications.channels import Terms
from iotide_server.notifications.deliveries import OFFICE
from iotide_server.notifications.schemas import ChannelChange, ChannelInput, ChannelOutput, DeliveryOutput, TestOutcome
from iotide_server.notifications.sending import Result

CHANNEL_TESTS: Final[AppValue[CapacityLimiter]] = AppValue("channel_tests")
ONE_CHANNEL_TEST_EACH: Final[AppValue[OneEach]] = AppValue("one_channel_test_each")


router = APIRouter(tags=["notifications"], route_class=KnownCallerRoute)


async def _terms(request: Request, now: Now) -> Terms:
    return Terms(VAULT.of(request.app.state), REACH.of(request.app.state), now)


OnTerms = Annotated[Terms, Depends(_terms)]


@router.get("/channels", summary="List channels")
def list_channels(
    principal: Operator,
    session: Tx,
    paging: Paging,
    cluster_id: Annotated[
        int | None, Query(ge=1, le=LARGEST_ID, description="Only channels that get messages of this cluster")
    ] = None,
) -> Page[ChannelOutput]:
    """Return the channels of the clusters in which you are operator, and those of all clusters, newest first."""
    return channels.list_channels(session, principal, cluster_id, paging)


@router.post("/channels", summary="Create a channel", status_code=201, responses=errors(404, 409))
def create_channel(principal: Admin, session: Tx, terms: OnTerms, body: ChannelInput) -> ChannelOutput:
    """Requires the admin role for the cluster, or for all clusters if `cluster_id` is null."""
    return channels.channel(session, principal, channels.create(session, principal, body, terms))


@router.get("/channels/{channel_id}", summary="Show a channel", responses=errors(404))
def get_channel(principal: Operator, session: Tx, channel_id: Id) -> ChannelOutput:
    """Secrets are never returned, only whether they are set."""
    return channels.channel(session, principal, channel_id)


@router.put("/channels/{channel_id}", summary="Change a channel", responses=errors(404, 409))
def change_channel(principal: Admin, session: Tx, terms: OnTerms, channel_id: Id, body: ChannelChange) -> ChannelOutput:
    """Replace the channel, except its scope; null secrets stay."""
    channels.change(session, principal, channel_id, body, terms)
    return channels.channel(session, principal, channel_id)


@router.delete("/channels/{channel_id}", summary="Remove a channel", status_code=204, responses=errors(404, 409))
def remove_channel(principal: Admin, session: Tx, channel_id: Id) -> None:
    """Deletes its deliveries as well. Refused while an alert rule uses it."""
    channels.remove(session, principal, channel_id)


@router.get("/channels/{channel_id}/deliveries", summary="List deliveries of a channel", responses=errors(404))
def list_deliveries(principal: Operator, session: Tx, paging: Paging, channel_id: Id) -> Page[DeliveryOutput]:
    """Return the deliveries of the last 90 days, newest first, with all attempts and their outcomes.

    Admins of all clusters also see the text of responses, others only the status.
    """
    return channels.list_deliveries(session, principal, channel_id, paging)


class _SentThen(Response):
    """Response that waits for a receiver after the request has released its transaction and its slots."""

    def __init__(self, send: Callable[[], TestOutcome], limiter: CapacityLimiter) -> None:
        super().__init__()
        self._send, self._limiter = send, limiter

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        outcome = await to_thread.run_sync(self._send, limiter=self._limiter)
        await Response(outcome.model_dump_json(), media_type="application/json")(scope, receive, send)


async def _one_test_each(request: Request, _: Introduced) -> AsyncIterator[None]:
    one_each = ONE_CHANNEL_TEST_EACH.of(request.app.state)
    async with one_each.turn(request):
        yield


@router.post(
    "/channels/{channel_id}/test",
    summary="Test a channel",
    response_model=TestOutcome,
    dependencies=[Depends(_one_test_each)],  # until the response is sent
    responses=errors(404),
)
def test_channel(principal: Admin, session: Tx, request: Request, channel_id: Id) -> Response:
    """Send a message at once, regardless of quiet hours, and return the outcome; takes up to 30 s."""
    office = OFFICE.of(request.app.state)
    delivery_id, parcel = office.begin_test(session, principal, channel_id)
    state = request.app.state

    def send() -> TestOutcome:
        outcome = office.send(parcel)
        with DATABASE.of(state).transaction() as ending:
            office.end(ending, delivery_id, outcome)
        words = outcome.shown(with_answer=channels.may_read_answers(principal))
        return TestOutcome(delivered=outcome.result == Result.DELIVERED, words=words)

    return _SentThen(send, CHANNEL_TESTS.of(state))
