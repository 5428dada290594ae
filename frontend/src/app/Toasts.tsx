/** Short messages in the corner; a chunk of its own, since none is shown at the first paint. */

import "@mantine/notifications/styles.layer.css";
import { Notifications } from "@mantine/notifications";

export default function Toasts() {
  return <Notifications position="bottom-right" />;
}
