/** Peers of a cluster as dot plots; groups with an outlier first. */

import { t } from "@lingui/core/macro";
import { Badge, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import type { Peer, PeerGroup } from "@/api/types";
import { Fold } from "@/components/Fold";
import { TextLink } from "@/components/links";
import { Hint } from "@/components/looks";
import { useTitlesOf } from "@/components/optionTitles";
import { Loaded, Section } from "@/components/Page";
import { useScheme } from "@/components/preferences";
import { Row, ScrollTable } from "@/components/ScrollTable";
import { Datum, Quantity } from "@/components/values";
import { describeValues, type TitleOf } from "@/lib/options";
import { formatNumber, formatShift } from "@/lib/units";
import { Plot } from "@/plots/Plot";
import { type PeerRow, peersFigure, peersHeight } from "@/plots/peers";
import { peersQuery } from "./queries";

const HEAD = [t`Name`, t`Median`, t`Runs`, t`Campaigns`, t`Compared with peers`, t`Robust z`, t`Verdict`];
const ONE_BY_ONE = { nodes: "Nodes", targets: "Targets", osts: "OSTs" } as const;
/** Groups drawn at once; the others are drawn when opened. */
const MOST_DRAWN_GROUPS = 6;
const MOST_ROWS = 30;

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
          <Text fw={600} size="lg">
            {outlierWords(groups)}
          </Text>
          {groups.map((group, place) => (
            <GroupSection
              clusterId={clusterId}
              group={group}
              isDrawn={place < MOST_DRAWN_GROUPS && group.members.length > 0}
              key={group.members[0]?.series_id ?? `${group.workload} ${place}`}
            />
          ))}
          {left_out > 0 && (
            <Text c="dimmed">{t`${left_out} more groups are not shown. Select a workload to see them.`}</Text>
          )}
        </>
      )}
    </Loaded>
  );
}

/** The outliers of all groups by name, or how many groups have none. */
function outlierWords(groups: readonly PeerGroup[]): string {
  const judged = groups.filter(({ not_judged }) => not_judged === null).length;
  const odd = groups.flatMap(({ members }) => members.filter(({ is_odd }) => is_odd));
  const names = [...new Set(odd.map(({ name }) => name))].join(", ");
  if (names) return t`Outliers: ${names}`;
  return judged > 0 ? t`No outlier in ${judged} peer groups` : t`Too few runs to compare peers`;
}

interface GroupProps {
  readonly clusterId: number;
  readonly group: PeerGroup;
}

function GroupSection({ isDrawn, ...props }: GroupProps & { readonly isDrawn: boolean }) {
  const { clusterId, group } = props;
  const title = groupName(group, useTitlesOf()(group.workload, clusterId));
  if (!isDrawn)
    return (
      <Fold summary={group.not_judged ?? (group.has_odd ? <OutlierBadge /> : t`no outlier`)} title={title}>
        <GroupPeers {...props} name={title} />
      </Fold>
    );
  return (
    <Section actions={group.has_odd && <OutlierBadge />} title={title}>
      <GroupPeers {...props} name={title} />
    </Section>
  );
}

function OutlierBadge() {
  return <Badge color="red" miw="max-content">{t`outlier`}</Badge>;
}

function groupName({ workload, title, options, labels }: PeerGroup, titleOf: TitleOf): string {
  const parameters = describeValues({ ...options, ...labels }, titleOf);
  return `${workload}: ${title}${parameters && `, ${parameters}`}`;
}

function GroupPeers({ clusterId, group, name }: GroupProps & { readonly name: string }) {
  const scheme = useScheme();
  const rows = useMemo(() => drawnRows(group.members), [group.members]);
  const figure = useMemo(() => peersFigure(rows, scheme), [rows, scheme]);
  const more = group.members.length - rows.length;
  return (
    <Stack gap="xs">
      {rows.length > 0 && (
        <Plot
          figure={figure}
          height={peersHeight(rows)}
          label={t`Campaigns of ${name}, relative to the group's median`}
          viewKey={name}
        />
      )}
      {more > 0 && (
        <Hint>{t`The ${rows.length} members furthest from the median are drawn, ${more} are not.`}</Hint>
      )}
      <Hint>{descriptionOf(group)}</Hint>
      {group.not_judged === null ? (
        <details>
          <summary>{t`Show table`}</summary>
          <PeerTable clusterId={clusterId} group={group} name={name} />
        </details>
      ) : (
        <Hint>{group.not_judged}</Hint>
      )}
    </Stack>
  );
}

/** Outliers first, then by their distance from the median. */
function drawnRows(members: readonly Peer[]): readonly PeerRow[] {
  return members
    .toSorted(
      (a, b) =>
        Number(b.is_odd) - Number(a.is_odd) || Math.abs(b.difference_ratio) - Math.abs(a.difference_ratio),
    )
    .slice(0, MOST_ROWS)
    .map(({ name, n, by_campaign, difference_ratio: difference, robust_z: z, is_odd: isOdd }) => ({
      ...{ name, runs: n, difference, z, isOdd },
      campaigns: by_campaign.map(({ difference_ratio }) => difference_ratio),
    }));
}

function PeerTable({ clusterId, group, name }: GroupProps & { readonly name: string }) {
  const { workload, metric, unit, members } = group;
  return (
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
          <td>{z !== null && <Datum value={z}>{formatNumber(z)}</Datum>}</td>
          <td className={more.is_odd ? "iotide-wrap iotide-strong" : "iotide-wrap"}>{more.words}</td>
        </Row>
      ))}
    </ScrollTable>
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
      t`Each dot is a campaign's median. Outlier: 5 % from the median and robust z beyond ±${formatNumber(limit)}; ${basis}.`,
    tooFew.length > 0 && t`Fewer than four runs to compare: ${tooFew.join(", ")}.`,
  ]
    .filter(Boolean)
    .join(" ");
}
