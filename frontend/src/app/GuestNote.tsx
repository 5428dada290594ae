/** Says to whoever reads without an account that they do, what that means, and how to log in. */

import { Trans } from "@lingui/react/macro";
import { Text } from "@mantine/core";
import { useLocation } from "@tanstack/react-router";
import { TextLink } from "@/components/links";

export default function GuestNote() {
  const { href } = useLocation();
  return (
    <Text c="dimmed" mb="sm" role="note" size="sm">
      <Trans>
        You read as a guest: nothing can be changed, and people are not named.{" "}
        <TextLink search={{ next: href }} to="/login" underline="always">
          Log in
        </TextLink>{" "}
        if you have an account.
      </Trans>
    </Text>
  );
}
