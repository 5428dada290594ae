/** A card with a heading that opens its content. The content is rendered, and its data loaded, only while open. */

import { Card, Group, Title, UnstyledButton } from "@mantine/core";
import { type ReactNode, useId, useState } from "react";
import { Hint } from "./looks";

interface FoldProps {
  readonly title: string;
  /** The content in short, next to the title, for example “3 cautions”. */
  readonly summary?: ReactNode;
  readonly isOpenAtFirst?: boolean;
  readonly children: ReactNode;
}

export function Fold({ title, summary, isOpenAtFirst = false, children }: FoldProps) {
  const [isOpen, setIsOpen] = useState(isOpenAtFirst);
  const headingId = useId();
  return (
    <Card aria-labelledby={headingId} component="section" padding="sm" withBorder>
      <Group gap="xs">
        <Title id={headingId} order={2} size="h5">
          <UnstyledButton aria-expanded={isOpen} fw="inherit" fz="inherit" onClick={() => setIsOpen(!isOpen)}>
            <span aria-hidden="true">{isOpen ? "▾" : "▸"}</span> {title}
          </UnstyledButton>
        </Title>
        {summary && <Hint component="div">{summary}</Hint>}
      </Group>
      {isOpen && <div className="iotide-unfolded">{children}</div>}
    </Card>
  );
}
