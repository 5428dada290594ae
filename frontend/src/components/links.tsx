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
import type { AnchorHTMLAttributes, ReactNode, Ref } from "react";

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

/** The server has the documentation next to the dashboard. */
export const DOCS = "/docs/";

export function DocsLink({ children }: { children: ReactNode }) {
  return <StyledAnchor href={DOCS}>{children}</StyledAnchor>;
}

export const TextLink = createLink(StyledAnchor);
export const ButtonLink = createLink(StyledButton);
export const MenuLink = createLink(StyledNavLink);
export const BadgeLink = createLink(StyledBadge);

interface NamedLinkProps extends AnchorProps {
  readonly id: number;
  readonly name?: ReactNode;
}

export function RunLink({ id, name = id, ...look }: NamedLinkProps) {
  return (
    <TextLink params={{ runId: id }} to="/runs/$runId" {...look}>
      {name}
    </TextLink>
  );
}

export function NodeLink({ id, name = id, ...look }: NamedLinkProps) {
  return (
    <TextLink params={{ nodeId: id }} to="/nodes/$nodeId" {...look}>
      {name}
    </TextLink>
  );
}

export function TargetLink({ id, name = id, ...look }: NamedLinkProps) {
  return (
    <TextLink params={{ targetId: id }} to="/targets/$targetId" {...look}>
      {name}
    </TextLink>
  );
}

export function CampaignLink({ id, name = id, ...look }: NamedLinkProps) {
  return (
    <TextLink params={{ campaignId: id }} to="/campaigns/$campaignId" {...look}>
      {name}
    </TextLink>
  );
}

export function ClusterLink({ id, name = id, ...look }: NamedLinkProps) {
  return (
    <TextLink params={{ clusterId: id }} to="/clusters/$clusterId" {...look}>
      {name}
    </TextLink>
  );
}
