/** The hours of a day in which runs may start. */

import { t } from "@lingui/core/macro";
import { TextInput } from "@mantine/core";
import { TimeZoneSelect } from "@/components/TimeZoneSelect";
import { type DraftWindow, windowProblem } from "./calendar";

interface WindowInputsProps {
  readonly window: DraftWindow;
  readonly onChange: (window: DraftWindow) => void;
}

export function WindowInputs({ window, onChange }: WindowInputsProps) {
  return (
    <>
      <TextInput
        description={t`No run starts outside these hours; empty: at any hour.`}
        error={windowProblem(window)}
        label={t`Runs start from`}
        onChange={(event) => onChange({ ...window, from: event.currentTarget.value })}
        type="time"
        value={window.from}
      />
      <TextInput
        description={t`One that by its time limit could not, waits.`}
        label={t`Runs end by`}
        onChange={(event) => onChange({ ...window, until: event.currentTarget.value })}
        type="time"
        value={window.until}
      />
      {(window.from !== "" || window.until !== "") && (
        <TimeZoneSelect onChange={(timeZone) => onChange({ ...window, timeZone })} value={window.timeZone} />
      )}
    </>
  );
}
