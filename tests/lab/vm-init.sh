#!/bin/bash
# Process 1 of the lab's virtual machine: runs what lies on the second disk, says its exit status, powers off.
# With a file lab.service on that disk, systemd becomes process 1 and runs it.
# Everything is printed on the second serial line, since the kernel writes on the first.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C
exec </dev/null >/dev/ttyS1 2>&1
mount -t tmpfs tmpfs /run && mount -t tmpfs tmpfs /tmp && mkdir -p /run/lock
mkdir -p /lab && mount -o ro /dev/vdb /lab && cd /lab || exit
if [[ -e lab.service ]]; then
  mkdir -p /run/systemd/system && cp lab.service /run/systemd/system/
  exec /usr/lib/systemd/systemd --unit=lab.service
fi
ip link set lo up
/usr/lib/systemd/systemd-udevd --daemon && udevadm trigger && udevadm settle
bash ./run.sh
echo "lab-exit: $?"
sync
echo o >/proc/sysrq-trigger
sleep infinity
