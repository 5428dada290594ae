"""The option `--version` of each program of iotide."""

import sys
from collections.abc import Callable
from importlib.metadata import version
from typing import Final

PRINT_VERSION: Final = "Print the version and exit."


def version_printer(program: str, distribution: str) -> Callable[[bool], None]:
    """Return the callback of `--version`: print the program and its installed version, then exit with status 0."""

    def print_version(is_asked: bool) -> None:  # noqa: FBT001 - typer calls it
        if is_asked:
            sys.stdout.write(f"{program} {version(distribution)}\n")
            sys.exit(0)

    return print_version
