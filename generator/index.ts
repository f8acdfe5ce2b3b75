/** The generator as a library: the commands without a terminal. */
export { CommandError, EXIT, type ExitCode } from './failure.ts';
export type { FileChange, FileChangeKind, Owner, Sources } from './files.ts';
export { planRun, run, type RunPlan, type RunOptions } from './pipeline.ts';
export { readProjectOf, type InputReading } from './read-project.ts';
export { disk, type Disk } from './write/disk.ts';
