/** Conversion of the channel form to the API. */

import type { Channel, ChannelInput } from "@/api/types";

export type Kind = Channel["receiver"]["kind"];

export const KINDS: Readonly<Record<Kind, string>> = {
  email: "E-mail",
  webhook: "Webhook",
  slack: "Slack",
  mattermost: "Mattermost",
};

/** Time zones of quiet hours and digest; undefined if switched off. */
export interface Hours {
  readonly quietZone: string | undefined;
  readonly digestZone: string | undefined;
}

/** Leaves out empty fields, so that a stored secret is kept. */
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

/** Signing key in the format of Standard Webhooks: 32 random bytes. */
export function newSecret(): string {
  return `whsec_${btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(32))))}`;
}
