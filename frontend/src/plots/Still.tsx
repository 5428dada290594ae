/** A figure as a picture for paper: always light, sharp at any size, and all of it in the page itself. */

import { t } from "@lingui/core/macro";
import { useQuery } from "@tanstack/react-query";
import { ErrorNotice } from "@/components/Page";
import type { Figure } from "./figure";
import { harmless } from "./harmless";

interface StillProps {
  readonly figure: Figure;
  /** What the figure shows, for those who do not see it. */
  readonly label: string;
  readonly width: number;
  readonly height: number;
}

export function Still({ figure, label, width, height }: StillProps) {
  const picture = useQuery({
    queryKey: ["picture", figure, width, height],
    queryFn: async () => {
      const { default: Plotly } = await import("./plotly");
      const { data, layout } = harmless(figure);
      const drawn = { data, layout: { ...layout, paper_bgcolor: "#ffffff", plot_bgcolor: "#ffffff" } };
      return Plotly.toImage(drawn, { format: "svg", width, height });
    },
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  if (picture.error) return <ErrorNotice error={picture.error} onRetry={picture.refetch} />;
  if (picture.data === undefined)
    return <div aria-busy="true" aria-label={t`Drawing`} role="status" style={{ height }} />;
  return <img alt={label} height={height} src={picture.data} width={width} />;
}
