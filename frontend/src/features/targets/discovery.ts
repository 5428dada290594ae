/** Finds in the nodes' announced mounts what could become a target. */

import type { Node, Target } from "@/api/types";

const LONGEST_NAME = 63;

/** A mount that runs may write below, seen on one or more nodes. */
export interface Candidate {
  readonly key: string;
  readonly path: string;
  readonly fstype: string;
  readonly source: string;
  readonly scope: Target["scope"];
  readonly nodes: readonly { readonly id: number; readonly name: string }[];
  readonly smallestFreeBytes: number | null;
  readonly suggestedName: string;
}

const SHARED_FSTYPES =
  /^(nfs4?|cifs|smb3|lustre|gpfs|pvfs2|orangefs|ceph|beegfs|afs|9p|fuse\.(glusterfs|ceph.*|mfs|juicefs|sshfs))$/;

/** Approved mounts that are no target yet; the same shared file system on many nodes is one candidate. */
export function findCandidates(nodes: readonly Node[], targets: readonly Target[]): Candidate[] {
  const taken = new Set(
    targets.flatMap((target) => target.mounts.map((mount) => `${mount.node_id} ${mount.path}`)),
  );
  const candidates = new Map<string, Candidate>();
  for (const node of nodes) {
    for (const mount of node.mounts) {
      if (!mount.approved || taken.has(`${node.id} ${mount.path}`)) continue;
      const scope = SHARED_FSTYPES.test(mount.fstype) ? "shared" : "node";
      const key = [mount.path, mount.fstype, scope === "shared" ? mount.source : ""].join(" ");
      const known = candidates.get(key);
      candidates.set(key, {
        key,
        path: mount.path,
        fstype: mount.fstype,
        source: mount.source,
        scope,
        nodes: [...(known?.nodes ?? []), { id: node.id, name: node.name }],
        smallestFreeBytes: smaller(known?.smallestFreeBytes ?? null, mount.free_bytes),
        suggestedName: suggestName(mount.path),
      });
    }
  }
  return withNamesOfTheirOwn([...candidates.values()], new Set(targets.map(({ name }) => name)));
}

/** A name that another one has already gets the file system's type, and a number where that is not enough. */
function withNamesOfTheirOwn(candidates: readonly Candidate[], taken: Set<string>): Candidate[] {
  return candidates.map((candidate) => {
    const name = candidate.suggestedName;
    const typed = suggestName(`${name.slice(0, LONGEST_NAME - 16)}-${candidate.fstype}`);
    const choices = [name, typed, ...Array.from(candidates, (_, index) => `${typed}-${index + 2}`)];
    const suggestedName = choices.find((choice) => !taken.has(choice)) ?? name;
    taken.add(suggestedName);
    return { ...candidate, suggestedName };
  });
}

function smaller(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : Math.min(a, b);
}

/** `/srv/bench` becomes `srv-bench`: letters, digits, dots, dashes and underscores only. */
export function suggestName(path: string): string {
  const name = path.replace(/[^A-Za-z0-9._]+/g, "-").replace(/^[^A-Za-z0-9]+|-+$/g, "");
  return name.slice(0, LONGEST_NAME) || "root";
}
