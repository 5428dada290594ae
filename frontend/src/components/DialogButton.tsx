/** A button that opens a dialog; the dialog is loaded when it is first wanted. */

import { Button, type ButtonProps } from "@mantine/core";
import { type ReactNode, Suspense, useState } from "react";

export interface DialogButtonProps extends ButtonProps {
  readonly children: ReactNode;
  readonly "aria-label"?: string;
  readonly dialog: (onClose: () => void) => ReactNode;
}

export function DialogButton({ dialog, ...button }: DialogButtonProps) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <>
      <Button onClick={() => setIsOpen(true)} {...button} />
      <Suspense>{isOpen && dialog(() => setIsOpen(false))}</Suspense>
    </>
  );
}
