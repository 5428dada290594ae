const HERE = "http://here.invalid";

/** Return the page to open after sign-in. Addresses outside this application become "/" (no open redirect). */
export function localPath(next: string | undefined): string {
  // Parse as browsers do: they ignore tabs and line feeds and read a backslash as a slash.
  if (!next?.startsWith("/") || !URL.canParse(next, HERE)) return "/";
  const url = new URL(next, HERE);
  if (url.origin !== HERE || url.pathname.startsWith("//")) return "/";
  return url.pathname + url.search + url.hash;
}
