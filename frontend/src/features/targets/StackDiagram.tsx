/** Storage layers of a file system as a diagram and as text. */

import { t } from "@lingui/core/macro";
import { Group, Text } from "@mantine/core";
import { Detail } from "@/components/looks";
import { type Box, diagramOf, LINE_HEIGHT, WIDTH } from "./diagram";
import type { Layer } from "./stack";

interface StackDiagramProps {
  readonly layers: readonly Layer[];
  readonly name: string;
}

export function StackDiagram({ layers, name }: StackDiagramProps) {
  const { boxes, lines, height } = diagramOf(layers);
  return (
    <Group align="flex-start" gap="lg">
      <svg
        aria-label={t`Layers of ${name}: ${layers.map(({ kind }) => kind).join(", on ")}`}
        className="iotide-stack"
        height={height + 2}
        role="img"
        viewBox={`-1 -1 ${WIDTH + 2} ${height + 2}`}
        width={WIDTH + 2}
      >
        {lines.map((line) => (
          <line key={`${line.x1} ${line.y1} ${line.x2}`} {...line} />
        ))}
        {boxes.map((box) => (
          <Layered box={box} key={`${box.x} ${box.y}`} />
        ))}
      </svg>
      <LayerList layers={layers} name={name} />
    </Group>
  );
}

function Layered({ box: { x, y, width, height, title, lines } }: { box: Box }) {
  return (
    <>
      <rect height={height} rx={6} width={width} x={x} y={y} />
      <text className="iotide-strong" fontSize={14} x={x + 10} y={y + 22}>
        {title}
      </text>
      {lines.map((line, number) => (
        <text fontSize={12} key={line} x={x + 10} y={y + 22 + (number + 1) * LINE_HEIGHT}>
          {line}
        </text>
      ))}
    </>
  );
}

function LayerList({ layers, name }: StackDiagramProps) {
  return (
    <ol aria-label={t`Layers of ${name}`} className="iotide-layers">
      {layers.map(({ kind, facts }, depth) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a layer is what its depth says
        <li key={depth}>
          <Text fw={600} size="sm" span>
            {kind}
          </Text>{" "}
          <Detail span style={{ overflowWrap: "anywhere" }}>
            {facts.join(", ")}
          </Detail>
        </li>
      ))}
    </ol>
  );
}
