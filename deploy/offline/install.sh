#!/bin/sh
# Installs the agent of this bundle without network access. An older agent stays in use until the new one is complete, and
# running loads continue.
#
#   ./install.sh [--prefix DIRECTORY] [--only-programs]
#
# --prefix          directory of the programs, default /opt/iotide-agent: a link to the newer of the two versions that are kept
# --only-programs   create no user, unit or /etc/iotide: for agents that a user or a batch system starts
# PYTHON            interpreter, default the newest installed version that the bundle supports
set -eu
umask 022 # root's umask may be stricter, but the agent's user must be able to read the programs
here=$(cd "$(dirname "$0")" && pwd)
prefix=/opt/iotide-agent
is_system=yes

refuse() { printf 'install: %s\n' "$*" >&2 && exit 2; }

while [ $# -gt 0 ]; do
  case $1 in
    --prefix) [ $# -gt 1 ] || refuse "--prefix requires a directory"; prefix=$2; shift ;;
    --only-programs) is_system=no ;;
    -h | --help) sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "$0"; exit ;;
    *) refuse "unknown option $1; see --help" ;;
  esac
  shift
done
case $prefix in /*) ;; *) refuse "--prefix $prefix: give an absolute path" ;; esac
[ "$is_system" = no ] || [ "$(id -u)" = 0 ] || refuse "run this as root, or with --only-programs and --prefix"
[ ! -e "$prefix" ] || [ -L "$prefix" ] || refuse "$prefix exists and was not created by this installer: choose another --prefix"

(cd "$here" && sha256sum --check --quiet --strict SHA256SUMS) || refuse "the bundle is incomplete or damaged; copy it again"
arch=$(uname -m)
grep -qx "$arch" "$here/archs" || refuse "this node is $arch but the bundle is for $(xargs <"$here/archs"): make one with --arch $arch"

python=${PYTHON:-}
if [ -z "$python" ]; then
  for version in $(sort -rV "$here/pythons"); do
    # Try it: a version manager may have commands for versions that are not installed.
    if "python$version" -c '' 2>/dev/null; then python=python$version; break; fi
  done
fi
[ -n "$python" ] || refuse "no Python $(xargs <"$here/pythons") on PATH: install one, or set PYTHON="
version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])') || refuse "$python does not run"
grep -qx "$version" "$here/pythons" ||
  refuse "$python is Python $version but the bundle is for $(xargs <"$here/pythons"): make one with --python $version"

mkdir -p "$(dirname "$prefix")"
before=$(readlink "$prefix" || true)
directory=$(mktemp -d "$prefix-$(cat "$here/version")-XXXXXX")
trap 'rm -rf "$directory"' EXIT
chmod 755 "$directory"
# Without pip: Debian's python3 has no ensurepip without python3-venv. The bundle includes a pip wheel.
"$python" -m venv --without-pip "$directory"
pip_wheel=$(find "$here/wheels" -name 'pip-*.whl')
pip() { "$directory/bin/python" "$pip_wheel/pip" --disable-pip-version-check --isolated --no-cache-dir "$@"; }
pip install --quiet --no-index --no-deps --require-hashes --find-links "$here/wheels" --requirement "$here/requirements.txt"
pip install --quiet --no-index --no-deps "$here"/wheels/iotide_wire-*.whl "$here"/wheels/iotide_agent-*.whl
"$directory/bin/iotide-agent" --help >/dev/null
ln -s "$directory" "$prefix.new"
mv -T "$prefix.new" "$prefix"
trap - EXIT
# Keep the previous version, which an agent and its runners may still use.
for old in "$prefix"-[0-9]*-??????; do
  [ "$old" = "$directory" ] || [ "$old" = "$before" ] || rm -rf "$old"
done

if [ "$is_system" = yes ]; then
  id iotide-agent >/dev/null 2>&1 || useradd --system --home-dir /nonexistent --shell /usr/sbin/nologin iotide-agent
  install -d -m 755 /etc/iotide
  install -d -o iotide-agent -m 700 /var/lib/iotide-agent
  [ -e /etc/iotide/agent.toml ] || install -m 644 "$here/agent.toml" /etc/iotide/agent.toml
  install -d -m 755 /etc/systemd/system
  sed "s|/opt/iotide-agent/|$prefix/|" "$here/iotide-agent.service" >/etc/systemd/system/iotide-agent.service
fi
printf 'install: %s with Python %s\n' "$prefix/bin/iotide-agent" "$version"
if [ "$is_system" = yes ]; then
  cat <<EOF
install: what is left to do, as root:
  edit /etc/iotide/agent.toml                   server and approved_directories; the latter in the unit's ReadWritePaths= too
  echo TOKEN | setpriv --reuid=iotide-agent --regid=iotide-agent --clear-groups env IOTIDE_AGENT_STATE=/var/lib/iotide-agent \\
    $prefix/bin/iotide-agent enroll --config /etc/iotide/agent.toml
  systemctl daemon-reload && systemctl enable iotide-agent && systemctl restart iotide-agent
EOF
fi
