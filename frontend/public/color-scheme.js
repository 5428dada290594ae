// Sets the colour scheme before the first paint; a file of its own because the CSP allows no inline script.
const chosen = localStorage.getItem("mantine-color-scheme-value");
const wantsDark =
  chosen === "dark" || (chosen !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
document.documentElement.setAttribute("data-mantine-color-scheme", wantsDark ? "dark" : "light");
