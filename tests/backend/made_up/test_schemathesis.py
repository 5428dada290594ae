"""Every operation of the description, called by the administrator with made-up input: no 5xx, nothing undocumented."""

from collections.abc import Iterator
from typing import Any

import pytest
from made_up_input import EXAMPLES_AN_OPERATION, Site, described, examples, made_up_for, with_real_ids
from schemathesis import Case
from schemathesis.specs.openapi.checks import (
    allow_header_conformance,
    positive_data_acceptance,
    unsupported_method,
)

from iotide_server.bundled.postgres import PrivatePostgres

NOT_HELD = [
    positive_data_acceptance,  # a name may be taken and a cursor foreign, whatever the schema can say
    # /campaigns/preview is also what /campaigns/{campaign_id} matches.
    allow_header_conformance,
    unsupported_method,
]


@pytest.fixture(scope="module")
def site(postgres_server: PrivatePostgres) -> Iterator[Site]:
    with made_up_for(postgres_server, "made_up_by_admin") as site:
        yield site


@described(edges=True).parametrize()
@examples(EXAMPLES_AN_OPERATION)
def test_no_input_is_a_fault_of_ours(case: Case[Any], site: Site) -> None:
    case.path_parameters = with_real_ids(site, case.path_parameters)
    case.query = with_real_ids(site, case.query)
    case.call_and_validate(headers=dict(site.headers), excluded_checks=NOT_HELD)
