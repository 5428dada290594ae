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
        {t`Send this link to ${name} only: it signs in any user who opens it. It works once and expires after one day. It is not shown again.`}
      </Text>
      <Command label={t`Copy link`} text={url} />
    </Dialog>
  );
}
