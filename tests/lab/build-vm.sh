#!/usr/bin/env bash
# Builds the lab's virtual machine: Debian 12 with its own kernel, which has nfsd, md, dm, jfs, reiserfs and f2fs, and the
# tools that the agent's probes ask. Usage: build-vm.sh DIRECTORY; makes vmlinuz, initrd.img and root.img in it.
set -euo pipefail
made=$1
packages=(
  linux-image-amd64 initramfs-tools zstd systemd udev kmod mount util-linux procps iproute2 python3
  nfs-kernel-server nfs-common rpcbind mdadm lvm2 dmsetup xfsprogs jfsutils reiserfsprogs e2fsprogs
  btrfs-progs f2fs-tools passwd bonnie++
)
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
if [[ ! -e $keyring ]]; then
  echo "not installed: debian-archive-keyring. Run: sudo apt-get install -y debian-archive-keyring" >&2
  exit 1
fi
work=$(mktemp -d "$made/build.XXXXXX")
trap 'rm -rf "$work"' EXIT

cat >"$work/initrd-hook" <<'END'
#!/bin/sh
[ "$1" != prereqs ] || exit 0
. /usr/share/initramfs-tools/hook-functions
manual_add_modules virtio_pci virtio_blk ext4
END

# The initrd gets only what finds the root disk: one with most modules takes the emulated processor a minute to unpack.
# shellcheck disable=SC2016 # for the shell of the hook
mmdebstrap --quiet --mode=root --variant=essential --include="$(IFS=,; echo "${packages[*]}")" \
  --aptopt='Apt::Install-Recommends "false"' \
  --setup-hook='mkdir -p "$1"/etc/initramfs-tools/conf.d "$1"/etc/initramfs-tools/hooks' \
  --setup-hook='echo MODULES=list >"$1"/etc/initramfs-tools/conf.d/lab' \
  --setup-hook="install -m 0755 '$work/initrd-hook' \"\$1\"/etc/initramfs-tools/hooks/lab" \
  bookworm "$work/root"

install -m 0755 "$(dirname "$0")/vm-init.sh" "$work/root/usr/sbin/lab-init"
ln -sf /proc/self/mounts "$work/root/etc/mtab"
cp "$work"/root/boot/vmlinuz-* "$made/vmlinuz"
cp "$work"/root/boot/initrd.img-* "$made/initrd.img"
rm -rf "$work"/root/boot/* "$work"/root/usr/share/{doc,locale,man}
truncate -s 3G "$work/root.img"
mke2fs -q -F -t ext4 -O ^has_journal -d "$work/root" "$work/root.img"
mv "$work/root.img" "$made/root.img"
