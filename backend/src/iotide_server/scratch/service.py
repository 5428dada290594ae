"""Announcements of scratch sets, and the decisions of admins about them."""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import Final

from sqlalchemy.orm import Session

from iotide_server.accounts.audit import trail as audit
from iotide_server.accounts.audit.trail import Action
from iotide_server.accounts.models import Role
from iotide_server.accounts.roles.principal import Principal
from iotide_server.change_feed import service as live
from iotide_server.clusters.models import Node
from iotide_server.kit.db import Json
from iotide_server.kit.pagination import Page, PageRequest
from iotide_server.scratch import repository
from iotide_server.scratch.errors import (
    SCRATCH_DISKS_DIFFER,
    SCRATCH_NAME_DIFFERS,
    SCRATCH_NOT_ENABLED,
    SCRATCH_NOT_MOUNTED,
    SCRATCH_NOT_SERVED,
    SCRATCH_SET_BUSY,
    SCRATCH_SET_EMPTY,
    SCRATCH_SET_NOT_FOUND,
    SCRATCH_SET_TAKEN,
)
from iotide_server.scratch.models import KnownSet
from iotide_server.scratch.repository import SetFilter
from iotide_server.scratch.schemas import EnableInput, ScratchSetOutput
from iotide_server.targets import made
from iotide_server.targets.changes import MountChange
from iotide_wire.facts import MountFacts
from iotide_wire.scratch_sets import ScratchDisk, ScratchSet, ScratchState, identity_sha256

_NFS: Final = frozenset({"nfs", "nfs4"})


def announce(session: Session, node: Node, sets: Sequence[ScratchSet] | None, now: datetime) -> set[int]:
    """Store the sets that the node announced; None: unknown. Return the targets of its sets."""
    known = {row.name: row for row in repository.locked_sets_of(session, node.id)}
    if sets is not None:
        for said in sets:
            row = known.get(said.name)
            if row is None:
                row = KnownSet(cluster_id=node.cluster_id, node_id=node.id, name=said.name)
                session.add(row)
            _note(row, said, now)
        for name in known.keys() - {said.name for said in sets}:
            _withdraw(session, known[name])
        session.flush()
    return {row.target_id for row in known.values() if row.target_id is not None}


def list_sets(
    session: Session, principal: Principal, cluster_id: int | None, node_id: int | None, paging: PageRequest
) -> Page[ScratchSetOutput]:
    page = repository.sets(session, SetFilter(principal.visible_clusters(), cluster_id, node_id), paging)
    return Page(items=_shown(session, page.rows), next_cursor=page.next_cursor)


def enable(session: Session, principal: Principal, set_id: int, wanted: EnableInput, now: datetime) -> ScratchSetOutput:
    """Allow operators of the cluster to erase exactly the disks that the admin saw.

    Raise SCRATCH_SET_NOT_FOUND, SCRATCH_NAME_DIFFERS, SCRATCH_DISKS_DIFFER, SCRATCH_SET_EMPTY or TARGET_NAME_TAKEN.
    """
    row = _own_set(session, principal, set_id)
    principal.require_person("enable scratch sets")
    present, node_name = row.present, _node_name(session, row)
    if wanted.name != row.name:
        raise SCRATCH_NAME_DIFFERS(name=wanted.name, scratch_set=row.name)
    if wanted.disks_sha256 != row.disks_sha256:
        raise SCRATCH_DISKS_DIFFER(scratch_set=row.name)
    if not present.disks:
        raise SCRATCH_SET_EMPTY(scratch_set=row.name, node=node_name)
    before = _decision(row)
    place = made.MadePlace(row.cluster_id, row.node_id, present.mount_path)
    row.target_id = made.take_target(session, principal, place, wanted.target_name, now).id
    row.enabled_sha256, row.enabled_disks = row.disks_sha256, row.announced["disks"]
    row.enabled_at, row.enabled_by = now, principal.name
    row.allows_schedules, row.allows_tokens = wanted.allows_schedules, wanted.allows_tokens
    session.flush()
    _record(session, principal, row, Action.on("scratch_enabled", row, before=before, after=_decision(row)))
    return _shown(session, [row])[0]


def disable(session: Session, principal: Principal, set_id: int) -> ScratchSetOutput:
    """Raise SCRATCH_SET_NOT_FOUND, or SCRATCH_SET_BUSY until every campaign on it has ended and cleaned it."""
    row = _own_set(session, principal, set_id)
    for using in repository.using_campaigns(session, row):
        raise SCRATCH_SET_BUSY(
            scratch_set=row.name, campaign=using.name, campaign_id=using.id, run_count=using.run_count
        )
    before = _decision(row)
    if before is not None:
        row.disable()
        session.flush()
        _record(session, principal, row, Action.on("scratch_disabled", row, before=before))
    return _shown(session, [row])[0]


