import { t } from "@lingui/core/macro";
import { SegmentedControl } from "@mantine/core";

export type View = "chart" | "table";

interface ViewChoiceProps {
  readonly label: string;
  readonly view: View;
  readonly onView: (view: View) => void;
  readonly size?: "xs" | "sm";
}

export function ViewChoice({ label, view, onView, size = "xs" }: ViewChoiceProps) {
  return (
    <SegmentedControl
      aria-label={label}
      data={[
        { value: "chart", label: t`Chart` },
        { value: "table", label: t`Table` },
      ]}
      onChange={(chosen) => onView(chosen === "table" ? "table" : "chart")}
      size={size}
      value={view}
    />
  );
}
