import { createHash } from 'node:crypto';
import type { SourceText } from '@twofold/schema';

/** Migrations in the order of their names, with the draft apart. */
export interface MigrationFiles {
  readonly saved: readonly SourceText[];
  /** The draft that the next save writes again; null when there is none. */
  readonly draft: SourceText | null;
}

/** The runtime reads this line too: `runtime/core/store/migrations/ledger.ts`. */
const LINE = /^\/\/ Draft [0-9a-f]{12}\b.*\n\n?/;

/**
 * Takes the draft out of the migrations: a file `NNNN_draft.ts` whose first line has the hash of the
 * rest. A draft that was edited by hand counts as saved.
 */
export function withoutDraft(migrations: readonly SourceText[]): MigrationFiles {
  const draft = migrations.find(isDraft) ?? null;
  return { saved: migrations.filter((each) => each !== draft), draft };
}

export function isDraft({ file, text }: SourceText): boolean {
  if (!/(^|\/)\d+_draft\.ts$/.test(file)) return false;
  const plain = text.replaceAll('\r\n', '\n');
  return (
    LINE.test(plain) && asDraft(savedText(plain)).startsWith(LINE.exec(plain)![0].slice(0, 21))
  );
}

/** A draft's text: that of a migration below the line that marks a draft. */
export function asDraft(text: string): string {
  return `// Draft ${hash(text).slice(0, 12)}: "dev" writes it again on every save. "npm run migrate -- save" keeps it; once you edit it, it is yours.\n\n${text}`;
}

/** The text that a draft has when it is saved. */
export function savedText(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(LINE, '');
}

/** The hash of a migration in the ledger: a draft has the hash that it has when it is saved. */
export function migrationHash(text: string): string {
  return hash(savedText(text).replace(/^export const allowLoss = .*;\n\n?/m, ''));
}

const hash = (text: string) => createHash('sha256').update(text).digest('hex');
