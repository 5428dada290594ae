import type { FormEvent } from "react";

/** Return a submit handler: `send` reads the text of each field by its name. */
export function submitted(send: (text: (name: string) => string, form: HTMLFormElement) => void) {
  return (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const form = event.currentTarget;
    const entered = new FormData(form);
    send((name) => String(entered.get(name) ?? ""), form);
  };
}
