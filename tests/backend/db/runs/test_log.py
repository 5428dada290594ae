from datetime import timedelta

from factories.site import Site

from iotide_server.kit.pagination import PageRequest
from iotide_server.runs.models import RunEvent
from iotide_server.runs.queries import events_page


def test_the_log_of_a_run_is_in_the_order_of_time_also_where_a_later_event_got_the_lower_id(site: Site) -> None:
    (run_id,) = site.add_runs([1])
    with site.database.transaction() as session:
        for text, after in (("claimed", 2), ("offered", 1), ("started", 3)):
            at = site.clock.now + timedelta(milliseconds=after)
            session.add(RunEvent(run_id=run_id, at=at, kind="step", text=text))
            session.flush()
        page = events_page(session, run_id, PageRequest(limit=10, last_id=None))
    assert [row.text for row in page.rows][-3:] == ["offered", "claimed", "started"]
