"""Queries of incidents for the API."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from sqlalchemy import ColumnElement, Row, Select, and_, func, literal, or_, select, text, tuple_
from sqlalchemy.orm import Session

from iotide_server.accounts.models import Role, User
from iotide_server.accounts.roles.principal import Principal
from iotide_server.alerts import reading as alerts
from iotide_server.alerts.errors import INCIDENT_NOT_FOUND
from iotide_server.alerts.incidents import repository
from iotide_server.alerts.incidents.lifecycle import LISTED_INCIDENTS, OPEN_INCIDENTS, IncidentState, possible_moves
from iotide_server.alerts.incidents.schemas import (
    IncidentDetail,
    IncidentFilter,
    IncidentKind,
    IncidentMember,
    IncidentOutput,
    IncidentStep,
)
from iotide_server.alerts.incidents.words import IncidentFacts, incident_words
from iotide_server.alerts.models import Alert, Incident, IncidentChange
from iotide_server.clusters.models import Cluster
from iotide_server.kit.db import any_of, any_text_of, in_clusters
from iotide_server.kit.pagination import Page, PageRequest
from iotide_server.results.models import Series
from iotide_server.results.reading import series_by_id
from iotide_server.results.schemas import SeriesOutput
from iotide_server.targets.models import Target
from iotide_server.trends.changes import repository as changes
from iotide_server.trends.events.repository import events_near
from iotide_server.trends.events.schemas import EventOutput
from iotide_server.trends.models import ChangePoint, Event
from iotide_server.trends.schemas import SeriesChange

AnyRow = Row[*tuple[Any, ...]]

MOST_MEMBERS: Final = 200
MOST_STEPS: Final = 200
_STORED: Final[Mapping[IncidentKind, str]] = {
    "worse": "change",
    "better": "better",
    "neither": "neither",
    "stale": "missing",
}
_SHOWN: Final[Mapping[str, IncidentKind]] = {stored: kind for kind, stored in _STORED.items()}
# An action on an incident is one step. Analyses of one hour that did the same are one step.
_STEPS: Final = text(
    """
    WITH own AS (
        SELECT at, who, action, comment FROM incident_action WHERE incident_id = :id
    ), members AS (
        SELECT alert_action.at, who, action, comment
        FROM alert_action JOIN alert ON alert.id = alert_action.alert_id WHERE alert.group_id = :id
    )
    SELECT at, who, action, comment, (
        SELECT count(*) FROM members WHERE members.at = own.at AND members.who = own.who
    ) AS alerts
    FROM own
    UNION ALL
    SELECT min(at), who, action, comment, count(*) FROM members
    WHERE NOT EXISTS (SELECT FROM own WHERE own.at = members.at AND own.who = members.who)
    GROUP BY who, action, comment, CASE WHEN who IS NULL THEN date_trunc('hour', at) ELSE at END
    ORDER BY at DESC, action LIMIT :most
    """
)


@dataclass(slots=True)
class _IncidentNames:
    targets: set[str] = field(default_factory=set)
    workloads: set[str] = field(default_factory=set)
    operations: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class _KnownIncidents:
    names: Mapping[int, _IncidentNames]  # of incidents
    series: Mapping[int, SeriesOutput]
    reasons: Mapping[int, list[str]]  # of changes


def list_incidents(
    session: Session, principal: Principal, wanted: IncidentFilter, paging: PageRequest
) -> Page[IncidentOutput]:
    """Return open incidents first, each newest first."""
    is_open = Incident.state == any_text_of(OPEN_INCIDENTS)
    statement = _filtered(principal.visible_clusters(), wanted)
    if paging.last_id is not None:
        last = session.get(Incident, paging.last_id)
        if last is None or not principal.may(Role.VIEWER, last.cluster_id):
            return Page(items=[], next_cursor=None)
        place = tuple_(literal(last.state in OPEN_INCIDENTS), literal(last.at), literal(last.id))
        statement = statement.where(tuple_(is_open, Incident.at, Incident.id) < place)
    ordered = statement.order_by(is_open.desc(), Incident.at.desc(), Incident.id.desc())
    rows = session.execute(ordered.limit(paging.limit + 1)).all()
    page = paging.cut(rows, key=lambda row: int(row[0].id))
    return Page(items=_shown(session, page.rows), next_cursor=page.next_cursor)


def incident(session: Session, principal: Principal, incident_id: int, now: datetime) -> IncidentDetail:
    found = session.execute(_described().where(Incident.id == incident_id)).one_or_none()
    missing = INCIDENT_NOT_FOUND(incident_id=incident_id)
    if found is None:
        raise missing
    principal.require(Role.VIEWER, found[0].cluster_id, missing)
    worst_id = found[0].worst_change_id
    near = [] if worst_id is None else events_near(session, [worst_id])[worst_id].shown
    members, left_out = _members(session, incident_id)
    steps = session.execute(_STEPS, {"id": incident_id, "most": MOST_STEPS}).all()
    stale = [one for one in alerts.of_incident(session, incident_id, now) if one.kind == "stale"]
    return IncidentDetail(
        incident=_shown(session, [found])[0],
        changes=members,
        changes_left_out=left_out,
        stale=stale[:MOST_MEMBERS],
        actions=[IncidentStep.model_validate(row) for row in reversed(steps)],
        events=[EventOutput.model_validate(event) for event in near],
    )


def _described() -> Select[*tuple[Any, ...]]:
    stale_series = select(func.min(Alert.series_id)).where(Alert.group_id == Incident.id).scalar_subquery()
    return (
        select(
            Incident,
            ChangePoint,
            Series,
            Event,
            Cluster.name.label("cluster_name"),
            User.name.label("owner"),
            select(Alert.id).where(Alert.group_id == Incident.id).exists().label("has_alerts"),
            repository.last_decision().label("last_decision"),
        )
        .join(Cluster, Cluster.id == Incident.cluster_id)
        .outerjoin(ChangePoint, ChangePoint.id == Incident.worst_change_id)
        .outerjoin(Series, Series.id == func.coalesce(ChangePoint.series_id, stale_series))
        .outerjoin(Event, Event.id == Incident.event_id)
        .outerjoin(User, User.id == Incident.owner_id)
    )


def _filtered(visible: frozenset[int] | None, wanted: IncidentFilter) -> Select[*tuple[Any, ...]]:
    conditions = in_clusters(Incident.cluster_id, visible, wanted.cluster_id)
    conditions.append(Incident.state == any_text_of(wanted.state or LISTED_INCIDENTS))
    if wanted.kind is not None:
        conditions.append(Incident.kind == _STORED[wanted.kind])
    if wanted.owner is not None:
        conditions.append(User.name == wanted.owner)
    own: list[ColumnElement[bool]] = []
    if wanted.series_id:
        own.append(Series.id == any_of(wanted.series_id))
    if wanted.target_id is not None:
        own.append(Series.target_ids.contains([wanted.target_id]))
    if own:
        by_change = (
            select(IncidentChange.incident_id)
            .join(ChangePoint, ChangePoint.id == IncidentChange.change_point_id)
            .join(Series, Series.id == ChangePoint.series_id)
            .where(and_(*own))
        )
        by_alert = select(Alert.group_id).join(Series, Series.id == Alert.series_id).where(and_(*own))
        by_alert = by_alert.where(Alert.group_id.is_not(None))
        conditions.append(or_(Incident.id.in_(by_change), Incident.id.in_(by_alert)))
    return _described().where(*conditions)


def _members(session: Session, incident_id: int) -> tuple[list[IncidentMember], int]:
    statement = (
        select(ChangePoint, Series.better, Alert.id, Alert.state)
        .join(IncidentChange, IncidentChange.change_point_id == ChangePoint.id)
        .join(Series, Series.id == ChangePoint.series_id)
        .outerjoin(Alert, Alert.change_point_id == ChangePoint.id)
        .where(IncidentChange.incident_id == incident_id, changes.is_listed(), changes.has_own_line())
    )
    size = func.abs(func.coalesce(ChangePoint.shift_ratio, text("'infinity'")))
    total = session.scalars(select(func.count()).select_from(statement.subquery())).one()
    rows = session.execute(statement.order_by(size.desc(), ChangePoint.id).limit(MOST_MEMBERS)).all()
    named = series_by_id(session, [row[0].series_id for row in rows])
    reasons = changes.reasons(session, [row[0].id for row in rows])
    members = [
        IncidentMember(
            series=named[change.series_id],
            change=SeriesChange.of(change, better, reasons[change.id]),
            alert_id=alert_id,
            alert_state=state,
        )
        for change, better, alert_id, state in rows
    ]
    return members, total - len(members)


def _shown(session: Session, rows: Sequence[AnyRow]) -> list[IncidentOutput]:
    known = _KnownIncidents(
        _names(session, [row[0].id for row in rows]),
        series_by_id(session, [row[2].id for row in rows if row[2] is not None]),
        changes.reasons(session, [row[1].id for row in rows if row[1] is not None]),
    )
    return [_output(row, known) for row in rows]


def _names(session: Session, incident_ids: Sequence[int]) -> Mapping[int, _IncidentNames]:
    rows = repository.names(session, incident_ids)
    target_ids = {target_id for row in rows for target_id in row.target_ids}
    targets = dict(session.execute(select(Target.id, Target.name).where(Target.id == any_of(target_ids))).all())
    found: defaultdict[int, _IncidentNames] = defaultdict(_IncidentNames)
    for row in rows:
        own = found[row.incident_id]
        own.workloads.add(row.workload)
        own.targets.update(targets[target_id] for target_id in row.target_ids)
        if row.operation is not None:
            own.operations.add(row.operation)
    return found


def _output(row: AnyRow, known: _KnownIncidents) -> IncidentOutput:
    found, change, series, event, cluster_name, owner, has_alerts, last_decision = row
    names = known.names.get(found.id, _IncidentNames())
    facts = IncidentFacts(
        kind=found.kind,
        at=found.at,
        ended_at=found.ended_at,
        worst_ratio=found.worst_ratio,
        series_count=found.series_count,
        is_over=change is not None and change.over_at is not None,
        is_withdrawn=found.state == IncidentState.WITHDRAWN,
        event=None if event is None else event.text,
        title=series.title if series is not None and found.series_count == 1 else None,
        targets=names.targets,
        workloads=names.workloads,
        operations=names.operations,
    )
    return IncidentOutput.of_row(
        found,
        cluster_name=cluster_name,
        kind=_SHOWN[found.kind],
        words=incident_words(facts),
        series=None if series is None else known.series[series.id],
        change=None if change is None else SeriesChange.of(change, series.better, known.reasons[change.id]),
        event=event,
        owner=owner,
        moves=list(possible_moves(IncidentState(found.state), has_alerts=has_alerts, last_decision=last_decision)),
    )
