import { join, resolve } from 'node:path';
import { code, file, runtimeType } from '../../templates/code.ts';
import type { CommandCall } from '../cli/command.ts';
import { CommandError, EXIT, type ExitCode } from '../failure.ts';
import { readSources } from '../read.ts';
import { askProject } from '../run-project.ts';
import { disk } from '../write/disk.ts';

const STEPS = ['up', 'status', 'down', 'new'] as const;

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
  if (step === 'status') return showStatus(root, call);
  const done =
    step === 'up'
      ? await askProject<string[]>(root, 'migrateApp')
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

async function showStatus(root: string, { terminal }: CommandCall): Promise<ExitCode> {
  const { applied, pending } = await askProject<{ applied: string[]; pending: string[] }>(
    root,
    'migrationsOfApp',
  );
  if (terminal.json) terminal.document({ ok: true, applied, pending });
  else
    terminal.data(
      [
        ...applied.map((name) => `applied  ${name}\n`),
        ...pending.map((name) => `pending  ${name}\n`),
      ].join(''),
    );
  return EXIT.done;
}

/** A migration of the user's own, for data or for what the schema does not say. */
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
  const last = Math.max(0, ...migrations.map((each) => Number.parseInt(each, 10)));
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
