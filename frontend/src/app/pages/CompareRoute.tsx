/** /compare: sides of campaigns, pinned cells, or two campaigns. All choices are in the address. */

import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Button, SegmentedControl, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { lazy, useEffect } from "react";
import { DialogButton } from "@/components/buttons";
import { ButtonLink } from "@/components/links";
import { Page, Section } from "@/components/Page";
import { useMayRun, useMaySomewhere } from "@/components/session";
import { campaignQuery } from "@/features/campaigns/queries";
import { ENOUGH_RUNS } from "@/features/campaigns/results";
import { PairSections, SidesSections } from "@/features/comparison/ComparisonSections";
import type { RenderRepeats } from "@/features/comparison/NumbersTable";
import { preparePlots } from "@/plots/Plot";
import { ClusterTitles } from "./ClusterTitles";
import { CampaignsPicker, SidePicker } from "./ComparedCampaigns";

const route = getRouteApi("/shell/compare");
type Search = ReturnType<typeof route.useSearch>;

const renderRepeats: RenderRepeats = (cell, runs) =>
  runs < ENOUGH_RUNS && <RepeatSide cell={cell} key="repeats" missing={ENOUGH_RUNS - runs} />;

const WAYS = [
  { value: "many", label: t`File systems, clusters, options` },
  { value: "two", label: t`Two campaigns` },
];
const NO_SIDES = { campaigns: undefined, by: undefined, against: undefined };
const NO_PAIR = { two: undefined, a: undefined, b: undefined, a_cell: undefined, b_cell: undefined };

interface ChoosingProps {
  readonly search: Search;
  readonly choose: (change: Search) => void;
}

export default function CompareRoute() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const first = search.a ?? search.campaigns?.[0];
  useEffect(preparePlots, []);
  const { data: campaign } = useQuery({ ...campaignQuery(first ?? 0), enabled: first !== undefined });
  const choose = (change: Search) =>
    void navigate({ search: (before: Search) => ({ ...before, ...change }), replace: true });
  return (
    <Page actions={<Actions choose={choose} search={search} />} title={t`Compare`}>
      <ClusterTitles clusterId={campaign?.cluster_id}>
        {!search.cells && <Pickers choose={choose} search={search} />}
        <Compared choose={choose} search={search} />
      </ClusterTitles>
    </Page>
  );
}

function isOfTwo({ a, b, two, cells }: Search): boolean {
  return !cells && (two === true || a !== undefined || b !== undefined);
}

function Actions({ search, choose }: ChoosingProps) {
  const { a, b, a_cell, b_cell, campaigns = [], cells } = search;
  const isPair = isOfTwo(search) && a !== undefined && b !== undefined;
  return (
    <>
      {cells && <ButtonLink search={{}} to="/compare" variant="default">{t`Compare campaigns`}</ButtonLink>}
      {isPair && (
        <Button
          onClick={() => choose({ a: b, b: a, a_cell: b_cell, b_cell: a_cell })}
          variant="default"
        >{t`Swap A and B`}</Button>
      )}
      {(isPair || cells || campaigns.length > 0) && (
        <ButtonLink search={search} to="/compare/report" variant="default">{t`Report`}</ButtonLink>
      )}
    </>
  );
}

function Pickers({ search, choose }: ChoosingProps) {
  const { a, b, a_cell, b_cell, campaigns = [] } = search;
  const isTwo = isOfTwo(search);
  return (
    <Section
      actions={
        <SegmentedControl
          aria-label={t`Comparison mode`}
          data={WAYS}
          onChange={(way) => choose(way === "two" ? { ...NO_SIDES, two: true } : NO_PAIR)}
          size="xs"
          value={isTwo ? "two" : "many"}
        />
      }
      description={
        isTwo
          ? t`Matching configurations are paired automatically, or choose one on each side. Results are shown as B relative to A.`
          : t`Compare file systems, nodes or options within one campaign, or several campaigns.`
      }
      title={t`Selection`}
    >
      {isTwo ? (
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
      ) : (
        <CampaignsPicker
          campaignIds={campaigns}
          onChoose={(ids) => choose({ ...NO_SIDES, campaigns: ids.length > 0 ? ids : undefined })}
        />
      )}
    </Section>
  );
}

function Compared({ search, choose }: ChoosingProps) {
  const { a, b, a_cell: aCell, b_cell: bCell, campaigns = [], cells = [], by, against, metric } = search;
  const view = { metric, onView: choose, renderRepeats };
  if (!isOfTwo(search) && campaigns.length + cells.length > 0)
    return (
      <SidesSections many={{ campaigns: cells.length > 0 ? [] : campaigns, cells, by, against }} {...view} />
    );
  if (a !== undefined && b !== undefined) return <PairSections sides={{ a, b, aCell, bCell }} {...view} />;
  return (
    <Text c="dimmed">
      {isOfTwo(search) ? (
        <Trans>
          Choose two campaigns. An interval needs at least four runs of each configuration. With fewer there
          is no verdict.
        </Trans>
      ) : (
        <Trans>
          Choose a campaign, or pin runs on the Runs page and compare those. If a campaign has several file
          systems, they are compared first. An interval needs at least four runs on each side.
        </Trans>
      )}
    </Text>
  );
}

const AddRepeats = lazy(() => import("@/features/campaigns/AddRepeats"));

interface RepeatSideProps {
  readonly cell: { readonly campaign_id: number; readonly cell_id: number };
  readonly missing: number;
}

function RepeatSide({ cell: { campaign_id, cell_id }, missing }: RepeatSideProps) {
  const { data: campaign } = useQuery({
    ...campaignQuery(campaign_id),
    enabled: useMaySomewhere("operator"),
  });
  const mayAdd = useMayRun(campaign?.cluster_id ?? 0);
  if (!campaign || !mayAdd) return null;
  return (
    <DialogButton
      dialog={(onClose) => <AddRepeats campaign={campaign} cellIds={[cell_id]} onClose={onClose} />}
      mt={4}
      size="compact-xs"
      variant="default"
    >{t`Add repeats, ${missing} missing`}</DialogButton>
  );
}
