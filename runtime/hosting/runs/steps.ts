import type { DeployStep } from '../deploy/steps.ts';

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

/** Called after each step. Tests use it to kill a server at one of them. */
export type OnStep = (step: DeployStep | RunStep) => void;
