import { t } from "@lingui/core/macro";
import { Group, MultiSelect, Select } from "@mantine/core";
import { useInfiniteQuery, useQueries } from "@tanstack/react-query";
import type { ListedCampaign } from "@/api/types";
import { campaignQuery, campaignsQuery, cellsQuery } from "@/features/campaigns/queries";

export const MOST_CAMPAIGNS = 6;
export const PICKER = {
  limit: 100,
  nothingFoundMessage: t`No recent campaign has this name or number.`,
  placeholder: t`Name or number`,
  searchable: true,
} as const;

export function optionOf({ id, name, cluster_name }: ListedCampaign) {
  return { value: String(id), label: `${id} · ${name} · ${cluster_name}` };
}

/** Return the newest campaigns and the chosen ones, whatever their age. */
export function useKnown(chosen: readonly number[]): ListedCampaign[] {
  const { data: newest = [] } = useInfiniteQuery(campaignsQuery({}));
  const own = useQueries({ queries: chosen.map((id) => campaignQuery(id)) });
  const older = own.flatMap(({ data }) => (data && !newest.some(({ id }) => id === data.id) ? [data] : []));
  return [...older, ...newest];
}

interface CampaignsPickerProps {
  readonly campaignIds: readonly number[];
  readonly onChoose: (ids: number[]) => void;
}

export function CampaignsPicker({ campaignIds, onChoose }: CampaignsPickerProps) {
  const known = useKnown(campaignIds);
  return (
    <MultiSelect
      {...PICKER}
      clearable
      data={known.map(optionOf)}
      label={t`Campaigns`}
      maxValues={MOST_CAMPAIGNS}
      onChange={(chosen) => onChoose(chosen.map(Number))}
      placeholder={campaignIds.length === 0 ? PICKER.placeholder : ""}
      value={campaignIds.map(String)}
    />
  );
}

interface SidePickerProps {
  readonly side: "A" | "B";
  readonly campaignId: number | undefined;
  readonly cell: number | undefined;
  readonly onChoose: (campaignId: number | undefined, cell: number | undefined) => void;
}

export function SidePicker({ side, campaignId, cell, onChoose }: SidePickerProps) {
  const known = useKnown(campaignId === undefined ? [] : [campaignId]);
  const { data: cells = [] } = useInfiniteQuery({
    ...cellsQuery(campaignId ?? 0),
    enabled: campaignId !== undefined,
  });
  return (
    <Group align="flex-end" gap="sm">
      <Select
        {...PICKER}
        data={known.map(optionOf)}
        flex={2}
        label={t`Campaign ${side}`}
        miw={220}
        onChange={(chosen) => onChoose(chosen === null ? undefined : Number(chosen), undefined)}
        value={campaignId === undefined ? null : String(campaignId)}
      />
      <Select
        clearable
        data={cells.map(({ ordinal, workload, node_names, target_names }) => ({
          value: String(ordinal),
          label: `${ordinal} · ${workload} · ${[...node_names, ...target_names].join(", ")}`,
        }))}
        disabled={campaignId === undefined}
        flex={2}
        label={t`Configuration of ${side}`}
        miw={220}
        onChange={(chosen) => onChoose(campaignId, chosen === null ? undefined : Number(chosen))}
        placeholder={t`All configurations`}
        searchable
        value={cell === undefined ? null : String(cell)}
      />
    </Group>
  );
}
