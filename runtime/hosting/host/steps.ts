/** The steps of a run, in their order. Tests kill a server after each of them. */
export const RUN_STEPS = [
  'run-recorded',
  'run-created',
  'run-noted',
  'run-started',
  'run-ended',
  'run-finished',
  'run-removed',
] as const;

export type RunStep = (typeof RUN_STEPS)[number];

/** The steps of a move: those of the source, then those of the target. */
export const MOVE_STEPS = [
  'move-copied',
  'move-stopped',
  'move-marked',
  'move-kept',
  'move-forwarding',
  'move-recorded',
  'move-image',
  'move-volume',
  'move-last',
  'move-received',
  'move-started',
] as const;

export type MoveStep = (typeof MOVE_STEPS)[number];

/** Called after each step. Tests use it to kill a server at one of them. */
export type OnStep = (step: DeployStep | RunStep | MoveStep) => void;

/**
 * The steps of a deployment, in their order. When a server is killed after any of them, its next
 * start ends with the old or the new version. `test/hosting/killed.test.ts` kills a server after
 * each step.
 *
 * Only builds have `received` to `built`. Only apps with volumes have `paused`. A first
 * deployment has no steps for old containers.
 */
export const DEPLOY_STEPS = [
  'received',
  'recorded',
  'building',
  'built',
  'tagged',
  'planned',
  'paused',
  'created',
  'started',
  'ready',
  'committed',
  'marked',
  'superseded',
  'switched',
  'drained',
  'stopped',
  'removed',
  'forgotten',
] as const;

export type DeployStep = (typeof DEPLOY_STEPS)[number];
