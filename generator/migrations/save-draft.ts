import type { SourceText } from '@twofold/schema';
import type { FileChange } from '../files.ts';
import { readSources } from '../read.ts';
import { commit } from '../write/commit.ts';
import { disk } from '../write/disk.ts';
import { lockOf } from '../write/lockfile.ts';
import { withRunLock } from '../write/run-lock.ts';
import { allowLossIn } from './allow-loss.ts';
import { decidedIn, withDecided } from './decided.ts';
import { findDifference } from './difference.ts';
import { savedText, withoutDraft } from './draft.ts';
import { foldMigrations } from './fold.ts';
import { migrationPath, nextPath } from './name.ts';

export interface SaveOptions {
  /** The name after the number; named after its first step when absent. */
  readonly name?: string | undefined;
  /** Columns that the migration may shorten: `posts.rating`. */
  readonly allowLoss?: ReadonlySet<string>;
}

/**
 * Gives the draft a name of its own: later saves of the schema no longer write it again.
 *
 * @returns its path; null when there is no draft.
 */
export function saveDraft(root: string, options: SaveOptions): Promise<string | null> {
  return withRunLock(root, async () => {
    const { migrations } = await readSources(root);
    const { saved, draft } = withoutDraft(migrations);
    if (!draft) return null;
    const next = withConsent(
      saved,
      { file: pathOf(saved, draft, options), text: savedText(draft.text) },
      options,
    );
    const changes = moved(draft, next);
    await commit(root, [...changes, ...(await lockOf(root, changes))], disk);
    return next.file;
  });
}

function pathOf(saved: readonly SourceText[], draft: SourceText, { name }: SaveOptions): string {
  if (name !== undefined) return nextPath(saved, name);
  const decided = decidedIn(draft);
  const after = withDecided(foldMigrations([...saved, draft]).tables, decided);
  const { steps } = findDifference(foldMigrations(saved).tables, after, { allowDrop: () => true });
  return migrationPath(saved, steps);
}

function withConsent(
  saved: readonly SourceText[],
  next: SourceText,
  { allowLoss = new Set() }: SaveOptions,
): SourceText {
  const [agreed] = allowLossIn([next], foldMigrations([...saved, next]), allowLoss);
  return agreed ?? next;
}

function moved(draft: SourceText, next: SourceText): FileChange[] {
  const owner = 'append';
  return [
    { path: next.file, owner, kind: 'create', before: null, after: next.text },
    { path: draft.file, owner, kind: 'remove', before: draft.text, after: null },
  ];
}
