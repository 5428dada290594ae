import { renderWithApp } from "@testing/render";
import { fireEvent, screen, waitFor } from "@testing-library/react";
import { useState } from "react";
import { expect, it, vi } from "vitest";
import { TextFilter } from "./filters";

let told: (string | undefined)[];

/** Its owner takes what was told when `takes` is called, as an address does that is on its way. */
function Owned() {
  const [value, setValue] = useState<string | undefined>("");
  const take = () => setValue(told.at(-1));
  return (
    <>
      <TextFilter label="Who" onText={(text) => told.push(text)} placeholder="Who" value={value} />
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

it("keeps what was typed while what was told before is on its way", async () => {
  told = [];
  renderWithApp(<Owned />);
  type("a");
  await waitFor(() => expect(told).toEqual(["a"]));
  type("ab");
  press("take");
  expect(field()).toHaveValue("ab");
  await waitFor(() => expect(told).toEqual(["a", "ab"]));
});

it("tells nothing of what was typed before its owner changed it", () => {
  vi.useFakeTimers();
  told = [];
  renderWithApp(<Owned />);
  type("a");
  press("other");
  vi.advanceTimersByTime(1000);
  vi.useRealTimers();
  expect(field()).toHaveValue("other");
  expect(told).toEqual([]);
});
