"""Every operation of the description, called with made-up input by whoever is no administrator: no 5xx."""

from collections.abc import Iterator
from typing import Any

import pytest
from made_up_input import EXAMPLES_AN_OPERATION, LONG_RUN, Site, described, examples, made_up_for, with_real_ids
from schemathesis import Case

from iotide_server.bundled.postgres import PrivatePostgres


@pytest.fixture(scope="module")
def site(postgres_server: PrivatePostgres) -> Iterator[Site]:
    with made_up_for(postgres_server, "made_up_by_others") as site:
        yield site


@described(edges=EXAMPLES_AN_OPERATION >= LONG_RUN).parametrize()
@examples(max(1, EXAMPLES_AN_OPERATION // 4))
def test_nobody_s_input_is_a_fault_of_ours(case: Case[Any], site: Site) -> None:
    case.path_parameters = with_real_ids(site, case.path_parameters)
    case.query = with_real_ids(site, case.query)
    for who, headers in site.others.items():
        answer = case.call(session=site.client, headers=dict(headers))
        assert answer.status_code < 500, f"{who}: {answer.text}"
