#!/bin/sh
# Installs the programs of this bundle without network access. An older agent stays in use until the new one is complete, and
# running loads continue. `iotide-agent setup` then makes the host a node.
#
#   ./install.sh [--prefix DIRECTORY]
#
# --prefix   directory of the programs, default /opt/iotide-agent: a link to the newer of the two versions that are kept
# PYTHON     interpreter, default the newest installed version that the bundle supports; not needed if the bundle has its own
set -eu
umask 022 # root's umask may be stricter, but the agent's user must be able to read the programs
here=$(cd "$(dirname "$0")" && pwd)
prefix=/opt/iotide-agent

refuse() { printf 'install: %s\n' "$*" >&2 && exit 2; }

while [ $# -gt 0 ]; do
  case $1 in
    --prefix) [ $# -gt 1 ] || refuse "--prefix requires a directory"; prefix=$2; shift ;;
    -h | --help) sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "$0"; exit ;;
    *) refuse "unknown option $1; see --help" ;;
  esac
  shift
done
case $prefix in /*) ;; *) refuse "--prefix $prefix: give an absolute path" ;; esac
[ ! -e "$prefix" ] || [ -L "$prefix" ] || refuse "$prefix exists and was not created by this installer: choose another --prefix"

(cd "$here" && sha256sum --check --quiet --strict SHA256SUMS) || refuse "the bundle is incomplete or damaged; copy it again"
arch=$(uname -m)
grep -qx "$arch" "$here/archs" || refuse "this node is $arch but the bundle is for $(xargs <"$here/archs"): make one with --arch $arch"
if [ -e "$prefix/SHA256SUMS" ] && [ "$(cat "$prefix/SHA256SUMS")" = "$(cat "$here/SHA256SUMS")" ] &&
  "$prefix/bin/iotide-agent" --help >/dev/null 2>&1; then
  printf 'install: %s has this version\n' "$prefix/bin/iotide-agent"
  exit
fi

# find_python  Set `python`, or refuse.
find_python() {
  wanted=$(xargs <"$here/pythons" | sed 's/ / or /g')
  python=${PYTHON:-}
  if [ -z "$python" ]; then
    for version in $(sort -rV "$here/pythons"); do
      # Try it: a version manager may have commands for versions that are not installed.
      if "python$version" -c '' 2>/dev/null; then python=python$version; break; fi
    done
  fi
  [ -n "$python" ] ||
    refuse "this node has no Python $wanted: install one, such as the package python3.12 of RHEL 9, or set PYTHON="
  version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])') || refuse "$python does not run"
  grep -qx "$version" "$here/pythons" || refuse "$python is Python $version but the bundle is for $wanted: set PYTHON="
}

# install_wheels DIRECTORY  Make a Python environment there. Without its pip: Debian's python3 has no ensurepip without
# python3-venv. The bundle includes a pip wheel.
install_wheels() {
  "$python" -m venv --without-pip "$1"
  installer=$(find "$here/wheels" -name 'pip-*.whl')/pip
  set -- "$1/bin/python" "$installer" --disable-pip-version-check --isolated --no-cache-dir install --quiet --no-index --no-deps
  "$@" --require-hashes --find-links "$here/wheels" --requirement "$here/requirements.txt"
  "$@" "$here"/wheels/iotide_wire-*.whl "$here"/wheels/iotide_agent-*.whl
}

# A tree with the program brings its own Python.
[ -e "$here/bin/iotide-agent" ] || find_python
mkdir -p "$(dirname "$prefix")"
before=$(readlink "$prefix" || true)
directory=$(mktemp -d "$prefix-$(cat "$here/version")-XXXXXX")
trap 'rm -rf "$directory"' EXIT
chmod 755 "$directory"
if [ -e "$here/bin/iotide-agent" ]; then cp -R "$here/." "$directory/"; else install_wheels "$directory"; fi
cp "$here/SHA256SUMS" "$directory/"
"$directory/bin/iotide-agent" --help >/dev/null
ln -sfn "$directory" "$prefix.new"
mv -T "$prefix.new" "$prefix"
trap - EXIT
# Keep the previous version, which an agent and its runners may still use.
for old in "$prefix"-[0-9]*-??????; do
  [ "$old" = "$directory" ] || [ "$old" = "$before" ] || rm -rf "$old"
done
printf 'install: %s\n' "$prefix/bin/iotide-agent"
