/** Commands that open what the server finds for the typed text. */

import { t } from "@lingui/core/macro";
import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import type { SearchResult } from "@/api/types";
import { searchQuery } from "@/features/explorer/queries";
import { headlineWords } from "@/lib/headline";
import { type Command, matchCommands } from "./commands";

const TYPING_MILLISECONDS = 150;
const NOTHING: SearchResult = { named: [], series: [] };

type Found = SearchResult["named"][number];
type Navigate = ReturnType<typeof useNavigate>;

export function useFoundCommands(typed: string): Command[] {
  const navigate = useNavigate();
  const text = typed.trim();
  const [asked] = useDebouncedValue(text, TYPING_MILLISECONDS);
  const { data = NOTHING, isPlaceholderData } = useQuery({
    ...searchQuery(asked),
    enabled: asked !== "",
    placeholderData: keepPreviousData,
  });
  if (text === "") return [];
  const commands = [
    ...data.named.flatMap((found) => ofName(found, navigate)),
    ...data.series.map((series) => ofSeries(series, navigate)),
  ];
  // Until the answer for this text is there, show those of the last one that still match.
  return asked === text && !isPlaceholderData ? commands : matchCommands(commands, text);
}

function ofName({ kind, id, name, cluster_id, cluster_name }: Found, navigate: Navigate): Command[] {
  const shown = { label: name, place: cluster_name };
  switch (kind) {
    case "cluster": {
      const params = { clusterId: cluster_id };
      return [
        {
          id: t`cluster ${id}`,
          label: name,
          group: "Cluster",
          run: () => void navigate({ to: "/clusters/$clusterId", params }),
        },
        {
          id: t`trend ${id}`,
          label: t`Trend of ${name}`,
          group: "Trend",
          run: () => void navigate({ to: "/clusters/$clusterId/trend", params }),
        },
      ];
    }
    case "node": {
      const run = () => void navigate({ to: "/nodes/$nodeId", params: { nodeId: id } });
      return [{ ...shown, id: t`node ${id}`, group: "Node", run }];
    }
    case "target": {
      const run = () => void navigate({ to: "/targets/$targetId", params: { targetId: id } });
      return [{ ...shown, id: t`target ${id}`, group: "Target", run }];
    }
    case "campaign": {
      const run = () => void navigate({ to: "/campaigns/$campaignId", params: { campaignId: id } });
      return [{ ...shown, id: t`campaign ${id}`, label: `${name} (${id})`, group: "Campaign", run }];
    }
    case "schedule": {
      const run = () => void navigate({ to: "/campaigns", search: { schedule: id } });
      return [{ ...shown, id: t`schedule ${id}`, group: "Schedule", run }];
    }
  }
}

function ofSeries(series: SearchResult["series"][number], navigate: Navigate): Command {
  const { id, workload, metric, target_names, cluster_id: clusterId } = series;
  const search = { workload, metric, series: [id] };
  return {
    id: t`series ${id}`,
    label: [workload, headlineWords(series), target_names.join(", ")].filter(Boolean).join(" · "),
    group: "Series",
    place: series.cluster_name,
    run: () => void navigate({ to: "/clusters/$clusterId/trend", params: { clusterId }, search }),
  };
}
