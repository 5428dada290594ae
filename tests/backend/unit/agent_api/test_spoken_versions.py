"""An agent of an earlier release refuses fields that it does not know, in any answer."""

from typing import get_type_hints

from fastapi.routing import APIRoute

from iotide_server.agent_api.routes import router
from iotide_wire.base import Message


def test_no_route_answers_with_a_message_in_the_newest_version_for_all() -> None:
    returned = {
        route.name: get_type_hints(route.endpoint)["return"] for route in router.routes if isinstance(route, APIRoute)
    }
    assert len(returned) > 8
    assert [name for name, kind in returned.items() if isinstance(kind, type) and issubclass(kind, Message)] == []
