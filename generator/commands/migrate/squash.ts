import { last } from '@twofold/schema';
import type { SourceText } from '@twofold/schema';
import { CommandError, EXIT, type ExitCode } from '../../failure.ts';
import type { FileChange } from '../../files.ts';
import { withoutDraft } from '../../migrations/draft.ts';
import { squash, type Squashed } from '../../migrations/squash.ts';
import { readProjectOf } from '../../read-project.ts';
import { commit } from '../../write/commit.ts';
import { disk } from '../../write/disk.ts';
import { lockOf } from '../../write/lockfile.ts';
import { withRunLock } from '../../write/run-lock.ts';
import { assertMigrationName, type MigrateCall } from './call.ts';

/** `generator migrate squash`: replaces saved migrations by one of the same effect. */
export async function run({ root, options, terminal }: MigrateCall): Promise<ExitCode> {
  const name = options['name'] as string | undefined;
  if (name !== undefined) assertMigrationName(name, 'generator migrate squash --name start');
  const squashed = await withRunLock(root, async () => {
    const { project, sources } = await readProjectOf(root);
    const { saved } = withoutDraft(sources.migrations);
    const from = numberFrom(options['from'] as string | undefined);
    const made = squash(saved, { ids: project?.ids ?? 'integer', from, name });
    if (made) {
      assertAgreed(made, (options['without'] as readonly string[] | undefined) ?? []);
      const changes = changesOf(made, saved);
      await commit(root, [...changes, ...(await lockOf(root, changes))], disk);
    }
    return made;
  });
  const removed = squashed?.removed ?? [];
  if (terminal.json) terminal.document({ ok: true, path: squashed?.path ?? null, removed });
  else if (!squashed) terminal.note('There are no two saved migrations to replace by one.');
  else {
    for (const path of removed) terminal.note(`  removed  ${path}`);
    terminal.note(`  new      ${squashed.path}`);
  }
  return EXIT.done;
}

function numberFrom(text: string | undefined): number {
  const number = text === undefined ? 0 : Number.parseInt(text, 10);
  if (Number.isFinite(number)) return number;
  throw new CommandError('OPTION_VALUE', {
    message: `--from ${text} is not the number of a migration`,
    fix: 'generator migrate squash --from 0003',
  });
}

/**
 * Throws unless the user names every migration with statements that were written by hand, because
 * the new migration does not have their effect.
 */
function assertAgreed({ byHand }: Squashed, without: readonly string[]): void {
  const left = byHand.filter((name) => !without.includes(name));
  if (left.length === 0) return;
  throw new CommandError('MIGRATION_BY_HAND', {
    message:
      `${left.join(', ')} ${left.length === 1 ? 'has' : 'have'} statements that were written by hand, ` +
      'and the new migration would not have them; nothing was written',
    fix: `leave them out: ${left.map((name) => `--without ${name}`).join(' ')}; or squash what follows: --from ${Number.parseInt(last(left), 10) + 1}`,
    exit: EXIT.ambiguous,
  });
}

function changesOf({ path, text, removed }: Squashed, saved: readonly SourceText[]): FileChange[] {
  const owner = 'append';
  return [
    { path, owner, kind: 'create', before: null, after: text },
    ...removed.map((each): FileChange => ({
      path: each,
      owner,
      kind: 'remove',
      before: saved.find(({ file }) => file === each)!.text,
      after: null,
    })),
  ];
}
