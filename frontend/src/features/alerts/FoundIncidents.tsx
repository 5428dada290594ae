/** The incidents behind what a page shows, with their buttons; nothing without incidents. */

import { t } from "@lingui/core/macro";
import { Stack } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { Incident } from "@/api/types";
import { ErrorNotice, Loading, Section, ShowMore } from "@/components/Page";
import { IncidentTable } from "./IncidentTable";
import { type IncidentFilter, incidentsQuery } from "./queries";

interface FoundIncidentsProps {
  readonly filter: IncidentFilter;
  readonly renderAdd: (incident: Incident, onAdded: (eventId: number) => void) => ReactNode;
}

/** Of the drawn series, whose chart is on the same page. */
export function SeriesIncidents({ filter, renderAdd }: FoundIncidentsProps) {
  const incidents = useInfiniteQuery(incidentsQuery(filter));
  if (incidents.error) return <ErrorNotice error={incidents.error} />;
  if (!incidents.data || incidents.data.length === 0) return null;
  return (
    <Section title={t`Incidents`}>
      <Stack>
        <IncidentTable
          hasTrend={false}
          incidents={incidents.data}
          isOfSeveral={false}
          label={t`Incidents of the drawn series`}
          renderAdd={renderAdd}
        />
        <ShowMore query={incidents} />
      </Stack>
    </Section>
  );
}

/** Open incidents of a cluster, below the line that counts them. */
export function OpenIncidents({ filter, renderAdd }: FoundIncidentsProps) {
  const incidents = useInfiniteQuery(incidentsQuery(filter));
  if (incidents.error) return <ErrorNotice error={incidents.error} />;
  if (!incidents.data) return <Loading lines={2} />;
  return (
    <Stack gap="xs">
      <IncidentTable
        hasTrend
        incidents={incidents.data}
        isOfSeveral={false}
        label={t`Open incidents`}
        renderAdd={renderAdd}
      />
      <ShowMore query={incidents} />
    </Stack>
  );
}
