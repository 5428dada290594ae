/** The rules by which alerts are raised: what each covers, what it leaves alone, and how one is added, changed or removed. */

import { t } from "@lingui/core/macro";
import { Stack } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import type { AlertRule, Channel } from "@/api/types";
import { AddButton } from "@/components/AddButton";
import { Loaded, Section } from "@/components/Page";
import { ScrollTable } from "@/components/ScrollTable";
import { alertRulesQuery } from "./queries";
import { RuleRow } from "./RuleRow";

interface RulesSectionProps {
  /** The form of a rule; undefined: of a new one. */
  readonly renderForm: (rule: AlertRule | undefined, onDone: () => void) => ReactNode;
  readonly mayAdd: boolean;
  /** Those that the reader may see. */
  readonly channels: readonly Channel[];
}

export function RulesSection({ renderForm, mayAdd, channels }: RulesSectionProps) {
  const rules = useQuery(alertRulesQuery);
  const [open, setOpen] = useState<number | "new">();
  const close = () => setOpen(undefined);
  const edited = rules.data?.find(({ id }) => id === open);
  return (
    <Section
      actions={
        mayAdd && (
          <AddButton
            isOpen={open === "new"}
            onToggle={() => setOpen(open === "new" ? undefined : "new")}
          >{t`Add a rule`}</AddButton>
        )
      }
      description={t`Of which changes alerts are raised. Of several rules that cover a series the narrowest answers for it.`}
      title={t`Alert rules`}
    >
      <Stack>
        {(open === "new" || edited) && <div key={open}>{renderForm(edited, close)}</div>}
        <Loaded empty={t`No rule yet: changes are shown on their page, and nobody is told.`} query={rules}>
          {(rows) => (
            <ScrollTable
              head={[
                t`Rule`,
                t`Covers`,
                t`From`,
                t`Directions`,
                t`Stopped series`,
                t`Tells`,
                t`Open alerts`,
                "",
              ]}
              label={t`Alert rules`}
            >
              {rows.map((rule) => (
                <RuleRow channels={channels} key={rule.id} onEdit={() => setOpen(rule.id)} rule={rule} />
              ))}
            </ScrollTable>
          )}
        </Loaded>
      </Stack>
    </Section>
  );
}
