import {
  type Diagnostic,
  exampleOf,
  type MigrationStep,
  type Project,
  type TableChange,
  type TableColumn,
  tableOf,
  nearest,
} from '@twofold/schema';
import { stepsLiteral } from '../../templates/migration.ts';
import type { Difference, KeptObject } from './difference.ts';
import type { Folded } from './fold.ts';
import type { LastModel } from './last-model.ts';

type Locate = (coordinate: string) => Diagnostic['at'];

interface RenameContext {
  readonly locate: Locate;
  readonly lastModel: LastModel | null;
  /** The types of the schema that have a table. */
  readonly types: ReadonlySet<string>;
}

/**
 * Findings about objects that the schema no longer has: renamed, if something new resembles them,
 * or kept.
 */
export function keptFindings({ kept }: Difference, asked: RenameContext): Diagnostic[] {
  return kept.map((each) =>
    each.replacements.length > 0 && isNewlyGone(each, asked)
      ? renameQuestion(each, asked)
      : {
          code: 'COLUMN_KEPT',
          severity: 'hint',
          summary: `${each.coordinate} is no longer in the schema; the database keeps it`,
          fix: `npm run generate -- --allow-drop ${each.coordinate}`,
          at: asked.locate(each.coordinate),
        },
  );
}

/**
 * Whether the object disappeared with this change. One that was gone before was decided about at
 * that time, and stays.
 */
function isNewlyGone({ coordinate }: KeptObject, { lastModel }: RenameContext): boolean {
  const [table = '', column] = coordinate.split('.');
  const before = lastModel?.get(table);
  if (!lastModel) return true;
  return before !== undefined && (column === undefined || before.columns.has(column));
}

function renameQuestion(
  { coordinate, replacements }: KeptObject,
  { locate, lastModel, types }: RenameContext,
): Diagnostic {
  const [table = '', column] = coordinate.split('.');
  const candidates = replacements.join(' or ');
  const type = lastModel?.get(table)?.type ?? table;
  const [first = ''] = replacements;
  return {
    code: 'RENAME_AMBIGUOUS',
    severity: 'error',
    summary: `${coordinate} is gone and ${candidates} is new: renamed, or another one?`,
    why:
      column === undefined
        ? 'their columns are alike; another table begins without rows'
        : 'both have the same type; another column begins without values',
    fix: `${column === undefined ? keepTable({ table, type, types }) : renamedFrom(column, 'field')}; to drop the old one: --allow-drop ${coordinate}; to keep both: take the new one out, run, and put it back`,
    at: locate(column === undefined ? first : `${table}.${first}`),
  };
}

const renamedFrom = (name: string, what: 'type' | 'field'): string =>
  `to rename: @renamed(from: ${JSON.stringify(name)}) on the new ${what}`;

/** A type that is still there was not renamed. Only its plural changed, and with it the table's name. */
function keepTable(asked: {
  readonly table: string;
  readonly type: string;
  readonly types: ReadonlySet<string>;
}): string {
  if (!asked.types.has(asked.type)) return renamedFrom(asked.type, 'type');
  return `to keep its rows: @entity(table: ${JSON.stringify(asked.table)}) on the type ${asked.type}`;
}

/**
 * A mistyped `--allow-drop` would keep the column silently. A name that resembles no column is one
 * that was dropped before.
 */
export function dropFindings(
  { kept }: Difference,
  names: readonly string[],
  locate: Locate,
): Diagnostic[] {
  const waiting = kept.map(({ coordinate }) => coordinate);
  return names.flatMap((name) => {
    const near = nearest(name, waiting);
    if (near === undefined) return [];
    return [
      {
        code: 'DROP_UNKNOWN',
        severity: 'warning',
        summary: `--allow-drop ${name} names nothing that could be dropped`,
        fix: `did you mean ${near}?`,
        at: locate(near),
      },
    ];
  });
}

interface RowContext {
  readonly project: Project;
  readonly locate: Locate;
  readonly loss: ReadonlySet<string>;
  /** The file with these steps, which the next run does not write again; null for a draft. */
  readonly path: string | null;
}

/** Steps that existing rows may prevent, reported before any database is asked. */
export function rowFindings(steps: readonly MigrationStep[], asked: RowContext): Diagnostic[] {
  const { locate } = asked;
  return steps.flatMap((step) =>
    step.kind !== 'alterTable'
      ? []
      : step.changes.flatMap((change) => {
          if (change.kind !== 'add' && change.kind !== 'alter') return [];
          const finding = changeFinding(step.table, change, asked);
          const column = change.kind === 'alter' ? change.after : change.column;
          return finding
            ? [
                {
                  ...finding,
                  severity: 'warning',
                  at: locate(`${step.table}.${column.name}`),
                } as const,
              ]
            : [];
        }),
  );
}

