/** A button for what cannot be undone: it asks first. */

import { Button, type ButtonProps } from "@mantine/core";
import { type UseMutationOptions, useMutation } from "@tanstack/react-query";
import { lazy, type ReactNode, Suspense, useState } from "react";
import type { Question } from "./ConfirmModal";

interface ConfirmButtonProps extends ButtonProps, Question {
  readonly onConfirm: () => void;
  readonly children: ReactNode;
  readonly "aria-label"?: string;
}

const ConfirmModal = lazy(() => import("./ConfirmModal"));

export function ConfirmButton({ title, body, yes, no, onConfirm, ...button }: ConfirmButtonProps) {
  const [isAsking, setIsAsking] = useState(false);
  const question = { title, body, yes, ...(no && { no }) };
  return (
    <>
      <Button color="red" onClick={() => setIsAsking(true)} variant="outline" {...button} />
      <Suspense>
        {isAsking && <ConfirmModal {...question} onClose={() => setIsAsking(false)} onConfirm={onConfirm} />}
      </Suspense>
    </>
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
