/** A page about one thing, which has a heading also while that is loaded and when it cannot be. */

import type { ReactNode } from "react";
import { Loaded, type Query } from "./Loaded";
import { Page } from "./Page";

interface LoadedPageProps<Data> {
  /** The heading until the thing itself is there, for instance “Run 7”. */
  readonly title: string;
  readonly query: Query<Data>;
  readonly children: (data: Data) => ReactNode;
}

export function LoadedPage<Data>({ title, query, children }: LoadedPageProps<Data>) {
  const loaded = (
    <Loaded lines={8} query={query}>
      {children}
    </Loaded>
  );
  return query.data === undefined ? <Page title={title}>{loaded}</Page> : loaded;
}
