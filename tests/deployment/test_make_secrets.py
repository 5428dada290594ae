import ssl
import stat
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from kombu.connection import Connection
from make_secrets import OwnCertificateError, main
from redis import Redis
from redis.connection import SSLConnection

from iotide_server.settings import Settings

PARTS = ("server", "postgres", "redis-files", "proxy")


class Installation:
    def __init__(self, root: Path) -> None:
        self.root = root
        for name in ("kept", *PARTS):
            (root / name).mkdir()

    def make(self, *more: str) -> dict[str, str]:
        """Run it, and return every file that the parts read."""
        parts = [f"--{name}={self.root / name}" for name in PARTS]
        main([str(self.root / "kept"), "--redis=redis:6379", *parts, *more])
        files = [path for name in PARTS for path in (self.root / name).iterdir()]
        return {str(path.relative_to(self.root)): path.read_text() for path in files}


@pytest.fixture
def installation(tmp_path: Path) -> Installation:
    return Installation(tmp_path)


def test_a_second_start_changes_nothing(installation: Installation) -> None:
    assert installation.make("--name=bench.example") == installation.make("--name=bench.example")


def test_another_name_renews_the_certificate_under_the_same_authority_and_no_password(
    installation: Installation,
) -> None:
    before, after = installation.make("--name=old.example"), installation.make("--name=new.example")
    changed = {name for name in before if before[name] != after[name]}
    assert changed == {f"{part}/server.{kind}" for part in ("redis-files", "proxy") for kind in ("crt", "key")}


def test_two_installations_share_no_secret(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    a, b = Installation(tmp_path / "a").make(), Installation(tmp_path / "b").make()
    for name in ("iotide_vault_key", "iotide_database_url", "iotide_redis_url", "ca.crt"):
        assert a[f"server/{name}"] != b[f"server/{name}"]


def test_data_of_an_earlier_release_is_kept(installation: Installation) -> None:
    for name in ("postgres_password", "iotide_vault_key"):
        (installation.root / "kept" / name).write_text(f"old-{name}-as-long-as-it-was-made-32")
    made = installation.make()
    assert made["postgres/password"] == "old-postgres_password-as-long-as-it-was-made-32"
    assert ":old-postgres_password-as-long-as-it-was-made-32@" in made["server/iotide_database_url"]
    assert made["server/iotide_vault_key"] == "old-iotide_vault_key-as-long-as-it-was-made-32"


def test_the_server_reads_its_settings_from_the_files(
    installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("IOTIDE_DATABASE_URL", raising=False)
    installation.make()
    settings = Settings(_secrets_dir=installation.root / "server")
    assert settings.vault is not None
    assert settings.ca_certificate is not None
    assert settings.broker_ca_certificate is not None
    assert settings.ca_certificate.read_text() == settings.broker_ca_certificate.read_text()


def test_both_clients_of_redis_trust_only_its_authority(installation: Installation) -> None:
    made = installation.make()
    authority = str(installation.root / "server/broker-ca.crt")
    url = made["server/iotide_redis_url"]
    with Connection(url) as connection:  # type: ignore[no-untyped-call]  # kombu has no types
        assert connection.ssl == {"ssl_cert_reqs": ssl.CERT_REQUIRED, "ssl_ca_certs": authority}
    with Redis.from_url(url) as client:
        made_connection = client.connection_pool.make_connection()
    assert isinstance(made_connection, SSLConnection)
    assert (made_connection.cert_reqs, made_connection.ca_certs) == (ssl.CERT_REQUIRED, authority)
    assert made_connection.check_hostname


def test_redis_has_digests_of_two_users_only(installation: Installation) -> None:
    made = installation.make()
    lines = made["redis-files/users.acl"].splitlines()
    assert [line.split()[1:3] for line in lines] == [
        ["default", "off"],
        ["iotide-admin", "on"],
        ["iotide-server", "on"],
    ]
    for name in ("iotide_redis_url", "iotide_redis_admin_url"):
        assert str(urlsplit(made[f"server/{name}"]).password) not in made["redis-files/users.acl"]
    assert parse_qs(urlsplit(made["server/iotide_redis_url"]).query)["ssl_cert_reqs"] == ["required"]


def test_no_part_sees_another_ones_secrets_nor_the_authoritys_key(installation: Installation) -> None:
    made = installation.make()
    assert set(made) == {
        "postgres/password",
        *(f"{part}/{name}" for part in ("redis-files", "proxy") for name in ("server.crt", "server.key", "ca.crt")),
        "redis-files/users.acl",
        *(f"server/iotide_{name}" for name in ("database_url", "redis_url", "redis_admin_url", "vault_key")),
        *(f"server/iotide_{name}" for name in ("ca_certificate", "broker_ca_certificate")),
        "server/ca.crt",
        "server/broker-ca.crt",
    }
    authority_key = (installation.root / "kept/tls/ca.key").read_text()
    assert authority_key not in made.values()
    for path in (installation.root / "kept").rglob("*"):
        assert path.is_dir() or stat.S_IMODE(path.stat().st_mode) == 0o600


def own(installation: Installation, *names: str) -> Path:
    """Directory with a site's own certificate, that of another installation."""
    other = installation.root / "other"
    other.mkdir()
    made = Installation(other).make("--name=bench.example")
    directory = installation.root / "own"
    directory.mkdir()
    for name in names:
        (directory / name).write_text(made[f"proxy/{name}"])
    return directory


def test_browsers_and_agents_see_the_sites_certificate_and_redis_has_ours(installation: Installation) -> None:
    directory = own(installation, "server.crt", "server.key", "ca.crt")
    made = installation.make(f"--own={directory}")
    assert made["proxy/server.key"] == (directory / "server.key").read_text()
    assert made["server/ca.crt"] == made["proxy/ca.crt"] == (directory / "ca.crt").read_text()
    assert made["redis-files/ca.crt"] == made["server/broker-ca.crt"] != made["server/ca.crt"]


def test_the_shown_chain_ends_with_the_authority_by_which_agents_know_the_server(installation: Installation) -> None:
    directory = own(installation, "server.crt", "server.key", "ca.crt")
    certificate = (directory / "server.crt").read_text().partition("-----END CERTIFICATE-----\n")
    (directory / "server.crt").write_text(certificate[0] + certificate[1])
    made = installation.make(f"--own={directory}")
    assert made["proxy/server.crt"] == certificate[0] + certificate[1] + made["server/ca.crt"]


def test_a_certificate_that_all_systems_trust_needs_no_authority(installation: Installation) -> None:
    installation.make()
    made = installation.make(f"--own={own(installation, 'server.crt', 'server.key')}")
    assert not {"server/iotide_ca_certificate", "server/ca.crt", "proxy/ca.crt"} & made.keys()
    assert "server/iotide_broker_ca_certificate" in made


def test_a_certificate_without_its_key_is_refused(installation: Installation) -> None:
    with pytest.raises(OwnCertificateError, match="server\\.key is missing"):
        installation.make(f"--own={own(installation, 'server.crt')}")


def test_an_empty_directory_is_no_certificate(installation: Installation) -> None:
    assert installation.make() == installation.make(f"--own={own(installation)}")
