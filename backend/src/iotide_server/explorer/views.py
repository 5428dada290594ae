"""Saved views; each user has their own."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from iotide_server.accounts.audit import trail as audit
from iotide_server.accounts.audit.trail import Action
from iotide_server.accounts.models import Role
from iotide_server.accounts.roles.principal import Principal, PrincipalKind
from iotide_server.explorer.errors import (
    MOST_VIEWS,
    READING_TOKEN,
    TOO_MANY_VIEWS,
    USER_WANTED,
    VIEW_NAME_TAKEN,
    VIEW_NOT_FOUND,
)
from iotide_server.explorer.models import SavedView
from iotide_server.explorer.schemas import SavedViewInput
from iotide_server.kit.db import Json, savepoint


def list_views(session: Session, principal: Principal) -> Sequence[SavedView]:
    own = select(SavedView).where(SavedView.user_id == _user_id(principal))
    return session.scalars(own.order_by(func.lower(SavedView.name), SavedView.id)).all()


def keep_view(session: Session, principal: Principal, wanted: SavedViewInput, now: datetime) -> SavedView:
    user_id = _user_id(principal)
    _require_operating(principal)
    if len(list_views(session, principal)) >= MOST_VIEWS:
        raise TOO_MANY_VIEWS()
    view = SavedView(user_id=user_id, name=wanted.name, query=wanted.query, created_at=now)
    _store(session, view, wanted.name)
    audit.record(session, principal, _action("view_kept", view, None, _said(view)))
    return view


def change_view(session: Session, principal: Principal, view_id: int, wanted: SavedViewInput) -> SavedView:
    view = _own(session, principal, view_id)
    _require_operating(principal)
    before = _said(view)
    view.name, view.query = wanted.name, wanted.query
    _store(session, view, wanted.name)
    if before != _said(view):
        audit.record(session, principal, _action("view_changed", view, before, _said(view)))
    return view


def remove_view(session: Session, principal: Principal, view_id: int) -> None:
    view = _own(session, principal, view_id)
    _require_operating(principal)
    audit.record(session, principal, _action("view_removed", view, _said(view), None))
    session.delete(view)


def _user_id(principal: Principal) -> int:
    if principal.user_id is None:
        raise USER_WANTED()
    return principal.user_id


def _require_operating(principal: Principal) -> None:
    """Raise READING_TOKEN for a read-only token; viewers in a browser may save views."""
    if principal.kind is PrincipalKind.TOKEN and not principal.may_somewhere(Role.OPERATOR):
        raise READING_TOKEN()


def _own(session: Session, principal: Principal, view_id: int) -> SavedView:
    own = select(SavedView).where(SavedView.id == view_id, SavedView.user_id == _user_id(principal))
    view = session.scalar(own.with_for_update())
    if view is None:
        raise VIEW_NOT_FOUND(view_id=view_id)
    return view


def _store(session: Session, view: SavedView, name: str) -> None:
    with savepoint(session, VIEW_NAME_TAKEN(name=name)):
        session.add(view)


def _said(view: SavedView) -> Json:
    return {"name": view.name, "query": view.query}


def _action(name: str, view: SavedView, before: Json | None, after: Json | None) -> Action:
    return Action(name, "view", view.id, None, before, after)
