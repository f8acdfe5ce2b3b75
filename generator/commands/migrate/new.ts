import { join } from 'node:path';
import { code, file, runtimeType } from '../../../templates/code.ts';
import { EXIT, type ExitCode } from '../../failure.ts';
import { numberOf } from '../../migrations/name.ts';
import { saveDraft } from '../../migrations/save-draft.ts';
import { readSources } from '../../read.ts';
import { disk } from '../../write/disk.ts';
import { assertMigrationName, type MigrateCall } from './call.ts';

/**
 * `generator migrate new NAME`: creates an empty migration that the user writes, for data or for
 * what the schema cannot express. It may need what the draft makes, so that is saved first.
 */
export async function run({ root, name, terminal }: MigrateCall): Promise<ExitCode> {
  assertMigrationName(name, 'generator migrate new fill_summaries');
  const saved = await saveDraft(root, {});
  const { migrations } = await readSources(root);
  const last = Math.max(0, ...migrations.map(({ file: path }) => numberOf(path)));
  const path = `migrations/${String(last + 1).padStart(4, '0')}_${name}.ts`;
  await disk.createExclusive(join(root, path), ownMigration());
  if (terminal.json) terminal.document({ ok: true, path, ...(saved !== null && { saved }) });
  else {
    if (saved !== null) terminal.note(`  saved  ${saved}`);
    terminal.note(`  new    ${path}`);
  }
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
