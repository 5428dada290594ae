/** Steps of the builder. Each is a link, so that the address, the keyboard and "back" keep the step. */

import { t } from "@lingui/core/macro";
import { Group } from "@mantine/core";
import type { ReactNode } from "react";
import { ButtonLink } from "@/components/links";
import { type BuilderStep, STEPS } from "./steps";

const TITLES: Readonly<Record<BuilderStep, string>> = {
  what: t`1 Where and what`,
  review: t`2 Review`,
  when: t`3 When`,
};

/** Only the link of the current step is announced as the current page. */
const THIS_STEP = { exact: true, includeSearch: true, explicitUndefined: true };

export function StepLinks({ current }: { current: BuilderStep }) {
  return (
    <Group aria-label={t`Steps`} component="nav" gap={6}>
      {STEPS.map((step) => (
        <StepLink key={step} px={10} step={step} variant={step === current ? "filled" : "default"}>
          {TITLES[step]}
        </StepLink>
      ))}
    </Group>
  );
}

interface StepLinkProps {
  readonly step: BuilderStep;
  readonly variant?: "default" | "filled";
  readonly px?: number;
  readonly children: ReactNode;
}

export function StepLink({ step, variant = "default", children, ...space }: StepLinkProps) {
  return (
    <ButtonLink
      activeOptions={THIS_STEP}
      from="/campaigns/new"
      search={(search) => ({ ...search, step: step === "what" ? undefined : step })}
      to="/campaigns/new"
      variant={variant}
      {...space}
    >
      {children}
    </ButtonLink>
  );
}
