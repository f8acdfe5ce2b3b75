import { join } from 'node:path';
import { code, file, runtimeType } from '../../../templates/code.ts';
import { EXIT, type ExitCode } from '../../failure.ts';
import { nextPath } from '../../migrations/name.ts';
import { saveDraft } from '../../migrations/save-draft.ts';
import { readSources } from '../../read.ts';
import { disk } from '../../write/disk.ts';
import { assertMigrationName, type MigrateCall } from './call.ts';

/**
 * `generator migrate new NAME`: creates an empty migration that the user writes, for data or for
 * what the schema cannot express. It may need what the draft makes, so that is saved first.
 */
export async function run({ root, name: given, terminal }: MigrateCall): Promise<ExitCode> {
  const name = assertMigrationName(given, 'generator migrate new fill_summaries');
  const saved = await saveDraft(root, {});
  const { migrations } = await readSources(root);
  const path = nextPath(migrations, name);
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
