"""Choice of the node that explains the end of an attempt of one program over several. Pure functions.

The end of one node ends the program, so the other nodes fail as well. Their reasons only say that another one left.
"""

from collections.abc import Collection, Iterable
from enum import IntEnum
from typing import Final

from iotide_server.runs.lifecycle import OrderEnd


class Blame(IntEnum):
    """Rank of a node's reason by what it explains; more is better."""

    OF_HEAD = 0  # a member saw its head leave
    OF_MEMBER = 1  # the head saw a member leave, or the member's part end
    OWN = 2


OF_OTHERS: Final = {
    "head_lost": Blame.OF_HEAD,
    "head_missing": Blame.OF_HEAD,
    "member_lost": Blame.OF_MEMBER,
    "member_unreachable": Blame.OF_MEMBER,
    "part_ended": Blame.OF_MEMBER,
}
"""Reason codes of failures that another node may have caused."""
_OUTWEIGHING: Final = frozenset({OrderEnd.LOST, OrderEnd.DECLINED, OrderEnd.WITHDRAWN})

Ended = tuple[OrderEnd, str | None]  # end and reason code of an order


def blame(code: str | None) -> Blame:
    return OF_OTHERS.get(code or "", Blame.OWN)


def explains_better(ending: Ended, code: str | None, others: Iterable[Ended]) -> bool:
    """Check if an order's reason replaces that of its attempt with this code.

    A node whose order was cancelled has stopped for another one, so its reason replaces none.

    Args:
        others: the orders that ended before. Of equal reasons the first stays, but failures replace all other ends.
    """
    end, own_code = ending
    if code is None or end in {OrderEnd.FINISHED, OrderEnd.CANCELLED}:
        return code is None
    if blame(own_code) is not blame(code):
        return own_code is not None and blame(own_code) > blame(code)
    has_failed = any(other is OrderEnd.FAILED and blame(its_code) is blame(code) for other, its_code in others)
    return end is OrderEnd.FAILED and blame(code) is Blame.OWN and not has_failed


def counted_ends(ended: Collection[Ended], *, cancel_wanted: bool) -> set[OrderEnd]:
    """Return the ends that decide an attempt: a failure that another node caused gives way to what that node did."""
    ends = {end for end, _ in ended}
    own_ends = {
        end if end is not OrderEnd.FAILED or blame(code) is Blame.OWN else OrderEnd.CANCELLED for end, code in ended
    }
    return own_ends if cancel_wanted or ends & _OUTWEIGHING else ends
