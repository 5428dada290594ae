/** The part of plotly that iotide draws with; only PlotlyView imports it, so it is a chunk of its own. */

import Plotly from "plotly.js/lib/core";
import scatter from "plotly.js/lib/scatter";

Plotly.register([scatter]);

export default Plotly;
