import { t } from "@lingui/core/macro";
import { Checkbox, Stack } from "@mantine/core";
import type { Scope } from "./queries";

const SCOPES: readonly { value: Scope; label: string }[] = [
  { value: "read", label: t`read: view everything that you can view` },
  { value: "operate", label: t`operate: submit and cancel campaigns` },
  { value: "admin", label: t`admin: nodes, targets and clusters` },
];

interface ScopeChoiceProps {
  readonly scopes: readonly Scope[];
  readonly onChange: (scopes: readonly Scope[]) => void;
}

export function ScopeChoice({ scopes, onChange }: ScopeChoiceProps) {
  const choose = (chosen: readonly string[]) =>
    onChange(SCOPES.map(({ value }) => value).filter((scope) => chosen.includes(scope)));
  return (
    <Checkbox.Group label={t`Scopes`} onChange={choose} value={[...scopes]}>
      <Stack gap={6} mt={4}>
        {SCOPES.map(({ value, label }) => (
          <Checkbox key={value} label={label} value={value} />
        ))}
      </Stack>
    </Checkbox.Group>
  );
}
