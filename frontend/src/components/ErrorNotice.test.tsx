import { renderWithApp } from "@testing/render";
import { screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { errorOf } from "@/api/errors";
import { ErrorNotice } from "./Page";

const FAULT = {
  code: "internal_error",
  message: "the server failed",
  field: null,
  value: null,
  remedy: null,
};

it("shows the request id of a server error", () => {
  renderWithApp(<ErrorNotice error={errorOf(500, { error: { ...FAULT, request_id: "4711-0815" } })} />);
  expect(screen.getByRole("alert")).toHaveTextContent("request 4711-0815");
});

it("omits the id for a rejection with a remedy", () => {
  const refusal = { ...FAULT, code: "not_found", message: "there is no run 7", remedy: "look it up" };
  renderWithApp(<ErrorNotice error={errorOf(404, { error: { ...refusal, request_id: "4711-0815" } })} />);
  expect(screen.getByRole("alert")).not.toHaveTextContent("4711-0815");
});
