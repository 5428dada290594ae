/** The number that a run is known by, and which one it is. */

import { Text } from "@mantine/core";
import type { ExplorerRun } from "@/api/types";
import { headlineWords } from "@/lib/headline";
import { MeasuredValue } from "./MeasuredValue";

interface HeadlineValueProps {
  readonly headline: ExplorerRun["headline"];
  /** Codes of the run's flags. */
  readonly flags: readonly string[];
}

export function HeadlineValue({ headline, flags }: HeadlineValueProps) {
  if (!headline) return null;
  return (
    <>
      <MeasuredValue flags={flags} unit={headline.unit} value={headline.value} />{" "}
      <Text c="dimmed" component="span" fw={400} size="xs">
        {headlineWords(headline)}
      </Text>
    </>
  );
}
