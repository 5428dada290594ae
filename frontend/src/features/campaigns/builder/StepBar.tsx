/** Bar at the lower edge: the plan in one line, and the buttons to the next step and to submit. */

import { t } from "@lingui/core/macro";
import { Group, Text } from "@mantine/core";
import type { ReactNode } from "react";
import type { Preview } from "@/api/types";
import { formatEstimate, formatValue } from "@/lib/units";
import { StepLink } from "./StepLinks";
import type { BuilderStep } from "./steps";

interface StepBarProps {
  readonly step: BuilderStep;
  readonly missing: readonly string[];
  readonly preview: Preview | undefined;
  readonly error: Error | null;
  /** Names what a submission erases. */
  readonly warning?: ReactNode;
  readonly discard: ReactNode;
  /** Submits the plan. */
  readonly children: ReactNode;
}

export function StepBar({ step, missing, preview, error, warning, discard, children }: StepBarProps) {
  const problem = missing[0] ?? error?.message;
  const isRefused = missing.length === 0 && error !== null;
  return (
    <Group className="iotide-actions" justify="space-between">
      {warning}
      <Text flex={1} role="status" size="sm" {...(isRefused && { c: "var(--mantine-color-error)" })}>
        {problem ?? (preview && summaryOf(preview))}
      </Text>
      <Group gap="xs">
        {discard}
        {step === "what" && <StepLink step="review" variant="filled">{t`Review`}</StepLink>}
        {step === "review" && (
          <>
            <StepLink step="what">{t`Back`}</StepLink>
            <StepLink step="when">{t`When`}</StepLink>
          </>
        )}
        {step === "when" && <StepLink step="review">{t`Back`}</StepLink>}
        {children}
      </Group>
    </Group>
  );
}

/** Return a plan in one line: `6 configurations, 24 runs, about 20 min, 12 GiB moved`. */
export function summaryOf({ cell_count: cells, run_count: runs, ...preview }: Preview): string {
  const { seconds_estimated, bytes_moved, warnings } = preview;
  const cautions = new Set(warnings.map(({ message }) => message)).size;
  return [
    cells === 1 ? t`1 configuration` : t`${cells} configurations`,
    runs === 1 ? t`1 run` : t`${runs} runs`,
    seconds_estimated === null ? t`time unknown` : t`about ${formatEstimate(seconds_estimated)}`,
    t`${formatValue(bytes_moved, "bytes")} moved`,
    ...(cautions === 0 ? [] : [cautions === 1 ? t`1 warning` : t`${cautions} warnings`]),
  ].join(", ");
}
