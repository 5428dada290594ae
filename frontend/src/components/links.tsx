/** Mantine's looks on the router's typed links. */

import {
  Anchor,
  type AnchorProps,
  Badge,
  type BadgeProps,
  Button,
  type ButtonProps,
  NavLink,
  type NavLinkProps,
} from "@mantine/core";
import { createLink } from "@tanstack/react-router";
import type { AnchorHTMLAttributes, Ref } from "react";

type LinkAttributes<Props> = Omit<AnchorHTMLAttributes<HTMLAnchorElement>, keyof Props | "color"> & {
  ref?: Ref<HTMLAnchorElement>;
};

function StyledAnchor(props: AnchorProps & LinkAttributes<AnchorProps>) {
  return <Anchor inherit={props.size === undefined} {...props} />;
}

function StyledButton(props: ButtonProps & LinkAttributes<ButtonProps>) {
  return <Button component="a" {...props} />;
}

function StyledNavLink(props: NavLinkProps & LinkAttributes<NavLinkProps>) {
  return <NavLink component="a" {...props} />;
}

function StyledBadge(props: BadgeProps & LinkAttributes<BadgeProps>) {
  return <Badge component="a" {...props} />;
}

export const TextLink = createLink(StyledAnchor);
export const ButtonLink = createLink(StyledButton);
export const MenuLink = createLink(StyledNavLink);
export const BadgeLink = createLink(StyledBadge);
