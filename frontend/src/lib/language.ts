/** The language of the interface: English, as it stands in the source; a translation is a catalogue beside `en.po`. */

import { i18n } from "@lingui/core";

i18n.loadAndActivate({ locale: "en", messages: {} });

export { i18n };