function changeFinding(
  table: string,
  change: Exclude<TableChange, { readonly key: unknown }>,
  asked: RowContext,
): Pick<Diagnostic, 'code' | 'summary' | 'fix'> | null {
  const column = change.kind === 'alter' ? change.after : change.column;
  const object = `${table}.${column.name}`;
  const isNew = change.kind !== 'alter';
  const becomesRequired = column.required && (isNew || !change.before.required);
  if (becomesRequired && column.default?.kind !== 'value')
    return {
      code: 'MIGRATION_NEEDS_VALUE',
      summary: isNew
        ? `${object} is new and required: applying the migration is refused if ${table} has rows`
        : `${object} is to be required: applying the migration is refused while a row of ${table} has no value for it`,
      fix: `${valueAdvice(table, column, asked)}${anew(asked)}`,
    };
  const { loss } = asked;
  if (!isNew && change.before.type !== change.after.type && !loss.has(object) && isNarrower(change))
    return {
      code: 'MIGRATION_CHECKS_ROWS',
      summary: `${object} turns from ${change.before.type} to ${change.after.type}: each row is looked at before anything changes, and values that do not fit are refused`,
      fix: `values that lose a part only need a word: --allow-loss ${object}`,
    };
  return null;
}

/** What to do in the schema so that no row is without a value. */
function valueAdvice(table: string, column: TableColumn, { project }: RowContext): string {
  if (column.references)
    return 'take "!" away, give the rows a value once the column is there, and put "!" back';
  const { columns = [] } = project.entities.find((each) => each.table === table) ?? {};
  const written = columns.find(({ name, stored = name }) => stored === column.name);
  const value = written?.list ? '[]' : exampleOf(written ?? column);
  return `give the field a value that fills them, as @default(value: ${value}), or take "!" away`;
}

const anew = ({ path }: RowContext): string =>
  path === null ? '' : `; then delete ${path}, and npm run generate writes it anew`;

const WIDER: ReadonlySet<string> = new Set(
  'integer>bigint integer>real integer>decimal integer>text bigint>text bigint>decimal decimal>text boolean>text date>text date>timestamp timestamp>text time>text uuid>text real>text real>decimal'.split(
    ' ',
  ),
);

function isNarrower({ before, after }: Extract<TableChange, { kind: 'alter' }>): boolean {
  return !WIDER.has(`${before.type}>${after.type}`);
}

/**
 * Steps that change a table or column that no earlier migration makes. `locked`: migrations that a
 * run wrote and that no longer exist.
 */
export function brokenFindings({ broken }: Folded, locked: readonly string[]): Diagnostic[] {
  return broken.map(({ file, line, what }) => {
    const twice = what.startsWith('makes ');
    return {
      code: twice ? 'MIGRATION_CLASH' : 'MIGRATION_STEP_MISSING',
      severity: 'error',
      summary: `${file} ${what}`,
      why: twice
        ? 'two branches have written a migration of the same table'
        : 'a migration before it was removed, renamed or not committed',
      fix: twice
        ? `remove ${file} and run again: what only it had is written anew`
        : `restore ${locked.length > 0 ? locked.join(', ') : 'it'} (git log --diff-filter=D --name-only -- migrations shows what was removed, git status what was not committed); or, where no database has applied ${file}, delete that and what follows it too, and run again: what is missing is written anew`,
      at: { file, line, column: 1, length: 1 },
    };
  });
}

/** Refuses steps that are not as a migration has them: they would fail, or do something else. */
export const misfitFindings = ({ misfits }: Folded): Diagnostic[] =>
  misfits.map(({ file, line, what }) => ({
    code: 'MIGRATION_UNREADABLE',
    severity: 'error',
    summary: `${file}: ${what}`,
    why: 'what a migration makes is read from its steps, which a server applies as they stand',
    fix: `git checkout -- ${file}   or write the step as "npm run generate" writes it`,
    at: { file, line, column: 1, length: 1 },
  }));

export function idsFinding({ ids, tables }: Folded, project: Project): Diagnostic[] {
  if (ids === null || ids === project.ids || tables.length === 0) return [];
  return [
    {
      code: 'IDS_CHANGED',
      severity: 'error',
      summary: `database.ids is ${project.ids}, and the tables were made with ${ids}`,
      why: 'keys of rows that exist, and what refers to them, cannot be turned into another kind; nothing was changed',
      fix: `database: { ids: ${ids} }   or, while no database has rows to keep, delete the folder migrations and run npm run generate`,
      at: { file: 'manifest.yaml', line: 1, column: 1, length: 1 },
    },
  ];
}

/**
 * Warns about statements that cannot be read: they may already make what the model needs, and
 * making it again would fail.
 */
export function unreadFindings({ unread }: Folded, steps: readonly MigrationStep[]): Diagnostic[] {
  return unread.flatMap(({ file, line, text }) => {
    const about = steps.filter((step) => names(text, tableOf(step)));
    if (about.length === 0) return [];
    const leaves = stepsLiteral(about).text.replaceAll('\n', '\n        ');
    return [
      {
        code: 'MIGRATION_UNREADABLE',
        severity: 'error',
        summary: `${file} may change ${[...new Set(about.map(tableOf))].join(', ')} in a way that cannot be read from it`,
        why: 'where migrations lead is read from their texts; SQL of your own has to say what it leaves, and a file that an earlier release wrote becomes steps by "npm run generator -- upgrade"',
        fix: `add to ${file} what of this it makes, or an empty list:\n        export const leaves = ${leaves};`,
        at: { file, line, column: 1, length: 1 },
      },
    ];
  });
}

/**
 * An unread statement without a text is a chain of calls with unknown names: it may be about any
 * table.
 */
function names(text: string, table: string): boolean {
  return text === '' || new RegExp(`(^|[^\\w])${table}([^\\w]|$)`, 'i').test(text);
}
