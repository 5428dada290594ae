import { Stack, UnstyledButton } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { Hint } from "@/components/looks";

interface FoldProps {
  readonly title: string;
  /** Values that differ from the usual ones; the title lists them. */
  readonly differences: readonly string[];
  readonly usual: string;
  readonly children: ReactNode;
}

/** Inputs that few users need. The title says what is set. */
export function Fold({ title, differences, usual, children }: FoldProps) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <div>
      <UnstyledButton aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
        <span aria-hidden="true">{isOpen ? "▾" : "▸"}</span> <b>{title}</b>{" "}
        <Hint component="span">{differences.length > 0 ? differences.join(", ") : usual}</Hint>
      </UnstyledButton>
      {isOpen && <Stack mt="sm">{children}</Stack>}
    </div>
  );
}
