import { t } from "@lingui/core/macro";
import { Button, Group, Text } from "@mantine/core";
import type { ReactNode } from "react";
import { Dialog } from "./Dialog";

export interface Question {
  readonly title: string;
  readonly body: ReactNode;
  /** Label of the confirming button, for example “Cancel the campaign”. */
  readonly yes: string;
  /** “Keep it” by default. */
  readonly no?: string;
  /** Nothing is lost. Any other question has a red button. */
  readonly isSafe?: boolean;
}

interface ConfirmModalProps extends Question {
  readonly onClose: () => void;
  readonly onConfirm: () => void;
}

export default function ConfirmModal({
  title,
  body,
  yes,
  no = t`Keep it`,
  isSafe = false,
  onClose,
  onConfirm,
}: ConfirmModalProps) {
  function confirm(): void {
    onClose();
    onConfirm();
  }
  return (
    <Dialog onClose={onClose} title={title}>
      <Text component="div" size="sm">
        {body}
      </Text>
      <Group justify="flex-end" mt="lg">
        <Button data-autofocus onClick={onClose} variant="default">
          {no}
        </Button>
        <Button {...(!isSafe && { color: "red" })} onClick={confirm}>
          {yes}
        </Button>
      </Group>
    </Dialog>
  );
}
