/** /compare: sides of campaigns, pinned cells, or two campaigns. All choices are in the address. */

import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Button, SegmentedControl, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { lazy } from "react";
import { DialogButton } from "@/components/buttons";
import { Fold } from "@/components/Fold";
import { ButtonLink } from "@/components/links";
import { Hint } from "@/components/looks";
import { Page, Section } from "@/components/Page";
import { useMayRun, useMaySomewhere } from "@/components/session";
import { campaignQuery } from "@/features/campaigns/queries";
import { ENOUGH_RUNS } from "@/features/campaigns/results";
import { PairSections, SidesSections } from "@/features/comparison/ComparisonSections";
import type { RenderRepeats } from "@/features/comparison/NumbersTable";
import { ClusterTitles } from "./ClusterTitles";
import { CampaignsPicker, SidePicker } from "./ComparedCampaigns";
import { CompareStart } from "./CompareStart";
import { CompareTabs } from "./PlaceTabs";

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
  const { data: campaign } = useQuery({ ...campaignQuery(first ?? 0), enabled: first !== undefined });
  const choose = (change: Search) =>
    void navigate({ search: (before: Search) => ({ ...before, ...change }), replace: true });
  return (
    <Page actions={<Actions choose={choose} search={search} />} title={t`Compare`}>
      <CompareTabs />
      <ClusterTitles clusterId={campaign?.cluster_id}>
        {isEmpty(search) ? (
          // Pushed, so that “back” returns to the choice.
          <CompareStart onChoose={(chosen) => void navigate({ search: chosen })} />
        ) : (
          <Chosen choose={choose} search={search} />
        )}
      </ClusterTitles>
    </Page>
  );
}

function isEmpty({ campaigns = [], cells = [], a, b, two }: Search): boolean {
  return campaigns.length + cells.length === 0 && a === undefined && b === undefined && two !== true;
}

function isOfTwo({ a, b, two, cells }: Search): boolean {
  return !cells && (two === true || a !== undefined || b !== undefined);
}

function isComplete(search: Search): boolean {
  return !isOfTwo(search) || (search.a !== undefined && search.b !== undefined);
}

/** The answer, then what was chosen; the choice comes first only while it is not complete. */
function Chosen(props: ChoosingProps) {
  const { a, b, cells, campaigns } = props.search;
  if (!isComplete(props.search))
    return (
      <>
        <Section title={t`Selection`}>
          <Pickers {...props} />
        </Section>
        <Text c="dimmed">
          <Trans>
            Choose two campaigns. An interval needs at least four runs of each configuration. With fewer there
            is no verdict.
          </Trans>
        </Text>
      </>
    );
  const ids = campaigns ?? [a, b];
  return (
    <>
      <Compared {...props} />
      {!cells && (
        <Fold summary={t`campaigns ${ids.join(", ")}`} title={t`Selection`}>
          <Pickers {...props} />
        </Fold>
      )}
    </>
  );
}

function Actions({ search, choose }: ChoosingProps) {
  const { a, b, a_cell, b_cell } = search;
  if (isEmpty(search)) return null;
  return (
    <>
      {a !== undefined && b !== undefined && (
        <Button
          onClick={() => choose({ a: b, b: a, a_cell: b_cell, b_cell: a_cell })}
          variant="default"
        >{t`Swap A and B`}</Button>
      )}
      {isComplete(search) && (
        <ButtonLink search={search} to="/compare/report" variant="default">{t`Report`}</ButtonLink>
      )}
      <ButtonLink search={{}} to="/compare" variant="default">{t`New comparison`}</ButtonLink>
    </>
  );
}

function Pickers({ search, choose }: ChoosingProps) {
  const { a, b, a_cell, b_cell, campaigns = [] } = search;
  const isTwo = isOfTwo(search);
  return (
    <Stack gap="sm">
      <SegmentedControl
        aria-label={t`Comparison mode`}
        data={WAYS}
        onChange={(way) => choose(way === "two" ? { ...NO_SIDES, two: true } : NO_PAIR)}
        size="xs"
        value={isTwo ? "two" : "many"}
        w="fit-content"
      />
      <Hint>
        {isTwo
          ? t`Matching configurations are paired automatically, or choose one on each side. Results are shown as B relative to A.`
          : t`Compare file systems, nodes or options within one campaign, or several campaigns.`}
      </Hint>
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
    </Stack>
  );
}

function Compared({ search, choose }: ChoosingProps) {
  const { a, b, a_cell: aCell, b_cell: bCell, campaigns = [], cells = [], by, against, metric } = search;
  const view = { metric, onView: choose, renderRepeats };
  if (isOfTwo(search) && a !== undefined && b !== undefined)
    return <PairSections sides={{ a, b, aCell, bCell }} {...view} />;
  return (
    <SidesSections many={{ campaigns: cells.length > 0 ? [] : campaigns, cells, by, against }} {...view} />
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
