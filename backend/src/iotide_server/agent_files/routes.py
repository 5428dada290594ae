"""Routes of the agent's files. Nodes that have no credentials yet fetch them."""

from collections.abc import AsyncIterator
from typing import Annotated, Final

from fastapi import APIRouter, Depends, Path, Request
from starlette.responses import FileResponse, PlainTextResponse, Response

from iotide_server.accounts.roles.rules import Anyone
from iotide_server.accounts.sessions.cookies import caller_address
from iotide_server.agent_files.errors import AGENT_FILE_NOT_FOUND, AGENT_FILES_MISSING, TOO_MANY_FETCHES
from iotide_server.agent_files.shelf import AGENT_SHELF
from iotide_server.kit.app_values import AppValue
from iotide_server.kit.one_each import Holder, OneEach
from iotide_server.kit.proxies import network_of
from iotide_server.kit.rates import Rate
from iotide_server.kit.web import Now

FETCHES: Final[AppValue[OneEach]] = AppValue("agent_file_fetches")
FETCH_RATE: Final[AppValue[Rate]] = AppValue("agent_file_rate")
FETCHES_A_MINUTE: Final = 60
"""Per network. A node fetches three files."""
MOST_WAITING_FETCHES: Final = 8
"""Per network; one fetch at a time."""

router = APIRouter(tags=["agent files"])


def fetching_holder(request: Request) -> Holder:
    return Holder(network_of(caller_address(request)))


async def _admitted(request: Request, now: Now) -> None:
    rate = FETCH_RATE.of(request.app.state)
    wait_seconds = rate.wait_seconds(fetching_holder(request), now)
    if wait_seconds:
        raise TOO_MANY_FETCHES(a_minute=rate.a_minute, wait_seconds=wait_seconds)


async def _one_fetch(request: Request) -> AsyncIterator[None]:
    async with FETCHES.of(request.app.state).turn(request):
        yield


@router.get(
    "/agent/{name}",
    include_in_schema=False,
    # The turn lasts until the file was sent.
    dependencies=[Depends(_admitted), Depends(_one_fetch, scope="request")],
)
async def get_agent_file(_: Anyone, request: Request, name: Annotated[str, Path(max_length=200)]) -> Response:
    shelf = AGENT_SHELF.of(request.app.state)
    if name in shelf.texts:
        return PlainTextResponse(shelf.texts[name])
    if name in shelf.paths:
        return FileResponse(shelf.paths[name], media_type="application/octet-stream")
    if not shelf.paths:
        raise AGENT_FILES_MISSING()
    raise AGENT_FILE_NOT_FOUND(name=name, known=shelf.names)
