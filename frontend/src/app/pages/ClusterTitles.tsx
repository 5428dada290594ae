import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { OptionTitles } from "@/components/optionTitles";
import { workloadsQuery } from "@/features/workloads/queries";

const NONE = [] as const;

interface ClusterTitlesProps {
  readonly clusterId: number | undefined;
  readonly children: ReactNode;
}

export function ClusterTitles({ clusterId, children }: ClusterTitlesProps) {
  const { data = NONE } = useQuery({
    ...workloadsQuery(clusterId ?? 0),
    enabled: clusterId !== undefined,
  });
  return (
    <OptionTitles clusterId={clusterId} workloads={data}>
      {children}
    </OptionTitles>
  );
}
