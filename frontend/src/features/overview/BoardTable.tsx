/** Status of each cluster (row) and workload (column), with nodes and alerts. Cells have a sign and a word. */

import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Badge } from "@mantine/core";
import type { ReactNode } from "react";
import type { Board, BoardCell, BoardCluster } from "@/api/types";
import { ClusterLink, TextLink } from "@/components/links";
import { Detail, Hint } from "@/components/looks";
import { OriginBadge, useOrigin } from "@/components/Origin";
import { ScrollTable } from "@/components/ScrollTable";
import { Day } from "@/components/values";
import { STATE_WORDS, shareOf } from "./standings";

interface BoardTableProps {
  readonly board: Board;
  readonly actionsOf: ((clusterId: number) => ReactNode) | undefined;
}

export function BoardTable({ board, actionsOf }: BoardTableProps) {
  const { clusters, workloads, cells } = board;
  const places = new Map(cells.map((cell) => [`${cell.cluster_id} ${cell.workload}`, cell]));
  const head = [t`Cluster`, ...workloads, t`Nodes`, t`Open alerts`, ...(actionsOf ? [""] : [])];
  return (
    <ScrollTable head={head} label={t`Clusters by workload`}>
      {clusters.map((cluster) => (
        <tr key={cluster.id}>
          <th scope="row">
            <ClusterLink fw={600} id={cluster.id} name={cluster.name} />{" "}
            <OriginBadge clusterId={cluster.id} />
          </th>
          {workloads.map((workload) => (
            <Cell cell={places.get(`${cluster.id} ${workload}`)} key={workload} />
          ))}
          <td className="iotide-cell">
            <Nodes cluster={cluster} />
          </td>
          <td>
            <OpenAlerts cluster={cluster} />
          </td>
          {actionsOf && <td>{actionsOf(cluster.id)}</td>}
        </tr>
      ))}
    </ScrollTable>
  );
}

function Cell({ cell }: { cell: BoardCell | undefined }) {
  if (!cell)
    return (
      <td className="iotide-cell">
        <Detail>{t`not measured`}</Detail>
      </td>
    );
  const isRecovered = cell.state === "in_control" && cell.since !== null;
  return (
    <td className="iotide-cell" data-state={cell.state}>
      <CellLink cell={cell} />
      <div>
        {cell.since && !isRecovered && (
          <Trans>
            since <Day at={cell.since} />,{" "}
          </Trans>
        )}
        {shareOf(cell)}
      </div>
      {isRecovered && <div>{cell.words}</div>}
      {cell.suspects > 0 && <div>{t`${cell.suspects} suspect`}</div>}
    </td>
  );
}

/** Link to the cell's changes, or else to its trend. */
function CellLink({ cell }: { cell: BoardCell }) {
  const { cluster_id: clusterId, workload, state, since, worst } = cell;
  const { sign, word } = STATE_WORDS[state];
  const words = (
    <>
      <span aria-hidden="true">{sign}</span> {word}
    </>
  );
  if ((state === "slower" || state === "faster") && since !== null)
    return (
      <TextLink
        fw={600}
        search={{ cluster: clusterId, workload, direction: state === "slower" ? "worse" : "better" }}
        to="/changes"
      >
        {words}
      </TextLink>
    );
  const chosen = state === "in_control" ? {} : { metric: worst.metric, series: [worst.id] };
  return (
    <TextLink
      fw={600}
      params={{ clusterId }}
      search={{ workload, ...chosen }}
      to="/clusters/$clusterId/trend"
    >
      {words}
    </TextLink>
  );
}

function Nodes({ cluster: { id, nodes } }: { cluster: BoardCluster }) {
  const { online, stuck, silent, never_seen, drained, passed_over } = nodes;
  const origin = useOrigin(id);
  const troubles = [
    [stuck, t`stuck`, "red"],
    [silent, "silent", "orange"],
    [passed_over, t`skipped`, "orange"],
    [never_seen, t`never seen`, "orange"],
    [drained, "drained", "orange"],
  ] as const;
  if (origin === "made_up") return <Hint>{t`sample data`}</Hint>;
  if (online + stuck + silent + never_seen === 0)
    return <ClusterLink id={id} name={t`no nodes yet`} size="sm" />;
  return (
    <Trans>
      {online} online
      {troubles
        .filter(([count]) => count > 0)
        .map(([count, what, color]) => (
          <Badge color={color} display="block" key={what} w="max-content">
            {count} {what}
          </Badge>
        ))}
    </Trans>
  );
}

function OpenAlerts({ cluster: { id, open_alerts: count } }: { cluster: BoardCluster }) {
  if (count === 0) return t`none`;
  return (
    <TextLink search={{ cluster: id }} size="sm" to="/alerts">
      {t`${count} open`}
    </TextLink>
  );
}
