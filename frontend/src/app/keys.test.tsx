import { afterEach, expect, it } from "vitest";
import { deedOf, isTaken, moveRow } from "./keys";

afterEach(() => document.body.replaceChildren());

it("goes to a page by g and its letter, and nowhere by the letter alone", () => {
  expect(deedOf("t", "g")).toEqual({ kind: "go", to: "/trends" });
  expect(deedOf("t", undefined)).toBeUndefined();
  expect(deedOf("x", "g")).toBeUndefined();
  expect(deedOf("toString", "g")).toBeUndefined();
});

it("knows help, palette and rows by one key", () => {
  expect(deedOf("?", undefined)).toEqual({ kind: "help" });
  expect(deedOf("/", "x")).toEqual({ kind: "palette" });
  expect(deedOf("j", undefined)).toEqual({ kind: "row", step: 1 });
});

it("leaves keys to what is typed into, and to dialogs and menus", () => {
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
