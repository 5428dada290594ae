"""Creation, changes and removal of channels."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy.orm import Session

from iotide_server.accounts.audit.trail import Action
from iotide_server.accounts.models import Role
from iotide_server.accounts.roles.principal import Principal
from iotide_server.change_feed import service as live
from iotide_server.clusters import repository as cluster_repository
from iotide_server.clusters import service as clusters
from iotide_server.kit.db import Json, savepoint
from iotide_server.kit.pagination import Page, PageRequest
from iotide_server.kit.vault import Vault
from iotide_server.kit.zones import zone_named
from iotide_server.notifications import models, repository
from iotide_server.notifications.addresses import Reach
from iotide_server.notifications.digests import plan_digest
from iotide_server.notifications.errors import (
    CHANNEL_IN_USE,
    CHANNEL_NAME_TAKEN,
    CHANNEL_NOT_FOUND,
    VAULT_KEY_MISSING,
)
from iotide_server.notifications.receivers import SECRETS, receiver, shown
from iotide_server.notifications.schemas import (
    ChannelChange,
    ChannelInput,
    ChannelOutput,
    DeliveryAttempt,
    DeliveryOutput,
)
from iotide_server.notifications.sending import words_of

_MOST_NAMED: Final = 5


@dataclass(frozen=True, slots=True)
class Terms:
    vault: Vault | None
    reach: Reach
    now: datetime


def list_channels(
    session: Session, principal: Principal, cluster_id: int | None, paging: PageRequest
) -> Page[ChannelOutput]:
    rows = repository.channels_page(session, principal.clusters_with(Role.OPERATOR), cluster_id, paging)
    return Page(items=_shown(session, rows.rows), next_cursor=rows.next_cursor)


def channel(session: Session, principal: Principal, channel_id: int) -> ChannelOutput:
    return _shown(session, [own_channel(session, principal, channel_id, Role.OPERATOR)])[0]


def create(session: Session, principal: Principal, given: ChannelInput, terms: Terms) -> int:
    if given.cluster_id is None:
        principal.require(Role.ADMIN, None)
    else:
        clusters.cluster(session, principal, given.cluster_id, Role.ADMIN)
    made = models.Channel(cluster_id=given.cluster_id, owner_id=principal.user_id, created_at=terms.now)
    _write(made, given, None, terms)
    made.digest, made.digest_due_at = None, None
    with savepoint(session, CHANNEL_NAME_TAKEN(name=given.name)):
        session.add(made)
    _plan(session, made, given, terms.now)
    _note(session, principal, made, "channel_created", after=_summary(made))
    return made.id


def change(session: Session, principal: Principal, channel_id: int, given: ChannelChange, terms: Terms) -> None:
    changed = own_channel(session, principal, channel_id, Role.ADMIN)
    before = _summary(changed)
    _write(changed, given, changed, terms)
    with savepoint(session, CHANNEL_NAME_TAKEN(name=given.name)):
        session.flush()
    _plan(session, changed, given, terms.now)
    _note(session, principal, changed, "channel_changed", before=before, after=_summary(changed))


def remove(session: Session, principal: Principal, channel_id: int) -> None:
    removed = own_channel(session, principal, channel_id, Role.ADMIN)
    before = _summary(removed)
    rules = repository.rules_that_use(session, channel_id)
    if rules:
        named = ", ".join(list(rules)[:_MOST_NAMED]) + (" and others" if len(rules) > _MOST_NAMED else "")
        raise CHANNEL_IN_USE(channel_id=channel_id, name=removed.name, rules=named)
    session.delete(removed)
    _note(session, principal, removed, "channel_removed", before=before)


def list_deliveries(
    session: Session, principal: Principal, channel_id: int, paging: PageRequest
) -> Page[DeliveryOutput]:
    own_channel(session, principal, channel_id, Role.OPERATOR)
    rows = repository.deliveries_page(session, channel_id, principal.clusters_with(Role.OPERATOR), paging)
    with_answers = may_read_answers(principal)
    return rows.page(lambda row: _shown_delivery(row, with_answers=with_answers))


def may_read_answers(principal: Principal) -> bool:
    """Return whether the caller may read receivers' responses, which any service that the server reaches can write."""
    return principal.may(Role.ADMIN, None)


def own_channel(session: Session, principal: Principal, channel_id: int, role: Role) -> models.Channel:
    # An operator of any cluster may also see and use channels of all clusters.
    missing = CHANNEL_NOT_FOUND(channel_id=channel_id)
    found = repository.locked_channel(session, channel_id)
    if found is None:
        raise missing
    if found.cluster_id is None and role == Role.OPERATOR:
        return found
    if found.cluster_id is not None and not principal.may(Role.OPERATOR, found.cluster_id):
        raise missing
    principal.require(role, found.cluster_id, missing)
    return found


def _write(row: models.Channel, given: ChannelChange, before: models.Channel | None, terms: Terms) -> None:
    if given.quiet_hours is not None:
        zone_named(given.quiet_hours.time_zone, field="quiet_hours.time_zone")
    if given.digest is not None:
        zone_named(given.digest.time_zone, field="digest.time_zone")
    stored = receiver(given.receiver, before, terms.reach)
    if stored.secrets is not None:
        row.sealed = _sealed(stored.secrets, terms.vault)
    row.name, row.kind, row.settings = given.name, given.receiver.kind, stored.settings
    row.quiet_hours = None if given.quiet_hours is None else given.quiet_hours.model_dump()


def _sealed(secrets: dict[str, str], vault: Vault | None) -> str | None:
    if not secrets:
        return None
    if vault is None:
        raise VAULT_KEY_MISSING()
    return vault.seal(secrets)


def _plan(session: Session, row: models.Channel, given: ChannelChange, now: datetime) -> None:
    wanted = None if given.digest is None else given.digest.model_dump()
    if row.digest != wanted:
        row.digest = wanted
        plan_digest(session, row, now)


def _note(session: Session, principal: Principal, row: models.Channel, name: str, **changes: Json) -> None:
    session.flush()
    live.record(session, principal, Action.on(name, row, **changes))


def _summary(row: models.Channel) -> Json:
    return {
        "name": row.name,
        "kind": row.kind,
        **row.settings,
        f"has_{SECRETS[row.kind]}": row.sealed is not None,
        "quiet_hours": row.quiet_hours,
        "digest": row.digest,
    }


def _shown_delivery(row: models.Delivery, *, with_answers: bool) -> DeliveryOutput:
    attempts = [
        DeliveryAttempt(
            at=attempt["at"],
            words=attempt["words"] and words_of(attempt["words"], attempt.get("answer") if with_answers else None),
        )
        for attempt in row.attempts
    ]
    return DeliveryOutput.of_row(row, attempts=attempts)


def _shown(session: Session, rows: Sequence[models.Channel]) -> list[ChannelOutput]:
    names = cluster_repository.names_of(session, {row.cluster_id for row in rows if row.cluster_id is not None})
    return [
        ChannelOutput.of_row(
            row, cluster_name=None if row.cluster_id is None else names[row.cluster_id], receiver=shown(row)
        )
        for row in rows
    ]
