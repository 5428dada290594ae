"""Effects of an event on all its series together."""

from datetime import timedelta
from typing import Final

from sqlalchemy.orm import Session

from iotide_server.change_feed import service as live
from iotide_server.statistics.course import Effect
from iotide_server.statistics.discoveries import largest_discovery
from iotide_server.trends.events import repository
from iotide_server.trends.models import Event

EVENTS: Final = "events"

JUDGED_AFTER: Final = timedelta(minutes=1)
"""Delay after a new effect, because the series of an event are analysed one after the other."""


def judge_event(session: Session, event_id: int) -> None:
    """Count the series that shifted, and find the p up to which they did not by chance. Safe to repeat."""
    event = session.get(Event, event_id)
    if event is None:
        return
    effects = repository.judged_effects(session, event_id)
    shifted = [effect.series_id for effect in effects if effect.effect == Effect.SHIFTED]
    before = event.judged_series, event.shifted_series, event.most_p
    event.judged_series, event.shifted_series = len(effects), len(shifted)
    event.most_p = largest_discovery([effect.p_value for effect in effects])
    if before != (event.judged_series, event.shifted_series, event.most_p):
        live.publish_all(session, [("series", series_id, event.cluster_id) for series_id in shifted])
