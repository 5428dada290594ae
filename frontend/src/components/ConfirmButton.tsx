/** A button for what cannot be undone: it asks first. */

import { Button, type ButtonProps } from "@mantine/core";
import { lazy, type ReactNode, Suspense, useState } from "react";
import type { Question } from "./ConfirmModal";

interface ConfirmButtonProps extends ButtonProps {
  readonly question: Question;
  readonly onConfirm: () => void;
  readonly children: ReactNode;
  readonly "aria-label"?: string;
}

const ConfirmModal = lazy(() => import("./ConfirmModal"));

export function ConfirmButton({ question, onConfirm, ...button }: ConfirmButtonProps) {
  const [isAsking, setIsAsking] = useState(false);
  return (
    <>
      <Button color="red" onClick={() => setIsAsking(true)} variant="outline" {...button} />
      <Suspense>
        {isAsking && <ConfirmModal {...question} onClose={() => setIsAsking(false)} onConfirm={onConfirm} />}
      </Suspense>
    </>
  );
}
