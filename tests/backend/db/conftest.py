"""A cluster at work, and a Redis that starts empty."""

from collections.abc import Callable

import pytest
from factories.people import ADMIN
from factories.site import Site

from iotide_server.runs import service as runs


@pytest.fixture
def site(make_site: Callable[..., Site]) -> Site:
    return make_site()


@pytest.fixture
def cancel(site: Site) -> Callable[[int], None]:
    """Cancel a run as an admin."""

    def cancel(run_id: int) -> None:
        with site.database.transaction() as session:
            runs.cancel(session, ADMIN, run_id, site.clock())

    return cancel
