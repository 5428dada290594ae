"""What every command begins and ends with: the server that it talks to, the console, and answers as JSON."""

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console

from iotide_agent.cli.api import Api, Document
from iotide_agent.cli.problems import Problem, RefusedError

PIPE_COLUMNS: Final = 240

AsJson = Annotated[bool, typer.Option("--json", help="Print what the server answered, as JSON.")]
Limit = Annotated[int, typer.Option(min=1, max=10_000, help="How many at most, the newest first.")]


@dataclass(frozen=True, slots=True)
class Server:
    """Where the commands go, from options or the environment."""

    url: str
    token: str | None
    ca: Path | None

    def open(self) -> Api:
        """A session with it.

        Raises:
            RefusedError: the address is none, there is no token, or no such certificate file.
        """
        if not self.url.startswith(("http://", "https://")):
            remedy = "write for instance https://iotide.example:8443"
            raise RefusedError([Problem("invalid_input", "not an address", "url", self.url, remedy)])
        if not self.token:
            remedy = "make an API token in the dashboard, then set IOTIDE_TOKEN or give --token"
            raise RefusedError([Problem("not_authenticated", "no API token was given", "token", None, remedy)])
        if self.ca is not None and not self.ca.is_file():
            raise RefusedError([Problem("invalid_input", "no such file", "ca", str(self.ca), "name a PEM file")])
        return Api(self.url, self.token, str(self.ca) if self.ca else None)


def opened(context: typer.Context) -> Api:
    """A session with the server of the command."""
    server: Server = context.obj
    return server.open()


def console() -> Console:
    """Tables as wide as the terminal; in a pipe as wide as they need to be, so that lines stay lines."""
    return Console() if sys.stdout.isatty() else Console(width=PIPE_COLUMNS)


def print_json(answer: Document | Sequence[Document]) -> None:
    """What the server answered, on stdout."""
    typer.echo(json.dumps(answer, indent=2))


def is_confirmed(question: str, *, remedy: str) -> bool:
    """Asks the person at the terminal.

    Raises:
        RefusedError: nobody is there to ask.
    """
    if not sys.stdin.isatty():
        raise RefusedError([Problem("not_confirmed", "nobody is there to ask", "yes", remedy=remedy)])
    return typer.confirm(question)
