/** Equals of a cluster beside each other, groups with an odd one first. */

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
import { formatNumber, formatP, formatShift } from "@/lib/units";
import { ComparedSection } from "./ComparedSection";
import { peersQuery } from "./queries";

const HEAD = [t`Name`, t`Median`, t`Runs`, t`Against the others`, t`Robust z`, "p", t`In words`];
const ONE_BY_ONE = { nodes: "Nodes", targets: "Targets", osts: "OSTs" } as const;

export function PeerSections({ clusterId, workload }: { clusterId: number; workload: string | undefined }) {
  const peers = useQuery(peersQuery(clusterId, workload));
  return (
    <Loaded
      empty={t`There are no peers yet: three equal nodes, targets or OSTs at least, with four runs each of the same workload.`}
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
            <Text c="dimmed">{t`${left_out} more groups are not shown: choose a workload.`}</Text>
          )}
        </>
      )}
    </Loaded>
  );
}

function GroupSection({ clusterId, group }: { clusterId: number; group: PeerGroup }) {
  const titleOf = useTitlesOf()(group.workload, clusterId);
  const { workload, metric, title, unit, kind, alike, members, too_few: tooFew } = group;
  const told = describeValues({ ...group.options, ...group.labels }, titleOf);
  const name = `${workload}: ${title}${told && `, ${told}`}`;
  return (
    <ComparedSection
      actions={group.has_odd && <Badge color="red" miw="max-content">{t`odd one out`}</Badge>}
      description={`${ONE_BY_ONE[kind]}: ${alike}. ${tooFew.length > 0 ? `Fewer than four runs: ${tooFew.join(", ")}.` : ""}`}
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
                <Datum value={1 + difference}>{formatShift(1 + difference)}</Datum>
                {z !== null && <Datum value={z}>{formatNumber(z)}</Datum>}
                <Datum value={more.p_value}>{formatP(more.p_value)}</Datum>
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
