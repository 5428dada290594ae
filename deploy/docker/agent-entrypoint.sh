#!/bin/sh
# Enrolls at the first start with the token of the service "join", then runs the agent.
set -eu
config=/app/agent.toml
if [ ! -e /var/lib/iotide-agent/identity.json ]; then
  iotide-agent enroll --config "$config" --server "$IOTIDE_SERVER" </run/join/token
fi
exec iotide-agent run --config "$config"
