import { createHash } from 'node:crypto';
import type { MigrationStep, Table, TableColumn } from '@twofold/schema';
import { renderMigration, stepsLiteral } from '../../../templates/migration.ts';
import { savedText } from '../../migrations/draft.ts';
import { withColumn } from '../../migrations/fold.ts';
import { readMigration } from '../../migrations/read-migration.ts';
import type { Codemod, CodemodResult } from '../codemod.ts';
import { recordCalls } from './record-calls.ts';
import { stepsOfCalls } from './steps-of-calls.ts';

/** Migrations that 0.1.0 wrote as calls of Kysely become the list of their steps. */
export const migrationSteps: Codemod = {
  version: '0.2.0',
  name: 'migration-steps',
  about: 'what a migration does is data: its steps',
  reads: (path) => /^migrations\/\d+_[\w-]+\.ts$/.test(path),
  edit: async ({ text }): Promise<CodemodResult> => {
    const { byHand, unread } = readMigration(text);
    if (!byHand) return { edits: [] };
    const plain = savedText(text);
    const made = withStatedSteps(plain) ?? (await withSteps(plain));
    if (made !== null)
      return made === plain
        ? { edits: [] }
        : { edits: [{ at: 0, end: text.length, text: asFormer(plain, made) }] };
    const at = Math.max(0, text.search(/\bfunction up\b/));
    const what =
      'a migration with code of your own stays as it is; where it makes or changes tables, npm run generate says which "export const leaves" it needs';
    return { edits: [], byHand: unread.length > 0 ? [{ at, what }] : [] };
  },
};

/** The text of a file that 0.1.0 wrote, with steps; null for another one. */
async function withSteps(text: string): Promise<string | null> {
  if (/^\s*\/[/*]/m.test(text)) return null;
  try {
    const { up, down, ...facts } = await recordCalls(text);
    return renderMigration(stepsOfCalls(up, down), facts);
  } catch {
    return null;
  }
}

/** The text of a file whose `leaves` are lines, with steps in their place; null without any. */
function withStatedSteps(text: string): string | null {
  const stated = /^export const leaves = \[\n?([^]*?)\];$/m.exec(text);
  if (!stated) return null;
  const lines = Array.from(stated[1]!.matchAll(/^\s*(['"])(.*)\1,?$/gm), ([, , line]) =>
    line!.replace(/\\(.)/g, '$1'),
  );
  if (lines.length === 0) return text;
  const steps = stepsLiteral(statedSteps(lines));
  return text.replace(stated[0], () => `export const leaves = ${steps.text};`);
}

const NO_TABLE = { columns: [], primaryKey: [], indexes: [] };
const NO_COLUMN = { type: 'text', required: false, unique: false } as const;

/** A line is a table as JSON, `table posts {…}` and `column posts.title {…}`, or `gone posts`. */
function statedSteps(lines: readonly string[]): MigrationStep[] {
  const steps: MigrationStep[] = [];
  for (const line of lines) {
    const [, kind, subject = '', json = '{}'] =
      /^(table|column|gone) (\S+)(?: (.*))?$/.exec(line) ?? [];
    const [name = '', column] = subject.split('.');
    const given = JSON.parse(kind === undefined ? line : json) as Partial<Table & TableColumn>;
    const table: Table = { ...NO_TABLE, ...given, name: given.name ?? name };
    const whole: TableColumn = { ...NO_COLUMN, ...given, name: column ?? '' };
    const last = steps.at(-1);
    if (column === undefined)
      steps.push({ kind: kind === 'gone' ? 'dropTable' : 'createTable', table });
    else if (last?.kind === 'createTable' && last.table.name === name && kind === 'column')
      steps[steps.length - 1] = { ...last, table: withColumn(last.table, whole) };
    else {
      const changes = [{ kind: kind === 'gone' ? 'drop' : 'add', column: whole } as const];
      steps.push({ kind: 'alterTable', table: name, changes });
    }
  }
  return steps;
}

/**
 * Databases know a migration by its hash: the first line keeps that of the text that they have
 * applied. `hashOf` of the runtime reads it.
 */
function asFormer(before: string, after: string): string {
  const hash = (text: string) =>
    createHash('sha256')
      .update(text.replace(/^export const allowLoss = .*;\n\n?/m, ''))
      .digest('hex');
  return `// Applied as ${hash(before)} while the rest is ${hash(after).slice(0, 12)}: upgraded from 0.1.0.\n\n${after}`;
}
