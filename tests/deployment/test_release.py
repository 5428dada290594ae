"""`./dev release`: what it refuses, its checksums, its signature, and what its comparison names."""

import gzip
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from typing import Final

import pytest
import release.__main__ as program
from release.comparing import differences, sha256
from release.versions import PACKAGES, ReleaseError, agreed_version, release_notes, unreleased, versions

TOP: Final = Path(__file__).resolve().parents[2]
CHANGELOG: Final = """\
# Changelog

## Unreleased
### Added
- Nothing else
- here.

## 1.2.3 - 2026-12-24
### Fixed
- Rates.

## 1.2.2
- No date.

## 1.2.1 - 2026-12-01
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Return a git repository of the files that have versions, all 1.2.3, and a changelog."""
    tree = tmp_path / "tree"
    for path, version in versions(TOP).items():
        copy = tree / path
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(
            (TOP / path).read_text().replace(f'"{version}"', '"1.2.3"', 2).replace(f"=={version}", "==1.2.3")
        )
    (tree / "CHANGELOG.md").write_text(CHANGELOG)
    for words in (("init", "--quiet"), ("add", "."), ("commit", "--quiet", "--message", "1.2.3")):
        subprocess.run(["git", "-c", "user.name=x", "-c", "user.email=x", *words], cwd=tree, check=True)
    return tree


def test_files_of_one_version_agree(tree: Path) -> None:
    assert agreed_version(tree) == agreed_version(tree, "1.2.3") == "1.2.3"


def test_the_repository_agrees_on_one_version() -> None:
    assert agreed_version(TOP) == versions(TOP)["backend/pyproject.toml"]


@pytest.mark.parametrize("path", sorted(versions(TOP)))
def test_a_file_of_another_version_is_named(tree: Path, path: str) -> None:
    file = tree / path
    file.write_text(file.read_text().replace('"1.2.3"', '"1.2.4"', 1))
    with pytest.raises(ReleaseError, match=rf"{re.escape(path)} 1\.2\.4.* Set it there"):
        agreed_version(tree, "1.2.3")


@pytest.mark.parametrize("directory", PACKAGES[1:])
@pytest.mark.parametrize("requirement", ["iotide-wire", "iotide-wire>=1.2.3", "iotide-wire==1.2.2"])
def test_a_wheel_that_would_accept_another_wire_format_is_named(tree: Path, directory: str, requirement: str) -> None:
    file = tree / directory / "pyproject.toml"
    file.write_text(file.read_text().replace("iotide-wire==1.2.3", requirement))
    with pytest.raises(ReleaseError, match=f'{directory}/pyproject.toml requires "{requirement}". Write'):
        agreed_version(tree)


@pytest.mark.parametrize("version", ["1.2", "v1.2.3", "../1.2.3", "1.2.3-dirty"])
def test_a_version_is_three_numbers(tree: Path, version: str) -> None:
    with pytest.raises(ReleaseError, match="give three numbers"):
        agreed_version(tree, version)


def test_the_notes_are_the_section_of_the_version() -> None:
    assert release_notes(CHANGELOG, "1.2.3") == "# iotide 1.2.3, 2026-12-24\n### Fixed\n- Rates.\n"
    assert unreleased(CHANGELOG) == ["- Nothing else", "- here."]


@pytest.mark.parametrize(
    ("version", "sentence"),
    [
        ("1.3.0", 'no section "1.3.0". Rename "## Unreleased" to "## 1.3.0 - YYYY-MM-DD"'),
        ("1.2.2", 'section "1.2.2" has no date'),
        ("1.2.1", 'section "1.2.1" is empty'),
    ],
)
def test_a_version_without_dated_notes_is_refused(version: str, sentence: str) -> None:
    with pytest.raises(ReleaseError, match=re.escape(sentence)):
        release_notes(CHANGELOG, version)


def test_what_the_repository_has_released_has_dated_notes() -> None:
    assert release_notes((TOP / "CHANGELOG.md").read_text(), agreed_version(TOP))


@pytest.mark.parametrize(
    ("version", "change", "sentence"),
    [
        ("1.2.3", None, 'has 2 changes under "Unreleased"'),
        ("1.2.4", None, "have another version"),
        (None, "new.txt", "1 files differ from the commit: new.txt. Commit or remove them"),
        ("1.2.3", "CHANGELOG.md", "1 files differ from the commit: CHANGELOG.md"),
        ("--sign=/nonexistent", None, "--sign /nonexistent: not a file. Name a private SSH key"),
    ],
)
def test_a_repository_that_is_not_ready_is_refused_with_status_2(
    tree: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    version: str | None,
    change: str | None,
    sentence: str,
) -> None:
    if change is not None:
        (tree / change).write_text(CHANGELOG.replace("here", "there"))
    monkeypatch.setattr(program, "ROOT", tree)
    monkeypatch.setattr(sys, "argv", ["release", *filter(None, [version])])
    assert program.main() == 2
    assert sentence in capsys.readouterr().err
    assert not (tree / "dist").exists()


