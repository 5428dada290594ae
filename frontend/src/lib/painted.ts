/** When the dashboard can be seen. */

const FIRST_CONTENT = "first-contentful-paint";

/** Resolves once something is seen; of a tab behind others, when it is looked at first. */
export function firstPaint(): Promise<void> {
  return new Promise((resolve) => {
    new PerformanceObserver((list, observer) => {
      if (list.getEntriesByName(FIRST_CONTENT).length === 0) return;
      observer.disconnect();
      resolve();
    }).observe({ type: "paint", buffered: true });
  });
}
