"""Real messages between agent and server match the wire package and the recordings."""

from typing import Any

import pytest
from local_stack import LocalStack
from recorded_conversation import conversation
from wire_recordings import KINDS, messages

from iotide_wire.base import Message


@pytest.fixture(scope="module")
def recorded(stack: LocalStack) -> list[tuple[type[Message], Any]]:
    return list(messages(conversation(stack)))


def test_a_conversation_has_every_kind_of_message(recorded: list[tuple[type[Message], Any]]) -> None:
    # `iotide-agent check` sends the status request; it is not part of the agent's conversation.
    assert {kind.__name__ for kind, _ in recorded} == KINDS.keys() - {"Standing"}


def test_every_message_says_all_that_its_kind_has_and_nothing_else(
    recorded: list[tuple[type[Message], Any]],
) -> None:
    for kind, message in recorded:
        assert kind.model_validate(message).model_dump(mode="json").keys() == message.keys()
