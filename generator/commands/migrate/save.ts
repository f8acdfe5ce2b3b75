import { EXIT, type ExitCode } from '../../failure.ts';
import { columnsNamed } from '../../migrations/coordinates.ts';
import { saveDraft } from '../../migrations/save-draft.ts';
import { readProjectOf } from '../../read-project.ts';
import { assertMigrationName, type MigrateCall } from './call.ts';

/** `generator migrate save [NAME]`: the draft becomes a migration that no save writes again. */
export async function run({ root, name, options, terminal }: MigrateCall): Promise<ExitCode> {
  if (name !== undefined) assertMigrationName(name, 'generator migrate save add_ratings');
  const given = (options['allow-loss'] as readonly string[] | undefined) ?? [];
  const allowLoss =
    given.length > 0 ? columnsNamed((await readProjectOf(root)).project, given) : new Set<string>();
  const path = await saveDraft(root, { name, allowLoss });
  if (terminal.json) terminal.document({ ok: true, saved: path });
  else terminal.note(path === null ? 'There is no draft.' : `  saved  ${path}`);
  return EXIT.done;
}
