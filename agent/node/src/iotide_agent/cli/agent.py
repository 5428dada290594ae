"""The command `iotide-agent`: set a node up, run its agent, check it."""

import json
import logging
import os
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Final

import typer

from iotide_agent.cli import batch, scratch
from iotide_agent.cli.explaining import MISSING_STATUS, OTHER_AGENT_STATUS, ConfigOption, JsonOption, explained
from iotide_agent.cli.joining import enroll_command, setup_command
from iotide_agent.cli.speaking import say
from iotide_agent.core.driver import AgentEnding, Driver
from iotide_agent.core.spool import Offer
from iotide_agent.logs import log_to_stderr
from iotide_agent.node.config import AgentConfig, load_config
from iotide_agent.node.readiness import State, examine
from iotide_wire.program import PRINT_VERSION, version_printer

_OTHER_AGENT: Final = frozenset({"agent_already_running", "agent_superseded"})

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False)
app.command("setup")(setup_command)
app.command("enroll")(enroll_command)
app.add_typer(scratch.app, name="scratch")


@app.callback()
def describe(
    *,
    _version: Annotated[
        bool,
        typer.Option(
            "--version", callback=version_printer("iotide-agent", "iotide-agent"), is_eager=True, help=PRINT_VERSION
        ),
    ] = False,
) -> None:
    """The node agent of iotide."""


@app.command("run")
def run_command(config: ConfigOption = None) -> None:
    """Run the agent until it is stopped.

    A benchmark that is running then continues; the agent adopts it at its next start.
    """
    with explained():
        log_to_stderr("agent")
        ending = _run(load_config(config))
    logging.getLogger(__name__).info("agent_ended code=%s reason=%s", ending.code, ending.sentence)
    _exit_if_refused(ending)


@app.command("gateway")
def gateway_command(config: ConfigOption = None) -> None:
    """Submit a cluster's runs to its batch system. Run this on a login node as a user who may submit jobs."""
    with explained():
        log_to_stderr("gateway")
        ending = batch.work_as_gateway(load_config(config))
    _exit_if_refused(ending)


@app.command("announce")
def announce_command(config: ConfigOption = None) -> None:
    """Announce this node once, where no agent runs permanently: after enrolling, after a change, at boot."""
    with explained():
        found = batch.config_of_node(config)
    _work_as_job(found, None)


@app.command("batch-run")
def batch_run_command(fence: batch.Fence, orders: batch.Orders, config: ConfigOption = None) -> None:
    """Run this node's part of one attempt, then exit. The gateway's jobs call this."""
    with explained():
        found = batch.config_of_node(config)
        offer = batch.offer_of(found, fence, orders)
    _work_as_job(found, offer)


@app.command("check")
def check_command(config: ConfigOption = None, *, as_json: JsonOption = False) -> None:
    """Check this node's setup. Exit status 1 if something is missing."""
    with explained():
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


def _work_as_job(config: AgentConfig, offer: Offer | None) -> None:
    with explained():
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


def main() -> None:
    """Run the command, from `/` if the current directory is gone or not accessible."""
    try:
        os.chdir(Path.cwd())
    except OSError:
        os.chdir("/")  # Celery and many tools fail without a current directory
    app()
