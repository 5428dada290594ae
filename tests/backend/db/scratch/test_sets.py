"""Scratch sets as nodes announce them and admins enable them."""

from collections.abc import Sequence
from typing import Any

import pytest
from factories.announced import NOW, hello, mount
from factories.clusters import make_cluster, make_node
from factories.people import person
from factories.raised import raised
from factories.scratch_sets import disk, scratch_set
from sqlalchemy import func, select, text
from sqlalchemy.orm import Session

from iotide_server.accounts.models import AuditEntry, Role
from iotide_server.accounts.roles.principal import Principal, PrincipalKind
from iotide_server.agent_api import service as agent_api
from iotide_server.backup import inflight
from iotide_server.clusters.models import Node
from iotide_server.kit.errors import ErrorKind
from iotide_server.kit.pagination import PageRequest
from iotide_server.scratch import errors, service
from iotide_server.scratch.models import KnownSet
from iotide_server.scratch.permission import Use, may_use
from iotide_server.scratch.schemas import EnableInput, Permission, ScratchSetOutput
from iotide_server.targets import agents as target_agents
from iotide_server.targets import service as targets
from iotide_server.targets.errors import TARGET_NAME_TAKEN
from iotide_server.targets.models import Target, TargetMount
from iotide_wire.messages import HelloRequest
from iotide_wire.scratch_sets import MOST_SETS, ScratchSet

PATH = "/srv/iotide-scratch/bays"
ROOT = mount("/", "ext4", "/dev/sda1")
MADE = mount(PATH, "xfs", "/dev/md900", **{"fs.identity": "xfs:1"})
BY_PERSON = Use(PrincipalKind.USER)


@pytest.fixture
def node(session: Session) -> Node:
    return make_node(session, make_cluster(session), "storage01")


@pytest.fixture
def ada(session: Session) -> Principal:
    """An admin of all clusters."""
    return person(session, "ada", Role.ADMIN, now=NOW).principal


def said(*sets: ScratchSet, mounts: Sequence[object] = (ROOT,)) -> HelloRequest:
    return hello().model_copy(update={"scratch_sets": sets, "mounts": mounts})


def greet(session: Session, node: Node, *sets: ScratchSet, mounts: Sequence[object] = (ROOT,)) -> None:
    agent_api.hello(session, node.id, said(*sets, mounts=mounts), NOW)


def known(session: Session, name: str = "bays") -> KnownSet:
    return session.scalars(select(KnownSet).where(KnownSet.name == name)).one()


def enable(session: Session, principal: Principal, **changes: object) -> KnownSet:
    row = known(session)
    given = {"name": "bays", "disks_sha256": row.disks_sha256, "target_name": "storage01-bays"} | changes
    service.enable(session, principal, row.id, EnableInput.model_validate(given), NOW)
    return row


def shown(session: Session, principal: Principal) -> ScratchSetOutput:
    return service.list_sets(session, principal, None, None, PageRequest(50, None)).items[0]


def test_a_node_may_announce_other_sets_with_each_hello_and_only_the_last_ones_stay(
    session: Session, node: Node
) -> None:
    for hour in range(20):
        greet(session, node, *(scratch_set(f"s{hour}-{number}", disk(number)) for number in range(MOST_SETS)))
    assert session.scalar(select(func.count()).select_from(KnownSet)) == MOST_SETS
    greet(session, node)
    assert session.scalar(select(func.count()).select_from(KnownSet)) == 0


def test_sets_stay_as_they_were_while_the_helper_does_not_answer(session: Session, node: Node) -> None:
    greet(session, node, scratch_set())
    agent_api.hello(session, node.id, hello(), NOW)
    assert known(session).present == scratch_set()


def test_a_set_is_enabled_for_exactly_the_disks_that_the_admin_saw(
    session: Session, node: Node, ada: Principal
) -> None:
    greet(session, node, scratch_set())
    stale = known(session).disks_sha256
    greet(session, node, scratch_set("bays", disk(1), disk(3)))
    with raised(errors.SCRATCH_DISKS_DIFFER):
        enable(session, ada, disks_sha256=stale)
    assert enable(session, ada).is_enabled
    greet(session, node, scratch_set("bays", disk(3, bay="9"), disk(1, state="dirty"), state="dirty", reason="busy"))
    assert known(session).is_enabled


