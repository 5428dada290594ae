/** /compare: two campaigns, or one cell of each; all choices in the address. */

import { Button, Group, Select, Stack, Text } from "@mantine/core";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { Page, Section } from "@/components/Page";
import { campaignQuery, campaignsQuery, cellsQuery } from "@/features/campaigns/queries";
import { ComparisonSections } from "@/features/comparison/ComparisonSections";
import { ClusterTitles } from "./ClusterTitles";

const route = getRouteApi("/shell/compare");

export default function CompareRoute() {
  const { a, b, a_cell, b_cell, metric } = route.useSearch();
  const navigate = route.useNavigate();
  const { data: campaign } = useQuery({ ...campaignQuery(a ?? 0), enabled: a !== undefined });
  type Search = ReturnType<typeof route.useSearch>;
  const choose = (change: Search) =>
    void navigate({ search: (search: Search) => ({ ...search, ...change }), replace: true });
  const hasBoth = a !== undefined && b !== undefined;
  return (
    <Page
      actions={
        hasBoth && (
          <Button onClick={() => choose({ a: b, b: a, a_cell: b_cell, b_cell: a_cell })} variant="default">
            Swap A and B
          </Button>
        )
      }
      title="Compare"
    >
      <ClusterTitles clusterId={campaign?.cluster_id}>
        <Section
          description="Cells that have most in common are compared with each other; or name one of each side. B is told in terms of A."
          title="What"
        >
          <Stack gap="sm">
            <SidePicker
              campaignId={a}
              cell={a_cell}
              onChoose={(id, cell) => choose({ a: id, a_cell: cell })}
              side="A"
            />
            <SidePicker
              campaignId={b}
              cell={b_cell}
              onChoose={(id, cell) => choose({ b: id, b_cell: cell })}
              side="B"
            />
          </Stack>
        </Section>
        {hasBoth ? (
          <ComparisonSections
            metric={metric}
            onMetric={(key) => choose({ metric: key })}
            sides={{ a, b, aCell: a_cell, bCell: b_cell }}
          />
        ) : (
          <Text c="dimmed">
            Choose two campaigns. Four runs or more of each cell give an interval; with fewer there is no
            verdict.
          </Text>
        )}
      </ClusterTitles>
    </Page>
  );
}

interface SidePickerProps {
  readonly side: "A" | "B";
  readonly campaignId: number | undefined;
  readonly cell: number | undefined;
  readonly onChoose: (campaignId: number | undefined, cell: number | undefined) => void;
}

function SidePicker({ side, campaignId, cell, onChoose }: SidePickerProps) {
  const { data: newest = [] } = useInfiniteQuery(campaignsQuery({}));
  const { data: own } = useQuery({ ...campaignQuery(campaignId ?? 0), enabled: campaignId !== undefined });
  const { data: cells = [] } = useInfiniteQuery({
    ...cellsQuery(campaignId ?? 0),
    enabled: campaignId !== undefined,
  });
  const known = own && !newest.some(({ id }) => id === own.id) ? [own, ...newest] : newest;
  return (
    <Group align="flex-end" gap="sm">
      <Select
        data={known.map(({ id, name, cluster_name }) => ({
          value: String(id),
          label: `${id} · ${name} · ${cluster_name}`,
        }))}
        flex={2}
        label={`Campaign ${side}`}
        limit={100}
        miw={220}
        nothingFoundMessage="No campaign of that name or number among the newest."
        onChange={(chosen) => onChoose(chosen === null ? undefined : Number(chosen), undefined)}
        placeholder="Name or number"
        searchable
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
        label={`Cell of ${side}`}
        miw={220}
        onChange={(chosen) => onChoose(campaignId, chosen === null ? undefined : Number(chosen))}
        placeholder="All cells"
        searchable
        value={cell === undefined ? null : String(cell)}
      />
    </Group>
  );
}
