import { renderWithApp } from "@testing/render";
import { fireEvent, screen, waitFor } from "@testing-library/react";
import { useState } from "react";
import { expect, it, vi } from "vitest";
import { TextFilter } from "./filters";

let reported: (string | undefined)[];

/** Its owner takes the reported text when `takes` is called, like an address that is still changing. */
function Owned() {
  const [value, setValue] = useState<string | undefined>("");
  const take = () => setValue(reported.at(-1));
  return (
    <>
      <TextFilter label="Who" onText={(text) => reported.push(text)} placeholder="Who" value={value} />
      <button onClick={take} type="button">
        {"take"}
      </button>
      <button onClick={() => setValue("other")} type="button">
        {"other"}
      </button>
    </>
  );
}

const field = () => screen.getByRole("textbox", { name: "Who" });
const type = (value: string) => fireEvent.change(field(), { target: { value } });
const press = (name: string) => fireEvent.click(screen.getByRole("button", { name }));

it("keeps the typed text while an earlier change is pending", async () => {
  reported = [];
  renderWithApp(<Owned />);
  type("a");
  await waitFor(() => expect(reported).toEqual(["a"]));
  type("ab");
  press("take");
  expect(field()).toHaveValue("ab");
  await waitFor(() => expect(reported).toEqual(["a", "ab"]));
});

it("discards typed text if its owner changes the value", () => {
  vi.useFakeTimers();
  reported = [];
  renderWithApp(<Owned />);
  type("a");
  press("other");
  vi.advanceTimersByTime(1000);
  vi.useRealTimers();
  expect(field()).toHaveValue("other");
  expect(reported).toEqual([]);
});
