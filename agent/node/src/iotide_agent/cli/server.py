"""Connection to the server, console and JSON output, shared by all commands."""

import json
import ssl
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
from iotide_agent.cli.kept_login import kept_login
from iotide_agent.cli.problems import Problem, RefusedError
from iotide_agent.cli.speaking import OURS, ask, say
from iotide_wire.visible import visible

PIPE_COLUMNS: Final = 240
_LOCAL_URL: Final = "http://127.0.0.1:8470"

AsJson = Annotated[bool, typer.Option("--json", help="Print the server's answer as JSON.")]
Limit = Annotated[int, typer.Option(min=1, max=10_000, help="Maximum number of rows, newest first.")]


@dataclass(frozen=True, slots=True)
class Server:
    url: str
    token: str | None
    ca: Path | None
    ca_pem: str | None = None

    def open(self) -> Api:
        if not self.url.startswith(("http://", "https://")):
            remedy = "use for example https://iotide.example:8443"
            raise RefusedError([Problem("invalid_input", "not a URL", "url", self.url, remedy)])
        if not self.token:
            remedy = "run `iotide login URL`, or create an API token in the dashboard and set IOTIDE_TOKEN"
            raise RefusedError([Problem("not_authenticated", "no API token", "token", None, remedy)])
        if self.ca is not None and not self.ca.is_file():
            raise RefusedError(
                [Problem("invalid_input", "no such file", "ca", str(self.ca), "use the path of a PEM file")]
            )
        return Api(self.url, self.token, ssl.create_default_context(cafile=self.ca, cadata=self.ca_pem))


def chosen_server(url: str | None, token: str | None, ca: Path | None) -> Server:
    """Return the server that is named, otherwise that of `iotide login`, whose token goes to no other address."""
    kept = kept_login()
    if url is None:
        url = _LOCAL_URL if kept is None else kept.url
    if kept is None or kept.url != url.rstrip("/"):
        return Server(url, token, ca)
    return Server(url, token or kept.token, ca, kept.ca_pem if ca is None else None)


def opened(context: typer.Context) -> Api:
    server: Server = context.obj
    return server.open()


class PlainConsole(Console):
    """Prints text literally: control characters, markup and emoji codes have no effect."""

    def __init__(self, *, stderr: bool = False, width: int | None = None) -> None:
        super().__init__(stderr=stderr, width=width, markup=False, emoji=False)

    def render_str(self, text: str, **how: Any) -> Text:  # noqa: ANN401 - as rich has them
        return super().render_str(visible(text, kept=OURS), **how)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Escape the text of segments; control segments come from rich itself."""
        for segment in super().render(renderable, options):
            text, style, control = segment
            yield segment if control else Segment(visible(text, kept=OURS), style)


def console() -> Console:
    """Return a console as wide as the terminal. On a pipe it is wide enough that no table row wraps."""
    return PlainConsole(width=None if sys.stdout.isatty() else PIPE_COLUMNS)


def print_json(answer: Document | Sequence[Document]) -> None:
    say(json.dumps(answer, indent=2))


def show(
    answer: Document | Sequence[Document], words: Callable[[], Table | str | Iterable[str]], *, as_json: bool
) -> None:
    if as_json:
        print_json(answer)
    elif isinstance(shown := words(), Table):
        console().print(shown)
    else:
        for line in [shown] if isinstance(shown, str) else shown:
            say(line)


def is_confirmed(question: str, *, remedy: str) -> bool:
    """Raise RefusedError without a terminal."""
    if not sys.stdin.isatty():
        raise RefusedError(
            [
                Problem(
                    "not_confirmed",
                    "refusing without confirmation: standard input is not a terminal",
                    "yes",
                    remedy=remedy,
                )
            ]
        )
    return ask(question)
