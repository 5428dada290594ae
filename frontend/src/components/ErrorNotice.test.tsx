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

it("says of a fault of the server by which id its log knows the request", () => {
  renderWithApp(<ErrorNotice error={errorOf(500, { error: { ...FAULT, request_id: "4711-0815" } })} />);
  expect(screen.getByRole("alert")).toHaveTextContent("request 4711-0815");
});

it("leaves the id out of a refusal, which says what to do", () => {
  const refusal = { ...FAULT, code: "not_found", message: "there is no run 7", remedy: "look it up" };
  renderWithApp(<ErrorNotice error={errorOf(404, { error: { ...refusal, request_id: "4711-0815" } })} />);
  expect(screen.getByRole("alert")).not.toHaveTextContent("4711-0815");
});
