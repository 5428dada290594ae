/** A link that signs a person in once: made on demand, shown this once, with a button that copies it. */

import { t } from "@lingui/core/macro";
import { Text } from "@mantine/core";
import { Command } from "@/components/Command";
import { Dialog } from "@/components/Dialog";

interface SignInLinkProps {
  readonly name: string;
  readonly url: string;
  readonly onClose: () => void;
}

export default function SignInLink({ name, url, onClose }: SignInLinkProps) {
  return (
    <Dialog onClose={onClose} size="lg" title={t`Sign-in link for ${name}`}>
      <Text mb="sm" size="sm">
        {t`Hand it to ${name} yourself: it signs in whoever has it, once and within a day. It is not shown again.`}
      </Text>
      <Command label={t`Copy the link`} text={url} />
    </Dialog>
  );
}
