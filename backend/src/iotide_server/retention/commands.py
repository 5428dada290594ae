"""The command that says and sets how long raw output and per-second values are kept."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Annotated

import typer
from sqlalchemy.orm import Session

from iotide_server.accounts.sessions import service as sessions
from iotide_server.kit.clock import system_clock
from iotide_server.kit.errors import InvalidInputError
from iotide_server.retention import repository, service
from iotide_server.retention.service import RetentionRule
from iotide_wire.units import format_bytes


def add_commands(app: typer.Typer, transaction_of: Callable[[Path | None], AbstractContextManager[Session]]) -> None:
    """Add `retention`; `transaction_of` opens the database of a state directory, or of the environment."""

    @app.command()
    def retention(  # noqa: PLR0913 - each is an option of the command
        *,
        raw_output_days: Annotated[
            int | None, typer.Option(help="Keep the tools' raw output for so many days after its run.")
        ] = None,
        curve_days: Annotated[
            int | None, typer.Option(help="After so many days keep means of 60 s, with their ranges, of curves.")
        ] = None,
        for_ever: Annotated[bool, typer.Option("--for-ever", help="Keep everything, as it is without a rule.")] = False,
        dry_run: Annotated[
            bool, typer.Option("--dry-run", help="Say what such a rule would give up, no more.")
        ] = False,
        keep_campaign: Annotated[
            list[int] | None, typer.Option(help="Leave this campaign alone, whatever its age; may be repeated.")
        ] = None,
        release_campaign: Annotated[
            list[int] | None, typer.Option(help="Let the rule hold for this campaign again; may be repeated.")
        ] = None,
        state: Annotated[
            Path | None, typer.Option("--state", envvar="IOTIDE_STATE", help="Directory of `up`'s private services.")
        ] = None,
    ) -> None:
        """Say how long what is kept, what takes how much, and what is old enough; or set the rule.

        Days that are left out where a rule is set mean for ever. Numbers and points are kept for ever. The worker gives
        up what is old enough, but nothing of campaigns that are kept, or of runs that an alert is about.
        """
        asked = RetentionRule(raw_output_days, curve_days)
        if for_ever and asked != RetentionRule():
            raise InvalidInputError(
                "--for-ever leaves no days to count", field="for_ever", remedy="leave out one of both"
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
        what = "would be given up" if dry_run else "is old enough"
        typer.echo(
            f"{what}: raw output of {waiting.raw_runs} runs ({format_bytes(waiting.raw_bytes)} as it was written),"
        )
        typer.echo(f"  per-second values of {waiting.curve_runs} runs ({format_bytes(waiting.curve_bytes)})")


def _report(session: Session, shown: RetentionRule) -> list[str]:
    lines = [f"{one.kind:<36}{format_bytes(one.size_bytes):>12}" for one in repository.space(session)]
    kept = (("raw output", shown.raw_output_days), ("per-second values", shown.curve_days))
    return [*lines, *(f"{what}: {'for ever' if days is None else f'{days} days'}" for what, days in kept)]
