"""News for browsers: a row for who reconnects, a notification for who is listening."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from sqlalchemy.orm import Session

from iotide_server.accounts.audit import trail as audit
from iotide_server.accounts.audit.trail import Action
from iotide_server.accounts.roles.principal import Principal
from iotide_server.change_feed import repository

CHANNEL: Final = "iotide_change"
ANY: Final = 0  # in place of a subject's id: very many of the kind have changed
MOST_NAMED: Final = 20
_MUTED: Final = "publishes_nothing"


def publish(session: Session, kind: str, subject_id: int, cluster_id: int | None) -> None:
    """Tell whoever may see the cluster (None: every signed-in principal) that the thing changed, at commit.

    `kind` is a table. Of a node, `activity` says that a run began on it or left it, and nothing new of itself; of a
    cluster, `standing` says that a series no longer stands as it did.
    """
    publish_all(session, [(kind, subject_id, cluster_id)])


def record(session: Session, principal: Principal, action: Action) -> None:
    """Record a change in the audit, and publish it as one of its subject."""
    audit.record(session, principal, action)
    publish(session, action.subject_kind, action.subject_id, action.cluster_id)


def publish_all(session: Session, news: Sequence[tuple[str, int, int | None]]) -> None:
    """As `publish`, of kind, subject id and cluster id; over 20 of a kind in a cluster are told as `ANY`."""
    # A result of 400 series would else be 400 news for every open page, which fetches its lists again for one.
    # A result of 400 series would else be 400 news for every open page, which fetches its lists again for one.
    if _MUTED in session.info or not news:
        return
    many = {place for place, count in Counter((kind, where) for kind, _, where in news).items() if count > MOST_NAMED}
    named = [one for one in news if (one[0], one[2]) not in many]
    kinds, subject_ids, cluster_ids = zip(*named, *((kind, ANY, where) for kind, where in many), strict=True)
    repository.insert(session, CHANNEL, kinds, subject_ids, cluster_ids)


def mute(session: Session) -> None:
    """Publish nothing of this transaction: who writes very much tells it all at once in the end."""
    session.info[_MUTED] = True
