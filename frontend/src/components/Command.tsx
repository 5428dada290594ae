import { t } from "@lingui/core/macro";
import { ActionIcon, Box, CopyButton as Copy, Group } from "@mantine/core";
import { Icon } from "./Icon";

export function CopyButton({ text, label }: { text: string; label: string }) {
  return (
    <Copy timeout={2000} value={text}>
      {({ copied, copy }) => (
        <ActionIcon aria-label={copied ? t`Copied` : label} onClick={copy} title={label} variant="subtle">
          <Icon name={copied ? "check" : "copy"} />
        </ActionIcon>
      )}
    </Copy>
  );
}

interface CommandProps {
  readonly text: string;
  /** Label of the copy button, for example “Copy the enrol command”. */
  readonly label: string;
  readonly maxHeight?: number;
}

export function Command({ text, label, maxHeight }: CommandProps) {
  return (
    <Group align="flex-start" className="iotide-command" gap={4} wrap="nowrap">
      <Box component="pre" mah={maxHeight} tabIndex={0}>
        <code>{text}</code>
      </Box>
      <CopyButton label={label} text={text} />
    </Group>
  );
}
