#!/bin/sh
# What iotide's gateway gives to bsub: the number of hosts, then the agent's command, which runs once on each host.
nodes=$1
shift
[ "$nodes" -eq 1 ] && exec "$@"
exec blaunch "$@"
