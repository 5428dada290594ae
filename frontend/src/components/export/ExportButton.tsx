/** The button of an export menu, and what such a menu is told. */

import { t } from "@lingui/core/macro";
import { ActionIcon, type ActionIconProps } from "@mantine/core";
import type { ComponentPropsWithRef } from "react";
import type { ExportTable } from "@/lib/exported";
import { Icon } from "../Icon";

export type ImageFormat = "png" | "svg";

export interface ExportSource {
  /** What is exported; it names the button and begins the names of files. */
  readonly name: string;
  /** What is shown, in base units and UTC; asked when somebody wants it. */
  readonly table: () => ExportTable;
  /** The picture of a chart, as a data URL. */
  readonly image?: ((format: ImageFormat) => Promise<string>) | undefined;
  /** The request that gives these numbers, with its query: `/api/v1/series/7/points`. */
  readonly path?: string | undefined;
  /** The request knows `format=csv` and `format=parquet`. */
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
