/** Peers of a cluster; groups with an outlier first. */

import { t } from "@lingui/core/macro";
import { Badge, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { PeerGroup } from "@/api/types";
import { TextLink } from "@/components/links";
import { useTitlesOf } from "@/components/optionTitles";
import { Loaded } from "@/components/Page";
import { Row, ScrollTable } from "@/components/ScrollTable";
import { Datum, Quantity } from "@/components/values";
import { describeValues } from "@/lib/options";
import { formatNumber, formatShift } from "@/lib/units";
import { ComparedSection } from "./ComparedSection";
import { peersQuery } from "./queries";

const HEAD = [t`Name`, t`Median`, t`Runs`, t`Campaigns`, t`Compared with peers`, t`Robust z`, t`Verdict`];
const ONE_BY_ONE = { nodes: "Nodes", targets: "Targets", osts: "OSTs" } as const;

export function PeerSections({ clusterId, workload }: { clusterId: number; workload: string | undefined }) {
  const peers = useQuery(peersQuery(clusterId, workload));
  return (
    <Loaded
      empty={t`No peers yet. A peer group needs at least three identical nodes, targets or OSTs with four runs each of the same workload.`}
      isEmpty={({ groups }) => groups.length === 0}
      lines={8}
      query={peers}
    >
      {({ groups, left_out }) => (
        <>
          {groups.map((group) => (
            <GroupSection clusterId={clusterId} group={group} key={group.members[0]?.series_id} />
          ))}
          {left_out > 0 && (
            <Text c="dimmed">{t`${left_out} more groups are not shown. Select a workload to see them.`}</Text>
          )}
        </>
      )}
    </Loaded>
  );
}

function GroupSection({ clusterId, group }: { clusterId: number; group: PeerGroup }) {
  const titleOf = useTitlesOf()(group.workload, clusterId);
  const { workload, metric, title, unit, members } = group;
  const parameters = describeValues({ ...group.options, ...group.labels }, titleOf);
  const name = `${workload}: ${title}${parameters && `, ${parameters}`}`;
  return (
    <ComparedSection
      actions={group.has_odd && <Badge color="red" miw="max-content">{t`outlier`}</Badge>}
      description={descriptionOf(group)}
      sentence={group.not_judged}
      table={
        group.not_judged === null && (
          <ScrollTable head={HEAD} label={t`Peers of ${name}`} maxHeight={440}>
            {members.map(({ name: peer, series_id, difference_ratio: difference, robust_z: z, ...more }) => (
              <Row key={series_id + peer}>
                <TextLink
                  fw={600}
                  params={{ clusterId }}
                  search={{ workload, metric, series: [series_id] }}
                  to="/clusters/$clusterId/trend"
                >
                  {peer}
                </TextLink>
                <Quantity unit={unit} value={more.median} />
                {more.n}
                {more.campaigns}
                <Datum value={1 + difference}>{formatShift(1 + difference)}</Datum>
                {z !== null && <Datum value={z}>{formatNumber(z)}</Datum>}
                <td className={more.is_odd ? "iotide-wrap iotide-strong" : "iotide-wrap"}>{more.words}</td>
              </Row>
            ))}
          </ScrollTable>
        )
      }
      title={name}
    />
  );
}

function descriptionOf({
  kind,
  alike,
  too_few: tooFew,
  z_limit: limit,
  basis_words: basis,
}: PeerGroup): string {
  return [
    `${ONE_BY_ONE[kind]}: ${alike}.`,
    basis !== null &&
      limit !== null &&
      t`Outlier: 5 % from the median and robust z beyond ±${formatNumber(limit)}; ${basis}.`,
    tooFew.length > 0 && t`Fewer than four runs to compare: ${tooFew.join(", ")}.`,
  ]
    .filter(Boolean)
    .join(" ");
}
