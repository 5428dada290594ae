/** What is shown, to take along: as CSV, JSON, Parquet, a picture, or the request behind it. Every chart and table has one. */

import { lazy, Suspense, useState } from "react";
import { ExportButton, type ExportSource } from "./export/ExportButton";

const ExportList = lazy(() => import("./export/ExportList"));

/** Loads the menu with the first click: tables stand in the first paint. */
export function ExportMenu(source: ExportSource) {
  const [isWanted, setIsWanted] = useState(false);
  const button = <ExportButton name={source.name} onClick={() => setIsWanted(true)} />;
  if (!isWanted) return button;
  return (
    <Suspense fallback={button}>
      <ExportList {...source} />
    </Suspense>
  );
}
