import { t } from "@lingui/core/macro";
import { Badge, Group } from "@mantine/core";
import type { Node } from "@/api/types";
import { Hint } from "@/components/looks";

type Standing = Node["agent_standing"];

interface AgentVersionProps {
  readonly standing: Standing;
  readonly version: string | null;
  /** Shows the remedy as text, too. */
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
        remedy: t`Upgrade this agent. The server still supports it, but may not after the next server upgrade.`,
      };
    case "too_old":
      return {
        word: t`too old`,
        remedy: t`The server no longer supports this agent and sends it no runs. Upgrade it to the server's release.`,
      };
    case "too_new":
      return {
        word: t`too new`,
        remedy: t`The server does not support this agent yet and sends it no runs. Upgrade the server.`,
      };
    default:
      return null;
  }
}
