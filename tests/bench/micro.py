"""Small benches of single aspects of iotide. Each prints `PART: key=value ...` as its last line.

Without PART all of them run, one after the other. The exit status is 1 if a limit is exceeded.
"""

import argparse
import sys
from collections.abc import Callable
from inspect import Parameter, signature
from typing import Any, Final

from micro_board import board
from micro_noise import agent_noise
from micro_searches import audit, explorer
from micro_storage import history, ingest, metrics
from micro_stream import stream

PARTS: Final[dict[str, Callable[..., bool]]] = {
    "audit": audit,
    "board": board,
    "explorer": explorer,
    "history": history,
    "ingest": ingest,
    "metrics": metrics,
    "agent-noise": agent_noise,
    "stream": stream,
}
"""Each returns whether its limits hold; its parameters are its options."""


def main() -> int:
    """Run one part with its options, or all with their defaults."""
    parser = argparse.ArgumentParser(prog="./dev bench micro", description=__doc__)
    commands = parser.add_subparsers(dest="part", metavar="PART")
    for name, part in PARTS.items():
        about = part.__doc__ or ""
        command = commands.add_parser(name, help=about.partition("\n")[0], description=about)
        for option in signature(part).parameters.values():
            add_option(command, option)
    asked = vars(parser.parse_args())
    name = asked.pop("part")
    verdicts = [PARTS[name](**asked)] if name else [part() for part in PARTS.values()]
    return 0 if all(verdicts) else 1


def add_option(command: argparse.ArgumentParser, option: Parameter) -> None:
    """Add an option with the name, type and default of a parameter."""
    flag, default = f"--{option.name.replace('_', '-')}", option.default
    how: dict[str, Any] = {"action": "store_true"} if default is False else {"type": type(default), "default": default}
    command.add_argument(flag, help="" if default is False else "default: %(default)s", **how)


if __name__ == "__main__":
    sys.exit(main())
