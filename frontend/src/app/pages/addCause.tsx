import type { ReactNode } from "react";
import type { Incident } from "@/api/types";
import { AddEvent } from "./AddEvent";

/** Renders the button that adds an event at the place of an incident. */
export function addCause(incident: Incident, onAdded: (eventId: number) => void): ReactNode {
  const { cluster_id: id, cluster_name: name, series } = incident;
  const chosen = { nodes: series?.node_names ?? [], targets: series?.target_names ?? [] };
  return <AddEvent chosen={chosen} cluster={{ id, name }} onAdded={(event) => onAdded(event.id)} />;
}
