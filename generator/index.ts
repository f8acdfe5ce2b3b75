/** The generator as a library: the commands without a terminal. */
export { CommandError, EXIT } from './failure.ts';
export type { ExitCode } from './failure.ts';
export type { FileChange, FileChangeKind, Owner, Sources } from './files.ts';
export { planRun, run } from './pipeline.ts';
export type { RunPlan, RunOptions } from './pipeline.ts';
export { readProjectOf } from './read-project.ts';
export type { InputReading } from './read-project.ts';
export { disk } from './write/disk.ts';
export type { Disk } from './write/disk.ts';
