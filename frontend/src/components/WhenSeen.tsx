/** Shows what is in it once that is scrolled into view, and keeps its place until then. */

import { Box } from "@mantine/core";
import { type ReactNode, useEffect, useRef, useState } from "react";

const AHEAD = "200px";

export function WhenSeen({ height, children }: { height: number; children: ReactNode }) {
  const place = useRef<HTMLDivElement>(null);
  const [isSeen, setIsSeen] = useState(typeof IntersectionObserver === "undefined");
  useEffect(() => {
    const element = place.current;
    if (isSeen || !element) return;
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some(({ isIntersecting }) => isIntersecting)) setIsSeen(true);
      },
      { rootMargin: AHEAD },
    );
    observer.observe(element);
    return () => observer.disconnect();
  }, [isSeen]);
  return (
    <Box mih={height} ref={place}>
      {isSeen && children}
    </Box>
  );
}
