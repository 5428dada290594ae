/** The part of plotly that iotide draws with; only PlotlyView imports it, so it is a chunk of its own. */

import bar from "plotly.js/lib/bar";
import Plotly from "plotly.js/lib/core";
import heatmap from "plotly.js/lib/heatmap";
import scatter from "plotly.js/lib/scatter";

Plotly.register([bar, heatmap, scatter]);

export default Plotly;
