import type { StepDone } from '@twofold/database';
import { EXIT, type ExitCode } from '../../failure.ts';
import { columnsNamed } from '../../migrations/coordinates.ts';
import { readProjectOf } from '../../read-project.ts';
import { askDatabase } from '../../run-project.ts';
import { formatStep } from './plan.ts';
import type { MigrateCall } from './call.ts';

/** `generator migrate up`: applies what is pending, all or none. */
export async function run({ root, options, terminal }: MigrateCall): Promise<ExitCode> {
  const shown: { migration: string | null } = { migration: null };
  const rescued: string[] = [];
  const applied = await askDatabase(root, 'migrate', {
    onStep: (done) => {
      const step = done as StepDone | { readonly rescued: string };
      if ('rescued' in step) return void rescued.push(step.rescued);
      const { migration, time, ...planned } = step;
      if (shown.migration !== migration) terminal.note(migration);
      shown.migration = migration;
      terminal.note(`${formatStep({ ...planned, fix: null }).join('\n')}  ${time} ms`);
    },
    input: { allowLoss: await lossColumns(root, options), confirm: options['confirm'] },
  });
  if (terminal.json) terminal.document({ ok: true, applied, rescued });
  for (const file of rescued) terminal.note(`  rescued  ${file} has the values that this dropped`);
  if (!terminal.json)
    terminal.note(
      applied.length === 0
        ? 'The database is up to date.'
        : applied.map((name) => `  applied  ${name}`).join('\n'),
    );
  return EXIT.done;
}

/** The columns of `--allow-loss`, with their names in the database. */
async function lossColumns(
  root: string,
  options: MigrateCall['options'],
): Promise<readonly string[]> {
  const names = (options['allow-loss'] as readonly string[] | undefined) ?? [];
  if (names.length === 0) return [];
  const { project } = await readProjectOf(root);
  return [...columnsNamed(project, names)];
}
