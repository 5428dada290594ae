"""The `retention` command."""

from pathlib import Path
from typing import Annotated

import typer
from sqlalchemy.orm import Session

from iotide_server.accounts.sessions import service as sessions
from iotide_server.commands.opening import transaction_of
from iotide_server.kit.clock import system_clock
from iotide_server.kit.errors import InvalidInputError
from iotide_server.retention import repository, service
from iotide_server.retention.service import RetentionRule
from iotide_wire.units import format_bytes


def retention(  # noqa: PLR0913 - each is an option of the command
    *,
    raw_output_days: Annotated[int | None, typer.Option(help="Days to keep the tools' raw output after a run.")] = None,
    curve_days: Annotated[
        int | None, typer.Option(help="Days to keep per-second values; after that, means and ranges of 60 s.")
    ] = None,
    for_ever: Annotated[bool, typer.Option("--for-ever", help="Keep everything forever (the default).")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what this rule would remove.")] = False,
    keep_campaign: Annotated[
        list[int] | None, typer.Option(help="Keep everything of this campaign; may be repeated.")
    ] = None,
    release_campaign: Annotated[
        list[int] | None, typer.Option(help="Apply the rule to this campaign again; may be repeated.")
    ] = None,
    state: Annotated[
        Path | None, typer.Option("--state", envvar="IOTIDE_STATE", help="State directory of the private services.")
    ] = None,
) -> None:
    """Show or set how long raw output and per-second values are kept, and their size.

    If you set one limit, data without a limit is kept forever. Numbers and points are always kept forever. The
    worker removes old data, except of kept campaigns and of runs that an alert refers to: an acknowledged one, or
    one that was raised within 90 days.
    """
    asked = RetentionRule(raw_output_days, curve_days)
    if for_ever and asked != RetentionRule():
        raise InvalidInputError(
            "--for-ever cannot be combined with days", field="for_ever", remedy="remove one of the two"
        )
    with transaction_of(state) as session:
        now = system_clock()
        console = sessions.console_principal(session, now)
        for campaign_id in keep_campaign or ():
            service.keep_campaign(session, console, campaign_id)
        for campaign_id in release_campaign or ():
            service.release_campaign(session, console, campaign_id)
        is_rule_given = for_ever or asked != RetentionRule()
        if is_rule_given and not dry_run:
            service.set_rule(session, console, asked, now)
        shown = asked if is_rule_given else service.rule(session)
        for line in _report(session, shown):
            typer.echo(line)
        waiting = service.waiting(session, service.checked(shown), now)
    what = "would be removed" if dry_run else "expired"
    typer.echo(f"{what}: raw output of {waiting.raw_runs} runs ({format_bytes(waiting.raw_bytes)} uncompressed),")
    typer.echo(f"  per-second values of {waiting.curve_runs} runs ({format_bytes(waiting.curve_bytes)})")


def _report(session: Session, shown: RetentionRule) -> list[str]:
    lines = [f"{one.kind:<36}{format_bytes(one.size_bytes):>12}" for one in repository.space(session)]
    kept = (("raw output", shown.raw_output_days), ("per-second values", shown.curve_days))
    return [*lines, *(f"{what}: {'forever' if days is None else f'{days} days'}" for what, days in kept)]
