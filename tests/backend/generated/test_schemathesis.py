"""Every operation of the OpenAPI description, called by an admin with generated input: no 5xx, nothing undocumented."""

from collections.abc import Iterator
from typing import Any

import pytest
from generated_input import EXAMPLES_AN_OPERATION, LONG_RUN, Site, described, examples, site_for, with_real_ids
from schemathesis import Case
from schemathesis.core.parameters import ParameterLocation
from schemathesis.specs.openapi.checks import (
    allow_header_conformance,
    ignored_auth,
    positive_data_acceptance,
    unsupported_method,
)

from iotide_server.bundled.postgres import PrivatePostgres

NOT_HELD = [
    positive_data_acceptance,  # a name may be taken and a cursor invalid, which no schema can express
    # /campaigns/{campaign_id} also matches /campaigns/preview.
    allow_header_conformance,
    unsupported_method,
]


@pytest.fixture(scope="module")
def site(postgres_server: PrivatePostgres) -> Iterator[Site]:
    with site_for(postgres_server, "generated_by_admin") as site:
        yield site


@pytest.fixture(scope="module")
def guarded() -> set[str]:
    """Operations that refused to repeat a success without valid credentials."""
    return set()


@described(edges=True).parametrize()
@examples(EXAMPLES_AN_OPERATION)
def test_no_input_is_a_fault_of_ours(case: Case[Any], site: Site, guarded: set[str]) -> None:
    case.path_parameters = with_real_ids(site, case.path_parameters)
    case.query = with_real_ids(site, case.query)
    operation = case.operation.label
    # Schemathesis repeats each success with missing and invalid credentials. Once an operation is enough: its rule
    # reads no input.
    is_known = operation in guarded and EXAMPLES_AN_OPERATION < LONG_RUN
    answer = case.call_and_validate(
        session=site.client,
        headers=dict(site.headers),
        excluded_checks=[*NOT_HELD, ignored_auth] if is_known else NOT_HELD,
    )
    is_asked_without_proof = case.meta is None or not case.meta.is_negative_at(ParameterLocation.PATH)
    if 200 <= answer.status_code < 300 and is_asked_without_proof:
        guarded.add(operation)
