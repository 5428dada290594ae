/** Maps, 3-D views and difference of surfaces A and B. A selected cell is marked in all of them. */

import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Grid, SegmentedControl, Text } from "@mantine/core";
import { useMemo } from "react";
import type { Surface, SurfaceSide } from "@/api/types";
import { Hint } from "@/components/looks";
import { useScheme } from "@/components/preferences";
import { exactBytes, parseBytes, scaleFor } from "@/lib/units";
import { surfaceFigure } from "@/plots/map";
import { Plot } from "@/plots/Plot";
import {
  differenceFigure,
  FILE_SIZE,
  type PlaceOnSurface,
  percentFigure,
  RECORD_SIZE,
  spatialFigure,
  withMarks,
} from "@/plots/surface";
import { surfaceTable } from "./exports";
import {
  allGaps,
  differenceMap,
  differences,
  extent,
  fieldsOf,
  gapsInWords,
  medians,
  type Shown,
  sideMap,
} from "./fields";

let isWebGlThere: boolean | undefined;

/** This browser supports WebGL. */
function hasWebGl(): boolean {
  isWebGlThere ??= document.createElement("canvas").getContext("webgl") !== null;
  return isWebGlThere;
}

interface MapProps {
  readonly surface: Surface;
  readonly marked: PlaceOnSurface | undefined;
  readonly onMark: (place: PlaceOnSurface) => void;
}

const HEIGHT = 420;

export function SideMaps({ surface, ...rest }: MapProps) {
  return (
    <Grid>
      <Grid.Col span={{ base: 12, lg: surface.b ? 6 : 12 }}>
        <SideMap name="A" side={surface.a} surface={surface} {...rest} />
      </Grid.Col>
      {surface.b && (
        <Grid.Col span={{ base: 12, lg: 6 }}>
          <SideMap name="B" side={surface.b} surface={surface} {...rest} />
        </Grid.Col>
      )}
    </Grid>
  );
}

function SideMap({ surface, side, name, marked, onMark }: MapProps & { side: SurfaceSide; name: string }) {
  const scheme = useScheme();
  const figure = useMemo(() => {
    const options = { xTitle: RECORD_SIZE, yTitle: FILE_SIZE, scheme, ...extent(surface) };
    const falls = side.cliffs.map(({ axis, last_bytes }) => ({ axis, lastBytes: last_bytes }));
    const map = surfaceFigure(sideMap(surface, side), options);
    return withMarks(map, fieldsOf(surface, medians(side)), marked, falls);
  }, [surface, side, marked, scheme]);
  return (
    <>
      <Text fw={600} size="sm">
        {name}: {placeWords(side)}
      </Text>
      <Plot
        exported={{ table: () => surfaceTable(surface) }}
        figure={figure}
        height={HEIGHT}
        label={t`${surface.title} of ${name} by file and record size`}
        onFieldClick={markBy(onMark)}
        viewKey={`map-${name}-${side.source}`}
      />
      {side.cliffs.map(({ words }) => (
        <Text key={words} size="sm">
          {words}
        </Text>
      ))}
    </>
  );
}

/** Axis names of a map are sizes as text. */
function markBy(onMark: MapProps["onMark"]) {
  return (x: string | number, y: string | number) =>
    onMark({ recordSize: parseBytes(String(x)), fileSize: parseBytes(String(y)) });
}

export function placeWords({ node_names, target_names, variant }: SurfaceSide): string {
  const where = t`${node_names.join(", ")} on ${target_names.join(", ")}`;
  return variant ? `${where}, ${variant}` : where;
}

type By = "amount" | "percent";

interface DifferenceProps extends MapProps {
  readonly by: By;
  readonly onBy: (by: By) => void;
}

