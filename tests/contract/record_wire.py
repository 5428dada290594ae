"""Records what no recording has yet; PYTHONPATH=deploy/demo:tests uv run python tests/contract/record_wire.py."""

import sys

from overheard import conversation
from rig import running_stack
from wire_recordings import messages, record


def main() -> None:
    """Overhear a conversation and write down what is new in it."""
    with running_stack() as stack:
        for file in record(messages(conversation(stack))):
            sys.stdout.write(f"{file}\n")


if __name__ == "__main__":
    main()
