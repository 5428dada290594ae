/** Where something was measured: its nodes, and below them its targets. */

import { Text } from "@mantine/core";

interface PlaceProps {
  readonly of: { readonly node_names: readonly string[]; readonly target_names: readonly string[] };
}

export function Place({ of: { node_names, target_names } }: PlaceProps) {
  return (
    <>
      {node_names.join(", ")}
      <Text c="dimmed" size="xs">
        on {target_names.join(", ")}
      </Text>
    </>
  );
}