export function DifferenceMap({ surface, marked, onMark, by, onBy }: DifferenceProps) {
  const scheme = useScheme();
  const figure = useMemo(() => {
    const map = differenceMap(surface, by);
    const found =
      by === "percent"
        ? percentFigure(map, scheme)
        : differenceFigure(map, { ...differenceScale(surface), scheme });
    return withMarks(found, fieldsOf(surface, map.values), marked, []);
  }, [surface, by, marked, scheme]);
  return (
    <>
      <SegmentedControl
        aria-label={t`Unit of the difference`}
        data={[
          { value: "amount", label: "B − A" },
          { value: "percent", label: t`B / A in %` },
        ]}
        mb="sm"
        onChange={(chosen) => onBy(chosen as By)}
        value={by}
      />
      <Plot
        exported={{ table: () => surfaceTable(surface) }}
        figure={figure}
        height={HEIGHT}
        label={t`Difference of ${surface.title}, B relative to A`}
        onFieldClick={markBy(onMark)}
        viewKey={`difference-${by}`}
      />
      <OnlyOne surface={surface} />
    </>
  );
}

function differenceScale(surface: Surface) {
  const largest = differences(surface)
    .flat()
    .reduce<number>((most, value) => Math.max(most, Math.abs(value ?? 0)), 0);
  return { scale: scaleFor(surface.unit, largest) };
}

function OnlyOne({ surface: { only_a, only_b } }: { surface: Surface }) {
  const sides = [["A", only_a] as const, ["B", only_b] as const].filter(([, places]) => places.length > 0);
  return sides.map(([name, places]) => (
    <Hint key={name}>
      <Trans>
        Measured only in {name} and empty here ({places.length} cells):{" "}
        {places
          .slice(0, 6)
          .map((place) => t`${exactBytes(place.record_size_bytes)} of ${exactBytes(place.file_size_bytes)}`)
          .join(", ")}
        {places.length > 6 && " …"}
      </Trans>
    </Hint>
  ));
}

interface SpatialProps extends MapProps {
  readonly show: Shown;
  readonly onShow: (show: Shown) => void;
}

/** One 3-D view at a time: browsers limit WebGL contexts. */
export function SpatialSurface({ surface, marked, onMark, show, onShow }: SpatialProps) {
  const scheme = useScheme();
  const side = show === "b" ? surface.b : surface.a;
  const figure = useMemo(() => {
    const isDifference = show === "difference" && surface.b !== null;
    const fields = fieldsOf(surface, isDifference ? differences(surface) : medians(side ?? surface.a));
    const { scale } = isDifference ? differenceScale(surface) : extent(surface);
    const title = isDifference ? `${surface.title}, B − A` : surface.title;
    return spatialFigure(fields, { title, scale, scheme, isDifference, marked });
  }, [surface, side, show, marked, scheme]);
  if (!hasWebGl())
    return (
      <Text c="dimmed">
        {t`This browser cannot show 3-D views because WebGL is disabled or not supported. The maps show the same values.`}
      </Text>
    );
  return (
    <>
      {surface.b && (
        <SegmentedControl
          aria-label={t`Surface in the 3-D view`}
          data={[
            { value: "a", label: "A" },
            { value: "b", label: "B" },
            { value: "difference", label: "B − A" },
          ]}
          mb="sm"
          onChange={(chosen) => onShow(chosen as Shown)}
          value={show}
        />
      )}
      <Plot
        exported={{ table: () => surfaceTable(surface) }}
        figure={figure}
        height={520}
        isSpatial
        label={t`3-D view of ${surface.title}`}
        onFieldClick={(x, y) =>
          onMark({ recordSize: Math.round(2 ** Number(x)), fileSize: Math.round(2 ** Number(y)) })
        }
        viewKey={`space-${show}`}
      />
      <Holes surface={surface} />
    </>
  );
}

function Holes({ surface }: { surface: Surface }) {
  const gaps = gapsInWords(allGaps(surface));
  if (!gaps) return null;
  return <Hint>{t`Gaps in the surface: ${gaps}.`}</Hint>;
}
