import { t } from "@lingui/core/macro";
import type { ReactNode } from "react";
import type { ForeignBefore, ForeignDuring, RunDetail } from "@/api/types";
import { Fold } from "@/components/Fold";
import { Detail, Hint } from "@/components/looks";
import { Row, ScrollTable } from "@/components/ScrollTable";
import { Quantity } from "@/components/values";
import { formatDuration, formatNumber } from "@/lib/units";

export function ForeignSection({ run }: { run: RunDetail }) {
  const attempt = run.attempts.findLast(({ orders }) => orders.some(({ foreign_load }) => foreign_load));
  if (!attempt) return null;
  const orders = attempt.orders.map(({ foreign_load }) => foreign_load);
  return (
    <Fold
      summary={orders.some(isMeasured) ? undefined : t`not measured`}
      title={
        run.attempts.length > 1
          ? t`Other load on the nodes, attempt ${attempt.ordinal}`
          : t`Other load on the nodes`
      }
    >
      <Hint mb="xs">
        {t`Activity on the nodes before the run, and activity during the run not caused by the benchmark.`}
      </Hint>
      <ScrollTable
        head={[
          t`Node`,
          t`Period`,
          t`CPU`,
          t`Storage`,
          t`Network`,
          t`CPU pressure`,
          t`Storage pressure`,
          t`Other activity`,
        ]}
        label={t`Other load on the nodes`}
      >
        {attempt.orders.flatMap(({ id, node_name, foreign_load }) =>
          foreign_load
            ? [
                foreign_load.before ? (
                  <BeforeRow before={foreign_load.before} key={`${id} before`} node={node_name} />
                ) : (
                  <UnmeasuredRow key={`${id} before`} node={node_name} when={t`before: not measured`} />
                ),
                foreign_load.during ? (
                  <DuringRow during={foreign_load.during} key={`${id} during`} node={node_name} />
                ) : (
                  <UnmeasuredRow key={`${id} during`} node={node_name} when={t`during: not measured`} />
                ),
              ]
            : [],
        )}
      </ScrollTable>
      <Detail mt="xs">
        {t`During a run, the kernel does not attribute waiting time to processes. Pressure values of that period are an upper bound.`}
      </Detail>
    </Fold>
  );
}

function isMeasured(load: ForeignLoad): boolean {
  return load !== null && (load.during !== null || (load.before?.seconds ?? 0) >= JUDGED_SECONDS);
}

function BeforeRow({ before, node }: { before: ForeignBefore; node: string }) {
  const otherActivity = [
    before.running_tasks !== null &&
      t`${formatNumber(before.running_tasks)} tasks on ${before.processors} CPUs`,
    before.sessions !== null && before.sessions > 0 && t`${before.sessions} login sessions`,
    before.jobs !== null && before.jobs.length > 0 && t`batch jobs ${before.jobs.join(", ")}`,
    before.waited_seconds >= 1 && t`start delayed by ${formatDuration(before.waited_seconds)}`,
  ];
  const others = otherActivity.filter(Boolean).join("; ");
  if (before.seconds < JUDGED_SECONDS)
    return <UnmeasuredRow otherActivity={others} node={node} when={sampleWords(before)} />;
  return (
    <tr>
      <td>{node}</td>
      <td>{sampleWords(before)}</td>
      <td>{share(before.cpu_ratio)}</td>
      <td>{rate(before.disk_bytes_per_second)}</td>
      <td>{rate(before.network_bytes_per_second)}</td>
      <td>{share(before.psi_cpu_ratio)}</td>
      <td>{share(before.psi_io_ratio)}</td>
      <td className="iotide-wrap">{others}</td>
    </tr>
  );
}

/** Shorter samples are not evaluated. Their values are hidden, since they would look like those of an idle node. */
const JUDGED_SECONDS = 5;

type ForeignLoad = RunDetail["attempts"][number]["orders"][number]["foreign_load"];

function sampleWords({ seconds, within_seconds }: ForeignBefore): string {
  if (seconds < JUDGED_SECONDS)
    return t`before: not measured, ${formatNumber(Math.floor(seconds * 10) / 10)} s of ${JUDGED_SECONDS} s`;
  const sampled = formatDuration(Math.round(seconds));
  const within = within_seconds ?? seconds;
  const isScattered = within > seconds + 2;
  return isScattered
    ? t`${sampled} within ${formatDuration(Math.round(within))} before`
    : t`${sampled} before`;
}

function UnmeasuredRow({
  node,
  when,
  otherActivity,
}: {
  node: string;
  when: string;
  otherActivity?: string;
}) {
  return (
    <tr>
      <td>{node}</td>
      <td>{when}</td>
      {["processors", "storage", "network", "cpu waits", "storage waits"].map((column) => (
        <td key={column}>{t`not measured`}</td>
      ))}
      <td className="iotide-wrap">{otherActivity}</td>
    </tr>
  );
}

function DuringRow({ during, node }: { during: ForeignDuring; node: string }) {
  return (
    <Row>
      {node}
      {t`${formatDuration(Math.round(during.seconds))} of the run`}
      <td>{share(during.cpu_ratio)}</td>
      <td>{shareAndRate(during.storage_ratio, during.storage_bytes_per_second)}</td>
      <td>{shareAndRate(during.network_ratio, during.network_bytes_per_second)}</td>
      <td>{share(during.psi_cpu_ratio)}</td>
      <td>{share(during.psi_io_ratio)}</td>
      <td />
    </Row>
  );
}

function share(ratio: number | null): ReactNode {
  return <Quantity unit="ratio" value={ratio} />;
}

/** Both in one cell; exports have separate columns. */
function shareAndRate(ratio: number | null, bytesPerSecond: number | null): ReactNode {
  if (ratio === null && bytesPerSecond === null) return share(null);
  const columns = { ratio, bytes_per_second: bytesPerSecond };
  return (
    <span data-export={JSON.stringify(columns)}>
      {share(ratio)}, {rate(bytesPerSecond)}
    </span>
  );
}

function rate(bytesPerSecond: number | null): ReactNode {
  return <Quantity unit="bytes_per_second" value={bytesPerSecond} />;
}
