"""What can be seen from this machine: addresses without TLS, the certificate in front of the API, room on the disk."""

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
    """Who answers at the public URL."""

    silence: str | None = None  # why nobody answers there; None: somebody does
    distrust: str | None = None  # why no client would believe its certificate; None: one would
    expires_at: datetime | None = None  # of the certificate; None where there is none


@dataclass(frozen=True, slots=True)
class Room:
    """On the file system that holds a directory of ours."""

    directory: Path
    total_bytes: int
    free_bytes: int


def read_front(public_url: str, ca_certificate: Path | None) -> Front:
    """Connect to the public URL as a browser or an agent does, and look at its certificate."""
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
    """Ask the file system."""
    usage = shutil.disk_usage(directory)
    return Room(directory, usage.total, usage.free)


def judge_front(public_url: str, front: Front, now: datetime) -> Finding:
    """Whether people and agents reach the API, and still will in three weeks."""
    if front.silence is not None:
        # No more than a warning: from a container, for instance, the host's own address may lead nowhere.
        remedy = (
            "look from elsewhere; if it is so there too, at IOTIDE_PUBLIC_URL, the API and the proxy in front of it"
        )
        return warning("public_url", f"from here nobody answers at {public_url}: {front.silence}", remedy)
    if front.distrust is not None:
        remedy = (
            "give it a certificate for that name, and say in IOTIDE_CA_CERTIFICATE who signed it where agents must know"
        )
        return wrong("public_url", f"no client trusts the certificate of {public_url}: {front.distrust}", remedy)
    if front.expires_at is not None and front.expires_at - now < EXPIRES_SOON:
        days = (front.expires_at - now).days
        remedy = "renew it; one that `iotide-server up` made is renewed by starting it again"
        return warning("public_url", f"the certificate of {public_url} expires in {days} days", remedy)
    return fine("public_url", f"{public_url} answers")


def judge_addresses(public_url: str, broker_url: str, metrics_host: str | None) -> Iterator[Finding]:
    """Check that nothing goes beyond this machine in the clear, metrics at `metrics_host` included."""
    for check, url, what in (
        ("public_url_tls", public_url, "people and agents reach the API"),
        ("broker_tls", broker_url, "agents reach Redis"),
    ):
        parts = urlsplit(url)
        place = f"{parts.hostname}:{parts.port}" if parts.port else str(parts.hostname)
        if parts.scheme in _TLS_SCHEMES or is_loopback(parts.hostname or ""):
            yield fine(check, f"{what} at {place} by TLS or on this machine alone")
        else:
            remedy = "put TLS in front of it, and say so in IOTIDE_PUBLIC_URL and IOTIDE_AGENT_BROKER_URL"
            yield wrong(check, f"{what} at {place} without TLS: passwords and tokens go in the clear", remedy)
    if metrics_host is not None and not is_loopback(metrics_host):
        sentence = f"metrics are told to whoever reaches {metrics_host}, without asking who it is"
        remedy = "let IOTIDE_METRICS_LISTEN name a loopback address, or a network that Prometheus alone is in"
        yield warning("metrics_listen", sentence, remedy)


def judge_room(room: Room) -> Finding:
    """Whether the disk lasts a while."""
    ratio = room.free_bytes / room.total_bytes if room.total_bytes else 0.0
    sentence = f"{format_percent(ratio)} of the disk with {room.directory} are free ({format_bytes(room.free_bytes)})"
    remedy = "make room, or move the directory to a larger disk; a full one stops PostgreSQL"
    if ratio < FULL_RATIO:
        return wrong("disk", sentence, remedy)
    return warning("disk", sentence, remedy) if ratio < NEARLY_FULL_RATIO else fine("disk", sentence)


def is_loopback(host: str) -> bool:
    """Whether only this machine can be meant."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
