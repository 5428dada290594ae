import { t } from "@lingui/core/macro";
import { useQuery } from "@tanstack/react-query";
import { DrainNote } from "@/components/drain/DrainButton";
import { TargetLink } from "@/components/links";
import { Problem } from "@/components/looks";
import { Loaded } from "@/components/Page";
import { Row, ScrollTable } from "@/components/ScrollTable";
import { Quantity } from "@/components/values";
import { targetsQuery } from "./queries";

export function TargetsOfNode({ clusterId, nodeId }: { clusterId: number; nodeId: number }) {
  const targets = useQuery(targetsQuery(clusterId));
  const here = targets.data?.flatMap((target) =>
    target.mounts.filter((mount) => mount.node_id === nodeId).map((mount) => ({ target, mount })),
  );
  return (
    <Loaded
      empty={t`No targets on this node. Select its mounts on the cluster page.`}
      query={{ ...targets, data: here }}
    >
      {(rows) => (
        <ScrollTable head={[t`Target`, t`Path`, t`File system`, t`Free`]} label={t`Targets on this node`}>
          {rows.map(({ target, mount }) => (
            <Row key={target.id}>
              <td className="iotide-name">
                <TargetLink fw={600} id={target.id} name={target.name} />
                <DrainNote drain={target.drain} />
                {mount.problem && <Problem>{mount.problem}</Problem>}
              </td>
              <td className="iotide-name">{mount.path}</td>
              {mount.fstype}
              <Quantity unit="bytes" value={mount.free_bytes} />
            </Row>
          ))}
        </ScrollTable>
      )}
    </Loaded>
  );
}
