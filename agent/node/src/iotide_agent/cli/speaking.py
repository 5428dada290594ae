"""Lines to the terminal: what servers, nodes and people put into them is shown, and obeyed by no terminal."""

from typing import Final

import typer

from iotide_wire.visible import visible

OURS: Final = "\n\t"
"""What moves the cursor on our word."""


def say(text: str, *, err: bool = False) -> None:
    """Print lines, on standard error where `err`."""
    typer.echo(visible(text, kept=OURS), err=err)


def ask(question: str, *, err: bool = False) -> bool:
    """Let the person at the terminal say yes or no."""
    return typer.confirm(visible(question, kept=OURS), err=err)
