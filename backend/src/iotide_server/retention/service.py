"""Retention rule. The worker removes expired data in small batches."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import groupby
from typing import Final

from sqlalchemy.orm import Session

from iotide_server.accounts.audit import trail as audit
from iotide_server.accounts.audit.trail import Action
from iotide_server.accounts.models import Role
from iotide_server.accounts.roles.principal import Principal, PrincipalKind
from iotide_server.campaigns.errors import CAMPAIGN_NOT_FOUND
from iotide_server.campaigns.models import Campaign
from iotide_server.kit.db import Json, transaction_time
from iotide_server.kit.errors import ErrorKind
from iotide_server.kit.work import want_work
from iotide_server.results import queries
from iotide_server.results.ingest.curves import thin_old
from iotide_server.retention import repository
from iotide_server.retention.models import KeptCampaign, Retention
from iotide_server.retention.repository import Expiry
from iotide_wire.units import format_seconds

RETENTION: Final = "retention"  # its key is always 1

THINNED_STEP_SECONDS: Final = 60.0
RAW_BATCH_RUNS: Final = 200
CURVE_BATCH_RUNS: Final = 20
_KEY: Final = 1
_AGAIN_AFTER: Final = timedelta(days=1)
_MOST_DAYS: Final = 36_500
ALERTS_KEEP: Final = timedelta(days=90)
"""An alert keeps its runs complete that long. Acknowledged, it keeps them until it is decided."""

DAYS_OUT_OF_RANGE = ErrorKind(422, "days_out_of_range", field="{field}", shows="days").says(
    f"{{field}}: {{days}} is not between 1 and {_MOST_DAYS}",
    "give a number of days, or omit it to keep everything forever",
)


@dataclass(frozen=True, slots=True)
class RetentionRule:
    """Days after the end of a run; None: forever."""

    raw_output_days: int | None = None
    curve_days: int | None = None


@dataclass(frozen=True, slots=True)
class Expiring:
    raw_runs: int
    raw_bytes: int
    curve_runs: int
    curve_bytes: int


def rule(session: Session) -> RetentionRule:
    found = session.get(Retention, _KEY)
    return RetentionRule() if found is None else RetentionRule(found.raw_output_days, found.curve_days)


def waiting(session: Session, of_rule: RetentionRule, now: datetime) -> Expiring:
    raw = repository.raw_waiting(session, _expiry(of_rule.raw_output_days, now))
    curves = repository.curves_waiting(session, _expiry(of_rule.curve_days, now))
    return Expiring(raw.runs, int(raw.size_bytes), curves.runs, int(curves.size_bytes))


def set_rule(session: Session, principal: Principal, wanted: RetentionRule, now: datetime) -> None:
    """Removed data cannot be restored. Raise NotAllowedError or DAYS_OUT_OF_RANGE."""
    principal.require(Role.ADMIN, None)
    checked(wanted)
    before = _shown(rule(session))
    row = session.get(Retention, _KEY) or Retention(id=_KEY)
    row.raw_output_days, row.curve_days = wanted.raw_output_days, wanted.curve_days
    session.add(row)
    session.flush()
    changed = Action("retention_changed", "retention", _KEY, None, before=before, after=_shown(wanted))
    audit.record(session, principal, changed)
    want_work(session, RETENTION, _KEY, now)


def checked(wanted: RetentionRule) -> RetentionRule:
    """Raise DAYS_OUT_OF_RANGE."""
    for field, days in (("raw_output_days", wanted.raw_output_days), ("curve_days", wanted.curve_days)):
        if days is not None and not 1 <= days <= _MOST_DAYS:
            raise DAYS_OUT_OF_RANGE(field=field, days=days)
    return wanted


def keep_campaign(session: Session, principal: Principal, campaign_id: int) -> None:
    """Exempt a campaign. Raise CAMPAIGN_NOT_FOUND or NotAllowedError."""
    campaign = _changeable(session, principal, campaign_id)
    if session.get(KeptCampaign, campaign_id) is None:
        session.add(KeptCampaign(campaign_id=campaign_id))
        session.flush()
        audit.record(session, principal, Action("campaign_kept", "campaign", campaign_id, campaign.cluster_id))


def release_campaign(session: Session, principal: Principal, campaign_id: int) -> None:
    """End an exemption. Raise CAMPAIGN_NOT_FOUND or NotAllowedError."""
    campaign = _changeable(session, principal, campaign_id)
    kept = session.get(KeptCampaign, campaign_id)
    if kept is not None:
        session.delete(kept)
        session.flush()
        audit.record(session, principal, Action("campaign_released", "campaign", campaign_id, campaign.cluster_id))


def give_up_old(session: Session, key: int) -> datetime | None:
    """Remove a batch of expired data; return when to continue, or None without a rule."""
    del key
    now = transaction_time(session)
    held = rule(session)
    if held == RetentionRule():
        return None
    raw_runs = repository.lock_raw(session, _expiry(held.raw_output_days, now), RAW_BATCH_RUNS)
    if raw_runs:
        repository.remove_raw(session, raw_runs, now)
    curve_runs = repository.lock_curves(session, _expiry(held.curve_days, now), CURVE_BATCH_RUNS)
    if curve_runs:
        _thin(session, curve_runs, now)
    if raw_runs or curve_runs:
        after: Json = {"raw_removed_of_runs": list(raw_runs), "curves_thinned_of_runs": list(curve_runs)}
        server = Principal(PrincipalKind.ANONYMOUS, None, "retention")
        audit.record(session, server, Action("old_data_given_up", "retention", _KEY, None, after=after))
    is_more = len(raw_runs) == RAW_BATCH_RUNS or len(curve_runs) == CURVE_BATCH_RUNS
    return now if is_more else now + _AGAIN_AFTER


def _thin(session: Session, run_ids: Sequence[int], now: datetime) -> None:
    for run_id in run_ids:
        # One counter at a time: all curves of a long run would be millions of numbers.
        stored = queries.run_curves(session, run_id, None)
        for (order_id, counter), rows in groupby(stored, key=lambda row: row[:2]):
            thinned = thin_old([stretch for _, _, stretch in rows], THINNED_STEP_SECONDS)
            repository.replace_curve(session, order_id, counter, thinned)
    words = f"per-second values thinned by retention to means and ranges of {format_seconds(THINNED_STEP_SECONDS)}"
    repository.note_curves(session, run_ids, words, now)


def _expiry(days: int | None, now: datetime) -> Expiry:
    before = datetime.min.replace(tzinfo=UTC) if days is None else now - timedelta(days=days)
    return Expiry(before, now - ALERTS_KEEP)


def _changeable(session: Session, principal: Principal, campaign_id: int) -> Campaign:
    campaign = session.get(Campaign, campaign_id)
    if campaign is None:
        raise CAMPAIGN_NOT_FOUND(campaign_id=campaign_id)
    principal.require(Role.OPERATOR, campaign.cluster_id, CAMPAIGN_NOT_FOUND(campaign_id=campaign_id))
    return campaign


def _shown(held: RetentionRule) -> Json:
    return {"raw_output_days": held.raw_output_days, "curve_days": held.curve_days}
