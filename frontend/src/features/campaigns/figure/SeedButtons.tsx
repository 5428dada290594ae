/** Well-known pictures of the workload, each one click away. */

import { t } from "@lingui/core/macro";
import { Button, Group, Text } from "@mantine/core";
import type { CampaignMeasures } from "@/api/types";
import type { FigureView } from "./choice";
import type { FigureRow } from "./rows";
import { seedsOf } from "./seeds";

interface SeedButtonsProps {
  readonly measures: CampaignMeasures;
  readonly workload: string;
  readonly rows: readonly FigureRow[];
  readonly view: FigureView;
  readonly onView: (view: FigureView) => void;
}

export function SeedButtons({ measures, workload, rows, view, onView }: SeedButtonsProps) {
  const seeds = seedsOf(measures.metrics, workload, rows);
  if (seeds.length === 0) return null;
  return (
    <Group aria-label={t`Well-known pictures`} gap="xs" role="group">
      <Text c="dimmed" size="sm">{t`Show`}</Text>
      {seeds.map((seed) => {
        const isShown =
          view.show === seed.view.show && view.kind === seed.view.kind && view.x === seed.view.x;
        return (
          <Button
            aria-pressed={isShown}
            key={seed.title}
            onClick={() => onView(seed.view)}
            size="compact-xs"
            variant={isShown ? "light" : "default"}
          >
            {seed.title}
          </Button>
        );
      })}
    </Group>
  );
}
