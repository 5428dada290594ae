"""Scratch sets: disks that root of a node gave to iotide, and the clusters whose admins enabled them."""
