"""Builds a CPython that runs from any directory of any Linux with glibc 2.28, with its C libraries inside.

A directory keeps sources and the built archives. The Python for x86-64 builds the one for aarch64. Requires x86-64,
apt-get with Debian's package sources, cargo, uv, make and perl. The same inputs give the same bytes.
"""

import functools
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Final

from packages.archives import pack

GLIBC: Final = (2, 28)
"""Oldest C library: that of RHEL 8. Debian 11 has 2.31, SLES 15 SP3 2.31."""
PYTHON: Final = "3.13"
_HERE: Final = Path(__file__).parent
ARCHITECTURES: Final = {"x86_64": "amd64", "aarch64": "arm64"}
"""Names of the packages' architectures in Debian, by their names in the kernel."""
NATIVE: Final = "x86_64"
"""Architecture of the machine that builds."""
_CPU: Final = {"x86_64": "x86_64", "aarch64": "generic"}
_SUITE: Final = "trixie"
_PACKAGE: Final = "python3.13"
_SOURCE: Final = {
    "python3.13_3.13.5.orig.tar.xz": "93e583f243454e6e9e4588ca2c2662206ad961659863277afcdb96801647d640",
    "python3.13_3.13.5-2+deb13u5.debian.tar.xz": "a51f456e654ce2c9b40cc1db8005e5041cdb0b2c3aa96ab0871c49fe95280366",
}
"""CPython of Debian 13, and Debian's patches. A later security update of Debian replaces the second."""
_SECURITY: Final = re.compile(r"CVE-|ssl-|dict-use-after-free|traverse-managed-dicts")
"""Debian's patches that fix faults. The others adapt CPython to Debian."""
_LEFT_OUT: Final = (
    "_bz2", "_ctypes_test", "_curses", "_curses_panel", "_dbm", "_gdbm", "_lzma", "_sqlite3", "_testcapi", "_tkinter",
    "_uuid", "nis", "readline", "xxlimited", "xxlimited_35",
)  # fmt: skip
"""Modules that need more libraries; neither the agent nor its packages import them."""
_UNUSED: Final = (
    "idlelib", "tkinter", "turtledemo", "turtle.py", "ensurepip", "pydoc_data", "lib2to3", "test", "__phello__",
    "config-*", "lib-dynload/_test*",
)  # fmt: skip
_FLAGS: Final = "-O2 -g0 -fPIC -fstack-protector-strong"
_BUILT_AT: Final = '#define DATE "Jan 01 2026"\n#define TIME "00:00:00"\n'
"""Part of sys.version; otherwise each build would differ."""
_ZLIB_SKIPS: Final = frozenset({"gzclose.c", "gzlib.c", "gzread.c", "gzwrite.c"})
_LICENCES: Final = {
    "openssl": "vendored/openssl-src/openssl/LICENSE.txt",
    "zlib": "vendored/libz-sys/src/zlib/LICENSE",
    "libffi": "vendored/libffi-sys/libffi/LICENSE",
    "expat": "Python-*/Modules/expat/COPYING",
    "mpdecimal": "Python-*/Modules/_decimal/libmpdec/mpdecimal.h",
}
"""Texts by library; of a source file its first comment."""
_SIGNED_BY: Final = "/usr/share/keyrings/debian-archive-keyring.gpg"


class BuildError(Exception):
    """The Python cannot be built; the message has the remedy."""


def built_python(cache: Path, architecture: str = NATIVE) -> Path:
    """Return the archive of the Python in a cache; build it first if its inputs changed.

    Raises:
        BuildError: An input is missing or another one.
        subprocess.CalledProcessError: A program failed; it printed why.
    """
    inputs = [_HERE / "own_python.py", _HERE / "archives.py", _HERE / "compiler.txt", _HERE / "libraries/Cargo.lock"]
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in inputs)).hexdigest()[:16]
    archive = cache / f"python-{architecture}-{digest}.tar"
    if not archive.exists():
        cache.mkdir(parents=True, exist_ok=True)
        sources = _sources(cache / "sources")
        with tempfile.TemporaryDirectory(prefix="iotide-python-") as directory:
            builder = None if architecture == NATIVE else built_python(cache)
            _Build(Path(directory), sources, architecture, builder).make(archive)
    return archive


