import { t } from "@lingui/core/macro";
import { Group, Stack, Switch } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { INCIDENT_STATES } from "@/api/states";
import type { Incident } from "@/api/types";
import { ChoiceFilter } from "@/components/filters";
import { RowButton } from "@/components/looks";
import { SampleNote } from "@/components/Origin";
import { Loaded, Section, ShowMore } from "@/components/Page";
import { LoggedIn, usePrincipal } from "@/components/session";
import { IncidentTable } from "./IncidentTable";
import { incidentsQuery } from "./queries";

export interface IncidentsView {
  /** Undefined: any, open ones first. */
  readonly state?: (typeof INCIDENT_STATES)[number] | undefined;
  readonly kind?: Incident["kind"] | undefined;
  readonly owner?: string | undefined;
  readonly series?: number | undefined;
  readonly target?: number | undefined;
}

interface IncidentsListProps {
  /** Undefined: all clusters. */
  readonly clusterId: number | undefined;
  readonly view: IncidentsView;
  readonly onView: (change: IncidentsView) => void;
  readonly renderAdd: (incident: Incident, onAdded: (eventId: number) => void) => ReactNode;
}

const NO_INCIDENT = t`No incidents. A series is analysed after each data point once it has 14 points.`;

export function IncidentsList({ clusterId, view, onView, renderAdd }: IncidentsListProps) {
  const { state, kind, owner, series, target } = view;
  const states = state && [state];
  const incidents = useInfiniteQuery(
    incidentsQuery({
      clusterId,
      states,
      kind,
      owner,
      seriesIds: series === undefined ? undefined : [series],
      targetId: target,
    }),
  );
  const isFiltered = clusterId !== undefined || Object.values(view).some((value) => value !== undefined);
  return (
    <Section
      actions={<Filters onView={onView} view={view} />}
      description={t`Confirmed changes of one event, or of related series at one time, are one incident.`}
      title={t`Open ones first`}
    >
      <Loaded empty={isFiltered ? t`No incidents match.` : NO_INCIDENT} lines={8} query={incidents}>
        {(rows) => (
          <Stack>
            <SampleNote clusterIds={rows.map(({ cluster_id }) => cluster_id)} />
            <IncidentTable
              incidents={rows}
              isOfSeveral={clusterId === undefined}
              label={t`Incidents`}
              renderAdd={renderAdd}
            />
            <ShowMore query={incidents} />
          </Stack>
        )}
      </Loaded>
    </Section>
  );
}

function Filters({ view, onView }: Pick<IncidentsListProps, "view" | "onView">) {
  const { name } = usePrincipal();
  const isNarrow = view.series !== undefined || view.target !== undefined;
  return (
    <Group gap="sm">
      {isNarrow && (
        <RowButton
          onClick={() => onView({ series: undefined, target: undefined })}
        >{t`Show all series`}</RowButton>
      )}
      <ChoiceFilter
        all={t`All states`}
        choices={INCIDENT_STATES}
        label={t`State`}
        onChoose={(state) => onView({ state })}
        value={view.state}
      />
      <ChoiceFilter
        all={t`All kinds`}
        choices={[
          { value: "worse", label: t`Regressions` },
          { value: "better", label: t`Improvements` },
          { value: "neither", label: t`Other changes` },
          { value: "stale", label: t`Stale series` },
        ]}
        label={t`Kind`}
        onChoose={(kind) => onView({ kind })}
        value={view.kind}
      />
      <LoggedIn>
        <Switch
          checked={view.owner === name}
          label={t`Assigned to me`}
          onChange={(event) => onView({ owner: event.currentTarget.checked ? name : undefined })}
          size="sm"
        />
      </LoggedIn>
    </Group>
  );
}
