import { renderWithApp } from "@testing/render";
import { screen } from "@testing-library/react";
import { afterEach, expect, it, vi } from "vitest";
import { preferences, setPreferences } from "@/lib/preferences";
import { timeZone } from "@/lib/time";
import DisplayModal from "./DisplayModal";

afterEach(() => setPreferences({ rates: "decimal", zone: null }));

it("changes the unit of rates at once, and shows which one is chosen", async () => {
  const { user } = renderWithApp(<DisplayModal onClose={vi.fn()} />);
  expect(screen.getByRole("radio", { name: "MB/s (1000)" })).toBeChecked();
  await user.click(screen.getByRole("radio", { name: "Mbit/s (1000)" }));
  expect(preferences().rates).toBe("bits");
  expect(screen.getByRole("radio", { name: "Mbit/s (1000)" })).toBeChecked();
});

it("shows the zone of this computer's clock until another one is chosen", () => {
  renderWithApp(<DisplayModal onClose={vi.fn()} />);
  expect(screen.getByRole("combobox", { name: "Time zone" })).toHaveValue(timeZone());
  expect(preferences().zone).toBeNull();
});