class _Build:
    """Build Python once, in a directory that is removed afterwards."""

    def __init__(self, work: Path, sources: list[Path], architecture: str, builder: Path | None) -> None:
        """Prepare a build; it is a cross build with the archive of a Python that runs here."""
        self._work = work
        self._sources = sources
        self._architecture = architecture
        self._builder = builder
        self._crossing = () if builder is None else (f"--host={architecture}-linux-gnu", f"--build={NATIVE}-linux-gnu")
        self._libraries = work / "root/usr"
        self._environment: dict[str, str] = {}

    def make(self, archive: Path) -> None:
        self._install_compiler()
        vendored = self._work / "vendored"
        say("fetch the sources of OpenSSL, zlib and libffi")
        self._run(self._work, "cargo", "vendor", "--quiet", "--locked", "--manifest-path",
                  _HERE / "libraries/Cargo.toml", vendored)  # fmt: skip
        for name, build in (("zlib", self._zlib), ("libffi", self._libffi), ("OpenSSL", self._openssl)):
            say(f"build {name}")
            build(vendored)
        say("build Python")
        tree = self._python()
        _reduce(tree)
        _forget(tree, str(self._work).encode())
        for name, licence in _LICENCES.items():
            text = next(self._work.glob(licence)).read_text()
            (tree / "lib" / f"python{PYTHON}" / f"LICENSE.{name}.txt").write_text(text.partition("*/")[0])
        draft = archive.with_suffix(".new")
        pack(tree, draft, "python", seconds=0)
        draft.rename(archive)

    def _install_compiler(self) -> None:
        say("fetch the compiler")
        place = self._work / "zig"
        self._run(self._work, "uv", "pip", "install", "--quiet", "--require-hashes", "--no-deps", "--target", place,
                  "--requirements", _HERE / "compiler.txt")  # fmt: skip
        # By name and with all paths inside, because OpenSSL and CPython record how they were compiled.
        target = f"{self._architecture}-linux-gnu.{GLIBC[0]}.{GLIBC[1]}"
        compiling = f"-target {target} -mcpu={_CPU[self._architecture]} -ffile-prefix-map={self._work}=."
        programs = self._work / "programs"
        programs.mkdir()
        for name, command in {
            "cc": f"cc {compiling}",
            "c++": f"c++ {compiling}",
            "ar": "ar",
            "ranlib": "ranlib",
        }.items():
            wrapper = programs / f"zig-{name}"
            wrapper.write_text(f'#!/bin/sh\nexec {place / "ziglang/zig"} {command} "$@"\n')
            wrapper.chmod(0o755)
        cache = str(self._work / "zig-cache")
        self._environment = {
            "PATH": f"{programs}:{os.environ['PATH']}",
            "CC": "zig-cc",
            "CXX": "no",  # nothing here is C++; for a test of it, zig would compile its library
            "AR": "zig-ar",
            "RANLIB": "zig-ranlib",
            "CFLAGS": _FLAGS,
            "ZIG_GLOBAL_CACHE_DIR": cache,
            "ZIG_LOCAL_CACHE_DIR": cache,
            "PKG_CONFIG_LIBDIR": str(self._libraries / "lib/pkgconfig"),
            "SOURCE_DATE_EPOCH": "0",
            "LC_ALL": "C.UTF-8",
        }

    def _zlib(self, vendored: Path) -> None:
        source = vendored / "libz-sys/src/zlib"
        files = sorted(path.name for path in source.glob("*.c") if path.name not in _ZLIB_SKIPS)
        for name in files:
            self._run(source, "zig-cc", *_FLAGS.split(), "-D_LARGEFILE64_SOURCE=1", "-c", name)
        library, headers = self._libraries / "lib", self._libraries / "include"
        library.mkdir(parents=True)
        headers.mkdir()
        objects = [name.replace(".c", ".o") for name in files]
        self._run(source, "zig-ar", "rcsD", library / "libz.a", *objects)
        for name in ("zlib.h", "zconf.h"):
            shutil.copyfile(source / name, headers / name)

    def _libffi(self, vendored: Path) -> None:
        source = vendored / "libffi-sys/libffi"
        (source / "configure").chmod(0o755)
        options = (
            "--disable-shared",
            "--enable-static",
            "--with-pic",
            "--disable-docs",
            "--disable-multi-os-directory",
        )
        self._run(source, "sh", "configure", "--quiet", f"--prefix={self._libraries}", *self._crossing,
                  *options)  # fmt: skip
        self._make(source)
        self._make(source, "install")

    def _openssl(self, vendored: Path) -> None:
        source = vendored / "openssl-src/openssl"
        options = ("no-shared", "no-module", "no-tests", "no-apps", "no-docs", "no-legacy", "no-engine", "no-dso")
        self._run(source, "perl", "Configure", f"linux-{self._architecture}", *options, "--libdir=lib",
                  "--openssldir=/etc/ssl", "--prefix=/usr")  # fmt: skip
        self._make(source, "build_libs")
        self._make(source, "install_dev", f"DESTDIR={self._work / 'root'}")

    def _python(self) -> Path:
        self._run(self._work, "tar", "--extract", "--file", self._sources[0])
        self._run(self._work, "tar", "--extract", "--file", self._sources[1])
        source = next(self._work.glob("Python-*"))
        patches = self._work / "debian/patches"
        for name in (patches / "series").read_text().split():
            if _SECURITY.match(name):
                self._run(source, "patch", "--quiet", "--strip=1", "--input", patches / name)
        dated = source / "Modules/getbuildinfo.c"
        dated.write_text(_BUILT_AT + dated.read_text())
        include, library = f"-I{self._libraries / 'include'}", f"-L{self._libraries / 'lib'}"
        self._run(
            source, "sh", "configure", "--quiet", "--prefix=/python", f"--with-openssl={self._libraries}",
            "--with-ensurepip=no", "--disable-test-modules", "--without-readline", "--without-static-libpython",
            "MODULE_BUILDTYPE=static", f"LIBFFI_CFLAGS={include}", f"LIBFFI_LIBS={library} -lffi",
            f"ZLIB_CFLAGS={include}", f"ZLIB_LIBS={library} -lz", "LDFLAGS=-pie -s",
            *(f"py_cv_module_{name}=n/a" for name in _LEFT_OUT), *self._built_by(),
        )  # fmt: skip
        self._make(source)
        self._make(source, "install", f"DESTDIR={self._work / 'installed'}")
        return self._work / "installed/python"

    def _built_by(self) -> tuple[str, ...]:
        """Return the options of a cross build, with the answers that configure finds by running programs."""
        if self._builder is None:
            return ()
        with tarfile.open(self._builder) as archive:
            archive.extractall(self._work / "builder", filter="data")
        python = self._work / "builder/python/bin/python3"
        return (*self._crossing, f"--with-build-python={python}", "--enable-ipv6", "ac_cv_file__dev_ptmx=yes",
                "ac_cv_file__dev_ptc=no")  # fmt: skip

    def _make(self, source: Path, *targets: str) -> None:
        self._run(source, "make", "--silent", f"--jobs={os.cpu_count() or 1}", *targets)

    def _run(self, within: Path, *command: str | Path) -> None:
        """Run a program, with its output on standard error."""
        subprocess.run(command, cwd=within, env={**os.environ, **self._environment}, stdout=sys.stderr, check=True)


