/** Keeps the cache in step with the server while a page is shown. */

import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { hearNews, invalidateOnNews } from "@/api/live";

/** Whether the line to the server is up. */
export function useLive(): boolean {
  const client = useQueryClient();
  const [isUp, setIsUp] = useState(true);
  useEffect(() => {
    const invalidate = invalidateOnNews(client);
    return hearNews((news) => {
      if (news.type === "line") setIsUp(news.up);
      else invalidate(news);
    });
  }, [client]);
  return isUp;
}
