#!/bin/sh
# Script for bsub: arguments are the number of hosts, then the agent's command, which runs once on each host.
nodes=$1
shift
[ "$nodes" -eq 1 ] && exec "$@"
exec blaunch "$@"
