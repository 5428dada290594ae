#!/bin/sh
# Installs the agent of this bundle without any network. Nothing is there by half: an older agent stays in use until the new one is
# whole, and a load that runs goes on.
#
#   ./install.sh [--prefix DIRECTORY] [--only-programs]
#
# --prefix          where the programs go; /opt/iotide-agent, a link to the newest of the two that are kept
# --only-programs   no user, no unit, no /etc/iotide: for an agent that a user or a batch system starts
# PYTHON            the interpreter, by default the newest of the bundle's versions that is there
set -eu
umask 022 # root's own may be stricter, and the agent's user must be able to read what is installed
here=$(cd "$(dirname "$0")" && pwd)
prefix=/opt/iotide-agent
is_system=yes

refuse() { printf 'install: %s\n' "$*" >&2 && exit 2; }

while [ $# -gt 0 ]; do
  case $1 in
    --prefix) [ $# -gt 1 ] || refuse "--prefix: name a directory"; prefix=$2; shift ;;
    --only-programs) is_system=no ;;
    -h | --help) sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "$0"; exit ;;
    *) refuse "no option $1; --help lists them" ;;
  esac
  shift
done
case $prefix in /*) ;; *) refuse "--prefix $prefix: write an absolute path" ;; esac
[ "$is_system" = no ] || [ "$(id -u)" = 0 ] || refuse "run it as root, or with --only-programs and --prefix"
[ ! -e "$prefix" ] || [ -L "$prefix" ] || refuse "$prefix is there and not an agent that this installed: name another --prefix"

(cd "$here" && sha256sum --check --quiet --strict SHA256SUMS) || refuse "the bundle is not whole; copy it again"
arch=$(uname -m)
grep -qx "$arch" "$here/archs" || refuse "this node is $arch and the bundle is for $(xargs <"$here/archs"): make one with --arch $arch"

python=${PYTHON:-}
if [ -z "$python" ]; then
  for version in $(sort -rV "$here/pythons"); do
    # Asked, not only found: a version manager has names of versions that it cannot run.
    if "python$version" -c '' 2>/dev/null; then python=python$version; break; fi
  done
fi
[ -n "$python" ] || refuse "none of Python $(xargs <"$here/pythons") is on PATH: install one, or name it by PYTHON="
version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])') || refuse "$python does not run"
grep -qx "$version" "$here/pythons" ||
  refuse "$python is Python $version and the bundle is for $(xargs <"$here/pythons"): make one with --python $version"

mkdir -p "$(dirname "$prefix")"
before=$(readlink "$prefix" || true)
directory=$(mktemp -d "$prefix-$(cat "$here/version")-XXXXXX")
trap 'rm -rf "$directory"' EXIT
chmod 755 "$directory"
# Without pip: python3 of Debian has no ensurepip unless python3-venv is installed. The bundle has a wheel of pip.
"$python" -m venv --without-pip "$directory"
pip_wheel=$(find "$here/wheels" -name 'pip-*.whl')
pip() { "$directory/bin/python" "$pip_wheel/pip" --disable-pip-version-check --isolated --no-cache-dir "$@"; }
pip install --quiet --no-index --no-deps --require-hashes --find-links "$here/wheels" --requirement "$here/requirements.txt"
pip install --quiet --no-index --no-deps "$here"/wheels/iotide_wire-*.whl "$here"/wheels/iotide_agent-*.whl
"$directory/bin/iotide-agent" --help >/dev/null
ln -s "$directory" "$prefix.new"
mv -T "$prefix.new" "$prefix"
trap - EXIT
# The one before stays, since an agent and its runners may still work with it.
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
