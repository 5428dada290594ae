/** /surfaces: throughput over file size and record size, of one or two sources. All choices are in the address. */

import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Alert, Group, NativeSelect, Select, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import type { Surface, SurfaceSource } from "@/api/types";
import { ButtonLink } from "@/components/links";
import { OptionValue } from "@/components/OptionValue";
import { useTitlesOf } from "@/components/optionTitles";
import { Loaded, Page, Section } from "@/components/Page";
import { ScrollTable } from "@/components/ScrollTable";
import { LoggedIn } from "@/components/session";
import { surfaceQuery, surfaceSourcesQuery } from "@/features/surfaces/queries";
import { DifferenceMap, SideMaps, SpatialSurface } from "@/features/surfaces/SurfaceMaps";
import { SurfaceSlices, SurfaceTable } from "@/features/surfaces/SurfaceSlices";
import { formatDay } from "@/lib/time";
import type { PlaceOnSurface } from "@/plots/surface";
import { CompareTabs } from "./PlaceTabs";

const route = getRouteApi("/shell/surfaces");

const OPTION = "options.";

type Search = ReturnType<typeof route.useSearch>;

function useChoose() {
  const navigate = route.useNavigate();
  return (change: Search) =>
    void navigate({
      search: (search: Search) => ({ ...search, ...change }),
      replace: true,
      resetScroll: false,
    });
}

export default function SurfacesRoute() {
  const { a, b, metric, operation } = route.useSearch();
  const sources = useQuery(surfaceSourcesQuery);
  // If the address names a surface, request it without waiting for the list.
  useQuery({ ...surfaceQuery({ a: a ?? "", b, metric, operation }), enabled: a !== undefined });
  return (
    <Page title={t`Surfaces`}>
      <CompareTabs />
      <Loaded empty={<NothingYet />} lines={8} query={sources}>
        {(found) => {
          const first = a ?? found[0]?.source;
          return (
            <>
              <Section
                description={t`A metric over file size × record size. Optionally compare surface B with A.`}
                title={t`Selection`}
              >
                <Group align="flex-end">
                  <SidePicker chosen={first} side="a" sources={found} />
                  <SidePicker chosen={b} side="b" sources={found} />
                </Group>
              </Section>
              {first && <ChosenSurface a={first} b={b} />}
            </>
          );
        }}
      </Loaded>
    </Page>
  );
}

function NothingYet() {
  return (
    <Section title={t`No surfaces yet`}>
      <Stack align="flex-start" gap="sm">
        <Text>
          <Trans>
            Run IOzone in auto mode, or sweep both the file size and the record size of a workload in one
            campaign.
          </Trans>
        </Text>
        <LoggedIn>
          <ButtonLink to="/campaigns/new">{t`New campaign`}</ButtonLink>
        </LoggedIn>
      </Stack>
    </Section>
  );
}

interface SidePickerProps {
  readonly side: "a" | "b";
  readonly chosen: string | undefined;
  readonly sources: readonly SurfaceSource[];
}

function SidePicker({ side, chosen, sources }: SidePickerProps) {
  const choose = useChoose();
  const known = sources.map((source) => ({ value: source.source, label: sourceWords(source) }));
  const data =
    chosen && !known.some(({ value }) => value === chosen)
      ? [{ value: chosen, label: chosen }, ...known]
      : known;
  return (
    <Select
      allowDeselect={side === "b"}
      clearable={side === "b"}
      data={data}
      flex={1}
      label={side === "a" ? t`Surface A` : t`Surface B`}
      miw={260}
      nothingFoundMessage={t`No surface has this name.`}
      onChange={(source) => choose({ [side]: source ?? undefined })}
      placeholder={t`None (show only A)`}
      searchable
      value={chosen ?? null}
    />
  );
}

