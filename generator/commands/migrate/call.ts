import type { CommandCall } from '../../cli/command.ts';
import { CommandError } from '../../failure.ts';

/** One step of `generator migrate`, without the step's own name among the positional arguments. */
export interface MigrateCall extends CommandCall {
  /** The project's folder, absolute. */
  readonly root: string;
  /** The argument after the step: the name of a migration. */
  readonly name: string | undefined;
}

/** @throws CommandError `NAME_INVALID` */
export function assertMigrationName(name: string | undefined, example: string): string {
  if (name !== undefined && /^\w+$/.test(name)) return name;
  throw new CommandError('NAME_INVALID', {
    message: 'a migration needs a name of letters, digits and _',
    fix: example,
  });
}
