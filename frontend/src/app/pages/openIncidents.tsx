import { lazy, type ReactNode, Suspense } from "react";
import { addCause } from "./addCause";

const OpenIncidents = lazy(async () => ({
  default: (await import("@/features/alerts/FoundIncidents")).OpenIncidents,
}));
const AT_ONCE = 5;

/** Renders the newest open incidents of a cluster with their actions. */
export function openIncidents(clusterId: number): ReactNode {
  return (
    <Suspense>
      <OpenIncidents filter={{ clusterId, states: ["open"], atOnce: AT_ONCE }} renderAdd={addCause} />
    </Suspense>
  );
}