def test_a_set_without_disks_and_one_whose_name_is_not_typed_are_not_enabled(
    session: Session, node: Node, ada: Principal
) -> None:
    greet(session, node, scratch_set("bays", disk(1)))
    with raised(errors.SCRATCH_NAME_DIFFERS):
        enable(session, ada, name="bay")
    greet(session, node, scratch_set(disks=()))
    with raised(errors.SCRATCH_SET_EMPTY):
        enable(session, ada)


def test_a_changed_set_says_what_changed_until_it_is_enabled_again(
    session: Session, node: Node, ada: Principal
) -> None:
    greet(session, node, scratch_set())
    enable(session, ada)
    greet(session, node, scratch_set("bays", disk(1, serial="OTHER"), disk(3)))
    row = known(session)
    with raised(errors.SCRATCH_CHANGED, match="ZC0002 .*was removed; .*ZC0003 .*was added; the serial number of"):
        may_use(row, node.name, BY_PERSON)
    assert shown(session, ada).permission is Permission.CHANGED
    enable(session, ada)
    may_use(row, node.name, BY_PERSON)
    greet(session, node, scratch_set())
    enable(session, ada)
    greet(session, node)
    assert shown(session, ada).changes == ["the node no longer lists it"]


@pytest.mark.parametrize(
    ("changes", "use", "refused"),
    [
        ({}, BY_PERSON, None),
        ({"state": "in_use", "variant": "single / xfs"}, BY_PERSON, None),
        ({}, Use(PrincipalKind.USER, is_scheduled=True), errors.SCRATCH_NO_SCHEDULES),
        ({}, Use(PrincipalKind.TOKEN), errors.SCRATCH_NO_TOKENS),
        ({"state": "dirty"}, BY_PERSON, errors.SCRATCH_DIRTY),
        ({"state": "dirty"}, Use(PrincipalKind.USER, only_cleans=True), None),
        ({"state": "foreign"}, Use(PrincipalKind.USER, only_cleans=True), errors.SCRATCH_UNUSABLE),
        ({"state": "absent"}, BY_PERSON, errors.SCRATCH_UNUSABLE),
        ({"state": "lost"}, BY_PERSON, errors.SCRATCH_UNUSABLE),
    ],
)
def test_a_set_is_used_only_as_the_admin_allowed_and_while_it_is_fit(
    session: Session, node: Node, ada: Principal, changes: dict[str, Any], use: Use, refused: ErrorKind | None
) -> None:
    greet(session, node, scratch_set())
    with raised(errors.SCRATCH_NOT_ENABLED):
        may_use(known(session), node.name, use)
    enable(session, ada)
    greet(session, node, scratch_set(**changes))
    row = known(session)
    if refused is None:
        may_use(row, node.name, use)
    else:
        with raised(refused):
            may_use(row, node.name, use)


def test_schedules_and_tokens_may_use_a_set_that_was_enabled_for_them(
    session: Session, node: Node, ada: Principal
) -> None:
    greet(session, node, scratch_set())
    row = enable(session, ada, allows_schedules=True, allows_tokens=True)
    may_use(row, node.name, Use(PrincipalKind.TOKEN))
    may_use(row, node.name, Use(PrincipalKind.USER, is_scheduled=True))
    enable(session, ada)
    with raised(errors.SCRATCH_NO_TOKENS):
        may_use(row, node.name, Use(PrincipalKind.TOKEN))


def test_the_target_of_a_clean_set_has_no_problem_while_nothing_is_mounted(
    session: Session, node: Node, ada: Principal
) -> None:
    greet(session, node, scratch_set())
    enable(session, ada)
    guarded = session.scalars(select(TargetMount)).one()
    (ordered,) = target_agents.order_targets(session, node.id, [guarded.target_id])
    assert (ordered.fstype, ordered.mount_point) == ("none", PATH), "a run would decline"
    for mounts in ((ROOT,), (ROOT, MADE), (ROOT,)):
        greet(session, node, scratch_set(), mounts=mounts)
        assert guarded.problem is None
        assert guarded.fstype == "none", "nothing is accepted without a make"
    assert session.scalars(text("SELECT kind FROM work WHERE kind = 'oversight'")).all() == []


