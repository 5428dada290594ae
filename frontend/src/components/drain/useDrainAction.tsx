/** The entry of the menu Manage that drains a node or target, or resumes it. */

import { t } from "@lingui/core/macro";
import { useMutation } from "@tanstack/react-query";
import { lazy } from "react";
import type { Drain } from "@/api/types";
import type { ManageAction } from "../ManageMenu";
import { type DrainSubject, resumeSubject } from "./queries";

const DrainModal = lazy(() => import("./DrainModal"));

/** `name` is for example “node n1”. */
export function useDrainAction(subject: DrainSubject, name: string, drain: Drain | null): ManageAction {
  const resume = useMutation(resumeSubject);
  if (drain)
    return {
      label: t`Resume`,
      description: t`Waiting runs may start here again.`,
      onChoose: () => resume.mutate(subject),
    };
  return {
    label: t`Drain`,
    description: t`No new runs start here until you resume it. Active runs continue.`,
    dialog: (onClose) => <DrainModal name={name} onClose={onClose} subject={subject} />,
  };
}
