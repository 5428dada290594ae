import { t } from "@lingui/core/macro";
import { NumberInput } from "@mantine/core";
import type { Count } from "./calendar";

interface CountInputProps {
  readonly label: string;
  readonly description: string;
  readonly min: number;
  readonly max: number;
  readonly value: Count;
  readonly onChange: (value: Count) => void;
}

export function CountInput({ onChange, ...input }: CountInputProps) {
  return (
    <NumberInput
      {...input}
      allowDecimal={false}
      error={input.value === "" && t`Enter a number.`}
      onChange={(entered) => onChange(typeof entered === "number" ? entered : "")}
    />
  );
}
