/** Legend of a small chart, below it, so that it covers nothing. */

import { useScheme } from "@/components/preferences";
import { traceColour } from "@/plots/figure";

export function LineNames({ names }: { names: readonly string[] }) {
  const scheme = useScheme();
  return (
    <ul className="iotide-line-names">
      {names.map((name, index) => (
        <li key={name} style={{ borderColor: traceColour(scheme, index) }}>
          {name}
        </li>
      ))}
    </ul>
  );
}
