/** Lazy wrapper around plotly: reserves space while it loads and shows load errors. */

import { t } from "@lingui/core/macro";
import { Skeleton } from "@mantine/core";
import { Component, type ReactNode, Suspense, useRef } from "react";
import { ExportMenu } from "@/components/ExportMenu";
import type { ExportSource, ImageFormat } from "@/components/export/ExportButton";
import { ErrorNotice } from "@/components/Page";
import { useScheme } from "@/components/preferences";
import { figureTable } from "./figureTable";
import type { PlotProps } from "./PlotlyView";
import { PlotlyView, SurfaceView } from "./prepare";

interface PlotWithExport extends PlotProps {
  /** Loads the 3-D part of plotly, too. */
  readonly isSpatial?: boolean;
  /** Extra entries of the export menu. Without a table, the drawn values are exported. */
  readonly exported?: Partial<ExportSource> | undefined;
}

export function Plot({ exported, isSpatial = false, ...props }: PlotWithExport) {
  const View = isSpatial ? SurfaceView : PlotlyView;
  const figure = useRef<HTMLElement>(null);
  const scheme = useScheme();
  async function image(format: ImageFormat): Promise<string> {
    const box = figure.current?.querySelector<HTMLElement>(".js-plotly-plot");
    if (!box) throw new Error("The chart is not drawn yet.");
    const { pictureOf } = await import("./picture");
    return pictureOf(box, props.label, scheme, format);
  }
  return (
    <figure
      aria-label={props.label}
      className="iotide-exported"
      data-bare={props.isBare || undefined}
      ref={figure}
      style={{ margin: 0 }}
    >
      <PlotBoundary>
        <Suspense
          fallback={<Skeleton aria-label={t`Loading chart`} height={props.height ?? 380} role="status" />}
        >
          <View {...props} />
        </Suspense>
      </PlotBoundary>
      <ExportMenu image={image} name={props.label} table={() => figureTable(props.figure)} {...exported} />
    </figure>
  );
}

/** A chunk of a replaced release cannot be loaded; the rest of the page stays usable. */
class PlotBoundary extends Component<{ children: ReactNode }, { error: Error | null }> {
  override state = { error: null };

  static getDerivedStateFromError(error: Error): { error: Error } {
    return { error };
  }

  override render(): ReactNode {
    return this.state.error ? (
      <ErrorNotice error={this.state.error} onRetry={() => location.reload()} />
    ) : (
      this.props.children
    );
  }
}
