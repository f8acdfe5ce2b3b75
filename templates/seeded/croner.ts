/**
 * The package that reads the schedules of jobs: only a project that has some installs it. It stands
 * alone, because a run with nothing to do asks for it and loads no template.
 */
export const CRONER = 'croner';
