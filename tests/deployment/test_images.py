"""Container images of a release: their archive, and what they share with docker-compose.yml and the Dockerfile."""

import gzip
import hashlib
import json
import os
import re
import tarfile
import tomllib
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from release.image_archive import Settings, write_image
from release.images import EMBEDDED, IMAGES, PYTHON

ROOT: Final = Path(__file__).resolve().parents[2]
EPOCH: Final = 1_700_000_000
SETTINGS: Final = Settings(("/app/start", "--now"), "10001", "/app", {"NAME": "value"})


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    (root / "app").mkdir(parents=True)
    (root / "app/start").write_text("#!/bin/sh\n")
    (root / "app/start").chmod(0o755)
    (root / "app/link").symlink_to("/app/start")
    os.utime(root / "app/start", (EPOCH + 9, EPOCH + 9))
    file = tmp_path / "image.tar"
    write_image(root, file, "localhost/iotide-agent:1.2.3", SETTINGS, EPOCH)
    return file


def members(archive: Path) -> dict[str, bytes]:
    with tarfile.open(archive) as opened:
        return {member.name: opened.extractfile(member).read() for member in opened}  # type: ignore[union-attr]  # all are files


def blob(found: dict[str, bytes], descriptor: dict[str, Any]) -> bytes:
    """Return the file that a descriptor names, after a check of its size and digest."""
    kind, _, digest = descriptor["digest"].partition(":")
    data = found[f"blobs/{kind}/{digest}"]
    assert (len(data), hashlib.sha256(data).hexdigest()) == (descriptor["size"], digest)
    return data


def test_every_digest_of_an_archive_is_that_of_the_file_it_names(archive: Path) -> None:
    found = members(archive)
    assert json.loads(found["oci-layout"]) == {"imageLayoutVersion": "1.0.0"}
    (described,) = json.loads(found["index.json"])["manifests"]
    assert described["annotations"]["io.containerd.image.name"] == "localhost/iotide-agent:1.2.3"
    manifest = json.loads(blob(found, described))
    config = json.loads(blob(found, manifest["config"]))
    layer = blob(found, manifest["layers"][0])
    assert config["rootfs"]["diff_ids"] == [f"sha256:{hashlib.sha256(gzip.decompress(layer)).hexdigest()}"]
    assert config["config"]["Entrypoint"] == ["/app/start", "--now"]
    assert config["config"]["User"] == "10001"
    assert "NAME=value" in config["config"]["Env"]
    (listed,) = json.loads(found["manifest.json"])
    assert listed["RepoTags"] == ["localhost/iotide-agent:1.2.3"]
    assert [found[path] for path in (listed["Config"], *listed["Layers"])] == [blob(found, manifest["config"]), layer]


def test_the_layer_has_directories_links_and_modes_and_no_file_is_newer_than_the_commit(
    archive: Path, tmp_path: Path
) -> None:
    found = members(archive)
    (listed,) = json.loads(found["manifest.json"])
    layer = tmp_path / "layer.tar.gz"
    layer.write_bytes(found[listed["Layers"][0]])
    with tarfile.open(layer) as opened:
        inside = {member.name: member for member in opened}
    assert list(inside) == ["app", "app/link", "app/start"]
    assert inside["app/link"].linkname == "/app/start"
    assert inside["app/start"].mode == 0o755
    assert max(member.mtime for member in inside.values()) <= EPOCH


def test_the_same_files_give_the_same_bytes(archive: Path, tmp_path: Path) -> None:
    again = tmp_path / "again.tar"
    write_image(tmp_path / "root", again, "localhost/iotide-agent:1.2.3", SETTINGS, EPOCH)
    assert again.read_bytes() == archive.read_bytes()
    assert not again.with_suffix(".layer").exists()


def test_the_images_are_those_of_docker_compose_with_the_users_that_own_their_directories() -> None:
    services = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
    users = {service["image"]: service["user"].partition(":")[0] for service in services.values()}
    assert {image.name: image.settings.user for image in IMAGES} == {
        name: user for name, user in users.items() if name.startswith("iotide-")
    }


def test_every_volume_of_a_service_has_a_mount_point_of_its_user_in_the_image() -> None:
    services = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
    for image in IMAGES:
        mounted = {
            str(volume).split(":")[1].lstrip("/")
            for service in services.values()
            if service["image"] == image.name and image.directories
            for volume in service["volumes"]
        }
        assert mounted <= image.directories.keys() | {"run/join"}


def test_packages_are_those_of_the_dockerfile() -> None:
    dockerfile = (ROOT / "deploy/docker/Dockerfile").read_text()
    for part in ("server", "agent"):
        stage = dockerfile.partition(f"FROM python AS {part}\n")[2].partition("\nFROM ")[0]
        wanted = re.findall(r"--no-install-recommends (.*?) &&", stage)
        (image,) = (image for image in IMAGES if image.name == f"iotide-{part}")
        assert wanted
        assert set(" ".join(wanted).split()) <= set(image.packages)
    assert f"FROM python:{PYTHON}-slim" in dockerfile


def test_the_server_has_no_database_of_its_own() -> None:
    extra = tomllib.loads((ROOT / "backend/pyproject.toml").read_text())["project"]["optional-dependencies"]["embedded"]
    assert {re.split(r"[><=]", name)[0] for name in extra} == set(EMBEDDED)
