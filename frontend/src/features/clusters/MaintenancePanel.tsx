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
import { maintenanceQuery, removeMaintenance } from "./queries";

const CreateMaintenance = lazy(() => import("./CreateMaintenance"));

export default function MaintenancePanel({ clusterId }: { clusterId: number }) {
  const blackouts = useQuery(maintenanceQuery(clusterId));
  const [isAdding, setIsAdding] = useState(false);
  const mayAdd = useMay("operator", clusterId);
  return (
    <Section
      actions={
        mayAdd && (
          <AddButton
            isOpen={isAdding}
            onToggle={() => setIsAdding(!isAdding)}
          >{t`Add maintenance window`}</AddButton>
        )
      }
      description={t`No runs start during a maintenance window, or if they could not finish before it begins.`}
      title={t`Maintenance windows`}
    >
      <Suspense>
        {isAdding && <CreateMaintenance clusterId={clusterId} onDone={() => setIsAdding(false)} />}
      </Suspense>
      <Loaded empty={<Hint>{t`No maintenance is planned.`}</Hint>} lines={1} query={blackouts}>
        {(rows) => (
          <ScrollTable head={[t`Start`, t`End`, t`Reason`, ""]} label={t`Maintenance windows`}>
            {rows.map((blackout) => (
              <MaintenanceRow blackout={blackout} key={blackout.id} />
            ))}
          </ScrollTable>
        )}
      </Loaded>
    </Section>
  );
}

function MaintenanceRow({ blackout }: { blackout: Blackout }) {
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
      aria-label={t`Remove maintenance window ${blackout.reason}`}
      title={t`Remove maintenance window?`}
      body={t`Runs that wait for its end start as soon as possible.`}
      yes={t`Remove window`}
      size="compact-xs"
      mutation={removeMaintenance}
      variables={blackout.id}
    >{t`Remove`}</ConfirmMutation>
  );
}
