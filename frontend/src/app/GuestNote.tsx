import { Trans } from "@lingui/react/macro";
import { useLocation } from "@tanstack/react-router";
import { TextLink } from "@/components/links";
import { Hint } from "@/components/looks";

export default function GuestNote() {
  const { href } = useLocation();
  return (
    <Hint mb="sm" role="note">
      <Trans>
        You are browsing as a guest: you cannot change anything, and names of users are hidden.{" "}
        <TextLink search={{ next: href }} to="/login" underline="always">
          Sign in
        </TextLink>{" "}
        if you have an account.
      </Trans>
    </Hint>
  );
}
