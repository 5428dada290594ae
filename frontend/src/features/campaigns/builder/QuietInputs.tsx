/** What becomes of a run that meets a node which others use. */

import { t } from "@lingui/core/macro";
import { Select, TextInput } from "@mantine/core";
import { type DraftQuiet, POLICIES, quietProblem } from "./quiet";

interface QuietInputsProps {
  readonly quiet: DraftQuiet;
  readonly onChange: (quiet: DraftQuiet) => void;
}

export function QuietInputs({ quiet, onChange }: QuietInputsProps) {
  return (
    <>
      <Select
        allowDeselect={false}
        data={POLICIES.map(({ value, label }) => ({ value, label }))}
        description={POLICIES.find(({ value }) => value === quiet.policy)?.does}
        label={t`Other load on the node`}
        onChange={(chosen) => {
          const policy = POLICIES.find(({ value }) => value === chosen)?.value ?? quiet.policy;
          onChange({ ...quiet, policy });
        }}
        value={quiet.policy}
      />
      {quiet.policy === "wait" && (
        <TextInput
          description={t`Then the run gives its node to others and is tried again.`}
          error={quietProblem(quiet)}
          label={t`Wait at most`}
          onChange={(event) => onChange({ ...quiet, wait: event.currentTarget.value })}
          value={quiet.wait}
        />
      )}
    </>
  );
}
