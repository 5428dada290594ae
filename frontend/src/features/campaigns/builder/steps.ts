/** Steps of the builder, as the address names them. */

export const STEPS = ["what", "review", "when"] as const;
export type BuilderStep = (typeof STEPS)[number];
