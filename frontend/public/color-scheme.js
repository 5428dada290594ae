// Sets the colour scheme before the first paint. A separate file, since the CSP forbids inline scripts.
const chosen = localStorage.getItem("mantine-color-scheme-value");
const wantsDark =
  chosen === "dark" || (chosen !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
document.documentElement.setAttribute("data-mantine-color-scheme", wantsDark ? "dark" : "light");
