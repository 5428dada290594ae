"""Commands that make this host a node."""

import json
import os
import sys
from getpass import getpass
from pathlib import Path
from typing import Annotated

import typer

from iotide_agent.cli.explaining import BAD_INPUT_STATUS, ConfigOption, JsonOption, explained
from iotide_agent.cli.speaking import say
from iotide_agent.node.config import ConfigError, load_config
from iotide_agent.node.enrolment import enroll
from iotide_agent.node.identity import token_fingerprint
from iotide_agent.setup.demands import Demand
from iotide_agent.setup.service import check_as_agent, set_up, starting_command
from iotide_wire.setup.changes import Changes, SetupError
from iotide_wire.setup.services import systemd_runs


def setup_command(
    server: Annotated[str, typer.Argument(metavar="SERVER", help="Base URL, such as https://iotide.example.org:8470.")],
    *,
    directory: Annotated[
        list[str] | None,
        typer.Option(help="Directory for runs, repeatable; created if missing. Default: /scratch/iotide."),
    ] = None,
    ca: Annotated[
        Path | None, typer.Option(help="Certificate (PEM) of the server's authority. Default: ask the server for it.")
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace the identity that this host already has.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print files and commands; change nothing.")] = False,
) -> None:
    """Install the agent of this host as a service, and enrol it with the join token on standard input.

    Creates the user iotide-agent, /etc/iotide/agent.toml, the directories and the systemd unit, and starts it. A
    repeated setup continues an interrupted one. It keeps the identity and agent.toml of this host.
    """
    demand = Demand(
        server=server.rstrip("/"),
        directories=tuple(directory or ()),
        program=Path(sys.argv[0]).absolute(),
        ca_file=ca,
        replaces=replace,
    )
    if not dry_run and os.geteuid() != 0:
        say("iotide-agent: setup creates a user and a service: run it as root, or with --dry-run", err=True)
        raise typer.Exit(BAD_INPUT_STATUS)
    with explained():
        try:
            set_up(demand, lambda: _read_join_token(f"setup {demand.server}"), Changes(say, is_dry=dry_run))
        except OSError as error:
            reason = f"{error.filename or 'this node'}: {error.strerror or error}"
            raise SetupError(f"{reason}; correct this, then run setup again: it continues") from error
        if not dry_run:
            check_as_agent(demand.program)
    if not dry_run and not systemd_runs():
        say(f"systemd does not run here; start the agent with: {starting_command(demand.program)}")


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
    with explained():
        reply = enroll(
            load_config(config), server, join_token or _read_join_token("enroll --server URL"), replace=replace
        )
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


def _read_join_token(command: str) -> str:
    token = getpass("Join token: ") if sys.stdin.isatty() else sys.stdin.readline()
    if not token.strip():
        raise ConfigError("join_token", "", f"pass it on standard input: echo TOKEN | iotide-agent {command}")
    return token.strip()
