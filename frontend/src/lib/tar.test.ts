import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { tarOf } from "./tar";

const FILES = ["short\n", "", "x".repeat(512), `${"y".repeat(700)}\u00e9`].map((text, place) => ({
  name: `results/file${place}.txt`,
  content: new TextEncoder().encode(text),
}));

it("writes names of up to 100 characters in a directory", () => {
  const directory = mkdtempSync(join(tmpdir(), "iotide-tar-"));
  try {
    const name = `io500-run-4711/${"n".repeat(100)}`;
    writeFileSync(join(directory, "a.tar"), tarOf([{ name, content: new Uint8Array(3) }], new Date(0)));
    expect(execFileSync("tar", ["-tf", "a.tar"], { cwd: directory, encoding: "utf8" })).toBe(`${name}\n`);
  } finally {
    rmSync(directory, { recursive: true });
  }
});

it.each(["/etc/passwd", "a/../b", "..", "", "a//b", `a/${"n".repeat(101)}`, "\u00e9"])(
  "refuses the name %j, which another program could write elsewhere or not at all",
  (name) => {
    expect(() => tarOf([{ name, content: new Uint8Array() }], new Date(0))).toThrow(RangeError);
  },
);

it("writes an archive that tar unpacks, byte for byte", () => {
  const directory = mkdtempSync(join(tmpdir(), "iotide-tar-"));
  try {
    writeFileSync(join(directory, "a.tar"), tarOf(FILES, new Date("2026-11-21T10:00:00Z")));
    execFileSync("tar", ["-xf", "a.tar"], { cwd: directory });
    const unpacked = FILES.map(({ name }) => new Uint8Array(readFileSync(join(directory, name))));
    expect(unpacked).toEqual(FILES.map(({ content }) => content));
  } finally {
    rmSync(directory, { recursive: true });
  }
});
