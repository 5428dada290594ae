/** Language of the interface. The source is English; a translation is a catalogue next to `en.po`. */

import { i18n } from "@lingui/core";

i18n.loadAndActivate({ locale: "en", messages: {} });

export { i18n };
