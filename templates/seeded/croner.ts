/** The package that reads the schedules of jobs: only a project that has some installs it. */
export const CRONER = 'croner';
