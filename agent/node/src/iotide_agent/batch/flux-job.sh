#!/bin/sh
# Program for flux submit, which starts it once on each node: arguments are the number of nodes, then the agent's command.
shift
cd /
exec "$@"
