import type { JobSettings } from '@twofold/schema';
import type { Kernel } from '../module.ts';

/** The defaults of the manifest, for a model that leaves them out. */
const DEFAULTS: JobSettings = { concurrency: 10, keep: 86_400_000, keepFailed: 30 * 86_400_000 };

export const jobSettings = ({ project }: Kernel): JobSettings => project.jobs ?? DEFAULTS;

const MODES = ['on', 'off', 'only'] as const;

/** `off`: it sends jobs and runs none. `only`: it runs jobs and serves nothing but its health. */
export type JobsMode = (typeof MODES)[number];

/** The setting `JOBS`. A wrong value is a problem of the settings. */
export function jobsMode({ settings }: Pick<Kernel, 'settings'>, hasJobs: boolean): JobsMode {
  const text = settings.text('JOBS', 'on');
  const mode = MODES.find((each) => each === text);
  if (!mode) settings.problem('JOBS must be on, off or only');
  if (mode === 'only' && !hasJobs)
    settings.problem('JOBS is only, and there is no file in src/jobs: add one, or unset JOBS');
  return mode ?? 'on';
}
