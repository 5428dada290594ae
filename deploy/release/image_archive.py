"""Archive of a container image: an OCI layout that also has the list which `docker load` reads.

Formats: https://github.com/opencontainers/image-spec (v1.0, layout, manifest, config), and `manifest.json` as
`docker save` writes it. The same files give the same bytes.
"""

import gzip
import hashlib
import io
import json
import tarfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, Final

from release.comparing import sha256

_SCHEMA: Final = {"schemaVersion": 2}
_KIND: Final = "application/vnd.oci.image"


@dataclass(frozen=True, slots=True)
class Settings:
    """Describe how a container of the image starts.

    Attributes:
        user: A user id.
        directory: Where the command starts.
    """

    entrypoint: tuple[str, ...]
    user: str
    directory: str
    environment: Mapping[str, str] = field(default_factory=dict)


def write_image(root: Path, file: Path, name: str, settings: Settings, epoch: int) -> None:
    """Write a directory as an image of one layer for x86-64.

    Args:
        name: Name and version, such as `localhost/iotide-server:0.3.0`.
        epoch: Time of the image in Unix seconds; no file in it is newer.
    """
    layer = file.with_suffix(".layer")
    unpacked_sha256 = _write_layer(root, layer, epoch)
    config = _config(settings, unpacked_sha256, epoch, name.rpartition(":")[2])
    layer_sha256 = sha256(layer)
    manifest = _bytes(
        {
            **_SCHEMA,
            "mediaType": f"{_KIND}.manifest.v1+json",
            "config": _descriptor(config, "config.v1+json"),
            "layers": [
                {
                    "mediaType": f"{_KIND}.layer.v1.tar+gzip",
                    "digest": f"sha256:{layer_sha256}",
                    "size": layer.stat().st_size,
                }
            ],
        }
    )
    named = {"io.containerd.image.name": name, "org.opencontainers.image.ref.name": name.rpartition(":")[2]}
    index = {**_SCHEMA, "manifests": [{**_descriptor(manifest, "manifest.v1+json"), "annotations": named}]}
    for_docker = [{"Config": _blob(config), "RepoTags": [name], "Layers": [f"blobs/sha256/{layer_sha256}"]}]
    with tarfile.open(file, "w", format=tarfile.GNU_FORMAT) as archive:
        _add(archive, "oci-layout", _bytes({"imageLayoutVersion": "1.0.0"}), epoch)
        _add(archive, "index.json", _bytes(index), epoch)
        _add(archive, "manifest.json", _bytes(for_docker), epoch)
        for blob in (config, manifest):
            _add(archive, _blob(blob), blob, epoch)
        with layer.open("rb") as data:
            _add_stream(archive, f"blobs/sha256/{layer_sha256}", data, layer.stat().st_size, epoch)
    layer.unlink()


def _write_layer(root: Path, file: Path, epoch: int) -> str:
    """Write the files below a directory as a compressed layer, and return the digest of the layer before that."""

    def plain(member: tarfile.TarInfo) -> tarfile.TarInfo:
        member.uname = member.gname = ""
        member.mtime = min(int(member.mtime), epoch)
        return member

    with file.open("wb") as raw, gzip.GzipFile("", "wb", 6, raw, mtime=0) as packed:
        digest = _Digest(packed)
        with tarfile.open(fileobj=digest, mode="w|", format=tarfile.PAX_FORMAT) as archive:  # type: ignore[call-overload]  # it only writes
            for path in _inside(root):
                archive.add(path, path.relative_to(root).as_posix(), recursive=False, filter=plain)
    return digest.sha256.hexdigest()


class _Digest:
    """A file that is written, and digested on the way."""

    def __init__(self, into: IO[bytes] | gzip.GzipFile) -> None:
        self._into = into
        self.sha256 = hashlib.sha256()

    def write(self, data: bytes) -> int:
        self.sha256.update(data)
        return self._into.write(data)


def _inside(directory: Path) -> Iterator[Path]:
    """Yield all below a directory, each directory before its contents; nothing of the kernel's file systems."""
    for path in sorted(directory.iterdir()):
        yield path
        if path.is_dir() and not path.is_symlink():
            yield from _inside(path)


def _config(settings: Settings, unpacked_sha256: str, epoch: int, version: str) -> bytes:
    path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    created = datetime.fromtimestamp(epoch, UTC).isoformat().replace("+00:00", "Z")
    return _bytes(
        {
            "created": created,
            "architecture": "amd64",
            "os": "linux",
            "config": {
                "User": settings.user,
                "Env": [f"{key}={value}" for key, value in {"PATH": path, **settings.environment}.items()],
                "Entrypoint": list(settings.entrypoint),
                "WorkingDir": settings.directory,
                "Labels": {
                    "org.opencontainers.image.licenses": "Apache-2.0",
                    "org.opencontainers.image.version": version,
                },
            },
            "rootfs": {"type": "layers", "diff_ids": [f"sha256:{unpacked_sha256}"]},
            "history": [{"created": created, "created_by": "./dev images"}],
        }
    )


def _descriptor(blob: bytes, kind: str) -> dict[str, Any]:
    return {"mediaType": f"{_KIND}.{kind}", "digest": f"sha256:{hashlib.sha256(blob).hexdigest()}", "size": len(blob)}


def _blob(blob: bytes) -> str:
    return f"blobs/sha256/{hashlib.sha256(blob).hexdigest()}"


def _bytes(value: object) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def _add(archive: tarfile.TarFile, name: str, data: bytes, epoch: int) -> None:
    _add_stream(archive, name, io.BytesIO(data), len(data), epoch)


def _add_stream(archive: tarfile.TarFile, name: str, data: IO[bytes], size: int, epoch: int) -> None:
    member = tarfile.TarInfo(name)
    member.size, member.mtime, member.mode = size, epoch, 0o644
    archive.addfile(member, data)
