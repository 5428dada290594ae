/** What is not as it was, the gravest first: which series moved most, by how much and since when. */

import { t } from "@lingui/core/macro";
import { Badge } from "@mantine/core";
import type { BoardCell, BoardCluster } from "@/api/types";
import { TextLink } from "@/components/links";
import { Row, ScrollTable } from "@/components/ScrollTable";
import { SeriesName } from "@/components/SeriesName";
import { When } from "@/components/values";
import { STANDINGS, shareOf } from "./standings";

interface LookAtTableProps {
  readonly cells: readonly BoardCell[];
  readonly clusters: readonly BoardCluster[];
}

export function LookAtTable({ cells, clusters }: LookAtTableProps) {
  const names = new Map(clusters.map(({ id, name }) => [id, name]));
  return (
    <ScrollTable
      head={[t`State`, t`What moved most`, t`What`, t`Since`, t`How many`, t`Open alerts`]}
      label={t`To look at`}
    >
      {cells.map((cell) => (
        <Row key={`${cell.cluster_id} ${cell.workload}`}>
          <State cell={cell} />
          <td className="iotide-name">
            <SeriesName
              cellId={cell.since_cell_id ?? undefined}
              clusterId={cell.cluster_id}
              clusterName={names.get(cell.cluster_id)}
              series={cell.worst}
            />
          </td>
          <td className="iotide-wrap">{cell.words}</td>
          {cell.since ? <When at={cell.since} /> : t`no moment is known`}
          {shareOf(cell)}
          {cell.open_alerts === 0 ? (
            t`none`
          ) : (
            <TextLink search={{ cluster: cell.cluster_id }} to="/alerts">
              {t`${cell.open_alerts} to be dealt with`}
            </TextLink>
          )}
        </Row>
      ))}
    </ScrollTable>
  );
}

function State({ cell: { state } }: { cell: BoardCell }) {
  const { sign, word, colour } = STANDINGS[state];
  return (
    <Badge color={colour} miw="max-content">
      <span aria-hidden="true">{sign}</span> {word}
    </Badge>
  );
}
