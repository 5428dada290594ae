import { t } from "@lingui/core/macro";
import { Alert, Stack, Text } from "@mantine/core";
import type { PublishedSource } from "@/api/types";
import { TextLink } from "@/components/links";
import { Detail } from "@/components/looks";
import { useTitlesOf } from "@/components/optionTitles";
import { Row, ScrollTable } from "@/components/ScrollTable";
import { Datum } from "@/components/values";
import { describeValues } from "@/lib/options";
import { formatRoughFactor } from "@/lib/units";

interface SourcesTableProps {
  readonly sources: readonly PublishedSource[];
  readonly chosen: string | undefined;
}

export function SourcesTable({ sources, chosen }: SourcesTableProps) {
  return (
    <ScrollTable
      head={[t`Subject`, t`Source`, t`Cluster`, t`Workload`, t`Results`]}
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

/** Authors, title, place and date; the title is a link if an address is known. */
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

interface ClaimSectionProps {
  readonly claim: NonNullable<PublishedSource["claim"]>;
  readonly workload: string;
}

/** A ratio claimed by the authors, compared with their own numbers. */
export function ClaimSection({ claim, workload }: ClaimSectionProps) {
  const titlesOf = useTitlesOf();
  return (
    <Alert
      color={claim.is_supported ? "indigo" : "orange"}
      title={claim.is_supported ? t`Claim and its numbers` : t`Claim not supported by its own numbers`}
    >
      <Stack gap="xs">
        <Text size="sm">
          {claim.words} {claim.verdict}
        </Text>
        <ScrollTable
          head={[t`Setting`, `${claim.target} : ${claim.against}`]}
          label={t`Ratios of ${claim.target} to ${claim.against}`}
        >
          {claim.ratios.map(({ options, ratio }) => (
            <tr key={JSON.stringify(options)}>
              <td>{describeValues(options, titlesOf(workload))}</td>
              <td className="iotide-strong">
                <Datum value={ratio}>{formatRoughFactor(ratio)}</Datum>
              </td>
            </tr>
          ))}
        </ScrollTable>
        <Detail>
          {t`Single values as printed. Without repeats there is no interval and no verdict on chance.`}
        </Detail>
      </Stack>
    </Alert>
  );
}
