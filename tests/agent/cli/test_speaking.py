"""`iotide` prints text from servers, nodes and users without control characters that a terminal would obey."""

import ast
from pathlib import Path
from typing import Final

import pytest
from factories.commands import Iotide
from factories.fake_server import FakeServer
from rich.console import Console
from rich.live import Live

import iotide_agent.cli
from iotide_agent.cli.answers import Campaign
from iotide_agent.cli.live_progress import LiveProgress
from iotide_agent.cli.server import PlainConsole

from .responses import NOT_WAITING, RUN, campaign, page

HOSTILE: Final = "\x1b]52;c;eA==\x1b\\\\\x1b[2J\x9b2J[link=https://evil.example]x[/link] [/nothing] :smile:"
SHOWN: Final = r"\x1b]52;c;eA==\x1b\\\x1b[2J\x9b2J"


def is_safe(text: str) -> bool:
    return not set(text) & set("\x1b\x9b\x07\r\x08")


@pytest.mark.parametrize(
    ("call", "answer", "command"),
    [
        ("GET /campaigns?limit=20", page(campaign("active", active=1) | {"name": HOSTILE}), ("campaign", "list")),
        ("GET /runs?limit=50", page(RUN | {"reason": HOSTILE}), ("run", "list")),
        ("GET /clusters?limit=200", page({"id": 1, "name": HOSTILE, "launcher": "direct"}), ("cluster", "list")),
        (
            "GET /runs/11",
            (200, RUN | NOT_WAITING | {"waiting_because": HOSTILE, "attempts": [], "samples": []}),
            ("run", "show", "11"),
        ),
        (
            "GET /runs/11/events?limit=200",
            page({"id": 1, "at": "2026-11-21T10:00:01Z", "kind": "claimed", "text": HOSTILE}),
            ("run", "log", "11"),
        ),
    ],
)
def test_a_text_of_others_moves_no_cursor_and_is_no_markup(
    server: FakeServer, iotide: Iotide, call: str, answer: tuple[int, object], command: tuple[str, ...]
) -> None:
    server.on(call, answer)
    server.on("GET /explorer/runs?id=11&limit=1", page({"id": 11, "headline": None}))
    ended = iotide(*command)
    assert ended.status == 0, ended.err
    assert is_safe(ended.out)
    assert SHOWN in ended.out
    assert "[link=https://evil.example]x[/link] [/nothing] :smile:" in ended.out


def test_neither_does_the_message_of_a_refusal(server: FakeServer, iotide: Iotide) -> None:
    error = {"code": "x", "field": "f", "value": HOSTILE, "message": HOSTILE, "remedy": HOSTILE}
    server.on("GET /runs/11", (409, {"error": error, "errors": [error]}))
    ended = iotide("run", "show", "11")
    assert ended.status == 2
    assert is_safe(ended.err)
    assert ended.err.count(SHOWN) >= 2


def test_a_bar_in_a_terminal_shows_a_name_and_keeps_its_own_controls(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    console = PlainConsole(width=200)
    monkeypatch.setattr(console, "_force_terminal", True)
    progress = LiveProgress(console)
    with Live(progress.renderable, console=console):
        progress.update(Campaign.of(campaign("active", active=1) | {"name": HOSTILE}))
    out = capsys.readouterr().out
    assert "\x1b]52" not in out
    assert SHOWN in out
    assert "\x1b[?25l" in out, "rich hides the cursor, as it should"


def test_the_commands_have_no_other_way_to_the_terminal() -> None:
    ways = {"echo", "secho", "print", "confirm", "prompt"}
    others = []
    for path in Path(next(iter(iotide_agent.cli.__path__))).glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.Call):
                continue
            called = node.func
            if isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name):
                is_way = called.value.id == "typer" and called.attr in ways
            else:
                is_way = isinstance(called, ast.Name) and called.id in {"print", Console.__name__}
            if is_way and path.name != "speaking.py":
                others.append(f"{path.name}:{node.lineno}")
    assert others == []
