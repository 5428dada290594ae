#!/usr/bin/env bash
# Submits a campaign, waits for its end and prints its samples as CSV; needs only curl and jq.
#
#   IOTIDE_URL=http://127.0.0.1:8470 IOTIDE_TOKEN=iot_... ./curl.sh plan.json > samples.csv
#
# Exits with 0 if every run finished, 1 if one did not, 2 if the server rejected the plan.
set -euo pipefail
: "${1:?give a plan, for instance plan.json}" "${IOTIDE_URL:?}" "${IOTIDE_TOKEN:?}"

# api PATH [CURL OPTIONS]  calls the server, with retries. The token stays out of the process list.
api() {
  curl --silent --show-error --fail-with-body --retry 10 --retry-connrefused "${@:2}" \
    --config <(printf 'header = "Authorization: Bearer %s"\n' "$IOTIDE_TOKEN") "$IOTIDE_URL/api/v1$1"
}

# With this key it is safe to repeat the request if its answer is lost.
key=$(cat /proc/sys/kernel/random/uuid)
if ! answer=$(api /campaigns --json "@$1" --header "Idempotency-Key: $key"); then
  jq --raw-output '.error | "\(.field): \(.message); remedy: \(.remedy)"' <<<"$answer" >&2 || true
  exit 2
fi
id=$(jq .id <<<"$answer")

while state=$(api "/campaigns/$id" | jq --raw-output .state) && [[ $state == waiting || $state == active ]]; do
  printf 'campaign %s is %s\n' "$id" "$state" >&2
  sleep 1
done
api "/campaigns/$id/samples.csv"
printf 'campaign %s %s\n' "$id" "$state" >&2
[[ $state == finished ]]
