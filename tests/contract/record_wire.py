"""Recorder of new wire messages; PYTHONPATH=deploy/demo:tests uv run python tests/contract/record_wire.py."""

import sys

from recorded_conversation import conversation
from rig import running_stack
from wire_recordings import messages, record


def main() -> None:
    """Record a conversation and save the messages that have no recording yet."""
    with running_stack() as stack:
        for file in record(messages(conversation(stack))):
            sys.stdout.write(f"{file}\n")


if __name__ == "__main__":
    main()
