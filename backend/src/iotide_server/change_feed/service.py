"""Publishes changes to browsers."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from sqlalchemy.orm import Session

from iotide_server.accounts.audit import trail as audit
from iotide_server.accounts.audit.trail import Action
from iotide_server.accounts.roles.principal import Principal
from iotide_server.change_feed import repository

CHANNEL: Final = "iotide_change"
ANY: Final = 0
MOST_NAMED: Final = 20
_MUTED: Final = "publishes_nothing"


def publish(session: Session, kind: str, subject_id: int, cluster_id: int | None) -> None:
    """Publish a change on commit to users who may see the cluster (None: all).

    `kind` is a table, `activity` of a node (a run began or ended on it), or `standing` of a cluster (its status board
    changed).
    """
    publish_all(session, [(kind, subject_id, cluster_id)])


def record(session: Session, principal: Principal, action: Action) -> None:
    audit.record(session, principal, action)
    publish(session, action.subject_kind, action.subject_id, action.cluster_id)


def publish_all(session: Session, changes: Sequence[tuple[str, int, int | None]]) -> None:
    """Publish changes (kind, subject id, cluster id). More than 20 of a kind in a cluster become `ANY`."""
    # A result with 400 series would send 400 changes to every page.
    if _MUTED in session.info or not changes:
        return
    many = {
        place for place, count in Counter((kind, where) for kind, _, where in changes).items() if count > MOST_NAMED
    }
    named = [one for one in changes if (one[0], one[2]) not in many]
    kinds, subject_ids, cluster_ids = zip(*named, *((kind, ANY, where) for kind, where in many), strict=True)
    repository.insert(session, CHANNEL, kinds, subject_ids, cluster_ids)


def mute(session: Session) -> None:
    """Publish nothing: bulk writers publish a single change at the end."""
    session.info[_MUTED] = True
