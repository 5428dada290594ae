/** /compare: many sides of campaigns, cells that were pinned, or two campaigns; all choices in the address. */

import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Button, SegmentedControl, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useEffect } from "react";
import { ButtonLink } from "@/components/links";
import { Page, Section } from "@/components/Page";
import { campaignQuery } from "@/features/campaigns/queries";
import { ComparisonSections } from "@/features/comparison/ComparisonSections";
import type { RenderRepeats } from "@/features/comparison/repeats";
import { SidesSections } from "@/features/comparison/SidesSections";
import { preparePlots } from "@/plots/Plot";
import { ClusterTitles } from "./ClusterTitles";
import { CampaignsPicker, SidePicker } from "./ComparedCampaigns";
import { RepeatSide } from "./RepeatSide";

const route = getRouteApi("/shell/compare");
type Search = ReturnType<typeof route.useSearch>;

const renderRepeats: RenderRepeats = (cell, missing) => <RepeatSide cell={cell} missing={missing} />;

const WAYS = [
  { value: "many", label: t`File systems, clusters, options` },
  { value: "two", label: t`Two campaigns` },
];

export default function CompareRoute() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { a, campaigns, cells } = search;
  useEffect(preparePlots, []);
  const { data: campaign } = useQuery({
    ...campaignQuery(a ?? campaigns?.[0] ?? 0),
    enabled: (a ?? campaigns?.[0]) !== undefined,
  });
  const choose = (change: Search) =>
    void navigate({ search: (before: Search) => ({ ...before, ...change }), replace: true });
  return (
    <Page actions={<Actions choose={choose} search={search} />} title={t`Compare`}>
      <ClusterTitles clusterId={campaign?.cluster_id}>
        {cells ? (
          <Pinned cells={cells} choose={choose} search={search} />
        ) : (
          <Campaigns choose={choose} search={search} />
        )}
      </ClusterTitles>
    </Page>
  );
}

interface ChoosingProps {
  readonly search: Search;
  readonly choose: (change: Search) => void;
}

function isOfTwo({ a, b, two }: Search): boolean {
  return two === true || a !== undefined || b !== undefined;
}

function Actions({ search, choose }: ChoosingProps) {
  const { a, b, a_cell, b_cell, cells } = search;
  if (cells)
    return <ButtonLink search={{}} to="/compare" variant="default">{t`Compare campaigns`}</ButtonLink>;
  if (a === undefined || b === undefined) return null;
  return (
    <Button
      onClick={() => choose({ a: b, b: a, a_cell: b_cell, b_cell: a_cell })}
      variant="default"
    >{t`Swap A and B`}</Button>
  );
}

function Campaigns({ search, choose }: ChoosingProps) {
  const isTwo = isOfTwo(search);
  return (
    <>
      <Section
        actions={
          <SegmentedControl
            aria-label={t`What is compared`}
            data={WAYS}
            onChange={(way) =>
              choose(
                way === "two"
                  ? { two: true, campaigns: undefined, by: undefined, against: undefined }
                  : { two: undefined, a: undefined, b: undefined, a_cell: undefined, b_cell: undefined },
              )
            }
            size="xs"
            value={isTwo ? "two" : "many"}
          />
        }
        description={
          isTwo
            ? t`Cells that have most in common are compared with each other; or name one of each side. B is told in terms of A.`
            : t`One campaign over several file systems, nodes or options, or campaigns of several clusters: each value is a side.`
        }
        title={t`What`}
      >
        {isTwo ? (
          <TwoPickers choose={choose} search={search} />
        ) : (
          <ManyPickers choose={choose} search={search} />
        )}
      </Section>
      {isTwo ? <Two choose={choose} search={search} /> : <Many choose={choose} search={search} />}
    </>
  );
}

function TwoPickers({ search: { a, b, a_cell, b_cell }, choose }: ChoosingProps) {
  return (
    <>
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
    </>
  );
}

function ManyPickers({ search: { campaigns }, choose }: ChoosingProps) {
  return (
    <CampaignsPicker
      campaignIds={campaigns ?? []}
      onChoose={(ids) =>
        choose({ campaigns: ids.length > 0 ? ids : undefined, by: undefined, against: undefined })
      }
    />
  );
}

function Two({ search: { a, b, a_cell, b_cell, metric }, choose }: ChoosingProps) {
  if (a === undefined || b === undefined)
    return (
      <Text c="dimmed">
        <Trans>
          Choose two campaigns. Four runs or more of each cell give an interval; with fewer there is no
          verdict.
        </Trans>
      </Text>
    );
  return (
    <ComparisonSections
      metric={metric}
      onMetric={(key) => choose({ metric: key })}
      renderRepeats={renderRepeats}
      sides={{ a, b, aCell: a_cell, bCell: b_cell }}
    />
  );
}

function Many({ search: { campaigns = [], by, against, metric }, choose }: ChoosingProps) {
  if (campaigns.length === 0)
    return (
      <Text c="dimmed">
        <Trans>
          Choose a campaign. Its file systems are compared first, where it has several; or pin runs on the
          page Runs and compare those. Four runs or more of each side give an interval.
        </Trans>
      </Text>
    );
  return (
    <SidesSections
      many={{ campaigns, cells: [], by, against }}
      onView={choose}
      renderRepeats={renderRepeats}
      view={{ by, against, metric }}
    />
  );
}

function Pinned({
  search: { against, metric },
  cells,
  choose,
}: ChoosingProps & { cells: readonly number[] }) {
  return (
    <SidesSections
      many={{ campaigns: [], cells, by: undefined, against }}
      onView={choose}
      renderRepeats={renderRepeats}
      view={{ against, metric }}
    />
  );
}
