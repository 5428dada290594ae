import pytest
from factories.announced import workload
from pydantic import ValidationError

from iotide_wire.endpoint import Endpoint
from iotide_wire.measured import StepRole
from iotide_wire.messages import Order
from iotide_wire.plan import Roles, WorkloadChoice

TOKEN = "0123456789abcdef" * 2


@pytest.mark.parametrize("address", ["0.0.0.0", "224.0.0.1", "255.255.255.255", "::1", "recorder", ""])  # noqa: S104
def test_nothing_receives_but_at_the_address_of_one_interface(address: str) -> None:
    with pytest.raises(ValidationError, match=r"write the IPv4 address of one interface, for instance 10\.1\.0\.7"):
        Endpoint(address=address, ports=(20_000,), token=TOKEN)


@pytest.mark.parametrize(
    "changes", [{"ports": ()}, {"ports": (0,)}, {"ports": (65_536,)}, {"token": TOKEN[1:]}, {"token": "g" * 32}]
)
def test_an_endpoint_has_ports_and_a_token(changes: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Endpoint.model_validate({"address": "10.1.0.7", "ports": (20_000,), "token": TOKEN} | changes)


def test_only_a_sender_loads_without_a_target() -> None:
    values = {
        "order_id": 1,
        "run_id": 1,
        "attempt": 1,
        "fence": 1,
        "role": "load",
        "campaign": "c",
        "repeat": 1,
        "workload": "stream",
        "workload_revision": 2,
        "schema_sha256": "0" * 64,
        "options": {},
        "targets": (),
        "node_mode": "exclusive",
        "time_limit_seconds": 60.0,
    }
    assert Order.model_validate(values | {"step_role": "sender"}).step_role is StepRole.SENDER
    for role in ("receiver", "client"):
        with pytest.raises(ValidationError, match="a load needs at least one target"):
            Order.model_validate(values | {"step_role": role})


def test_one_pair_may_be_written_without_a_list() -> None:
    pair = {"sender": "dish", "receiver": "recorder"}
    for written in (pair, [pair]):
        choice = WorkloadChoice.model_validate({"workload": "stream", "roles": written})
        assert choice.roles == [Roles(sender="dish", receiver="recorder")]
    assert WorkloadChoice.model_validate({"workload": "stream", "roles": "each_pair"}).roles == "each_pair"


@pytest.mark.parametrize("roles", ["all", [], {"sender": "dish"}, [{"sender": "a", "receiver": "b", "client": "c"}]])
def test_other_roles_are_refused(roles: object) -> None:
    with pytest.raises(ValidationError):
        WorkloadChoice.model_validate({"workload": "stream", "roles": roles})


def test_the_parts_that_nodes_may_do_are_in_the_digest_only_where_there_are_some() -> None:
    whole = workload()
    assert "step_roles" in whole.model_dump()
    assert whole.schema_sha256 == workload(step_roles=()).schema_sha256
    assert whole.schema_sha256 != workload(step_roles=("sender", "receiver")).schema_sha256
