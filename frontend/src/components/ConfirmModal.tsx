/** The question of a ConfirmButton. */

import { Button, Group, Modal, Text } from "@mantine/core";
import type { Question } from "./ConfirmButton";

interface ConfirmModalProps extends Question {
  readonly onClose: () => void;
  readonly onConfirm: () => void;
}

export default function ConfirmModal({ title, body, yes, no, onClose, onConfirm }: ConfirmModalProps) {
  function confirm(): void {
    onClose();
    onConfirm();
  }
  return (
    <Modal centered closeButtonProps={{ "aria-label": "Close" }} onClose={onClose} opened title={title}>
      <Text component="div" size="sm">
        {body}
      </Text>
      <Group justify="flex-end" mt="lg">
        <Button data-autofocus onClick={onClose} variant="default">
          {no}
        </Button>
        <Button color="red" onClick={confirm}>
          {yes}
        </Button>
      </Group>
    </Modal>
  );
}
