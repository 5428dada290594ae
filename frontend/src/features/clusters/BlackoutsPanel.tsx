/** The maintenance days of one cluster: nothing starts in them, nor what could not end before. */

import { t } from "@lingui/core/macro";
import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useState } from "react";
import type { Blackout } from "@/api/types";
import { AddButton, ConfirmMutation } from "@/components/buttons";
import { Hint } from "@/components/looks";
import { Loaded, Section } from "@/components/Page";
import { Row, ScrollTable } from "@/components/ScrollTable";
import { useMay } from "@/components/session";
import { formatExactTime } from "@/lib/time";
import { blackoutsQuery, removeBlackout } from "./queries";

const CreateBlackout = lazy(() => import("./CreateBlackout"));

export default function BlackoutsPanel({ clusterId }: { clusterId: number }) {
  const blackouts = useQuery(blackoutsQuery(clusterId));
  const [isAdding, setIsAdding] = useState(false);
  const mayAdd = useMay("operator", clusterId);
  return (
    <Section
      actions={
        mayAdd && (
          <AddButton isOpen={isAdding} onToggle={() => setIsAdding(!isAdding)}>{t`Add a blackout`}</AddButton>
        )
      }
      description={t`Nothing starts in a blackout, nor what could not end before it.`}
      title={t`Maintenance`}
    >
      <Suspense>
        {isAdding && <CreateBlackout clusterId={clusterId} onDone={() => setIsAdding(false)} />}
      </Suspense>
      <Loaded empty={<Hint>{t`None is planned.`}</Hint>} lines={1} query={blackouts}>
        {(rows) => (
          <ScrollTable head={[t`From`, t`Until`, t`Reason`, ""]} label={t`Blackouts`}>
            {rows.map((blackout) => (
              <BlackoutRow blackout={blackout} key={blackout.id} />
            ))}
          </ScrollTable>
        )}
      </Loaded>
    </Section>
  );
}

function BlackoutRow({ blackout }: { blackout: Blackout }) {
  return (
    <Row>
      {formatExactTime(blackout.starts_at)}
      {formatExactTime(blackout.ends_at)}
      <td className="iotide-wrap">{blackout.reason}</td>
      <RemoveButton blackout={blackout} />
    </Row>
  );
}

function RemoveButton({ blackout }: { blackout: Blackout }) {
  if (!useMay("operator", blackout.cluster_id)) return null;
  return (
    <ConfirmMutation
      aria-label={t`Remove the blackout for ${blackout.reason}`}
      title={t`Remove the blackout?`}
      body={t`What waits for its end starts as soon as it can.`}
      yes={t`Remove it`}
      size="compact-xs"
      mutation={removeBlackout}
      variables={blackout.id}
    >{t`Remove`}</ConfirmMutation>
  );
}