def test_a_made_file_system_is_accepted_and_followed_until_it_goes(
    session: Session, node: Node, ada: Principal
) -> None:
    greet(session, node, scratch_set())
    row = enable(session, ada)
    for number in (1, 2):
        made = mount(PATH, "xfs", "/dev/md900", **{"fs.identity": f"xfs:{number}"})
        service.accept_made_mount(session, row, made, NOW)
        greet(session, node, scratch_set(state="in_use"), mounts=(ROOT, made.model_copy(update={"free_bytes": number})))
        guarded = session.scalars(select(TargetMount)).one()
        assert (guarded.identity, guarded.free_bytes, guarded.problem) == (f"xfs:{number}", number, None)
    with raised(errors.SCRATCH_NOT_MOUNTED):
        service.accept_made_mount(session, row, mount("/etc"), NOW)


def test_enabling_again_takes_the_target_with_its_results_again(session: Session, node: Node, ada: Principal) -> None:
    greet(session, node, scratch_set())
    first = enable(session, ada).target_id
    targets.retire_target(session, ada, first or 0, NOW)
    service.disable(session, ada, known(session).id)
    greet(session, node)
    greet(session, node, scratch_set())
    assert known(session).target_id is None, "the set was forgotten in between"
    assert enable(session, ada, target_name="bays-of-rack-4").target_id == first
    taken = session.get_one(Target, first)
    assert (taken.name, taken.retired_at) == ("bays-of-rack-4", None)


def test_the_name_of_another_target_is_not_taken(session: Session, node: Node, ada: Principal) -> None:
    session.add(Target(cluster_id=node.cluster_id, name="storage01-bays", path="/scratch", scope="node"))
    greet(session, node, scratch_set())
    with raised(TARGET_NAME_TAKEN):
        enable(session, ada)


def test_enabling_and_disabling_are_audited_with_the_disks(session: Session, node: Node, ada: Principal) -> None:
    greet(session, node, scratch_set())
    service.disable(session, ada, known(session).id)
    enable(session, ada)
    service.disable(session, ada, known(session).id)
    entries = session.scalars(select(AuditEntry).where(AuditEntry.subject_kind == "scratch_set")).all()
    assert [entry.action for entry in entries] == ["scratch_enabled", "scratch_disabled"]
    assert [found["serial"] for found in (entries[0].after or {})["disks"]] == ["ZC0001", "ZC0002"]
    assert not known(session).is_enabled


def test_a_node_of_another_cluster_that_claims_the_same_set_gains_nothing(
    session: Session, node: Node, ada: Principal
) -> None:
    greet(session, node, scratch_set())
    enable(session, ada)
    liar = make_node(session, make_cluster(session, "lake"), "storage02")
    greet(session, liar, scratch_set())
    own = service.set_named(session, node.cluster_id, "storage01", "bays")
    claimed = service.set_named(session, liar.cluster_id, "storage02", "bays")
    assert own is not None
    assert own.is_enabled
    assert claimed is not None
    assert (claimed.cluster_id, claimed.is_enabled, claimed.target_id) == (liar.cluster_id, False, None)
    assert service.set_named(session, node.cluster_id, "storage02", "bays") is None
    viewer = person(session, "grace", Role.VIEWER, liar.cluster_id, now=NOW).principal
    assert shown(session, viewer).cluster_id == liar.cluster_id


def test_a_restored_backup_enables_nothing(session: Session, node: Node, ada: Principal) -> None:
    greet(session, node, scratch_set())
    enable(session, ada, allows_tokens=True)
    inflight.settle(session, NOW, NOW, resume=True)
    session.expire_all()
    with raised(errors.SCRATCH_NOT_ENABLED):
        may_use(known(session), node.name, Use(PrincipalKind.TOKEN))
