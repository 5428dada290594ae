import { t } from "@lingui/core/macro";
import { Stack, Text } from "@mantine/core";
import type { Preview } from "@/api/types";
import { Row, ScrollTable } from "@/components/ScrollTable";
import { Quantity } from "@/components/values";
import { formatValue } from "@/lib/units";
import { ENOUGH_RUNS } from "../results";

type Power = Preview["power"];
type WorkloadPower = Power["workloads"][number];
type PowerRow = WorkloadPower["rows"][number];

const MOST_REPEATS = 1000;

/** Says which differences the planned repeats show, by the scatter of earlier runs. */
export function ShownDifferences({ power }: { power: Power }) {
  const unknown = power.workloads.filter(({ scatter_source }) => scatter_source === null);
  const [first] = unknown;
  if (power.repeats < ENOUGH_RUNS)
    return t`${power.repeats} repeats show no difference; ${ENOUGH_RUNS} or more do.`;
  return (
    <Stack gap="xs">
      {power.workloads
        .filter(({ scatter_source }) => scatter_source !== null)
        .map((own) => (
          <Text key={own.workload} size="sm">
            {knownWords(power, own)}
          </Text>
        ))}
      {first && (
        <>
          <Text size="sm">
            {t`The scatter of ${unknown.map(({ workload }) => workload).join(", ")} is unknown: no runs were repeated.`}
          </Text>
          <UsualScatters power={power} rows={first.rows} />
        </>
      )}
    </Stack>
  );
}

function knownWords(power: Power, own: WorkloadPower): string {
  const { workload, scatter_source, scatter_runs: runs, rows } = own;
  const [row] = rows;
  if (row?.difference_ratio == null) return "";
  const scatter = formatValue(row.scatter_ratio, "ratio");
  const difference = formatValue(row.difference_ratio, "ratio");
  const shown =
    scatter_source === "configurations"
      ? t`${workload}: ${power.repeats} repeats at its scatter of ${scatter} (${runs} runs) show differences from ${difference} on`
      : t`${workload}: ${power.repeats} repeats at its scatter of ${scatter} (${runs} runs) on this cluster show differences from ${difference} on`;
  return `${shown}${ofNumbers(power, row)}.`;
}

function ofNumbers({ numbers, repeats }: Power, row: PowerRow): string {
  if (numbers === 1) return "";
  if (row.repeats_needed !== null && row.repeats_needed <= repeats)
    return t`; also with ${numbers} numbers compared`;
  return t`; with ${numbers} numbers compared, ${repeatsWords(row)} are needed`;
}

function repeatsWords({ repeats_needed }: PowerRow): string {
  return repeats_needed === null ? t`more than ${MOST_REPEATS}` : String(repeats_needed);
}

function UsualScatters({ power, rows }: { power: Power; rows: readonly PowerRow[] }) {
  return (
    <ScrollTable
      head={[t`Scatter`, t`Difference shown`, t`Repeats for ${power.numbers} numbers`]}
      label={t`Differences shown by ${power.repeats} repeats`}
    >
      {rows.map((row) => (
        <Row key={row.scatter_ratio}>
          <Quantity unit="ratio" value={row.scatter_ratio} />
          <Quantity unit="ratio" value={row.difference_ratio} />
          {repeatsWords(row)}
        </Row>
      ))}
    </ScrollTable>
  );
}
