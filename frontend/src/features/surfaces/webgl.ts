/** Whether this browser draws in space. */

let isThere: boolean | undefined;

export function hasWebGl(): boolean {
  isThere ??= document.createElement("canvas").getContext("webgl") !== null;
  return isThere;
}
