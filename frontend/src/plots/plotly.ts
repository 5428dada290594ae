/** The plotly modules in use. Only PlotlyView imports it, so that it is a separate chunk. */

import bar from "plotly.js/lib/bar";
import Plotly from "plotly.js/lib/core";
import heatmap from "plotly.js/lib/heatmap";
import scatter from "plotly.js/lib/scatter";

Plotly.register([bar, heatmap, scatter]);

export default Plotly;
