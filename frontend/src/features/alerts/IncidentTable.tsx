/** Incidents, one line each: what changed, its course, state, and what to do. */

import { t } from "@lingui/core/macro";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { Incident, Points } from "@/api/types";
import { StateBadge } from "@/components/badges";
import { TextLink } from "@/components/links";
import { Detail } from "@/components/looks";
import { Row, ScrollTable } from "@/components/ScrollTable";
import { LoggedIn } from "@/components/session";
import { When } from "@/components/values";
import { IncidentMoves } from "./IncidentMoves";
import { IncidentSpark } from "./IncidentSpark";
import { sparkPointsQuery } from "./queries";

/** Limit of series for one request of points. */
const MOST_SPARKS = 60;

interface IncidentTableProps {
  readonly incidents: readonly Incident[];
  readonly label: string;
  readonly isOfSeveral: boolean;
  /** False next to a chart of the series. */
  readonly hasTrend?: boolean;
  readonly renderAdd: (incident: Incident, onAdded: (eventId: number) => void) => ReactNode;
}

export function IncidentTable({
  incidents,
  label,
  isOfSeveral,
  hasTrend = true,
  renderAdd,
}: IncidentTableProps) {
  const seriesIds = [...new Set(incidents.flatMap(({ series }) => series?.id ?? []))].slice(0, MOST_SPARKS);
  const { data: points } = useQuery(sparkPointsQuery(hasTrend ? seriesIds : []));
  const trend = hasTrend ? [t`Trend`] : [];
  return (
    <ScrollTable head={[t`Incident`, ...trend, t`State`, t`Owner`, ""]} label={label}>
      {incidents.map((incident) => (
        <IncidentRow
          hasTrend={hasTrend}
          incident={incident}
          isOfSeveral={isOfSeveral}
          key={incident.id}
          points={incident.series ? points?.get(incident.series.id) : undefined}
          renderAdd={renderAdd}
        />
      ))}
    </ScrollTable>
  );
}

interface IncidentRowProps extends Pick<IncidentTableProps, "isOfSeveral" | "renderAdd"> {
  readonly hasTrend: boolean;
  readonly incident: Incident;
  readonly points: Points | undefined;
}

function IncidentRow({ incident, isOfSeveral, hasTrend, points, renderAdd }: IncidentRowProps) {
  const { id, words, cluster_name: clusterName, at, owner, is_environment: isEnvironment } = incident;
  return (
    <Row>
      <td className="iotide-wrap">
        <TextLink params={{ incidentId: id }} to="/incidents/$incidentId">
          {words}
        </TextLink>
        <Detail>
          {isOfSeveral && `${clusterName} · `}
          <When at={at} />
          {isEnvironment && t` · a control workload changed too: check the environment first`}
        </Detail>
      </td>
      {hasTrend && (
        <td>
          <IncidentSpark incident={incident} points={points} />
        </td>
      )}
      <IncidentState incident={incident} />
      <td>{owner ?? <LoggedIn>{t`unassigned`}</LoggedIn>}</td>
      <td>
        <IncidentMoves incident={incident} renderAdd={renderAdd} />
      </td>
    </Row>
  );
}

/** An improvement is neither open nor ended. */
export function IncidentState({ incident: { kind, state } }: { incident: Incident }) {
  return <StateBadge state={kind === "better" && state === "ended" ? "better" : state} />;
}
