import { join, resolve } from 'node:path';
import { code, file, runtimeType } from '../../templates/code.ts';
import type { CommandCall } from '../cli/command.ts';
import { CommandError, EXIT, type ExitCode } from '../failure.ts';
import { columnsNamed } from '../migrations/coordinates.ts';
import { missingSteps } from '../migrations/missing-steps.ts';
import { numberOf } from '../migrations/name.ts';
import { readProjectOf } from '../pipeline.ts';
import { readSources } from '../read.ts';
import { askProject } from '../run-project.ts';
import { disk } from '../write/disk.ts';
import { showPlan } from './migrate-plan.ts';

const STEPS = ['up', 'plan', 'status', 'down', 'new'] as const;

/** `generator migrate [up|status|down|new NAME]` */
export async function run(call: CommandCall): Promise<ExitCode> {
  const [step = 'up', name] = call.positionals;
  const root = resolve(call.cwd);
  if (step === 'new') return startMigration(root, name, call);
  if (name !== undefined || !(STEPS as readonly string[]).includes(step))
    throw new CommandError(
      EXIT.usage,
      'UNKNOWN_STEP',
      `unknown step ${name ?? step}`,
      `one of ${STEPS.join(', ')}`,
    );
  if (step === 'plan') return showPlan(root, call);
  if (step === 'status') return showStatus(root, call);
  const done =
    step === 'up'
      ? await askProject<string[]>(root, 'migrateApp', {
          input: { allowLoss: await lossColumns(root, call) },
        })
      : [await askProject<string | null>(root, 'revertApp')].filter((each) => each !== null);
  if (call.terminal.json)
    call.terminal.document({ ok: true, [step === 'up' ? 'applied' : 'reverted']: done });
  else
    call.terminal.note(
      done.length === 0
        ? step === 'up'
          ? 'The database is up to date.'
          : 'Nothing is applied.'
        : done.map((each) => `  ${step === 'up' ? 'applied' : 'reverted'}  ${each}`).join('\n'),
    );
  return EXIT.done;
}

/** The columns of `--allow-loss`, with their names in the database. */
async function lossColumns(root: string, { options }: CommandCall): Promise<readonly string[]> {
  const names = (options['allow-loss'] as readonly string[] | undefined) ?? [];
  if (names.length === 0) return [];
  const { project } = await readProjectOf(root);
  return [...columnsNamed(project, names)];
}

interface Status {
  readonly applied: readonly string[];
  readonly pending: readonly string[];
  readonly empty: readonly string[];
  readonly changed: readonly string[];
  readonly missing: readonly string[];
}

/**
 * Only lists, and never fails because of a finding: users need the status when something is wrong.
 */
async function showStatus(root: string, { terminal }: CommandCall): Promise<ExitCode> {
  const { applied, pending, empty, changed, missing } = await askProject<Status>(
    root,
    'migrationsOfApp',
  );
  const incomplete = await missingSteps(root);
  if (terminal.json) {
    terminal.document({ ok: true, applied, pending, empty, changed, missing, incomplete });
    return EXIT.done;
  }
  const lines = (word: string, names: readonly string[]) =>
    names.map((name) => `${word.padEnd(7)}  ${name}\n`);
  terminal.data(
    [
      ...lines('applied', applied),
      ...lines('pending', pending),
      ...lines('empty', empty),
      ...lines('changed', changed),
      ...lines('missing', missing),
      ...lines('no step', incomplete),
    ].join(''),
  );
  if (missing.length > 0)
    terminal.note('missing: applied in this database, and no file of that name in migrations/');
  if (changed.length > 0) terminal.note('changed: its file has another text than was applied');
  if (incomplete.length > 0)
    terminal.note('no step: the schema has it, and no migration makes it: run "npm run generate"');
  return EXIT.done;
}

/**
 * Creates an empty migration that the user writes, for data or for what the schema cannot express.
 */
async function startMigration(
  root: string,
  name: string | undefined,
  { terminal }: CommandCall,
): Promise<ExitCode> {
  if (name === undefined || !/^\w+$/.test(name))
    throw new CommandError(
      EXIT.usage,
      'NAME_INVALID',
      'a migration needs a name of letters, digits and _',
      'generator migrate new fill_summaries',
    );
  const { migrations } = await readSources(root);
  const last = Math.max(0, ...migrations.map(({ file: path }) => numberOf(path)));
  const path = `migrations/${String(last + 1).padStart(4, '0')}_${name}.ts`;
  await disk.createExclusive(join(root, path), ownMigration());
  if (terminal.json) terminal.document({ ok: true, path });
  else terminal.note(`  new  ${path}`);
  return EXIT.done;
}

function ownMigration(): string {
  const kysely = runtimeType('Kysely');
  return file(
    '',
    code`
      export async function up(db: ${kysely}<any>): Promise<void> {
        // await db.updateTable('posts').set({ summary: '' }).where('summary', 'is', null).execute();
      }

      export async function down(db: ${kysely}<any>): Promise<void> {
      }
    `,
  );
}
