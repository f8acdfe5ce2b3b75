import { resolve } from 'node:path';
import { parseManifest } from '@twofold/schema';
import type { CommandCall } from '../cli/command.ts';
import { CommandError, type ExitCode } from '../failure.ts';
import { baseline, down, reset, sql } from './migrate/ask.ts';
import type { MigrateCall } from './migrate/call.ts';
import { readSources } from '../read.ts';

interface MigrateStep {
  /** Whether the step takes a NAME. */
  readonly named?: true;
  /** Whether it writes migrations, or runs them. */
  readonly changes?: true;
  readonly run: (call: MigrateCall) => Promise<ExitCode>;
}

/** The steps in the order of the help text. What makes migrations is loaded when it is asked for. */
const STEPS: Readonly<Record<string, MigrateStep>> = {
  up: { changes: true, run: async (call) => (await import('./migrate/up.ts')).run(call) },
  plan: { run: async (call) => (await import('./migrate/plan.ts')).run(call) },
  sql: { run: sql },
  status: { run: async (call) => (await import('./migrate/status.ts')).run(call) },
  save: {
    named: true,
    changes: true,
    run: async (call) => (await import('./migrate/save.ts')).run(call),
  },
  new: {
    named: true,
    changes: true,
    run: async (call) => (await import('./migrate/new.ts')).run(call),
  },
  down: { named: true, changes: true, run: down },
  squash: { changes: true, run: async (call) => (await import('./migrate/squash.ts')).run(call) },
  baseline: { changes: true, run: baseline },
  reset: { changes: true, run: reset },
};

/** `generator migrate [STEP] [NAME]` */
export async function run(call: CommandCall): Promise<ExitCode> {
  const [word = 'up', name] = call.positionals;
  const step = Object.hasOwn(STEPS, word) ? STEPS[word] : undefined;
  if (!step || (name !== undefined && !step.named))
    throw new CommandError('UNKNOWN_STEP', {
      message: `unknown step ${step ? name : word}`,
      fix: `one of ${Object.keys(STEPS).join(', ')}`,
    });
  if (step.changes) await assertManaged(resolve(call.cwd), `migrate ${word}`);
  return step.run({ ...call, root: resolve(call.cwd), name });
}

/**
 * Refuses a command that would change the structure of a database that another program owns.
 *
 * @throws CommandError `DATABASE_UNMANAGED`
 */
async function assertManaged(root: string, command: string): Promise<void> {
  const { manifest } = await readSources(root);
  if (!parseManifest(manifest).manifest.values.database.managed)
    throw new CommandError('DATABASE_UNMANAGED', {
      message:
        `${command} would change the structure of a database that others made: ` +
        'manifest.yaml says database: { managed: false }',
      fix: 'change the table where it is kept, and the schema after it; "npx generator check --database" compares them',
    });
}
