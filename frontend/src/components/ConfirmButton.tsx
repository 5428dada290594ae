/** A button for what cannot be undone: it asks first. */

import { type UseMutationOptions, useMutation } from "@tanstack/react-query";
import { lazy } from "react";
import type { Question } from "./ConfirmModal";
import { DialogButton, type DialogButtonProps } from "./DialogButton";

interface ConfirmButtonProps extends Omit<DialogButtonProps, "dialog">, Question {
  readonly onConfirm: () => void;
}

const ConfirmModal = lazy(() => import("./ConfirmModal"));

export function ConfirmButton({ title, body, yes, no, onConfirm, ...button }: ConfirmButtonProps) {
  const question = { title, body, yes, ...(no && { no }), onConfirm };
  return (
    <DialogButton
      color="red"
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

/** Runs the mutation with these variables once it is confirmed. */
export function ConfirmMutation<Data, Variables, Result>({
  mutation,
  variables,
  ...button
}: ConfirmMutationProps<Data, Variables, Result>) {
  const { mutate, isPending } = useMutation(mutation);
  return <ConfirmButton loading={isPending} onConfirm={() => mutate(variables)} {...button} />;
}
