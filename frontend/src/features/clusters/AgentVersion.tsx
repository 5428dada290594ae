/** The version of a node's agent, and what is to be done where the server will not, or does not, understand it. */

import { t } from "@lingui/core/macro";
import { Badge, Group } from "@mantine/core";
import type { Node } from "@/api/types";
import { Hint } from "@/components/looks";

type Standing = Node["agent_standing"];

interface AgentVersionProps {
  readonly standing: Standing;
  readonly version: string | null;
  /** Says the remedy in words as well. */
  readonly isLong?: boolean;
}

export function AgentVersion({ standing, version, isLong = false }: AgentVersionProps) {
  const trouble = troubleOf(standing);
  return (
    <>
      <Group gap="xs" wrap="nowrap">
        <span>{version ?? t`unknown`}</span>
        {trouble && (
          <Badge color={standing === "behind" ? "orange" : "red"} miw="max-content" title={trouble.remedy}>
            {trouble.word}
          </Badge>
        )}
      </Group>
      {isLong && trouble && <Hint>{trouble.remedy}</Hint>}
    </>
  );
}

function troubleOf(standing: Standing): { word: string; remedy: string } | null {
  switch (standing) {
    case "behind":
      return {
        word: t`behind`,
        remedy: t`Upgrade its agent: the server still understands it, and may not after its next upgrade.`,
      };
    case "too_old":
      return {
        word: t`too old`,
        remedy: t`The server no longer understands it and gives it no runs: upgrade its agent to the server's release.`,
      };
    case "too_new":
      return {
        word: t`too new`,
        remedy: t`The server does not understand it yet and gives it no runs: upgrade the server.`,
      };
    default:
      return null;
  }
}
