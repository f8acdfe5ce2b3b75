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
