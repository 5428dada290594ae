import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Text } from "@mantine/core";
import type { Node } from "@/api/types";
import { Hint } from "@/components/looks";
import { When } from "@/components/values";
import { formatValue } from "@/lib/units";

export function ClockOffset({ clock }: { clock: Node["clock"] }) {
  if (clock === null) return <>{t`not reported by the agent`}</>;
  const offset = formatValue(Math.abs(clock.offset_seconds), "seconds");
  const uncertainty = formatValue(clock.uncertainty_seconds, "seconds");
  const isAhead = clock.offset_seconds >= 0;
  return (
    <>
      {isAhead
        ? t`${offset} ahead of the server, ± ${uncertainty}`
        : t`${offset} behind the server, ± ${uncertainty}`}
      {clock.is_off && (
        <Text c="var(--mantine-color-error)" size="sm">
          {t`More than one second off. Synchronise the node and the server, for example with chrony.`}
        </Text>
      )}
    </>
  );
}

export function CredentialsAge({ node }: { node: Node }) {
  return (
    <>
      <Trans>
        issued <When at={node.credentials_at} />
      </Trans>
      {node.rotation_wanted_at && (
        <Hint>
          <Trans>
            Rotation requested <When at={node.rotation_wanted_at} />. The agent gets new credentials with its
            next heartbeat.
          </Trans>
        </Hint>
      )}
    </>
  );
}
