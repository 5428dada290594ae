import { Button, type ButtonProps } from "@mantine/core";
import { type UseMutationOptions, useMutation } from "@tanstack/react-query";
import { lazy, type ReactNode, Suspense, useState } from "react";
import type { Question } from "./ConfirmModal";
import { Icon } from "./Icon";

interface DialogButtonProps extends ButtonProps {
  readonly children: ReactNode;
  readonly "aria-label"?: string;
  readonly dialog: (onClose: () => void) => ReactNode;
}

/** A button that opens a dialog and loads it on first use. */
export function DialogButton({ dialog, ...button }: DialogButtonProps) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <>
      <Button onClick={() => setIsOpen(true)} {...button} />
      <Suspense>{isOpen && dialog(() => setIsOpen(false))}</Suspense>
    </>
  );
}

interface ConfirmButtonProps extends Omit<DialogButtonProps, "dialog">, Question {
  readonly onConfirm: () => void;
}

const ConfirmModal = lazy(() => import("./ConfirmModal"));

/** A button that asks first, red for an action that cannot be undone. */
export function ConfirmButton({
  title,
  body,
  yes,
  no,
  isSafe = false,
  onConfirm,
  ...button
}: ConfirmButtonProps) {
  const question = { title, body, yes, ...(no && { no }), isSafe, onConfirm };
  return (
    <DialogButton
      {...(!isSafe && { color: "red" })}
      dialog={(onClose) => <ConfirmModal {...question} onClose={onClose} />}
      variant="outline"
      {...button}
    />
  );
}

interface ConfirmMutationProps<Data, Variables, Result> extends Omit<ConfirmButtonProps, "onConfirm"> {
  readonly mutation: UseMutationOptions<Data, Error, Variables, Result>;
  readonly variables: Variables;
}

/** Variables of the mutation, which runs once confirmed. */
export function ConfirmMutation<Data, Variables, Result>({
  mutation,
  variables,
  ...button
}: ConfirmMutationProps<Data, Variables, Result>) {
  const { mutate, isPending } = useMutation(mutation);
  return <ConfirmButton loading={isPending} onConfirm={() => mutate(variables)} {...button} />;
}

interface AddButtonProps {
  /** Label of the button, for example "Add a node". */
  readonly children: string;
  readonly isOpen: boolean;
  readonly onToggle: () => void;
}

export function AddButton({ children, isOpen, onToggle }: AddButtonProps) {
  return (
    <Button
      aria-expanded={isOpen}
      leftSection={<Icon name="plus" size={14} />}
      onClick={onToggle}
      size="compact-sm"
      variant="subtle"
    >
      {children}
    </Button>
  );
}
