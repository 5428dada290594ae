/** Notifications in the corner. A separate chunk, since none is shown at first paint. */

import "@mantine/notifications/styles.layer.css";
import { Notifications } from "@mantine/notifications";

export default function Toasts() {
  return <Notifications position="bottom-right" />;
}
