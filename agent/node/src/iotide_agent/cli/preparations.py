"""Words for the runs of a campaign that prepare scratch disks, which its counts leave out."""

from typing import Final

from iotide_agent.cli.answers import Campaign

_NOUNS: Final = {
    "make": ("make", "makes"),
    "fill": ("fill", "fills"),
    "mount": ("mount", "mounts"),
    "clean": ("cleaning", "cleanings"),
}
_SHOWN: Final = ("active", "failed", "cancelled")


def preparation_words(campaign: Campaign) -> list[str]:
    """Return e.g. `4 makes (1 failed)` for each kind of work; empty without scratch disks."""
    found = []
    for one in campaign.preparations:
        total = one.waiting + one.active + one.finished + one.failed + one.cancelled
        states = [f"{count} {state}" for state in _SHOWN if (count := getattr(one, state))]
        noun = _NOUNS.get(one.does, (one.does, one.does))[total != 1]
        found.append(f"{total} {noun}" + (f" ({', '.join(states)})" if states else ""))
    return found


def has_failed_preparation(campaign: Campaign) -> bool:
    """Return true if any of them failed or was cancelled."""
    return any(one.failed or one.cancelled for one in campaign.preparations)
