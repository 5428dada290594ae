from iotide_agent.node.inventory import Inventory, Looks
from iotide_wire.facts import Facts, MountFacts


def place(path: str, mount_point: str, **facts: int) -> MountFacts:
    found: Facts = dict(facts)
    return MountFacts(
        path=path,
        mount_point=mount_point,
        fstype="lustre",
        source="mgs@tcp:/l",
        mount_options="rw",
        total_bytes=None,
        free_bytes=None,
        approved=True,
        facts=found,
    )


def stripes_at(directory: str, mount_point: str) -> Facts:
    mounts = (place("/l/wide", "/l", stripes=8), place("/l/wide/one", "/l", stripes=1), place("/home", "/", stripes=0))
    return Inventory({}, mounts, (), {}).facts_at(directory, mount_point)


def test_facts_of_a_run_are_those_of_the_approved_directory_above_it() -> None:
    assert stripes_at("/l/wide/run", "/l") == {"stripes": 8}
    assert stripes_at("/l/wide/one/run", "/l") == {"stripes": 1}
    assert stripes_at("/home/run", "/") == {"stripes": 0}


def test_mount_that_came_after_the_inventory_has_no_facts() -> None:
    assert stripes_at("/new/run", "/new") == {}


def test_of_two_looks_at_a_time_the_one_that_began_later_stays() -> None:
    earlier, later = (Inventory({}, (place(path, "/l"),), (), {}) for path in ("/l/before", "/l/after"))
    kept: list[Inventory] = []
    found = iter([later, earlier])

    def take() -> Inventory:
        if not is_under_way:
            is_under_way.append(True)
            looks.look()
        return next(found)

    is_under_way: list[bool] = []
    looks = Looks(take, kept.append)
    looks.look()
    assert kept == [later]
    found = iter([earlier])
    looks.look()
    assert kept == [later, earlier]