def released(directory: Path, commit_tree: Path | None = None) -> Path:
    """Return a directory that has a source archive, another file, and the checksums of both."""
    directory.mkdir()
    archive = b"no tar"
    if commit_tree is not None:
        archive = subprocess.run(["git", "archive", "HEAD"], cwd=commit_tree, capture_output=True, check=True).stdout
    (directory / "iotide-1.2.3.tar.gz").write_bytes(gzip.compress(archive))
    (directory / "NOTES.md").write_text("notes")
    sums = [f"{sha256(path)}  {path.name}\n" for path in sorted(directory.iterdir())]
    (directory / "SHA256SUMS").write_text("".join(sums))
    return directory


def test_a_release_names_its_commit(tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program, "ROOT", tree)
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=tree, capture_output=True, text=True, check=True)
    assert program.commit_of(released(tmp_path / "dist", tree)) == head.stdout.strip()


def test_a_release_that_cannot_be_verified_is_refused_with_the_remedy(
    tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(program, "ROOT", tree)
    with pytest.raises(ReleaseError, match="Name the directory of a release"):
        program.verify(tmp_path / "nowhere")
    with pytest.raises(ReleaseError, match="names no commit, so this program did not make it"):
        program.verify(released(tmp_path / "foreign"))
    of_other = released(tmp_path / "dist", tree)
    shutil.rmtree(tree / ".git")
    subprocess.run(["git", "init", "--quiet"], cwd=tree, check=True)
    with pytest.raises(ReleaseError, match=r"does not have commit [0-9a-f]{40}. Run git fetch"):
        program.verify(of_other)


def test_a_release_that_a_rebuild_changes_is_not_verified(
    tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    published = released(tmp_path / "dist", tree)
    rebuilt = shutil.copytree(published, tmp_path / "rebuilt")
    (published / program.SIGNATURE).write_text("of a key that only the maintainers have")
    monkeypatch.setattr(program, "ROOT", tree)
    monkeypatch.setattr(program, "build", lambda _commit, _work: rebuilt)
    assert program.verify(published) == 0
    assert "3 files are equal" in capsys.readouterr().out
    (rebuilt / "NOTES.md").write_text("other notes")
    assert program.verify(published) == 1
    assert capsys.readouterr().out == "NOTES.md: differs\n"


def test_a_changed_or_missing_file_is_named_by_the_checksums(tmp_path: Path) -> None:
    directory = released(tmp_path / "dist")
    assert program.wrong_sums(directory) == []
    (directory / "NOTES.md").write_text("other notes")
    (directory / "iotide-1.2.3.tar.gz").unlink()
    assert program.wrong_sums(directory) == ["NOTES.md", "iotide-1.2.3.tar.gz"]


def test_the_signature_of_the_checksums_is_verified_by_openssh(tmp_path: Path) -> None:
    key, directory = tmp_path / "key", released(tmp_path / "dist")
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
    program.sign(directory / program.SUMS, key)
    signers = tmp_path / "signers"
    signers.write_text(f"releases@example.org {key.with_suffix('.pub').read_text()}")
    verify = ("ssh-keygen", "-Y", "verify", "-I", "releases@example.org", "-n", program.NAMESPACE)
    command: list[str | Path] = [*verify, "-f", signers, "-s", directory / program.SIGNATURE]
    sums = (directory / program.SUMS).read_bytes()
    assert subprocess.run(command, input=sums, check=False, capture_output=True).returncode == 0
    assert subprocess.run(command, input=sums + b"x", check=False, capture_output=True).returncode != 0
    with pytest.raises(ReleaseError, match=r"--sign /nonexistent: .*Name a private SSH key"):
        program.sign(directory / program.SUMS, Path("/nonexistent"))


def test_a_comparison_names_files_and_members_that_differ(tmp_path: Path) -> None:
    for side in ("first", "second"):
        directory = tmp_path / side
        directory.mkdir()
        (directory / "same").write_text("same")
        (directory / "text").write_text(side)
        (directory / f"only-{side}").write_text("")
        with zipfile.ZipFile(directory / "a.whl", "w") as wheel:
            wheel.writestr(zipfile.ZipInfo("pages/app.js"), side)
            wheel.writestr(zipfile.ZipInfo("pages/index.html"), "same")
        with tarfile.open(directory / "b.tar", "w") as tar:
            tar.addfile(tarfile.TarInfo("same"))
            later = tarfile.TarInfo("later")
            later.mtime = len(side)
            tar.addfile(later)
    assert differences(tmp_path / "first", tmp_path / "second") == [
        "a.whl: differs in pages/app.js",
        "b.tar: differs in later",
        f"only-first: only in {tmp_path / 'first'}",
        "only-second: only in the rebuilt release",
        "text: differs",
    ]
    assert differences(tmp_path / "first", tmp_path / "first") == []
