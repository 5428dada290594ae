"""The command `iotide-agent`: enrol a node, run its agent, check its setup."""

import json
import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from getpass import getpass
from pathlib import Path
from typing import Annotated, Final

import typer

from iotide_agent.cli import batch
from iotide_agent.cli.speaking import say
from iotide_agent.core.driver import AgentEnding, Driver
from iotide_agent.core.spool import AgentRunsError, Offer
from iotide_agent.core.transport import Refusal, Unreachable
from iotide_agent.logs import log_to_stderr
from iotide_agent.node.config import AgentConfig, ConfigError, load_config
from iotide_agent.node.enrolment import enroll
from iotide_agent.node.identity import NotEnrolledError, token_fingerprint
from iotide_agent.node.own_files import StateOpenError
from iotide_agent.node.pinning import PinError
from iotide_agent.node.readiness import State, examine

MISSING_STATUS: Final = 1
BAD_INPUT_STATUS: Final = 2
OTHER_AGENT_STATUS: Final = 97
_OTHER_AGENT: Final = frozenset({"agent_already_running", "agent_superseded"})

app = typer.Typer(help="The node agent of iotide.", no_args_is_help=True, pretty_exceptions_enable=False)
ConfigOption = Annotated[
    Path | None, typer.Option("--config", help="Path of agent.toml; default for root: /etc/iotide/agent.toml.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]


@app.command("enroll")
def enroll_command(
    server: Annotated[str | None, typer.Option(help="Base URL of the server; default: `server` in agent.toml.")] = None,
    join_token: Annotated[
        str | None,
        typer.Option(help="Join token. Prefer standard input: other users of this host can read arguments in `ps`."),
    ] = None,
    config: ConfigOption = None,
    *,
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace the identity that this host already has.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Enrol this host as a node of a cluster.

    The join token is read from standard input, or asked for on a terminal. Get one from the cluster's page or from
    `iotide-server join-token`.
    """
    with _explained():
        reply = enroll(load_config(config), server, join_token or _read_join_token(), replace=replace)
    if as_json:
        shown = reply.model_dump(mode="json", include={"node_id", "node_name", "cluster", "pending_until"})
        say(json.dumps(shown | {"fingerprint": token_fingerprint(reply.node_token)}))
        return
    say(f"enrolled as node {reply.node_name} of cluster {reply.cluster}; start it with `iotide-agent run`")
    if reply.pending_until is not None:
        say(
            f"it is pending until {reply.pending_until:%Y-%m-%d %H:%M} UTC: ask an admin to approve it on the"
            f" cluster's page, if the token fingerprint there is {token_fingerprint(reply.node_token)}"
        )


@app.command("run")
def run_command(config: ConfigOption = None) -> None:
    """Run the agent until it is stopped.

    A benchmark that is running then continues; the agent adopts it at its next start.
    """
    with _explained():
        log_to_stderr("agent")
        ending = _run(load_config(config))
    logging.getLogger(__name__).info("agent_ended code=%s reason=%s", ending.code, ending.sentence)
    _exit_if_refused(ending)


@app.command("gateway")
def gateway_command(config: ConfigOption = None) -> None:
    """Submit a cluster's runs to its batch system. Run this on a login node as a user who may submit jobs."""
    with _explained():
        log_to_stderr("gateway")
        ending = batch.work_as_gateway(load_config(config))
    _exit_if_refused(ending)


@app.command("announce")
def announce_command(config: ConfigOption = None) -> None:
    """Announce this node once, where no agent runs permanently: after enrolling, after a change, at boot."""
    with _explained():
        found = batch.config_of_node(config)
    _work_as_job(found, None)


@app.command("batch-run")
def batch_run_command(fence: batch.Fence, orders: batch.Orders, config: ConfigOption = None) -> None:
    """Run this node's part of one attempt, then exit. The gateway's jobs call this."""
    with _explained():
        found = batch.config_of_node(config)
        offer = batch.offer_of(found, fence, orders)
    _work_as_job(found, offer)


@app.command("check")
def check_command(config: ConfigOption = None, *, as_json: JsonOption = False) -> None:
    """Check this node's setup. Exit status 1 if something is missing."""
    with _explained():
        findings = examine(load_config(config))
    if as_json:
        say(json.dumps([asdict(finding) for finding in findings], indent=1))
    else:
        for finding in findings:
            say(f"{finding.state:8}{finding.name}: {finding.sentence}")
            if finding.remedy:
                say(f"        remedy: {finding.remedy}")
    if any(finding.state is State.MISSING for finding in findings):
        raise typer.Exit(MISSING_STATUS)


def _read_join_token() -> str:
    token = getpass("Join token: ") if sys.stdin.isatty() else sys.stdin.readline()
    if not token.strip():
        raise ConfigError("join_token", "", "pass it on standard input: echo TOKEN | iotide-agent enroll --server URL")
    return token.strip()


def _work_as_job(config: AgentConfig, offer: Offer | None) -> None:
    with _explained():
        log_to_stderr("job")
        ending = batch.work_as_job(config, offer)
    _exit_if_refused(ending)
    say(f"iotide-agent: {ending.sentence}")


def _exit_if_refused(ending: AgentEnding) -> None:
    if ending.code is not None:
        say(f"iotide-agent: {ending.sentence} ({ending.code})", err=True)
        raise typer.Exit(OTHER_AGENT_STATUS if ending.code in _OTHER_AGENT else MISSING_STATUS)


def _run(config: AgentConfig) -> AgentEnding:
    with batch.held_state(config) as (identity, spool):
        return Driver(config, identity.agent, spool, batch.speaker_of(identity, spool)).run()


@contextmanager
def _explained() -> Iterator[None]:
    try:
        yield
    except (ConfigError, NotEnrolledError, PinError, Refusal, StateOpenError) as error:
        raise _exit(str(error), BAD_INPUT_STATUS) from error
    except AgentRunsError as error:
        raise _exit(str(error), OTHER_AGENT_STATUS) from error
    except Unreachable as error:
        raise _exit(
            f"the server does not answer: {error}; check that it runs and that its address is right", 1
        ) from error


def _exit(sentence: str, status: int) -> typer.Exit:
    say(f"iotide-agent: {sentence}", err=True)
    return typer.Exit(status)


def main() -> None:
    """Run the command, from `/` if the current directory is gone or not accessible."""
    try:
        os.chdir(Path.cwd())
    except OSError:
        os.chdir("/")  # Celery and many tools fail without a current directory
    app()