def _forget(tree: Path, work: bytes) -> None:
    """Replace the build's directory in the files that record how Python was built.

    Raises:
        BuildError: A binary names it, so the next build would differ.
    """
    for path in sorted(tree.rglob("*")):
        if path.is_symlink() or not path.is_file() or work not in (content := path.read_bytes()):
            continue
        if b"\0" in content:
            raise BuildError(f"{path.relative_to(tree)} names the directory of its build; remove that from its source")
        path.write_bytes(content.replace(work, b"/build"))


def _reduce(tree: Path) -> None:
    """Leave the interpreter at bin/python3, and the library without what no program of ours uses."""
    library = tree / "lib" / f"python{PYTHON}"
    for pattern in _UNUSED:
        for path in library.glob(pattern):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    for path in [*library.rglob("__pycache__")]:
        shutil.rmtree(path)
    for name in ("include", "share", "lib/pkgconfig"):
        shutil.rmtree(tree / name, ignore_errors=True)
    for path in (tree / "lib").glob("libpython*"):
        path.unlink()
    # Without a version: a load keeps its interpreter's path through an upgrade.
    interpreter = (tree / "bin" / f"python{PYTHON}").rename(tree / "python3")
    shutil.rmtree(tree / "bin")
    (tree / "bin").mkdir()
    interpreter.rename(tree / "bin/python3")


