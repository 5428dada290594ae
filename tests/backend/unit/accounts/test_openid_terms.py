from datetime import UTC, datetime, timedelta

import pytest
from pydantic import SecretStr, ValidationError

from iotide_server.accounts.models import Role
from iotide_server.accounts.oidc.flow import LONGEST_SIGN_IN, begin_flow, local_path, read_flow
from iotide_server.accounts.oidc.people import wanted_name
from iotide_server.accounts.oidc.terms import NamedRole, groups_in, parse_role, roles_of
from iotide_server.kit.proxies import check_proxies
from iotide_server.settings import Settings

NOW = datetime(2026, 11, 25, 2, 0, tzinfo=UTC)
URLS = {"database_url": "postgresql://nowhere/none", "redis_url": "redis://nowhere"}


def test_groups_are_read_at_the_path_of_the_claim() -> None:
    claims = {"groups": ["a", 7], "realm_access": {"roles": ["b"]}, "https://x.org/groups": "c"}
    assert groups_in(claims, "groups") == frozenset({"a"})
    assert groups_in(claims, "realm_access.roles") == frozenset({"b"})
    assert groups_in(claims, "https://x.org/groups") == frozenset({"c"})
    assert groups_in(claims, "realm_access.roles.b") is None
    assert groups_in(claims, "absent") is None


def test_the_strongest_role_of_all_groups_holds_in_each_cluster() -> None:
    roles = {
        "a": [NamedRole(Role.OPERATOR, "blue"), NamedRole(Role.VIEWER, None)],
        "b": [NamedRole(Role.VIEWER, "blue")],
        "*": [NamedRole(Role.VIEWER, "green")],
    }
    assert roles_of(frozenset({"a", "b"}), roles) == {"blue": "operator", None: "viewer", "green": "viewer"}
    assert roles_of(frozenset(), roles) == {"green": "viewer"}


@pytest.mark.parametrize("text", ["owner", "admin@", "", "@blue", "Admin"])
def test_an_invalid_role_is_refused_with_the_valid_ones(text: str) -> None:
    with pytest.raises(ValueError, match="use viewer, operator or admin"):
        parse_role(text)


def test_a_sign_in_is_bound_to_its_cookie_for_ten_minutes() -> None:
    flow = begin_flow("/runs", NOW)
    again = read_flow(flow.cookie, NOW)
    assert again is not None
    assert (again.state, again.nonce, again.verifier, again.landing) == (
        flow.state,
        flow.nonce,
        flow.verifier,
        "/runs",
    )
    assert len({flow.state, flow.nonce, flow.verifier, begin_flow("/runs", NOW).state}) == 4
    assert again.accepts(flow.state, NOW)
    assert not again.accepts(flow.nonce, NOW)
    assert not again.accepts("", NOW)
    assert not again.accepts(flow.state, NOW + LONGEST_SIGN_IN)


def test_a_cookie_that_was_changed_belongs_to_no_sign_in() -> None:
    flow = begin_flow("/runs", NOW)
    later = read_flow(flow.cookie.replace(str(int(NOW.timestamp())), str(int(NOW.timestamp()) + 600)), NOW)
    assert later is not None
    assert not later.accepts(flow.state, NOW)
    for odd in ("", "x", "a.b.c", "9" * 30 + ".b.c", "1.b.%"):
        assert read_flow(odd, NOW) is None or not read_flow(odd, NOW).accepts(flow.state, NOW)  # type: ignore[union-attr]


@pytest.mark.parametrize("path", ["/", "/runs?state=failed#x", "/clusters/1"])
def test_a_path_of_this_site_is_kept(path: str) -> None:
    assert local_path(path) == path


@pytest.mark.parametrize("path", ["//evil", "/\\evil", "https://evil", "", "/a\nb", "/" + "a" * 1000, "/\u202e"])
def test_any_other_address_becomes_the_first_page(path: str) -> None:
    assert local_path(path) == "/"


@pytest.mark.parametrize(
    ("claims", "name"),
    [
        ({"preferred_username": "grace"}, "grace"),
        ({"preferred_username": "Grace Hopper/../x"}, "Grace-Hopper-..-x"),
        ({"email": "grace@example.org"}, "grace"),
        ({"preferred_username": "-._", "name": "Zoë"}, "Zo"),
        ({"preferred_username": "a" * 99}, "a" * 40),
        ({}, "person"),
    ],
)
def test_a_name_is_made_of_the_claims_of_the_provider(claims: dict[str, str], name: str) -> None:
    assert wanted_name(claims) == name


def test_settings_report_what_is_wrong_with_a_provider() -> None:
    cases: list[tuple[dict[str, object], str]] = [
        ({"oidc_issuer": "http://id.example.org", "oidc_client_id": "iotide"}, "https://"),
        ({"oidc_issuer": "https://id.example.org"}, "IOTIDE_OIDC_CLIENT_ID"),
        ({"oidc_roles": {"a": "owner"}}, "use viewer, operator or admin"),
        ({"oidc_scopes": "profile"}, "pattern"),
        ({"trusted_proxies": "*"}, "give addresses or networks"),
        ({"session_hours": 0}, "greater than 0"),
    ]
    for wrong, says in cases:
        with pytest.raises(ValidationError, match=says):
            Settings.model_validate(URLS | wrong)


def test_settings_name_roles_by_group() -> None:
    given = {"storage": "admin", "hpc": ["operator@blue", "viewer"]}
    settings = Settings.model_validate(
        URLS | {"oidc_issuer": "https://id.example.org", "oidc_client_id": "iotide", "oidc_roles": given}
    )
    assert settings.oidc is not None
    assert settings.oidc.roles == {
        "storage": (NamedRole(Role.ADMIN, None),),
        "hpc": (NamedRole(Role.OPERATOR, "blue"), NamedRole(Role.VIEWER, None)),
    }
    assert settings.session_terms.idle == timedelta(days=7)


def test_proxies_are_addresses_and_networks() -> None:
    assert check_proxies("127.0.0.1, 10.0.0.0/24, fd00::/8")


@pytest.mark.parametrize("text", ["{", "[]", '{"a": 7}', '{"a": ["root"]}'])
def test_roles_in_the_environment_that_are_none_are_refused_by_name(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("IOTIDE_OIDC_ROLES", text)
    with pytest.raises(ValidationError) as refusal:
        Settings(database_url=SecretStr("postgresql://nowhere"), redis_url=SecretStr("redis://nowhere"))
    assert refusal.value.errors()[0]["loc"] == ("oidc_roles",)
