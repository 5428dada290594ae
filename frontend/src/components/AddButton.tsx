/** Opens and closes the form below a list with which one adds to it. */

import { Button } from "@mantine/core";
import { Icon } from "./Icon";

interface AddButtonProps {
  /** What pressing it begins, for instance "Add a node". */
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
