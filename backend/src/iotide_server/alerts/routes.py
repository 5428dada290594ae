"""Routes of alerts and alert rules."""

from typing import Annotated

from fastapi import APIRouter, Depends

from iotide_server.accounts.roles.known_callers import KnownCallerRoute
from iotide_server.accounts.roles.rules import Operator, Viewer
from iotide_server.alerts import reading, rules, service
from iotide_server.alerts.schemas import (
    AlertActionInput,
    AlertDetail,
    AlertFilter,
    AlertOutput,
    AlertRuleInput,
    AlertRuleOutput,
    MuteInput,
    RemovedRule,
)
from iotide_server.kit.pagination import Page, Paging
from iotide_server.kit.web import Id, Now, Tx, errors
from iotide_server.runs.schemas import OptionalId

router = APIRouter(tags=["alerts"], route_class=KnownCallerRoute)


@router.get("/alerts", summary="List alerts")
def list_alerts(
    principal: Viewer, session: Tx, now: Now, paging: Paging, wanted: Annotated[AlertFilter, Depends()]
) -> Page[AlertOutput]:
    """Return the alerts that you may see, newest first. A `suspect` has not been sent to channels."""
    return reading.list_alerts(session, principal, wanted, paging, now)


@router.get("/alerts/{alert_id}", summary="Show an alert", responses=errors(404))
def get_alert(principal: Viewer, session: Tx, now: Now, alert_id: Id) -> AlertDetail:
    """Return the alert with its actions and the others of its group."""
    return reading.alert(session, principal, alert_id, now)


@router.post("/alerts/{alert_id}/actions", summary="Act on an alert", responses=errors(404, 409))
def act_on_alert(principal: Operator, session: Tx, now: Now, alert_id: Id, body: AlertActionInput) -> AlertDetail:
    """Acknowledge, judge, accept the level or comment. `moves` of the alert lists the possible actions."""
    service.act(session, principal, alert_id, body, now)
    return reading.alert(session, principal, alert_id, now)


@router.put("/alerts/{alert_id}/mute", summary="Mute the series of an alert", responses=errors(404))
def mute_alert(principal: Operator, session: Tx, now: Now, alert_id: Id, body: MuteInput) -> AlertDetail:
    """Send no notifications about the alert's series until then. Its alerts are still raised and shown."""
    service.mute_series(session, principal, alert_id, body.until, now)
    return reading.alert(session, principal, alert_id, now)


@router.get("/alert-rules", summary="List alert rules")
def list_alert_rules(
    principal: Viewer, session: Tx, paging: Paging, cluster_id: OptionalId = None
) -> Page[AlertRuleOutput]:
    """Return the rules that you may see, newest first."""
    return rules.list_rules(session, principal, cluster_id, paging)


@router.post("/alert-rules", summary="Create an alert rule", status_code=201, responses=errors(404, 409))
def create_alert_rule(principal: Operator, session: Tx, now: Now, body: AlertRuleInput) -> AlertRuleOutput:
    """The rule covers changes confirmed from now on. If several cover a series, the most specific one applies."""
    return rules.rule(session, principal, rules.create(session, principal, body, now))


@router.get("/alert-rules/{rule_id}", summary="Show an alert rule", responses=errors(404))
def get_alert_rule(principal: Viewer, session: Tx, rule_id: Id) -> AlertRuleOutput:
    """`open_alerts` would be closed if the rule were removed."""
    return rules.rule(session, principal, rule_id)


@router.put("/alert-rules/{rule_id}", summary="Change an alert rule", responses=errors(404, 409))
def change_alert_rule(principal: Operator, session: Tx, rule_id: Id, body: AlertRuleInput) -> AlertRuleOutput:
    """Replace the whole rule; its alerts stay."""
    rules.replace(session, principal, rule_id, body)
    return rules.rule(session, principal, rule_id)


@router.delete("/alert-rules/{rule_id}", summary="Remove an alert rule", responses=errors(404))
def remove_alert_rule(principal: Operator, session: Tx, now: Now, rule_id: Id) -> RemovedRule:
    """Remove the rule and close its open alerts."""
    return RemovedRule(closed_alerts=rules.remove(session, principal, rule_id, now))
