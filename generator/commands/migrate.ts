import { resolve } from 'node:path';
import { parseManifest, type SourceText } from '@twofold/schema';
import type { CommandCall } from '../cli/command.ts';
import { CommandError, type ExitCode } from '../failure.ts';
import type { MigrateCall } from './migrate/call.ts';
import { readSources } from '../read.ts';

interface MigrateStep {
  /** Whether the step takes a NAME. */
  readonly named?: true;
  readonly load: () => Promise<{ run: (call: MigrateCall) => Promise<ExitCode> }>;
}

/** The steps in the order of the help text. */
const STEPS: Readonly<Record<string, MigrateStep>> = {
  up: { load: () => import('./migrate/up.ts') },
  plan: { load: () => import('./migrate/plan.ts') },
  sql: { load: () => import('./migrate/sql.ts') },
  status: { load: () => import('./migrate/status.ts') },
  save: { named: true, load: () => import('./migrate/save.ts') },
  new: { named: true, load: () => import('./migrate/new.ts') },
  down: { named: true, load: () => import('./migrate/down.ts') },
  squash: { load: () => import('./migrate/squash.ts') },
  baseline: { load: () => import('./migrate/baseline.ts') },
  reset: { load: () => import('./migrate/reset.ts') },
};

/** Steps that write migrations, or run them. */
const CHANGING: ReadonlySet<string> = new Set([
  'up',
  'down',
  'new',
  'save',
  'squash',
  'reset',
  'baseline',
]);

/** `generator migrate [STEP] [NAME]` */
export async function run(call: CommandCall): Promise<ExitCode> {
  const [word = 'up', name] = call.positionals;
  const step = Object.hasOwn(STEPS, word) ? STEPS[word] : undefined;
  if (!step || (name !== undefined && !step.named))
    throw new CommandError('UNKNOWN_STEP', {
      message: `unknown step ${step ? name : word}`,
      fix: `one of ${Object.keys(STEPS).join(', ')}`,
    });
  if (CHANGING.has(word)) await assertManaged(resolve(call.cwd), `migrate ${word}`);
  const { run: runStep } = await step.load();
  return runStep({ ...call, root: resolve(call.cwd), name });
}

/** Whether the manifest says that another program owns the tables. */
const isUnmanaged = (manifest: SourceText | null): boolean =>
  !parseManifest(manifest).manifest.values.database.managed;

/**
 * Refuses a command that would change the structure of a database that another program owns.
 *
 * @throws CommandError `DATABASE_UNMANAGED`
 */
async function assertManaged(root: string, command: string): Promise<void> {
  const { manifest } = await readSources(root);
  if (isUnmanaged(manifest))
    throw new CommandError('DATABASE_UNMANAGED', {
      message:
        `${command} would change the structure of a database that others made: ` +
        'manifest.yaml says database: { managed: false }',
      fix: 'change the table where it is kept, and the schema after it; "npx generator check --database" compares them',
    });
}
