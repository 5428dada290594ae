"""Every operation of the OpenAPI description, called with generated input by callers other than admins: no 5xx."""

from collections.abc import Iterator
from typing import Any

import pytest
from generated_input import EXAMPLES_AN_OPERATION, LONG_RUN, Site, described, examples, site_for, with_real_ids
from schemathesis import Case

from iotide_server.bundled.postgres import PrivatePostgres


@pytest.fixture(scope="module")
def site(postgres_server: PrivatePostgres) -> Iterator[Site]:
    with site_for(postgres_server, "generated_by_others") as site:
        yield site


@described(edges=EXAMPLES_AN_OPERATION >= LONG_RUN).parametrize()
@examples(max(1, EXAMPLES_AN_OPERATION // 4))
def test_no_input_of_other_callers_is_a_server_error(case: Case[Any], site: Site) -> None:
    case.path_parameters = with_real_ids(site, case.path_parameters)
    case.query = with_real_ids(site, case.query)
    for who, headers in site.others.items():
        answer = case.call(session=site.client, headers=dict(headers))
        assert answer.status_code < 500, f"{who}: {answer.text}"
