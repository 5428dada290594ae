"""Creates the server's secrets once, and gives each part only the files that it needs.

    make_secrets.py KEPT [--name NAME]... [--own DIRECTORY] [--database-url URL] [--redis HOST:PORT]
                    [--server DIRECTORY] [--postgres DIRECTORY] [--redis-files DIRECTORY] [--proxy DIRECTORY]

KEPT holds the passwords, the vault key and the certificate authority, created by the first call. The files of the
parts are written again on each call: the certificate is renewed when the names change, and a year before it expires.
docker-compose.yml runs this at each start. An administrator who installs the parts with systemd runs it once; see
deploy/README.md.
"""

import argparse
import secrets
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final
from urllib.parse import quote

from iotide_server.bundled.acl import ADMIN_USER, SERVER_USER, own_users
from iotide_server.bundled.privileges import Account
from iotide_server.bundled.state import StateDirectory
from iotide_server.bundled.tls import Certificates, prepare_certificates

_SECRET_BYTES: Final = 32
_BAD_INPUT: Final = 2
_READ_BY_ITS_PART: Final = 0o444
"""Each part runs as its own user, and this program cannot set the owner; only that part can access the directory."""


class OwnCertificateError(Exception):
    """The directory of the site's own certificate is unusable."""


def main(arguments: Sequence[str]) -> None:
    """Create missing secrets and write the parts' files."""
    options = _options(arguments)
    owner = options.kept.stat()
    kept = StateDirectory(options.kept, Account(name=str(owner.st_uid), uid=owner.st_uid, gid=owner.st_gid))
    made = prepare_certificates(kept, names=options.name, now=datetime.now(UTC))
    password = {name: _kept_secret(kept, name) for name in ("postgres_password", "redis_password", "redis_admin")}
    vault_key = _kept_secret(kept, "iotide_vault_key")
    shown, authority = _own_certificate(options.own) or (made, made.ca)
    if options.postgres:
        _publish(options.postgres, {"password": password["postgres_password"]})
    if options.redis_files:
        users = own_users(server_password=password["redis_password"], admin_password=password["redis_admin"])
        _publish(options.redis_files, {"users.acl": "\n".join(users) + "\n", **_served(made, made.ca)})
    if options.proxy:
        _publish(options.proxy, _served(shown, authority))
    if options.server:
        seen_at = options.server_seen_at or options.server
        broker = f"{options.redis}/0?ssl_cert_reqs=required&ssl_ca_certs={quote(str(seen_at / 'broker-ca.crt'))}"
        files = {
            "iotide_database_url": options.database_url.format(password=password["postgres_password"]),
            "iotide_redis_url": f"rediss://{SERVER_USER}:{password['redis_password']}@{broker}",
            "iotide_redis_admin_url": f"rediss://{ADMIN_USER}:{password['redis_admin']}@{broker}",
            "iotide_vault_key": vault_key,
            "iotide_broker_ca_certificate": str(seen_at / "broker-ca.crt"),
            "broker-ca.crt": made.ca.read_text(),
            # None: agents trust their system's authorities.
            "iotide_ca_certificate": str(seen_at / "ca.crt") if authority else None,
            "ca.crt": authority.read_text() if authority else None,
        }
        _publish(options.server, files)


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("kept", type=Path)
    parser.add_argument("--name", action="append", default=[], help="name or address of the server")
    parser.add_argument("--own", type=Path, help="directory with your own server.crt, server.key and optional ca.crt")
    parser.add_argument("--database-url", default="postgresql://iotide:{password}@localhost:5432/iotide")
    parser.add_argument("--redis", default="localhost:8472", help="address of Redis for the server's parts")
    for part in ("server", "postgres", "redis-files", "proxy"):
        parser.add_argument(f"--{part}", type=Path, help="directory of this part's files")
    parser.add_argument("--server-seen-at", type=Path, help="path of that directory as seen by the server's parts")
    return parser.parse_args(arguments)


def _kept_secret(kept: StateDirectory, name: str) -> str:
    path = kept.root / name
    if not path.exists():
        kept.write_private(path, secrets.token_urlsafe(_SECRET_BYTES))
    return path.read_text()


def _own_certificate(directory: Path | None) -> tuple[Certificates, Path | None] | None:
    """Return the site's certificate, if any, and its authority; None if the authority is publicly trusted.

    Raises:
        OwnCertificateError: certificate or key is missing.
    """
    if directory is None:
        return None
    chain, key, ca = (directory / name for name in ("server.crt", "server.key", "ca.crt"))
    if not chain.exists() and not key.exists():
        return None
    for path in (chain, key):
        if not path.is_file():
            raise OwnCertificateError(f"{path} is missing: give both server.crt and server.key, in PEM")
    return Certificates(ca=ca, chain=chain, key=key), ca if ca.is_file() else None


def _served(certificates: Certificates, authority: Path | None) -> dict[str, str | None]:
    """Return the files of a TLS server.

    The chain includes the CA, whose fingerprint identifies the server to agents.
    """
    chain = certificates.chain.read_text()
    ca = authority.read_text() if authority else None
    if ca and ca.strip() not in chain:
        chain = f"{chain.rstrip()}\n{ca}"
    return {"server.crt": chain, "server.key": certificates.key.read_text(), "ca.crt": ca}


def _publish(directory: Path, files: dict[str, str | None]) -> None:
    """Write each changed file atomically; None removes it."""
    for name, content in files.items():
        path = directory / name
        if content is None:
            path.unlink(missing_ok=True)
        elif not path.exists() or path.read_text() != content:
            draft = path.with_name(f"{name}.new")
            draft.unlink(missing_ok=True)
            draft.touch(mode=0o600)
            draft.write_text(content)
            draft.chmod(_READ_BY_ITS_PART)
            draft.replace(path)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except OwnCertificateError as error:
        sys.stderr.write(f"make_secrets: {error}\n")
        sys.exit(_BAD_INPUT)
    except OSError as error:
        sys.stderr.write(f"make_secrets: {error}; the directories must exist and belong to this user\n")
        sys.exit(_BAD_INPUT)
