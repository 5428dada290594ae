/** The figure that shows a published source best, where the usual choice is not that. */

import type { FigureView } from "@/features/campaigns/figure/choice";

const FIGURES: Readonly<Record<string, FigureView>> = {
  "nus-svu-gpfs": { kind: "parts", x: "file_size_bytes", against: "gpfs" },
};

export function figureOf(key: string): FigureView {
  return FIGURES[key] ?? {};
}
