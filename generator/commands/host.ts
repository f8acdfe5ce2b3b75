import type { CommandCall } from '../cli/command.ts';
import { CommandError, type ExitCode } from '../failure.ts';

/** The verbs of `generator host`: a new one is a new row. */
const VERBS: Readonly<
  Record<string, () => Promise<{ run: (call: CommandCall) => Promise<ExitCode> }>>
> = {
  doctor: () => import('./host/doctor.ts'),
  uninstall: () => import('./host/uninstall.ts'),
  compose: () => import('./host/compose.ts'),
  install: () => import('./host/install.ts'),
  restore: () => import('./host/restore.ts'),
  move: () => import('./host/move.ts'),
};

/** `generator host VERB`: a host, and the apps on it. */
export async function run(call: CommandCall): Promise<ExitCode> {
  const [verb = ''] = call.positionals;
  const load = Object.hasOwn(VERBS, verb) ? VERBS[verb] : undefined;
  if (load) return (await load()).run(call);
  throw new CommandError('ARGUMENT_MISSING', {
    message: verb === '' ? 'host what?' : `host ${verb} is no command`,
    fix: `generator host ${Object.keys(VERBS).join(', or host ')}`,
  });
}
