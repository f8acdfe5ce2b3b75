import { resolve } from 'node:path';
import type { CommandCall } from '../cli/command.ts';
import { CommandError, EXIT, type ExitCode } from '../failure.ts';
import { assertManaged } from '../unmanaged.ts';
import type { MigrateCall } from './migrate/call.ts';

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
    throw new CommandError(
      EXIT.usage,
      'UNKNOWN_STEP',
      `unknown step ${step ? name : word}`,
      `one of ${Object.keys(STEPS).join(', ')}`,
    );
  if (CHANGING.has(word)) await assertManaged(resolve(call.cwd), `migrate ${word}`);
  const { run: runStep } = await step.load();
  return runStep({ ...call, root: resolve(call.cwd), name });
}
