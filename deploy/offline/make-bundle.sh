#!/usr/bin/env bash
# Creates a bundle to install the agent on nodes without internet access: wheels of the agent, the wire format and all
# dependencies pinned in uv.lock, checksums and an installer. On a node: tar xf FILE && sudo ./iotide-agent-*/install.sh
# A server with this file as agent/iotide-agent.tar in its state directory hands it out; the cluster's page then has the command.
#
#   deploy/offline/make-bundle.sh [--python 3.11]... [--arch x86_64|aarch64]... FILE.tar
#
# --python    CPython versions of the nodes; default 3.11, 3.12 and 3.13
# --arch      architectures of the nodes; default x86_64. The wheels need glibc 2.28 and the agent Linux 5.4: RHEL 9, Debian 11,
#             Ubuntu 20.04 or newer. On others, `iotide-agent check` names what is missing.
# Requires uv, which ./dev installs. With SOURCE_DATE_EPOCH, the same commit gives the same bytes.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
export PATH="$root/.tools/bin:$PATH"

PIP=pip==26.3 # bundled, so that nodes need neither pip nor Debian's python3-venv
GLIBC_TAGS=(manylinux_2_28 manylinux_2_27 manylinux_2_26 manylinux_2_24 manylinux_2_17 manylinux2014 manylinux_2_12 manylinux2010
  manylinux_2_5 manylinux1)

refuse() { printf 'make-bundle: %s\n' "$*" >&2 && exit 2; }

pythons=() archs=() file=
while [[ $# -gt 0 ]]; do
  case $1 in
    --python) [[ ${2:-} =~ ^3\.[0-9]+$ ]] || refuse "--python ${2:-}: give a version such as 3.11" && pythons+=("$2") && shift ;;
    --arch) [[ ${2:-} =~ ^(x86_64|aarch64)$ ]] || refuse "--arch ${2:-}: give x86_64 or aarch64" && archs+=("$2") && shift ;;
    -h | --help) sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "$0" && exit ;;
    -*) refuse "unknown option $1; see --help" ;;
    *) [[ -z $file ]] || refuse "give a single file, not $file and $1" && file=$1 ;;
  esac
  shift
done
[[ $file == *.tar ]] || refuse "give the name of the file to write, ending with .tar"
[[ ${#pythons[@]} -gt 0 ]] || pythons=(3.11 3.12 3.13)
[[ ${#archs[@]} -gt 0 ]] || archs=(x86_64)
command -v uv >/dev/null || refuse "uv is not installed; ./dev check installs it"
mkdir -p "$(dirname "$file")"
file=$(cd "$(dirname "$file")" && pwd)/$(basename "$file")

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$root"
version=$(uv run --quiet --no-sync --no-project python -c 'import sys, tomllib; print(tomllib.load(open(sys.argv[1], "rb"))["project"]["version"])' \
  agent/node/pyproject.toml)
bundle=$work/iotide-agent-$version
mkdir -p "$bundle/wheels"

for package in iotide-wire iotide-agent; do
  uv build --quiet --wheel --package "$package" --out-dir "$bundle/wheels"
done
rm -f "$bundle/wheels/.gitignore"
uv export --quiet --locked --no-dev --no-emit-workspace --package iotide-agent >"$bundle/requirements.txt"
# Remove Python version markers: here they would be evaluated for this machine's Python, not the node's. Packages of other
# platforms have no wheel for a node.
awk '/^[^ #]/ {keep = !/sys_platform == .(win32|emscripten)./} keep {sub(/ ; python_full_version[^\\]*/, " "); print}' \
  "$bundle/requirements.txt" >"$work/requirements.txt"

download() { uv tool run --quiet --from "$PIP" pip download --quiet --disable-pip-version-check --no-deps --dest "$bundle/wheels" "$@"; }
download --only-binary=:all: "$PIP"
for python in "${pythons[@]}"; do
  for arch in "${archs[@]}"; do
    printf 'make-bundle: Python %s, %s\n' "$python" "$arch" >&2
    tags=()
    for tag in "${GLIBC_TAGS[@]}"; do tags+=(--platform "${tag}_$arch"); done
    download --only-binary=:all: --require-hashes --implementation cp --python-version "$python" "${tags[@]}" \
      -r "$work/requirements.txt"
  done
done

printf '%s\n' "${pythons[@]}" >"$bundle/pythons"
printf '%s\n' "${archs[@]}" >"$bundle/archs"
printf '%s\n' "$version" >"$bundle/version"
install -m 755 deploy/offline/install.sh "$bundle/"
install -m 644 deploy/agent/* deploy/systemd/iotide-agent.sudo.conf LICENSE THIRD_PARTY.md "$bundle/"
(cd "$bundle" && find . -type f ! -name SHA256SUMS -print0 | LC_ALL=C sort -z | xargs -0 sha256sum >"$work/SHA256SUMS")
mv "$work/SHA256SUMS" "$bundle/"
# The same bytes each time, for `./dev release --verify`.
tar --create --file "$file.new" --directory "$work" --format=gnu --sort=name --owner=0 --group=0 --numeric-owner \
  --mode=u=rwX,go=rX --mtime="@${SOURCE_DATE_EPOCH:-$(date +%s)}" "iotide-agent-$version"
mv "$file.new" "$file"
printf 'make-bundle: %s, %s wheels, %s bytes, sha256 %s\n' "$file" "$(find "$bundle/wheels" -name '*.whl' | wc -l)" \
  "$(stat -c %s "$file")" "$(sha256sum "$file" | cut -d' ' -f1)"
