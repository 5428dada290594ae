import { expect, it } from "vitest";
import { withDirectories } from "./withDirectories";

it.each([
  ["/scratch/iotide", "sh join.sh /scratch/iotide"],
  ["  /a  /b ", "sh join.sh /a /b"],
  ["/a;reboot $(b)", "sh join.sh '/a;reboot' '$(b)'"],
  ["/it's", "sh join.sh '/it'\\''s'"],
])("appends %s as words that a shell does not change", (paths, command) => {
  expect(withDirectories("sh join.sh", paths)).toBe(command);
});
