/** The frame of every page: one heading, what can be done here, and sections below. */

import { Box, Card, Group, Stack, Text, Title } from "@mantine/core";
import { type ReactNode, useEffect, useId } from "react";

interface PageProps {
  readonly title: string;
  /** Stands above the heading: where the reader is. */
  readonly trail?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

export function Page({ title, trail, actions, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} · iotide`;
  }, [title]);
  return (
    <Stack gap="lg">
      <Group align="flex-end" justify="space-between">
        <Box>
          {trail && (
            <Text c="dimmed" component="div" size="sm">
              {trail}
            </Text>
          )}
          <Title order={1} size="h2" style={{ overflowWrap: "anywhere" }}>
            {title}
          </Title>
        </Box>
        {actions && <Group gap="xs">{actions}</Group>}
      </Group>
      {children}
    </Stack>
  );
}

interface SectionProps {
  readonly title: string;
  readonly description?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

/** A card with a heading of its own, announced as a region. */
export function Section({ title, description, actions, children }: SectionProps) {
  const headingId = useId();
  return (
    <Card aria-labelledby={headingId} component="section" padding="md" withBorder>
      <Group justify="space-between" mb="sm">
        <Box>
          <Title id={headingId} order={2} size="h4">
            {title}
          </Title>
          {description && (
            <Text c="dimmed" size="sm">
              {description}
            </Text>
          )}
        </Box>
        {actions && <Group gap="xs">{actions}</Group>}
      </Group>
      {children}
    </Card>
  );
}
