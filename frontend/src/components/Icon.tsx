const PATHS = {
  alert: "M12 8v5m0 3.5v.01M12 3 2.5 20h19L12 3Z",
  book: "M12 6.5C9.5 4.8 6.5 4.5 4 5v13.5c2.5-.5 5.5-.2 8 1.5 2.5-1.700 5.5-2 8-1.5V5c-2.5-.5-5.5-.2-8 1.5Zm0 0V20",
  calendar: "M4 6h16v14H4zM4 10.5h16M8 3.5V8m8-4.5V8",
  check: "m5 12.5 4.5 4.5L19 7.5",
  closed: "m9 5 7 7-7 7",
  compare: "M5 20V9h4v11zM15 20V4h4v16zM3 20h18",
  copy: "M9 9h10v11H9zM15 9V4H5v11h4",
  dark: "M20 14.5A8.5 8.5 0 0 1 9.5 4a8.5 8.5 0 1 0 10.5 10.5Z",
  download: "M12 4v11m-4.5-4.5L12 15l4.5-4.5M5 19.5h14",
  light:
    "M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8Zm0-5.5v2m0 15v2M2.5 12h2m15 0h2M5.3 5.3l1.4 1.4m10.6 10.6 1.4 1.4m0-13.4-1.4 1.4M6.7 17.3l-1.4 1.4",
  list: "M9 6h11M9 12h11M9 18h11M4.5 6v.01M4.5 12v.01M4.5 18v.01",
  open: "m5 9 7 7 7-7",
  overview: "M4 4h7v7H4zM13 4h7v7h-7zM4 13h7v7H4zM13 13h7v7h-7z",
  plus: "M12 5v14M5 12h14",
  runs: "M4 5h16v4H4zM4 11.5h10v3H4zM4 17h13v3H4z",
  search: "M10.5 4a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13Zm5 11.5L20.5 20.5",
  settings:
    "M4 7h9m5 0h2M4 17h2m5 0h9M15.5 4.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5Zm-7 10a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5Z",
  step: "M3.5 8H11v8.5h9.5M17 13l3.5 3.5L17 20",
  surface: "M3 9.5 12 5l9 4.5-9 4.5-9-4.5Zm0 5L12 19l9-4.5M3 9.5v5m18-5v5",
  sweep: "M4 18h4v-5h5V8h5V4",
  trash: "M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13",
  trend: "M4 4v16h16M7.5 15l3.5-5 4 3 4.5-7",
} as const;

export type IconName = keyof typeof PATHS;

/** Decoration only: the surrounding control has the accessible name. */
export function Icon({ name, size = 18 }: { name: IconName; size?: number }) {
  return (
    <svg
      aria-hidden="true"
      fill="none"
      height={size}
      stroke="currentColor"
      strokeLinecap="round"
      strokeLinejoin="round"
      strokeWidth="1.8"
      viewBox="0 0 24 24"
      width={size}
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
