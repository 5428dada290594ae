/** Lists come page by page; the cursor of the last page is null. */

export interface PageOf<Item> {
  readonly items: Item[];
  readonly next_cursor: string | null;
}

export interface PageQuery {
  readonly limit: number;
  readonly cursor: string | null;
}

/** Items that the server puts on a page at most. */
export const LARGEST_PAGE = 500;

/** Every item of a list that is short enough to be shown or searched as a whole; fewer where so many are enough. */
export async function everyItem<Item>(
  load: (query: PageQuery) => Promise<PageOf<Item>>,
  isEnough: (items: readonly Item[]) => boolean = () => false,
): Promise<Item[]> {
  const items: Item[] = [];
  let cursor: string | null = null;
  do {
    const page: PageOf<Item> = await load({ limit: LARGEST_PAGE, cursor });
    items.push(...page.items);
    cursor = page.next_cursor;
  } while (cursor !== null && !isEnough(items));
  return items;
}
