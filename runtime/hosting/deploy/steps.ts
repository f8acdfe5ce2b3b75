/**
 * What a deployment has done, in the order in which it does it. A server may be killed after any of them: the next start
 * ends in the old or the new version. `test/hosting/killed.test.ts` kills one after each.
 *
 * `received` to `built` are those of a build, `stood` that of an app with volumes, and one with nothing old skips what is
 * done to it.
 */
export const DEPLOY_STEPS = [
  'received',
  'recorded',
  'building',
  'built',
  'tagged',
  'planned',
  'stood',
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
