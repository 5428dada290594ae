/** The open export menu, loaded by ExportMenu at the first click. */

import { t } from "@lingui/core/macro";
import { Menu } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { asCurl, type ExportTable, fileName, toJson, withFormat } from "@/lib/exported";
import { ExportButton, type ExportSource, type ImageFormat } from "./ExportButton";
import { saveBlob, saveCsv, saveLink, saveText } from "./save";

const IMAGES: readonly ImageFormat[] = ["png", "svg"];

export default function ExportList(source: ExportSource) {
  return (
    <Menu defaultOpened position="bottom-end">
      <Menu.Target>
        <ExportButton name={source.name} />
      </Menu.Target>
      <Menu.Dropdown>
        <ShownItems {...source} />
        {source.image && <ImageItems image={source.image} name={source.name} />}
        {source.path && <ServerItems {...source} path={source.path} />}
      </Menu.Dropdown>
    </Menu>
  );
}

function ShownItems({ name, table }: ExportSource) {
  return (
    <>
      <Menu.Label>{t`Data, in base units and UTC`}</Menu.Label>
      <Menu.Item onClick={() => saveCsv(name, table())}>{t`CSV`}</Menu.Item>
      <Menu.Item
        onClick={() => saveText(name, "json", "application/json", toJson(table()))}
      >{t`JSON`}</Menu.Item>
      <Menu.Item onClick={() => saveParquet(name, table())}>{t`Parquet`}</Menu.Item>
    </>
  );
}

function ImageItems({ name, image }: { name: string; image: NonNullable<ExportSource["image"]> }) {
  async function save(format: ImageFormat): Promise<void> {
    try {
      saveLink(await image(format), `${fileName(name)}.${format}`);
    } catch (cause) {
      showFailure(t`The picture could not be created.`, cause);
    }
  }
  return (
    <>
      <Menu.Label>{t`Picture`}</Menu.Label>
      {IMAGES.map((format) => (
        <Menu.Item key={format} onClick={() => save(format)}>
          {format.toUpperCase()}
        </Menu.Item>
      ))}
    </>
  );
}

function ServerItems({ name, path, hasFiles }: ExportSource & { path: string }) {
  const file = fileName(name);
  return (
    <>
      <Menu.Label>{t`From the server`}</Menu.Label>
      {hasFiles && (
        <>
          <Menu.Item
            component="a"
            download={`${file}-all.parquet`}
            href={withFormat(path, "parquet")}
          >{t`Parquet with every column`}</Menu.Item>
          <Menu.Item
            component="a"
            download={`${file}-all.csv`}
            href={withFormat(path, "csv")}
          >{t`CSV with every column`}</Menu.Item>
        </>
      )}
      <Menu.Item onClick={() => copy(asCurl(location.origin, path))}>{t`Copy as curl`}</Menu.Item>
    </>
  );
}

async function copy(command: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(command);
    notifications.show({ title: t`Copied. Set IOTIDE_TOKEN to an API token.`, message: command });
  } catch {
    // Browsers deny the clipboard to pages served over plain HTTP from another host.
    notifications.show({ autoClose: false, title: t`Copy this command`, message: command });
  }
}

function showFailure(title: string, cause: unknown): void {
  notifications.show({ color: "red", title, message: cause instanceof Error ? cause.message : "" });
}

/** Write the table as shown at the click, even if the page changes while the writer loads. */
async function saveParquet(name: string, table: ExportTable): Promise<void> {
  try {
    const { toParquet } = await import("@/lib/parquet");
    saveBlob(name, "parquet", new Blob([toParquet(table)], { type: "application/vnd.apache.parquet" }));
  } catch (cause) {
    showFailure(t`The file could not be written.`, cause);
  }
}
