#!/bin/sh
# Script for sbatch: arguments are the number of nodes, then the agent's command, which runs once on each node.
nodes=$1
shift
[ "$nodes" -eq 1 ] && exec "$@"
exec srun --nodes="$nodes" --ntasks="$nodes" --ntasks-per-node=1 --mem=0 --kill-on-bad-exit=0 --wait=0 "$@"