def accept_made_mount(session: Session, found: KnownSet, mount: MountFacts | None, now: datetime) -> None:
    """Let runs on the set's target use the file system that was just made on it.

    Raise SCRATCH_NOT_MOUNTED, or TARGET_NOT_FOUND without a target.
    """
    expected = found.present.mount_path
    if mount is None or mount.mount_point != expected:
        raise SCRATCH_NOT_MOUNTED(scratch_set=found.name, mount_point=expected)
    made.accept_mount(session, found.target_id or 0, found.node_id, mount, now)


def accept_served_mount(session: Session, found: KnownSet, on: MountChange, now: datetime) -> None:
    """Let a client's runs use the export of the file system that was just made. Raise SCRATCH_NOT_SERVED."""
    mount, export = on.now, found.present.mount_path
    if mount is None or mount.fstype not in _NFS or mount.source.partition(":/")[2] != export.removeprefix("/"):
        raise SCRATCH_NOT_SERVED(
            path=on.was.path,
            node=on.node.name,
            found="nothing" if mount is None else f"{mount.fstype} from {mount.source}",
            scratch_set=found.name,
            export=f"{_node_name(session, found)}:{export}",
        )
    made.accept_mount(session, on.target.id, on.node.id, mount, now)


def enabled_set(session: Session, set_id: int | None) -> KnownSet:
    """Return a set that is still enabled, locked; raise SCRATCH_NOT_ENABLED."""
    found = None if set_id is None else repository.locked_set(session, set_id)
    if found is None:
        raise SCRATCH_SET_NOT_FOUND(scratch_set=set_id)
    if not found.is_enabled:
        raise SCRATCH_NOT_ENABLED(scratch_set=found.name, node=_node_name(session, found))
    return found


def hold_again(session: Session, cell_id: int, campaign_id: int) -> None:
    """Hold the set for a campaign whose run on it is retried; raise SCRATCH_SET_TAKEN."""
    set_id = repository.set_of_cell(session, cell_id)
    found = None if set_id is None else repository.locked_set(session, set_id)
    if found is None:
        return
    if found.campaign_id not in {None, campaign_id}:
        raise SCRATCH_SET_TAKEN(campaign_id=found.campaign_id, scratch_set=found.name)
    found.campaign_id = campaign_id


def names_on(session: Session, node_id: int) -> list[str]:
    return repository.names_on(session, node_id)


def target_name(session: Session, found: KnownSet) -> str | None:
    """Return the name of the set's target; None if it is retired."""
    return None if found.target_id is None else made.names_of(session, {found.target_id}).get(found.target_id)


def set_named(session: Session, cluster_id: int, node_name: str, name: str) -> KnownSet | None:
    return repository.set_named(session, cluster_id, node_name, name)


def _note(row: KnownSet, said: ScratchSet, now: datetime) -> None:
    announced = said.model_dump(mode="json")
    if row.announced != announced:
        row.announced, row.disks_sha256 = announced, identity_sha256(said.disks)
    row.seen_at = now


def _withdraw(session: Session, row: KnownSet) -> None:
    """Forget a set that the node no longer announces, or keep it without disks if an admin enabled it."""
    if row.enabled_sha256 is None:
        session.delete(row)
        return
    gone = {"state": ScratchState.ABSENT, "reason": "the node no longer lists it", "variant": None, "disks": ()}
    _note(row, row.present.model_copy(update=gone), row.seen_at)


def _own_set(session: Session, principal: Principal, set_id: int) -> KnownSet:
    missing = SCRATCH_SET_NOT_FOUND(scratch_set=set_id)
    return principal.require_row(Role.ADMIN, repository.locked_set(session, set_id), missing)


def _shown(session: Session, rows: Collection[KnownSet]) -> list[ScratchSetOutput]:
    nodes = repository.node_names(session, {row.node_id for row in rows})
    targets = made.names_of(session, {row.target_id for row in rows if row.target_id is not None})
    cleanings = repository.failed_cleanings(session, {row.id for row in rows})
    return [
        ScratchSetOutput.of(row, nodes[row.node_id], targets.get(row.target_id or 0), cleanings.get(row.id))
        for row in rows
    ]


def _node_name(session: Session, row: KnownSet) -> str:
    return repository.node_names(session, {row.node_id})[row.node_id]


def shown_disks(disks: Iterable[ScratchDisk]) -> list[Json]:
    """Return the disks as the audit log names them."""
    return [{"id": disk.id, "serial": disk.serial, "wwn": disk.wwn, "size_bytes": disk.size_bytes} for disk in disks]


def _decision(row: KnownSet) -> Json | None:
    if row.enabled_disks is None:
        return None
    return {
        "name": row.name,
        "disks": shown_disks(row.approved_disks),
        "allows_schedules": row.allows_schedules,
        "allows_tokens": row.allows_tokens,
        "target_id": row.target_id,
    }


def _record(session: Session, principal: Principal, row: KnownSet, action: Action) -> None:
    audit.record(session, principal, action)
    live.publish(session, "node", row.node_id, row.cluster_id)
