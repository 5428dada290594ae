#!/usr/bin/env bash
# Installs iozone for the tests. Debian keeps it in non-free, Ubuntu in multiverse, which few systems have among their
# sources: it comes through a source list of its own in a temporary directory, from the mirror of the system's own
# sources, which stay as they are.
set -euo pipefail
# shellcheck source=/dev/null
. /etc/os-release
component=non-free
[[ $ID == ubuntu ]] && component=multiverse

own=$(mktemp -d)
as_root=()
[[ $EUID -eq 0 ]] || as_root=(sudo -n)
trap '"${as_root[@]}" rm -rf "$own"' EXIT
mkdir -p "$own"/{lists,cache/archives}/partial
keyring=/usr/share/keyrings/$ID-archive-keyring.gpg
signed=$([[ -e $keyring ]] && echo "[signed-by=$keyring] " || true)
apt-get indextargets --format "deb $signed\$(REPO_URI) \$(CODENAME) $component" \
  "Created-By: Packages" "Component: main" "Codename: $VERSION_CODENAME" | sort -u >"$own/sources.list"
options=(
  -o "Dir::Etc::SourceList=$own/sources.list" -o Dir::Etc::SourceParts=/dev/null
  -o "Dir::State::Lists=$own/lists" -o "Dir::Cache=$own/cache" -o APT::Sandbox::User=root
)
"${as_root[@]}" apt-get "${options[@]}" update -qq
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
  apt-get "${options[@]}" install -y -qq --no-install-recommends iozone3
