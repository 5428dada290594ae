/** PlotlyView with 3-D surfaces in a separate chunk; import it only through Plot. */

import surface from "plotly.js/lib/surface";
import PlotlyView from "./PlotlyView";
import Plotly from "./plotly";

Plotly.register([surface]);

export default PlotlyView;
