/** Looks that stand all over the pages, named by what they are for. */

import { Button, Text } from "@mantine/core";

/** Says how to read what stands next to it. */
export const Hint = Text.withProps({ c: "dimmed", size: "sm" });

/** A line below a value, in smaller letters. */
export const Detail = Text.withProps({ c: "dimmed", size: "xs" });

/** A line below a value that something is wrong with. */
export const Problem = Text.withProps({ c: "var(--mantine-color-error)", size: "xs" });

/** A button in a row of a table. */
export const RowButton = Button.withProps({ size: "compact-xs", variant: "default" });