function sourceWords({
  campaign_name,
  workload,
  node_names,
  target_names,
  variant,
  started_at,
}: SurfaceSource) {
  const where = t`${node_names.join(", ")} on ${target_names.join(", ")}`;
  return [campaign_name, workload, where, variant, formatDay(started_at)].filter(Boolean).join(" · ");
}

function ChosenSurface({ a, b }: { a: string; b: string | undefined }) {
  const { metric, operation } = route.useSearch();
  const surface = useQuery(surfaceQuery({ a, b, metric, operation }));
  return (
    <Loaded lines={12} query={surface}>
      {(found) => <SurfaceSections surface={found} />}
    </Loaded>
  );
}

function SurfaceSections({ surface }: { surface: Surface }) {
  const { show = "a", by = "amount", file, record } = route.useSearch();
  const choose = useChoose();
  const mark = ({ fileSize, recordSize }: PlaceOnSurface) => choose({ file: fileSize, record: recordSize });
  const marked =
    file !== undefined && record !== undefined ? { fileSize: file, recordSize: record } : undefined;
  const at = marked ?? {
    fileSize: surface.file_sizes_bytes.at(-1) ?? 0,
    recordSize: surface.record_sizes_bytes.at(-1) ?? 0,
  };
  const shared = { surface, marked, onMark: mark };
  return (
    <>
      <SetupDifferences surface={surface} />
      <Section
        actions={<Choices surface={surface} />}
        description={t`Dashed line: beyond this size the value drops and stays low. Click a cell to see its slices.`}
        title={`${surface.title}, ${surface.operation}`}
      >
        <SideMaps {...shared} />
      </Section>
      {surface.b && (
        <Section
          description={t`Cells are empty where A or B was not measured. An interval needs at least four runs on each side.`}
          title={t`B relative to A`}
        >
          <DifferenceMap by={by} onBy={(chosen) => choose({ by: chosen })} {...shared} />
        </Section>
      )}
      <Section title={t`Slices`}>
        <SurfaceSlices at={at} surface={surface} />
      </Section>
      <Section description={t`Drag to rotate, scroll to zoom.`} title={t`3-D view`}>
        <SpatialSurface onShow={(chosen) => choose({ show: chosen })} show={show} {...shared} />
      </Section>
      <Section title={t`Values`}>
        <SurfaceTable surface={surface} />
      </Section>
    </>
  );
}

function Choices({ surface }: { surface: Surface }) {
  const choose = useChoose();
  return (
    <>
      {surface.metrics.length > 1 && (
        <NativeSelect
          aria-label={t`Metric`}
          data={surface.metrics.map(({ metric, title }) => ({ value: metric, label: title }))}
          onChange={({ currentTarget: { value } }) => choose({ metric: value })}
          value={surface.metric}
        />
      )}
      <NativeSelect
        aria-label={t`Operation`}
        data={surface.operations}
        onChange={({ currentTarget: { value } }) => choose({ operation: value })}
        value={surface.operation}
      />
    </>
  );
}

/** Shown first: a ratio of different setups means little. */
function SetupDifferences({ surface: { a: side, unlike } }: { surface: Surface }) {
  const titleOf = useTitlesOf()(side.workload);
  if (unlike.length === 0) return null;
  return (
    <Section title={t`Differences in setup`}>
      <Stack gap="sm">
        {unlike.some(({ name }) => name.startsWith(OPTION)) && (
          <Alert color="orange">{t`These configurations differ; the ratio may not be meaningful.`}</Alert>
        )}
        <ScrollTable head={[t`Setting`, "A", "B"]} label={t`Differences in setup`}>
          {unlike.map(({ name, a, b }) => {
            const option = name.replace(OPTION, "");
            return (
              <tr key={name}>
                <td>{titleOf(option)}</td>
                <td className="iotide-wrap">
                  <OptionValue name={option} value={a} />
                </td>
                <td className="iotide-wrap">
                  <OptionValue name={option} value={b} />
                </td>
              </tr>
            );
          })}
        </ScrollTable>
      </Stack>
    </Section>
  );
}
