/** Incidents, one line each: what changed, its course, state, and what to do. */

import { t } from "@lingui/core/macro";
import { Group } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
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

/** The same width as in Mantine's `sm`. */
const NARROW = "(max-width: 48em)";
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
  const isNarrow = useMediaQuery(NARROW) === true;
  const trend = hasTrend ? [t`Trend`] : [];
  const head = isNarrow ? [t`Incident`] : [t`Incident`, ...trend, t`State`, t`Owner`, ""];
  return (
    <ScrollTable head={head} label={label}>
      {incidents.map((incident) => (
        <IncidentRow
          hasTrend={hasTrend}
          incident={incident}
          isNarrow={isNarrow}
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
  readonly isNarrow: boolean;
  readonly incident: Incident;
  readonly points: Points | undefined;
}

function IncidentRow({ incident, isOfSeveral, hasTrend, isNarrow, points, renderAdd }: IncidentRowProps) {
  const owner = incident.owner ?? <LoggedIn>{t`unassigned`}</LoggedIn>;
  const moves = <IncidentMoves incident={incident} renderAdd={renderAdd} />;
  // An array, since a row makes a cell of each child, also of an absent one.
  const trend = hasTrend
    ? [
        <td key="trend">
          <IncidentSpark incident={incident} points={points} />
        </td>,
      ]
    : [];
  if (isNarrow)
    return (
      <Row>
        <td className="iotide-wrap">
          <Words incident={incident} isOfSeveral={isOfSeveral} />
          <Group gap="xs" my={4}>
            <IncidentState incident={incident} />
            <Detail>{owner}</Detail>
            {hasTrend && <IncidentSpark incident={incident} points={points} />}
          </Group>
          {moves}
        </td>
      </Row>
    );
  return (
    <Row>
      <td className="iotide-wrap">
        <Words incident={incident} isOfSeveral={isOfSeveral} />
      </td>
      {trend}
      <IncidentState incident={incident} />
      <td>{owner}</td>
      <td>{moves}</td>
    </Row>
  );
}

function Words({ incident, isOfSeveral }: Pick<IncidentRowProps, "incident" | "isOfSeveral">) {
  const { id, words, cluster_name: clusterName, at, is_environment: isEnvironment } = incident;
  return (
    <>
      <TextLink params={{ incidentId: id }} to="/incidents/$incidentId">
        {words}
      </TextLink>
      <Detail>
        {isOfSeveral && `${clusterName} · `}
        <When at={at} />
        {isEnvironment && t` · a control workload changed too: check the environment first`}
      </Detail>
    </>
  );
}

/** An improvement is neither open nor ended. */
export function IncidentState({ incident: { kind, state } }: { incident: Incident }) {
  return <StateBadge state={kind === "better" && state === "ended" ? "better" : state} />;
}
