#!/usr/bin/env bash
# fetch-tools.sh DIRECTORY  Downloads releases of the benchmark tools from Debian's suites and as a Rust crate, and unpacks
# each with its libraries below DIRECTORY/SUITE. Nothing is installed. A suite that cannot be reached is left out.
set -euo pipefail
directory=$(realpath -m "$1")
suites=(bullseye bookworm trixie)
uutils=uu_dd@0.8.0

# wrap SUITE PROGRAM  write SUITE/bin/PROGRAM, which starts the program with the libraries of its own suite.
wrap() {
  local root=$1/root program=$2 libraries
  libraries=$(find "$root" -name '*.so*' -printf '%h\n' | sort -u | paste -sd:)
  printf '#!/bin/sh\nexec "%s" --library-path "%s" "%s" "$@"\n' \
    "$(find "$root" -name 'ld-linux-x86-64.so.2' | head -n 1)" "$libraries" \
    "$(find "$root" -path "*bin/$program" | head -n 1)" >"$1/bin/$program"
  chmod +x "$1/bin/$program"
}

# fetch SUITE  download and unpack the suite's tools with all that they depend on.
fetch() {
  local own=$directory/$1/apt options
  mkdir -p "$own"/{lists,cache/archives}/partial "$directory/$1"/{root,bin}
  : >"$own/status"
  apt-get indextargets --format 'deb $(REPO_URI) '"$1 main non-free" 'Created-By: Packages' 'Component: main' |
    grep -v -e security -e updates | sort -u >"$own/sources.list"
  options=(
    -o "Dir::Etc::SourceList=$own/sources.list" -o Dir::Etc::SourceParts=/dev/null -o "Dir::State::Lists=$own/lists"
    -o "Dir::State::status=$own/status" -o "Dir::Cache=$own/cache" -o APT::Sandbox::User=root -o Debug::NoLocking=1
  )
  apt-get "${options[@]}" update -qq &&
    apt-get "${options[@]}" install -y -qq --download-only --no-install-recommends fio bonnie++ iozone3 &&
    for package in "$own"/cache/archives/*.deb; do dpkg -x "$package" "$directory/$1/root" || return 1; done &&
    for program in fio bonnie++ iozone; do wrap "$directory/$1" "$program"; done
  rm -rf "$own"
}

for suite in "${suites[@]}"; do
  [[ -x $directory/$suite/bin/fio ]] || fetch "$suite" || echo "fetch-tools: $suite cannot be reached" >&2
done
if [[ ! -x $directory/crates/bin/dd ]] && command -v cargo >/dev/null; then
  cargo install --quiet --root "$directory/crates" "$uutils" || echo "fetch-tools: $uutils cannot be built" >&2
fi
