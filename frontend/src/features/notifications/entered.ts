/** What was entered in the form of a channel, as the API takes it. */

import type { Channel, ChannelInput } from "@/api/types";

export type Kind = Channel["receiver"]["kind"];

export const KINDS: Readonly<Record<Kind, string>> = {
  email: "E-mail",
  webhook: "Webhook",
  slack: "Slack",
  mattermost: "Mattermost",
};

/** Clocks of the quiet hours and of the digest; undefined: there are none. */
export interface Hours {
  readonly quietZone: string | undefined;
  readonly digestZone: string | undefined;
}

/** Empty fields are left out: a secret that is not entered stays. */
export function channelEntered(entered: FormData, kind: Kind, hours: Hours): ChannelInput {
  const text = (name: string) => String(entered.get(name) ?? "").trim();
  const { quietZone, digestZone } = hours;
  return {
    name: text("name"),
    cluster_id: text("cluster") === "" ? null : Number(text("cluster")),
    receiver: receiverEntered(kind, text),
    quiet_hours: quietZone
      ? { from: text("quiet_from"), until: text("quiet_until"), time_zone: quietZone }
      : null,
    digest: digestZone
      ? { weekday: text("weekday") as Weekday, hour: Number(text("hour")), time_zone: digestZone }
      : null,
  };
}

type Weekday = NonNullable<ChannelInput["digest"]>["weekday"];

function receiverEntered(kind: Kind, text: (name: string) => string): ChannelInput["receiver"] {
  switch (kind) {
    case "email":
      return {
        kind,
        host: text("host"),
        port: Number(text("port")),
        tls: text("tls") as "starttls" | "tls" | "none",
        user: text("user") || null,
        password: text("password") || null,
        sender: text("sender"),
        recipients: text("recipients").split(/[\s,;]+/),
      };
    case "webhook":
      return { kind, url: text("url"), secret: text("secret") || null };
    default:
      return { kind, url: text("url") || null };
  }
}

/** A signing key as Standard Webhooks writes it: 32 random bytes. */
export function newSecret(): string {
  return `whsec_${btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(32))))}`;
}
