#!/bin/sh
# Program for qsub: arguments are the number of hosts, then the agent's command, which runs once on each host.
nodes=$1
shift
cd /
[ "$nodes" -eq 1 ] && exec "$@"
exec pbsdsh -- "$@"
