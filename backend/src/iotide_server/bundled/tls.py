"""Private certificate authority and server certificate.

The join token contains the CA's fingerprint, so `enroll` can check the CA of the still untrusted server.
"""

import hashlib
import ssl
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from iotide_server.bundled.state import StateDirectory

_CA_LIFETIME = timedelta(days=20 * 365)
_CERTIFICATE_LIFETIME = timedelta(days=5 * 365)
_RENEWED_BEFORE_END = timedelta(days=365)
_CLOCK_TOLERANCE = timedelta(days=1)  # for hosts with slow clocks
_ALWAYS_NAMED = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True)
class Certificates:
    ca: Path
    chain: Path
    key: Path


def fingerprint(ca_pem: str) -> str:
    return hashlib.sha256(ssl.PEM_cert_to_DER_cert(ca_pem)).hexdigest()


def prepare_certificates(state: StateDirectory, *, names: Sequence[str], now: datetime) -> Certificates:
    """Create the CA if needed, and a certificate when names change or it is about to expire."""
    directory = state.directory("tls")
    files = Certificates(ca=directory / "ca.crt", chain=directory / "server.crt", key=directory / "server.key")
    ca_key_file = directory / "ca.key"
    if not (files.ca.exists() and ca_key_file.exists()):
        key, certificate = _make_ca(now)
        state.write_private(ca_key_file, _key_pem(key))
        state.write_private(files.ca, _pem(certificate))
        files.chain.unlink(missing_ok=True)
    wanted = x509.SubjectAlternativeName([_general_name(name) for name in dict.fromkeys((*_ALWAYS_NAMED, *names))])
    if not _is_good(files, wanted, now):
        ca_key = serialization.load_pem_private_key(ca_key_file.read_bytes(), password=None)
        if not isinstance(ca_key, ec.EllipticCurvePrivateKey):
            raise TypeError(f"{ca_key_file} contains a key of an unexpected type")
        ca = x509.load_pem_x509_certificate(files.ca.read_bytes())
        key, certificate = _make_certificate(ca_key, ca, wanted, now)
        state.write_private(files.key, _key_pem(key))
        state.write_private(files.chain, _pem(certificate) + _pem(ca))
    return files


def _is_good(files: Certificates, wanted: x509.SubjectAlternativeName, now: datetime) -> bool:
    if not (files.chain.exists() and files.key.exists()):
        return False
    certificate = x509.load_pem_x509_certificate(files.chain.read_bytes())
    named = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    return named == wanted and certificate.not_valid_after_utc - now > _RENEWED_BEFORE_END


def _make_ca(now: datetime) -> tuple[ec.EllipticCurvePrivateKey, x509.Certificate]:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "iotide private CA")])
    usage = x509.KeyUsage(
        key_cert_sign=True,
        crl_sign=True,
        digital_signature=False,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )
    builder = (
        _builder(name, name, key, now, _CA_LIFETIME)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(usage, critical=True)
    )
    return key, builder.sign(key, hashes.SHA256())


def _make_certificate(
    ca_key: ec.EllipticCurvePrivateKey, ca: x509.Certificate, names: x509.SubjectAlternativeName, now: datetime
) -> tuple[ec.EllipticCurvePrivateKey, x509.Certificate]:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "iotide server")])
    builder = (
        _builder(subject, ca.subject, key, now, _CERTIFICATE_LIFETIME)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(names, critical=False)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(ca_key.public_key()), critical=False)
    )
    return key, builder.sign(ca_key, hashes.SHA256())


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey, now: datetime, lifetime: timedelta
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _CLOCK_TOLERANCE)
        .not_valid_after(now + lifetime)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )


def _general_name(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)


def _key_pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
