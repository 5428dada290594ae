/** Narrows a list to one state. */

import { t } from "@lingui/core/macro";
import { NativeSelect } from "@mantine/core";

interface StateFilterProps<State extends string> {
  readonly states: readonly State[];
  readonly state: State | undefined;
  readonly onState: (state: State | undefined) => void;
}

export function StateFilter<State extends string>({ states, state, onState }: StateFilterProps<State>) {
  return (
    <NativeSelect
      aria-label={t`State`}
      data={[{ value: "", label: t`All states` }, ...states]}
      onChange={({ currentTarget }) => onState(states.find((known) => known === currentTarget.value))}
      size="xs"
      value={state ?? ""}
    />
  );
}
