/** A ratio that the authors put in words, beside what their own numbers give. */

import { t } from "@lingui/core/macro";
import { Alert, Stack, Text } from "@mantine/core";
import type { PublishedSource } from "@/api/types";
import { useTitlesOf } from "@/components/optionTitles";
import { ScrollTable } from "@/components/ScrollTable";
import { Datum } from "@/components/values";
import { describeValues } from "@/lib/options";
import { formatRoughFactor } from "@/lib/units";

interface ClaimSectionProps {
  readonly claim: NonNullable<PublishedSource["claim"]>;
  readonly workload: string;
}

export function ClaimSection({ claim, workload }: ClaimSectionProps) {
  const titlesOf = useTitlesOf();
  return (
    <Alert
      color={claim.is_supported ? "indigo" : "orange"}
      title={claim.is_supported ? t`A claim and its numbers` : t`A claim that its own numbers do not support`}
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
        <Text c="dimmed" size="xs">
          {t`Single numbers as they were printed: without repeats there is no interval, and no verdict on chance.`}
        </Text>
      </Stack>
    </Alert>
  );
}
