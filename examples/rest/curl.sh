#!/usr/bin/env bash
# Submits a campaign, waits for its end and prints its samples as CSV, with curl and jq alone.
#
#   IOTIDE_URL=http://127.0.0.1:8470 IOTIDE_TOKEN=iot_... ./curl.sh plan.json > samples.csv
#
# Ends with 0 when every run finished, 1 when one did not, 2 when the server refused the plan.
set -euo pipefail
: "${1:?name a plan, for instance plan.json}" "${IOTIDE_URL:?}" "${IOTIDE_TOKEN:?}"

# api PATH [CURL OPTIONS]  calls the server, again when it is away; the token stays out of the process list.
api() {
  curl --silent --show-error --fail-with-body --retry 10 --retry-connrefused "${@:2}" \
    --config <(printf 'header = "Authorization: Bearer %s"\n' "$IOTIDE_TOKEN") "$IOTIDE_URL/api/v1$1"
}

# The key makes it safe to send this request again when its answer was lost.
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
