/** What was published, source by source, with the way to its figure. */

import { t } from "@lingui/core/macro";
import { Text } from "@mantine/core";
import type { PublishedSource } from "@/api/types";
import { TextLink } from "@/components/links";
import { Row, ScrollTable } from "@/components/ScrollTable";

interface SourcesTableProps {
  readonly sources: readonly PublishedSource[];
  readonly chosen: string | undefined;
}

export function SourcesTable({ sources, chosen }: SourcesTableProps) {
  return (
    <ScrollTable
      head={[t`What it shows`, t`Source`, t`Cluster`, t`Workload`, t`Results`]}
      label={t`Published sources`}
    >
      {sources.map((source) => (
        <Row aria-current={source.key === chosen || undefined} key={source.key}>
          <td className="iotide-name">
            <TextLink fw={600} search={{ source: source.key }} to="/published">
              {source.shows}
            </TextLink>
          </td>
          <td className="iotide-name">
            <Cited source={source} />
          </td>
          {source.campaigns.map(({ campaign_id, cluster_name }) => (
            <div key={campaign_id}>{cluster_name}</div>
          ))}
          {source.campaigns[0]?.workload}
          {source.campaigns.reduce((sum, { runs }) => sum + runs, 0)}
        </Row>
      ))}
    </ScrollTable>
  );
}

/** Authors, title, table and date; the title leads there where an address is known. */
export function Cited({ source: { authors, title, place, url, published_on } }: { source: PublishedSource }) {
  return (
    <Text component="span" size="sm">
      {authors}:{" "}
      {url ? (
        <a href={url} rel="noreferrer">
          {title}
        </a>
      ) : (
        <cite>{title}</cite>
      )}
      , {place}
      {published_on && `, ${published_on}`}
    </Text>
  );
}
