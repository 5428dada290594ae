import { t } from "@lingui/core/macro";
import { Stack, Text } from "@mantine/core";
import type { Preview } from "@/api/types";
import { RowButton } from "@/components/looks";
import { Row, ScrollTable } from "@/components/ScrollTable";
import { Quantity } from "@/components/values";
import { formatValue } from "@/lib/units";
import { ENOUGH_RUNS } from "../results";

type Power = Preview["power"];
type WorkloadPower = Power["workloads"][number];
type PowerRow = WorkloadPower["rows"][number];

interface ShownDifferencesProps {
  readonly power: Power;
  /** Takes the recommended number of repeats. */
  readonly onUse: (repeats: number) => void;
}

/** Says which differences the planned repeats show, by the scatter of earlier runs. */
export function ShownDifferences({ power, onUse }: ShownDifferencesProps) {
  const { repeats, repeats_recommended: recommended } = power;
  return (
    <Stack align="flex-start" gap="xs">
      {repeats < ENOUGH_RUNS ? (
        <Text size="sm">{t`${repeats} repeats show no difference; ${ENOUGH_RUNS} or more do.`}</Text>
      ) : (
        <Differences power={power} />
      )}
      {recommended !== null && recommended > repeats && (
        <RowButton
          onClick={() => onUse(recommended)}
          title={t`With these, a comparison of all ${power.numbers} numbers shows what ${ENOUGH_RUNS} repeats show of one number.`}
        >{t`Use the recommended ${recommended} repeats`}</RowButton>
      )}
    </Stack>
  );
}

function Differences({ power }: { power: Power }) {
  const unknown = power.workloads.filter(({ scatter_source }) => scatter_source === null);
  const [first] = unknown;
  return (
    <>
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
    </>
  );
}

function knownWords({ repeats, numbers }: Power, own: WorkloadPower): string {
  const { workload, scatter_source, scatter_runs: runs, rows } = own;
  const [row] = rows;
  const ratio = row?.shared_difference_ratio;
  if (!row || ratio == null) return "";
  const scatter = formatValue(row.scatter_ratio, "ratio");
  const difference = formatValue(ratio, "ratio");
  const shown =
    scatter_source === "configurations"
      ? t`${workload}: ${repeats} repeats at your scatter of ${scatter} (${runs} runs) show differences from ${difference} on`
      : t`${workload}: ${repeats} repeats at the scatter of this cluster, ${scatter} (${runs} runs), show differences from ${difference} on`;
  return numbers === 1 ? `${shown}.` : t`${shown}, with ${numbers} numbers compared.`;
}

function UsualScatters({ power, rows }: { power: Power; rows: readonly PowerRow[] }) {
  return (
    <ScrollTable
      head={[t`Scatter`, t`Difference shown with ${power.numbers} numbers compared`]}
      label={t`Differences shown by ${power.repeats} repeats`}
    >
      {rows.map((row) => (
        <Row key={row.scatter_ratio}>
          <Quantity unit="ratio" value={row.scatter_ratio} />
          <Quantity unit="ratio" value={row.shared_difference_ratio} />
        </Row>
      ))}
    </ScrollTable>
  );
}