def _sources(directory: Path) -> list[Path]:
    """Return the files of CPython's source package; fetch those that the directory lacks.

    Raises:
        BuildError: Debian no longer has one.
    """
    directory.mkdir(parents=True, exist_ok=True)
    files = [directory / name for name in _SOURCE]
    if not all(path.exists() for path in files):
        say(f"fetch the source package {_PACKAGE}")
        _download(directory)
    for path in files:
        if not path.exists():
            raise BuildError(
                f"Debian's source package {_PACKAGE} has no {path.name}: there is a newer update. Set its version and "
                f"SHA-256 in {_HERE / 'own_python.py'}, or copy the file to {directory}"
            )
        if (found := hashlib.sha256(path.read_bytes()).hexdigest()) != _SOURCE[path.name]:
            raise BuildError(f"{path} has SHA-256 {found}, not {_SOURCE[path.name]}. Remove it, and build again")
    return files


def _download(directory: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="iotide-apt-") as scratch:
        own = Path(scratch)
        listed = own / "sources.list"
        listed.write_text(f"deb-src [signed-by={_SIGNED_BY}] {debian_mirror()} {_SUITE} main\n")
        options = [f"-oDir::Etc::SourceList={listed}", "-oDir::Etc::SourceParts=-", f"-oDir::State::Lists={own}/lists",
                   f"-oDir::Cache={own}/cache", "-oAPT::Sandbox::User=root"]  # fmt: skip
        (own / "lists/partial").mkdir(parents=True)
        (own / "cache/archives/partial").mkdir(parents=True)
        for command in (("update", "--quiet"), ("source", "--quiet", "--download-only", _PACKAGE)):
            subprocess.run(["apt-get", *options, *command], cwd=directory, stdout=sys.stderr, check=True)


@functools.cache
def debian_mirror() -> str:
    """Return the address from which this machine's apt fetches Debian's packages.

    Raises:
        BuildError: It names none.
    """
    apt = Path("/etc/apt")
    for path in sorted(
        [*apt.glob("sources.list.d/*.sources"), *apt.glob("sources.list*"), *apt.glob("sources.list.d/*")]
    ):
        if path.is_file() and (found := re.search(r"https?://\S+/debian/?(?=\s)", path.read_text())):
            return found[0]
    raise BuildError("apt has no Debian sources. Run this on Debian, or add a source to /etc/apt/sources.list.d")


def say(text: str) -> None:
    print(f"packages: {text}", file=sys.stderr, flush=True)
