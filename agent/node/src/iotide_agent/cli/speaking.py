"""Terminal output and questions, with control characters from servers, nodes and users escaped."""

from typing import Final

import typer

from iotide_wire.visible import visible

OURS: Final = "\n\t"


def say(text: str, *, err: bool = False) -> None:
    typer.echo(visible(text, kept=OURS), err=err)


def ask(question: str, *, err: bool = False) -> bool:
    return typer.confirm(visible(question, kept=OURS), err=err)
