import pytest

from iotide_server.runs.resources import Mode, Need, Resource, ResourceKind, needs
from iotide_wire.plan import Exclusivity

NODE, TARGET, CLUSTER = (Resource(kind, 7) for kind in ResourceKind)


@pytest.mark.parametrize(
    ("exclusive", "node", "target", "cluster"),
    [
        (Exclusivity.NONE, Mode.SHARED, Mode.SHARED, Mode.SHARED),
        (Exclusivity.NODE, Mode.EXCLUSIVE, Mode.SHARED, Mode.SHARED),
        (Exclusivity.NODE_AND_TARGET, Mode.EXCLUSIVE, Mode.EXCLUSIVE, Mode.SHARED),
        (Exclusivity.CLUSTER, Mode.EXCLUSIVE, Mode.SHARED, Mode.EXCLUSIVE),
    ],
)
def test_exclusivity_names_the_exclusive_resources(
    exclusive: Exclusivity, node: Mode, target: Mode, cluster: Mode
) -> None:
    assert needs(exclusive, [7], [7], 7) == (Need(NODE, node), Need(TARGET, target), Need(CLUSTER, cluster))


def test_needs_come_in_the_one_lock_order() -> None:
    wanted = needs(Exclusivity.NODE, [9, 2, 5], [4, 1], 3)
    assert [(need.resource.kind.value, need.resource.id) for need in wanted] == [
        ("node", 2),
        ("node", 5),
        ("node", 9),
        ("target", 1),
        ("target", 4),
        ("cluster", 3),
    ]
