/** Changes of a plan that avoid a caution of its results; part of the builder's address. */

export const REMEDIES = ["auto_size", "random_data", "wait_idle"] as const;

export type Remedy = (typeof REMEDIES)[number];
