"""The `doctor` command."""

import json
from dataclasses import asdict
from importlib.metadata import version
from typing import Annotated

import typer

from iotide_server.agent_access import agent_access
from iotide_server.bundled.state import default_state_directory
from iotide_server.commands.opening import settings_of
from iotide_server.commands.options import StateOption
from iotide_server.kit.clock import system_clock
from iotide_server.monitoring.doctor.examination import Installation, examine
from iotide_server.monitoring.doctor.findings import CheckState, in_lines

_SOMETHING_WRONG = 1


def doctor(
    *,
    state: StateOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
) -> None:
    """Check the service and print how to fix each problem. Exit status 1 if there is one."""
    settings = settings_of(state)
    directory = state or default_state_directory()
    installation = Installation(
        database_url=settings.database_url.get_secret_value(),
        redis_url=settings.redis_url.get_secret_value(),
        redis_admin_url=settings.redis_acl_url,
        public_url=settings.public_url,
        broker_url=agent_access(settings).broker_url,
        ca_certificate=settings.ca_certificate,
        metrics_host=settings.metrics_address and settings.metrics_address.host,
        vault=settings.vault,
        directories=(directory,) if directory.is_dir() else (),
        version=version("iotide-server"),
        is_public=settings.public_read,
    )
    findings = examine(installation, system_clock)
    typer.echo(json.dumps([asdict(finding) for finding in findings], indent=1) if as_json else in_lines(findings))
    if any(finding.standing is CheckState.WRONG for finding in findings):
        raise typer.Exit(_SOMETHING_WRONG)
