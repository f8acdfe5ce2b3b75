import type { CommandCall } from '../../cli/command.ts';

/** One step of `generator migrate`, without the step's own name among the positional arguments. */
export interface MigrateCall extends CommandCall {
  /** The project's folder, absolute. */
  readonly root: string;
  /** The argument after the step: the name of a migration. */
  readonly name: string | undefined;
}
