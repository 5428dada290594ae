/** A dialog that is open while it is mounted; `onClose` must unmount it. */

import { t } from "@lingui/core/macro";
import { Modal } from "@mantine/core";
import type { ReactNode } from "react";

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly size?: "md" | "lg";
  readonly children: ReactNode;
}

export function Dialog({ title, onClose, size = "md", children }: DialogProps) {
  return (
    <Modal
      // A header element would be announced as the banner of the page.
      attributes={{ header: { role: "presentation" } }}
      centered
      closeButtonProps={{ "aria-label": t`Close` }}
      onClose={onClose}
      opened
      size={size}
      title={title}
    >
      {children}
    </Modal>
  );
}
