import asyncio
import hashlib
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

import pytest
from bring_up import free_port
from redis import ConnectionError as RedisConnectionError
from redis.asyncio import Redis

from iotide_server.bundled.redis import PrivateRedis
from iotide_server.bundled.relay import relay_command, serve
from iotide_server.bundled.state import StateDirectory
from iotide_server.bundled.tls import Certificates, fingerprint, prepare_certificates

NOW = datetime.now(UTC)  # TLS compares with the machine's clock


@pytest.fixture
def certificates(state: StateDirectory) -> Certificates:
    return prepare_certificates(state, names=["bench.example.org", "192.0.2.7"], now=NOW)


def shake_hands(certificates: Certificates, name: str, *, trust: str) -> None:
    """Do a TLS handshake in memory; raise the client's error."""
    server, client = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH), ssl.create_default_context(cadata=trust)
    server.load_cert_chain(certificates.chain, certificates.key)
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    ends = [
        client.wrap_bio(to_client, to_server, server_hostname=name),
        server.wrap_bio(to_server, to_client, server_side=True),
    ]
    for _ in range(4):
        for end in ends:
            try:
                end.do_handshake()
            except ssl.SSLWantReadError:
                continue


@pytest.mark.parametrize("name", ["bench.example.org", "192.0.2.7", "localhost", "127.0.0.1", "::1"])
def test_a_client_that_trusts_the_ca_accepts_every_name(certificates: Certificates, name: str) -> None:
    shake_hands(certificates, name, trust=certificates.ca.read_text())


def test_a_client_refuses_another_name(certificates: Certificates) -> None:
    with pytest.raises(ssl.SSLCertVerificationError, match="Hostname mismatch"):
        shake_hands(certificates, "elsewhere.example.org", trust=certificates.ca.read_text())


def test_a_client_refuses_another_installations_ca(certificates: Certificates, state: StateDirectory) -> None:
    other = StateDirectory(state.directory("other"), state.account)
    trust = prepare_certificates(other, names=[], now=NOW).ca.read_text()
    with pytest.raises(ssl.SSLCertVerificationError):
        shake_hands(certificates, "localhost", trust=trust)


def test_the_fingerprint_is_that_of_the_certificate_on_the_wire(certificates: Certificates) -> None:
    der = ssl.PEM_cert_to_DER_cert(certificates.ca.read_text())
    assert fingerprint(certificates.ca.read_text()) == hashlib.sha256(der).hexdigest()


def test_a_restart_keeps_ca_and_certificate(state: StateDirectory, certificates: Certificates) -> None:
    before = [path.read_bytes() for path in (certificates.ca, certificates.chain, certificates.key)]
    again = prepare_certificates(state, names=["bench.example.org", "192.0.2.7"], now=NOW + timedelta(days=30))
    assert [path.read_bytes() for path in (again.ca, again.chain, again.key)] == before


@pytest.mark.parametrize(
    ("names", "days"), [(["new.example.org"], 0), (["bench.example.org", "192.0.2.7"], 4 * 365 + 1)]
)
def test_new_names_and_a_near_end_renew_the_certificate_under_the_same_ca(
    state: StateDirectory, certificates: Certificates, names: list[str], days: int
) -> None:
    ca, chain = certificates.ca.read_bytes(), certificates.chain.read_bytes()
    again = prepare_certificates(state, names=names, now=NOW + timedelta(days=days))
    assert again.ca.read_bytes() == ca
    assert again.chain.read_bytes() != chain


def test_only_the_account_can_read_private_keys(state: StateDirectory, certificates: Certificates) -> None:
    for path in certificates.ca.parent.glob("*.key"):
        assert path.stat().st_mode & 0o777 == 0o600
        assert path.stat().st_uid == state.account.uid


@asynccontextmanager
async def relayed(redis: PrivateRedis, certificates: Certificates) -> AsyncIterator[int]:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificates.chain, certificates.key)
    port = free_port()
    server = await serve(context, host="127.0.0.1", port=port, redis_port=redis.port)
    async with server:
        yield port


def test_other_hosts_reach_redis_only_by_tls(redis: PrivateRedis, certificates: Certificates) -> None:
    async def talk() -> None:
        async with relayed(redis, certificates) as port:
            url = redis.url.replace("redis://", "rediss://").replace(str(redis.port), str(port))
            async with Redis.from_url(url, ssl_ca_certs=str(certificates.ca)) as client:
                assert await client.lpush("node.1", "x" * 1_000_000) == 1
                assert await client.brpop(["node.1"]) == (b"node.1", b"x" * 1_000_000)
            plain = redis.url.replace(str(redis.port), str(port))
            async with Redis.from_url(plain, socket_timeout=5) as client:
                with pytest.raises(RedisConnectionError):
                    await client.ping()

    asyncio.run(talk())


def test_the_relay_ends_a_connection_when_its_other_end_closes(redis: PrivateRedis, certificates: Certificates) -> None:
    async def talk() -> None:
        trust = ssl.create_default_context(cafile=certificates.ca)
        async with relayed(redis, certificates) as port:
            reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=trust)
            writer.write(b"QUIT\r\n")
            assert await asyncio.wait_for(reader.read(), 5) == b"+OK\r\n"
            writer.close()

    asyncio.run(talk())


def test_the_relay_rejects_clients_while_redis_is_down(certificates: Certificates, redis: PrivateRedis) -> None:
    async def talk() -> None:
        trust = ssl.create_default_context(cafile=certificates.ca)
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))  # bound and not listening: refused
            gone = PrivateRedis(redis.program, redis.state, unused.getsockname()[1], redis.configuration, "", "")
            async with relayed(gone, certificates) as port:
                reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=trust)
                assert await asyncio.wait_for(reader.read(), 5) == b""
                writer.close()

    asyncio.run(talk())


def test_the_relays_command_shows_no_secret(redis: PrivateRedis, certificates: Certificates) -> None:
    command = relay_command(certificates, host="192.0.2.7", port=1, redis_port=redis.port)
    assert not any(redis.server_password in word or "PRIVATE" in word for word in command)
