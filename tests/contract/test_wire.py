"""What agent and server really say to each other is what the wire package describes and what was recorded."""

from typing import Any

import pytest
from local_stack import LocalStack
from overheard import conversation
from wire_recordings import KINDS, messages

from iotide_wire.base import Message


@pytest.fixture(scope="module")
def overheard(stack: LocalStack) -> list[tuple[type[Message], Any]]:
    return list(messages(conversation(stack)))


def test_a_conversation_has_every_kind_of_message(overheard: list[tuple[type[Message], Any]]) -> None:
    # How it stands is asked by `iotide-agent check`, and no part of what the agent says.
    assert {kind.__name__ for kind, _ in overheard} == KINDS.keys() - {"Standing"}


def test_every_message_says_all_that_its_kind_has_and_nothing_else(
    overheard: list[tuple[type[Message], Any]],
) -> None:
    for kind, message in overheard:
        assert kind.model_validate(message).model_dump(mode="json").keys() == message.keys()
