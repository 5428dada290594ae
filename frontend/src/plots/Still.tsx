/** A figure as an inline SVG image for print, always light. */

import { t } from "@lingui/core/macro";
import { useQuery } from "@tanstack/react-query";
import { ErrorNotice } from "@/components/Page";
import { escapeTags } from "./escapeTags";
import type { Figure } from "./figure";

interface StillProps {
  readonly figure: Figure;
  /** Text alternative of the figure. */
  readonly label: string;
  readonly width: number;
  readonly height: number;
}

export function Still({ figure, label, width, height }: StillProps) {
  const picture = useQuery({
    queryKey: ["picture", figure, width, height],
    queryFn: async () => {
      const { default: Plotly } = await import("./plotly");
      const { data, layout } = escapeTags(figure);
      const drawn = { data, layout: { ...layout, paper_bgcolor: "#ffffff", plot_bgcolor: "#ffffff" } };
      return Plotly.toImage(drawn, { format: "svg", width, height });
    },
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  if (picture.error) return <ErrorNotice error={picture.error} onRetry={picture.refetch} />;
  if (picture.data === undefined)
    return <div aria-busy="true" aria-label={t`Drawing figure`} role="status" style={{ height }} />;
  return <img alt={label} height={height} src={picture.data} width={width} />;
}
