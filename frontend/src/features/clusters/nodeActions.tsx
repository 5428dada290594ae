/** Entries of a node's menu Manage, by role and state. */

import { t } from "@lingui/core/macro";
import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { lazy } from "react";
import type { Node } from "@/api/types";
import { useDrainAction } from "@/components/drain/useDrainAction";
import type { ManageAction } from "@/components/ManageMenu";
import { useMay } from "@/components/session";
import { retireNode, rotateNode } from "./queries";

const ConfirmModal = lazy(() => import("@/components/ConfirmModal"));
const EnrolAgainModal = lazy(() => import("./EnrolAgainModal"));
const RevokeModal = lazy(() => import("./RevokeModal"));

export function useNodeActions(node: Node): ManageAction[] {
  const mayOperate = useMay("operator", node.cluster_id);
  const mayAdminister = useMay("admin", node.cluster_id);
  const drain = useDrainAction({ kind: "node", id: node.id }, t`node ${node.name}`, node.drain);
  const rotate = useRotate(node);
  const retire = useRetire(node);
  if (node.state === "retired") return [];
  const isRevoked = node.state === "revoked";
  const ofAdmins = [
    ...(isRevoked ? [] : [rotate]),
    enrolAgain(node),
    ...(isRevoked ? [] : [revoke(node)]),
    retire,
  ];
  return [...(mayOperate ? [drain] : []), ...(mayAdminister ? ofAdmins : [])];
}

function useRotate(node: Node): ManageAction {
  const rotate = useMutation(rotateNode);
  return {
    label: t`Rotate credentials`,
    description: t`Gives the agent a new token and Redis password. Runs continue.`,
    isDisabled: node.rotation_wanted_at !== null,
    dialog: (onClose) => (
      <ConfirmModal
        isSafe
        body={t`The agent gets a new token and a new Redis password with its next heartbeat. The old ones stay valid until the agent has stored the new ones. Runs continue.`}
        no={t`Cancel`}
        onClose={onClose}
        onConfirm={() => rotate.mutate(node.id)}
        title={t`Rotate the credentials of ${node.name}?`}
        yes={t`Rotate credentials`}
      />
    ),
  };
}

function enrolAgain(node: Node): ManageAction {
  return {
    label: t`Enrol again`,
    description: t`Creates a command for a host that lost its disk, was replaced or was revoked. It keeps the history.`,
    dialog: (onClose) => <EnrolAgainModal node={node} onClose={onClose} />,
  };
}

function revoke(node: Node): ManageAction {
  return {
    label: t`Revoke`,
    description: t`Makes its credentials invalid at once, for example after a leak. The host can be enrolled again.`,
    isDestructive: true,
    dialog: (onClose) => <RevokeModal node={node} onClose={onClose} />,
  };
}

function useRetire(node: Node): ManageAction {
  const retire = useMutation(retireNode);
  const navigate = useNavigate();
  const params = { clusterId: node.cluster_id };
  const leave = () => void navigate({ to: "/clusters/$clusterId", params });
  return {
    label: t`Retire`,
    description: t`Removes the node for good and frees its name. Refused while runs need it. Results are kept.`,
    isDestructive: true,
    dialog: (onClose) => (
      <ConfirmModal
        body={t`The agent loses access and the node gets no further runs. Results are kept.`}
        onClose={onClose}
        onConfirm={() => retire.mutate(node.id, { onSuccess: leave })}
        title={t`Retire ${node.name}?`}
        yes={t`Retire node`}
      />
    ),
  };
}
