/**
 * The status of a hosted app. `running`: at least one replica runs and answers its probe.
 * `restarting`: a container has ended by itself and no replica answers. `building` and `deploying`:
 * a deployment runs and nothing serves.
 */
export const APP_STATUSES = [
  'created',
  'building',
  'deploying',
  'running',
  'restarting',
  'stopped',
  'failed',
  'crashed',
] as const;

export type AppStatus = (typeof APP_STATUSES)[number];

/** The status of one deployment. `superseded`: it was healthy, and a later one has replaced it. */
export const DEPLOYMENT_STATUSES = [
  'pending',
  'building',
  'deploying',
  'healthy',
  'failed',
  'cancelled',
  'superseded',
] as const;

export type DeploymentStatus = (typeof DEPLOYMENT_STATUSES)[number];
