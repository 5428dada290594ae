declare module "plotly.js/lib/core" {
  export { default } from "plotly.js";
}

declare module "plotly.js/lib/scatter" {
  const trace: import("plotly.js").PlotlyModule;
  export default trace;
}

declare module "plotly.js/lib/bar" {
  const trace: import("plotly.js").PlotlyModule;
  export default trace;
}

declare module "plotly.js/lib/heatmap" {
  const trace: import("plotly.js").PlotlyModule;
  export default trace;
}

declare module "plotly.js/lib/surface" {
  const trace: import("plotly.js").PlotlyModule;
  export default trace;
}
