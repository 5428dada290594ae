const HERE = "http://here.invalid";

/** The page to show after the login: only one of this application, whatever somebody wrote into the link. */
export function localPath(next: string | undefined): string {
  // Read as a browser does, which passes over tabs and line feeds and takes a backslash for a slash.
  if (!next?.startsWith("/") || !URL.canParse(next, HERE)) return "/";
  const url = new URL(next, HERE);
  if (url.origin !== HERE || url.pathname.startsWith("//")) return "/";
  return url.pathname + url.search + url.hash;
}
