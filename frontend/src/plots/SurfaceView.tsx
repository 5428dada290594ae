/** PlotlyView with 3-D surfaces, a chunk of its own; loaded only through Plot. */

import surface from "plotly.js/lib/surface";
import PlotlyView from "./PlotlyView";
import Plotly from "./plotly";

Plotly.register([surface]);

export default PlotlyView;
