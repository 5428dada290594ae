import { afterEach, expect, it } from "vitest";
import { actionOf, isTaken, moveRow } from "./keys";

afterEach(() => document.body.replaceChildren());

it("opens a page with g and its letter, not with the letter only", () => {
  expect(actionOf("t", "g")).toEqual({ kind: "go", to: "/trends" });
  expect(actionOf("i", "g")).toEqual({ kind: "go", to: "/incidents" });
  expect(actionOf("t", undefined)).toBeUndefined();
  expect(actionOf("x", "g")).toBeUndefined();
  expect(actionOf("toString", "g")).toBeUndefined();
});

it("opens help and palette and moves between rows with a single key", () => {
  expect(actionOf("?", undefined)).toEqual({ kind: "help" });
  expect(actionOf("/", "x")).toEqual({ kind: "palette" });
  expect(actionOf("j", undefined)).toEqual({ kind: "row", step: 1 });
});

it("ignores keys in inputs, dialogs and menus", () => {
  document.body.innerHTML = '<input><div role="menu"><button>CSV</button></div><a href="#">there</a>';
  expect(isTaken(document.querySelector("input"))).toBe(true);
  expect(isTaken(document.querySelector("button"))).toBe(true);
  expect(isTaken(document.querySelector("a"))).toBe(false);
});

it("moves through the rows that can be opened, and stays at both ends", () => {
  document.body.innerHTML = `<table><thead><tr><th><button>sort</button></th></tr></thead><tbody>
    <tr><td><a href="#1">one</a></td></tr><tr><td>nothing</td></tr><tr><td><a href="#2">two</a></td></tr>
  </tbody></table>`;
  const move = (step: 1 | -1) => {
    moveRow(document, document.activeElement, step);
    return document.activeElement?.textContent;
  };
  expect(move(1)).toBe("one");
  expect(move(1)).toBe("two");
  expect(move(1)).toBe("two");
  expect(move(-1)).toBe("one");
});
