"""Checks from this machine."""

import ipaddress
import shutil
import socket
import ssl
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from cryptography import x509

from iotide_server.monitoring.doctor.findings import Finding, fine, warning, wrong
from iotide_wire.units import format_bytes, format_percent

EXPIRES_SOON: Final = timedelta(days=21)
FULL_RATIO: Final = 0.05
NEARLY_FULL_RATIO: Final = 0.10
_CONNECT_SECONDS: Final = 5.0
_TLS_SCHEMES: Final = frozenset({"https", "rediss"})


@dataclass(frozen=True, slots=True)
class Front:
    silence: str | None = None  # why nothing answers
    distrust: str | None = None  # why clients reject its certificate
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Room:
    directory: Path
    total_bytes: int
    free_bytes: int


def read_front(public_url: str, ca_certificate: Path | None) -> Front:
    parts = urlsplit(public_url)
    host, port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
    try:
        with socket.create_connection((host, port), timeout=_CONNECT_SECONDS) as connection:
            if parts.scheme != "https":
                return Front()
            trust = ssl.create_default_context(cafile=ca_certificate)
            with trust.wrap_socket(connection, server_hostname=host) as secured:
                der = secured.getpeercert(binary_form=True) or b""
                return Front(expires_at=x509.load_der_x509_certificate(der).not_valid_after_utc.astimezone(UTC))
    except ssl.SSLCertVerificationError as error:
        return Front(distrust=error.verify_message)
    except OSError as error:
        return Front(silence=str(error))


def read_room(directory: Path) -> Room:
    usage = shutil.disk_usage(directory)
    return Room(directory, usage.total, usage.free)


def judge_front(public_url: str, front: Front, now: datetime) -> Finding:
    if front.silence is not None:
        # Only a warning, because a container may not reach the host's own address.
        remedy = (
            "try from another machine; if it fails as well, check IOTIDE_PUBLIC_URL, the API and the proxy in front"
        )
        return warning("public_url", f"{public_url} does not answer from this machine: {front.silence}", remedy)
    if front.distrust is not None:
        remedy = "install a certificate for that name; for a private CA, name its certificate in IOTIDE_CA_CERTIFICATE"
        return wrong("public_url", f"clients reject the certificate of {public_url}: {front.distrust}", remedy)
    if front.expires_at is not None and front.expires_at - now < EXPIRES_SOON:
        days = (front.expires_at - now).days
        remedy = "renew it; `iotide-server up` renews its own certificate at its next start"
        return warning("public_url", f"the certificate of {public_url} expires in {days} days", remedy)
    return fine("public_url", f"{public_url} answers")


def judge_addresses(public_url: str, broker_url: str, metrics_host: str | None) -> Iterator[Finding]:
    """Check that nothing leaves this machine unencrypted, including metrics."""
    for check, url, what in (
        ("public_url_tls", public_url, "users and agents reach the API"),
        ("broker_tls", broker_url, "agents reach Redis"),
    ):
        parts = urlsplit(url)
        place = f"{parts.hostname}:{parts.port}" if parts.port else str(parts.hostname)
        if parts.scheme in _TLS_SCHEMES or is_loopback(parts.hostname or ""):
            yield fine(check, f"{what} at {place} with TLS or only on this machine")
        else:
            remedy = "put TLS in front of it, and use its URL in IOTIDE_PUBLIC_URL and IOTIDE_AGENT_BROKER_URL"
            yield wrong(check, f"{what} at {place} without TLS: passwords and tokens are sent unencrypted", remedy)
    if metrics_host is not None and not is_loopback(metrics_host):
        sentence = f"{metrics_host} serves the metrics to every client without authentication"
        remedy = "set IOTIDE_METRICS_LISTEN to a loopback address, or to a network that only Prometheus reaches"
        yield warning("metrics_listen", sentence, remedy)


def judge_room(room: Room) -> Finding:
    ratio = room.free_bytes / room.total_bytes if room.total_bytes else 0.0
    sentence = f"{format_percent(ratio)} of the disk with {room.directory} is free ({format_bytes(room.free_bytes)})"
    remedy = "free space, or move the directory to a larger disk; a full disk stops PostgreSQL"
    if ratio < FULL_RATIO:
        return wrong("disk", sentence, remedy)
    return warning("disk", sentence, remedy) if ratio < NEARLY_FULL_RATIO else fine("disk", sentence)


def is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
