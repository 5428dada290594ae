/** The one way to plotly: loaded on first use, with room kept for it and the reason shown where it cannot be loaded. */

import { Skeleton } from "@mantine/core";
import { Component, lazy, type ReactNode, Suspense } from "react";
import { ErrorNotice } from "@/components/ErrorNotice";
import type { PlotProps } from "./PlotlyView";

const PlotlyView = lazy(() => import("./PlotlyView"));

export function Plot(props: PlotProps) {
  return (
    <figure aria-label={props.label} style={{ margin: 0 }}>
      <PlotBoundary>
        <Suspense
          fallback={<Skeleton aria-label="Loading the chart" height={props.height ?? 380} role="status" />}
        >
          <PlotlyView {...props} />
        </Suspense>
      </PlotBoundary>
    </figure>
  );
}

/** A chunk that a new release replaced cannot be loaded; the rest of the page stays usable. */
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
