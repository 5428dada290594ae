import pytest

from iotide_server.accounts.models import Role
from iotide_server.accounts.roles.principal import ANONYMOUS, Principal, PrincipalKind
from iotide_server.kit.errors import NotAllowedError, NotFoundError


def someone(grants: dict[int | None, Role]) -> Principal:
    return Principal(PrincipalKind.USER, 1, "grace", user_id=1, grants=grants)


def test_a_role_includes_the_weaker_ones() -> None:
    operator = someone({1: Role.OPERATOR})
    assert operator.may(Role.VIEWER, 1)
    assert operator.may(Role.OPERATOR, 1)
    assert not operator.may(Role.ADMIN, 1)


def test_a_role_holds_only_in_its_cluster() -> None:
    admin = someone({1: Role.ADMIN})
    assert not admin.may(Role.VIEWER, 2)
    assert not admin.may(Role.VIEWER, None)
    assert admin.visible_clusters() == frozenset({1})


def test_a_role_for_all_clusters_holds_in_each() -> None:
    viewer = someone({None: Role.VIEWER, 3: Role.ADMIN})
    assert viewer.may(Role.VIEWER, 99)
    assert viewer.may(Role.ADMIN, 3)
    assert not viewer.may(Role.ADMIN, 99)
    assert viewer.visible_clusters() is None
    assert viewer.clusters_with(Role.ADMIN) == frozenset({3})


def test_objects_that_a_caller_may_not_see_are_not_found() -> None:
    missing = NotFoundError("there is no run 7")
    with pytest.raises(NotFoundError) as refusal:
        someone({1: Role.ADMIN}).require(Role.VIEWER, 2, missing)
    assert refusal.value is missing


def test_actions_on_visible_objects_without_permission_are_forbidden() -> None:
    with pytest.raises(NotAllowedError, match="not operator of this cluster"):
        someone({1: Role.VIEWER}).require(Role.OPERATOR, 1)


def test_an_anonymous_caller_has_no_permissions() -> None:
    assert ANONYMOUS.visible_clusters() == frozenset()
    assert not ANONYMOUS.may_somewhere(Role.VIEWER)
