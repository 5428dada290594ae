/** Confirms a decision about a node after showing its consequences for runs. */

import { t } from "@lingui/core/macro";
import { Alert, Button, Group, Stack, Text } from "@mantine/core";
import type { ReactNode } from "react";
import { Dialog } from "@/components/Dialog";
import { ErrorNotice, Loaded, type Query } from "@/components/Page";

interface StatementDialogProps<Statement> {
  readonly title: string;
  /** Shown above the statement. */
  readonly intro?: ReactNode;
  readonly statement: Query<Statement>;
  readonly children: (statement: Statement) => ReactNode;
  /** Labels of the buttons. */
  readonly no: string;
  readonly yes: string;
  readonly decision: { readonly error: Error | null; readonly isPending: boolean };
  readonly isReady: boolean;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
}

export function StatementDialog<Statement>(props: StatementDialogProps<Statement>) {
  const { title, intro, statement, children, no, yes, decision, isReady, onConfirm, onClose } = props;
  return (
    <Dialog onClose={onClose} size="lg" title={title}>
      <Stack gap="sm">
        {intro && <Text size="sm">{intro}</Text>}
        <Loaded query={statement}>{children}</Loaded>
        {decision.error && <ErrorNotice error={decision.error} />}
        <Group justify="flex-end">
          <Button data-autofocus onClick={onClose} variant="default">
            {no}
          </Button>
          <Button color="red" disabled={!isReady} loading={decision.isPending} onClick={onConfirm}>
            {yes}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  );
}

interface StatedRunProps {
  readonly run: { readonly run_id: number; readonly campaign_name: string; readonly workload: string };
  readonly color?: string;
  readonly words: string;
  readonly risk?: string;
}

export function StatedRun({ run, color = "orange", words, risk }: StatedRunProps) {
  return (
    <Alert color={color} title={t`Run ${run.run_id} of ${run.campaign_name}, ${run.workload}`}>
      <Text size="sm">{words}</Text>
      {risk && (
        <Text mt={4} size="sm">
          {risk}
        </Text>
      )}
    </Alert>
  );
}
