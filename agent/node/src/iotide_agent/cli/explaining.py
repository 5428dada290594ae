"""Errors of `iotide-agent`, with their exit statuses, and the options of several of its commands."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Final

import typer

from iotide_agent.cli.speaking import say
from iotide_agent.core.spool import AgentRunsError
from iotide_agent.core.transport import Refusal, Unreachable
from iotide_agent.node.config import ConfigError
from iotide_agent.node.identity import NotEnrolledError
from iotide_agent.node.own_files import StateOpenError
from iotide_agent.node.pinning import PinError
from iotide_wire.setup.changes import SetupError

MISSING_STATUS: Final = 1
BAD_INPUT_STATUS: Final = 2
OTHER_AGENT_STATUS: Final = 97

ConfigOption = Annotated[
    Path | None, typer.Option("--config", help="Path of agent.toml; default for root: /etc/iotide/agent.toml.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]


@contextmanager
def explained() -> Iterator[None]:
    """Print errors of the block for people, and exit with their status."""
    try:
        yield
    except (ConfigError, NotEnrolledError, PinError, Refusal, SetupError, StateOpenError) as error:
        raise _exit(str(error), BAD_INPUT_STATUS) from error
    except AgentRunsError as error:
        raise _exit(str(error), OTHER_AGENT_STATUS) from error
    except Unreachable as error:
        raise _exit(
            f"the server does not answer: {error}; check that it runs and that its address is right", MISSING_STATUS
        ) from error


def _exit(sentence: str, status: int) -> typer.Exit:
    say(f"iotide-agent: {sentence}", err=True)
    return typer.Exit(status)
