"""Markdown pages of the three commands, from their own declarations."""

import re
from collections.abc import Iterator
from html import unescape
from typing import Final

from typer import Context, Typer
from typer.cli import get_docs_for_click
from typer.main import get_command

from iotide_agent.cli.agent import app as agent
from iotide_agent.cli.user import app as user
from iotide_server.commands.program import COMMANDS, program_of

PROGRAMS: Final = {"iotide": user, "iotide-agent": agent, "iotide-server": program_of(COMMANDS)}
_SECTION: Final = re.compile(r"^#+ `(.+)`$", re.MULTILINE)
_ROW: Final = re.compile(r"^\* `([a-z-]+)`.*$", re.MULTILINE)


def command_pages() -> Iterator[tuple[str, str]]:
    """Yield the name and the page of each program."""
    for name, app in PROGRAMS.items():
        yield name, _page(name, app)


def _page(name: str, app: Typer) -> str:
    command = get_command(app)
    text = unescape(get_docs_for_click(obj=command, ctx=Context(command), name=name))
    _, *parts = _SECTION.split(text)
    sections = dict(zip(parts[::2], parts[1::2], strict=True))

    def row(path: str, found: re.Match[str]) -> str:
        """Return the row of a subcommand with its whole first paragraph, which typer cuts at 45 characters."""
        called = f"{path} {found[1]}"
        if called not in sections:
            return found[0]
        paragraph = sections[called].split("\n\n")[1]
        return f"* [`{found[1]}`](#{called.replace(' ', '-')}): {paragraph}"

    pages = []
    for path, section in sections.items():
        level = "#" * min(3, 1 + path.count(" "))
        heading = f"{level} {path}\n" if " " in path else f"# {path}\n## Description\n"
        pages.append(heading + _ROW.sub(lambda found, path=path: row(path, found), section))
    return "\n".join(pages)
