#!/bin/sh
# Makes this host a node of iotide: echo TOKEN | sh join.sh https://SERVER:8470 DIRECTORY...
# Runs write only below the directories. The cluster's page shows the command, with this file's SHA-256.
#
# Run it as root. It needs curl, tar and Python 3.11 or newer, and connects only to SERVER. The token names the server's
# authority, so another server gets nothing but a request for its certificate. On a host with the deb or the rpm it sets the
# package's agent up, and installs no other.
set -eu
umask 022
bundle_sha256=@BUNDLE_SHA256@
prefix=/opt/iotide-agent
package=/usr/lib/iotide-agent/bin/iotide-agent

refuse() { printf 'join: %s\n' "$*" >&2 && exit 2; }

# get FILE OPTIONS...  Fetch a file of the server into the working directory, past any web proxy, as the agent connects.
get() {
  file=$1
  shift
  curl --fail --silent --show-error --noproxy '*' --connect-timeout 10 --retry 10 --max-filesize 500000000 "$@" \
    --output "$work/$file" "$server/agent/$file"
}

join() {
  [ $# -ge 2 ] || refuse "usage: echo TOKEN | sh join.sh https://SERVER:8470 DIRECTORY..."
  [ "$(id -u)" = 0 ] || refuse "this creates a user and a service: run it as root"
  for tool in curl tar sha256sum base64 sed mktemp; do
    command -v "$tool" >/dev/null || refuse "$tool is not installed: install it first"
  done
  [ -e "$package" ] || [ ! -e "$prefix" ] || [ -L "$prefix" ] ||
    refuse "$prefix was installed in another way: upgrade it there, then run '$prefix/bin/iotide-agent setup'"
  server=${1%/}
  shift
  for directory; do
    shift
    case $directory in /*) ;; *) refuse "$directory: give directories by absolute paths" ;; esac
    set -- "$@" --directory "$directory"
  done
  [ ! -t 0 ] || printf 'Join token: ' >&2
  IFS= read -r token || [ -n "$token" ] || refuse "there is no token on standard input: echo TOKEN | sh join.sh ..."
  fingerprint=${token##*.}
  case $token in ?*.?*) ;; *) refuse "the token is incomplete: copy the command again from the cluster's page" ;; esac

  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  trap 'exit 1' HUP INT TERM
  if [ "$fingerprint" != - ]; then
    get ca.crt --insecure --max-time 30 || refuse "$server does not answer; check its address and the network"
    found=$(sed '/-----/d' "$work/ca.crt" | base64 -d 2>/dev/null | sha256sum)
    [ "${found%% *}" = "$fingerprint" ] ||
      refuse "$server is not the server of the token, or the connection is intercepted; nothing was sent to it"
    set -- "$@" --ca "$work/ca.crt"
  fi
  if [ -e "$package" ]; then
    program=/usr/bin/iotide-agent
    printf 'join: %s of the installed package is used\n' "$program"
  else
    install_bundle
    program=$prefix/bin/iotide-agent
  fi
  # printf is part of the shell, so `ps` does not show the token.
  printf '%s\n' "$token" | "$program" setup "$server" "$@"
}

# install_bundle  Fetch the agent of the server, verify it, and install it.
install_bundle() {
  if [ "$fingerprint" = - ]; then get iotide-agent.tar; else get iotide-agent.tar --cacert "$work/ca.crt"; fi ||
    refuse "$server does not hand out the agent"
  printf '%s  %s\n' "$bundle_sha256" "$work/iotide-agent.tar" | sha256sum -c - >/dev/null 2>&1 ||
    refuse "the agent is not the one of this script: copy the command again from the cluster's page"
  tar -x -f "$work/iotide-agent.tar" -C "$work" --no-same-owner || refuse "no room in ${TMPDIR:-/tmp}: set TMPDIR"
  "$work"/iotide-agent-*/install.sh --prefix "$prefix"
  for name in iotide-agent iotide; do
    [ -e "/usr/local/bin/$name" ] || ln -sf "$prefix/bin/$name" /usr/local/bin/
  done
}

join "$@"
