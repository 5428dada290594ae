/** Where to go after the login: only ever a path of this site. */
export function localPath(next: string | undefined): string {
  return next?.startsWith("/") && !/^\/[/\\]/.test(next) ? next : "/";
}
