/** Processes that no signal ends, with their runs; nothing if there are none. */

import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Alert, Text } from "@mantine/core";
import { NodeLink, RunLink } from "./links";
import { When } from "./values";

interface StuckNoteProps {
  readonly loads: readonly {
    process: string;
    since: string;
    run_id: number | null;
    node_id?: number;
    node_name?: string;
    targets?: readonly string[];
  }[];
  /** Consequence for the page's subject. */
  readonly children: string;
}

export function StuckNote({ loads, children }: StuckNoteProps) {
  if (loads.length === 0) return null;
  return (
    <Alert color="red" title={t`Stuck`}>
      {loads.map((load) => (
        <Text
          key={`${load.node_id} ${load.run_id} ${load.process}`}
          size="sm"
          style={{ overflowWrap: "anywhere" }}
        >
          <Trans>
            {load.process} cannot be killed, found <When at={load.since} />
          </Trans>
          {load.run_id !== null && (
            <>
              {" · "}
              <RunLink id={load.run_id} name={t`run ${load.run_id}`} />
            </>
          )}
          {load.node_id !== undefined && (
            <>
              {" · "}
              <NodeLink id={load.node_id} name={load.node_name} />
            </>
          )}
          {load.targets?.map((name) => ` · ${t`target ${name}`}`)}
        </Text>
      ))}
      <Text mt={4} size="sm">
        {children}
      </Text>
    </Alert>
  );
}
