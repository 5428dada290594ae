/** Export of a chart or table as CSV, JSON, Parquet, an image, or a curl request. */

import { lazy, Suspense, useState } from "react";
import { ExportButton, type ExportSource } from "./export/ExportButton";

const ExportList = lazy(() => import("./export/ExportList"));

/** Loaded at the first click, since tables are in the first paint. */
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
