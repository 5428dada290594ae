import { t } from "@lingui/core/macro";
import { ActionIcon, type ActionIconProps } from "@mantine/core";
import type { ComponentPropsWithRef } from "react";
import type { ExportTable } from "@/lib/exported";
import { Icon } from "../Icon";

export type ImageFormat = "png" | "svg";

export interface ExportSource {
  /** Names the button and begins file names. */
  readonly name: string;
  /** Return the data shown, in base units and UTC. Called at export. */
  readonly table: () => ExportTable;
  /** Return the image of a chart as a data URL. */
  readonly image?: ((format: ImageFormat) => Promise<string>) | undefined;
  /** API path of the same numbers with its query, such as `/api/v1/series/7/points`. */
  readonly path?: string | undefined;
  /** Whether the path accepts `format=csv` and `format=parquet`. */
  readonly hasFiles?: boolean | undefined;
}

type ExportButtonProps = ActionIconProps & ComponentPropsWithRef<"button"> & { readonly name: string };

export function ExportButton({ name, ...props }: ExportButtonProps) {
  return (
    <ActionIcon
      aria-haspopup="menu"
      aria-label={t`Export ${name}`}
      size="sm"
      title={t`Export`}
      variant="subtle"
      {...props}
    >
      <Icon name="download" size={15} />
    </ActionIcon>
  );
}
