/** Says to whoever reads without an account that they do, what that means, and how to log in. */

import { Trans } from "@lingui/react/macro";
import { useLocation } from "@tanstack/react-router";
import { TextLink } from "@/components/links";
import { Hint } from "@/components/looks";

export default function GuestNote() {
  const { href } = useLocation();
  return (
    <Hint mb="sm" role="note">
      <Trans>
        You read as a guest: nothing can be changed, and people are not named.{" "}
        <TextLink search={{ next: href }} to="/login" underline="always">
          Log in
        </TextLink>{" "}
        if you have an account.
      </Trans>
    </Hint>
  );
}
