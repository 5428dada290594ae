"""What every command begins and ends with: the server that it talks to, the console, and answers as JSON."""

import json
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from iotide_agent.cli.api import Api, Document
from iotide_agent.cli.problems import Problem, RefusedError
from iotide_agent.cli.speaking import OURS, ask, say
from iotide_wire.visible import visible

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
        """Return a session; raise RefusedError for no address, no token or no such certificate file."""
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


class PlainConsole(Console):
    """Shows every text as it stands: no character of it is obeyed, and no bracket or colon is markup or an emoji."""

    def __init__(self, *, stderr: bool = False, width: int | None = None) -> None:
        super().__init__(stderr=stderr, width=width, markup=False, emoji=False)

    def render_str(self, text: str, **how: Any) -> Text:  # noqa: ANN401 - as rich has them
        """A text for a cell or a line, as long as it is shown."""
        return super().render_str(visible(text, kept=OURS), **how)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Its pieces, of texts too that came here otherwise; the controls among them are rich's own."""
        for segment in super().render(renderable, options):
            text, style, control = segment
            yield segment if control else Segment(visible(text, kept=OURS), style)


def console() -> Console:
    """Tables as wide as the terminal; in a pipe as wide as they need to be, so that lines stay lines."""
    return PlainConsole(width=None if sys.stdout.isatty() else PIPE_COLUMNS)


def print_json(answer: Document | Sequence[Document]) -> None:
    """What the server answered, on stdout."""
    say(json.dumps(answer, indent=2))


def show(
    answer: Document | Sequence[Document], words: Callable[[], Table | str | Iterable[str]], *, as_json: bool
) -> None:
    """Print the answer as JSON, or the table or lines that `words` makes of it for a person."""
    if as_json:
        print_json(answer)
    elif isinstance(shown := words(), Table):
        console().print(shown)
    else:
        for line in [shown] if isinstance(shown, str) else shown:
            say(line)


def is_confirmed(question: str, *, remedy: str) -> bool:
    """Ask the person at the terminal; raise RefusedError where nobody is there."""
    if not sys.stdin.isatty():
        raise RefusedError([Problem("not_confirmed", "nobody is there to ask", "yes", remedy=remedy)])
    return ask(question)
