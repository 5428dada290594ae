import { Button, Text } from "@mantine/core";

/** Explains the element next to it. */
export const Hint = Text.withProps({ c: "dimmed", size: "sm" });

/** A smaller line below a value. */
export const Detail = Text.withProps({ c: "dimmed", size: "xs" });

/** A line below a value with a problem. */
export const Problem = Text.withProps({ c: "var(--mantine-color-error)", size: "xs" });

export const RowButton = Button.withProps({ size: "compact-xs", variant: "default" });
