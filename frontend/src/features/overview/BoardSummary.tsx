/** Number of cells by state, worst first, so that the first line of a page says whether something is wrong. */

import { Badge, Group } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { boardQuery, USUAL_DAYS } from "./queries";
import { countsOf, ofCluster, STATE_WORDS } from "./standings";

interface BoardSummaryProps {
  readonly days: number | undefined;
  /** Undefined: all clusters. */
  readonly clusterId?: number | undefined;
}

export function BoardSummary({ days = USUAL_DAYS, clusterId }: BoardSummaryProps) {
  const { data } = useQuery(boardQuery(days));
  if (!data) return null;
  return (
    <Group gap={6}>
      {countsOf(ofCluster(data, clusterId).cells).map(([state, count]) => {
        const { sign, word, color } = STATE_WORDS[state];
        return (
          <Badge color={color} key={state}>
            <span aria-hidden="true">{sign}</span> {count} {word}
          </Badge>
        );
      })}
    </Group>
  );
}
