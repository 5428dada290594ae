/** A light page to print or to download, with its own typography. */

import { t } from "@lingui/core/macro";
import { Button, Group, Stack } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { type ReactNode, useEffect, useRef } from "react";
import { fetchPdf } from "@/api/reportPdf";
import { saveBlob, saveText } from "../export/save";
import style from "./report.css?inline";

interface ReportPageProps {
  readonly title: string;
  /** Name of the downloaded file, without extension. */
  readonly fileName: string;
  /** Address of the PDF by the server; the browser prints if the server does not. */
  readonly pdf: string;
  /** Link to what the report shows. */
  readonly back: ReactNode;
  readonly children: ReactNode;
}

export function ReportPage({ title, fileName, pdf, back, children }: ReportPageProps) {
  const sheet = useRef<HTMLElement>(null);
  const print = useMutation({
    mutationFn: fetchPdf,
    meta: { isShownInPlace: true },
    onSuccess: (printed) => saveBlob(fileName, "pdf", printed),
    onError: () => window.print(),
  });
  useEffect(() => {
    document.title = `${title} · iotide`;
  }, [title]);
  return (
    <Stack>
      <Group className="report-bar" gap="xs">
        {back}
        <Button loading={print.isPending} onClick={() => print.mutate(pdf)}>{t`Print or save as PDF`}</Button>
        <Button
          onClick={() =>
            sheet.current && saveText(fileName, "html", "text/html", standaloneHtml(sheet.current, title))
          }
          variant="default"
        >{t`Download as HTML`}</Button>
      </Group>
      <article className="report" ref={sheet}>
        <style>{style}</style>
        {children}
      </article>
    </Stack>
  );
}

interface PaperFoldProps {
  readonly title: string;
  readonly children: ReactNode;
}

/** Details for the screen. They are printed only if they are open. */
export function PaperFold({ title, children }: PaperFoldProps) {
  return (
    <details>
      <summary>{title}</summary>
      {children}
    </details>
  );
}

/** Return the report as a self-contained file with pictures and styles; links lead to the server. */
export function standaloneHtml(sheet: HTMLElement, title: string): string {
  const copy = sheet.cloneNode(true) as HTMLElement;
  for (const link of copy.querySelectorAll("a"))
    link.href = new URL(link.getAttribute("href") ?? "", location.href).href;
  const name = document.createElement("title");
  name.textContent = title;
  const head = t`<meta charset="utf-8"><meta name="viewport" content="width=device-width">${name.outerHTML}`;
  return t`<!doctype html>\n<html lang="en"><head>${head}</head><body>${copy.outerHTML}</body></html>\n`;
}
