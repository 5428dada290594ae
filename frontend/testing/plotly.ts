/** A small plotly for tests: the real one needs a canvas, which happy-dom lacks. Figures are tested as data. */

/** Listens on the element, so that a test can dispatch an event with the one of plotly as its `detail`. */
function react(element: HTMLElement): void {
  element.classList.add("js-plotly-plot");
  const on = (name: string, hear: (event: unknown) => void) =>
    element.addEventListener(name, (event) => hear(event instanceof CustomEvent ? event.detail : undefined));
  Object.assign(element, { on });
}

const nothing = () => undefined;

export default {
  react,
  register: nothing,
  purge: nothing,
  toImage: async () => "data:image/svg+xml,",
  Plots: { resize: nothing },
};
