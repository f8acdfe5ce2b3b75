import {
  columnChecks,
  type IdKind,
  remembered,
  type Table,
  type TableColumn,
  type TableForeignKey,
  type TableIndex,
} from '@twofold/schema';
import { code, type Code, file, join, raw, runtime, runtimeType } from './code.ts';
import { literal, str } from './literal.ts';
import { type ColumnChange, invertSteps, type Step } from './steps.ts';

export interface MigrationFacts {
  readonly ids: IdKind;
  /** Columns whose values may be shortened or lost: `posts.rating`. */
  readonly allowLoss?: readonly string[];
}

/** `migrations/NNNN_name.ts`: written once; users may edit it until it is applied. */
export function renderMigration(
  steps: readonly Step[],
  { ids, allowLoss = [] }: MigrationFacts,
): string {
  return file(
    '',
    code`
      ${allowLoss.length > 0 && `export const allowLoss = ${literal([...allowLoss]).text};\n`}
      export async function up(db: ${runtimeType('Kysely')}<any>): Promise<void> {
        ${renderBody(steps, ids)}
      }

      export async function down(db: ${runtimeType('Kysely')}<any>): Promise<void> {
        ${renderBody(invertSteps(steps), ids)}
      }
    `,
  );
}

function renderBody(steps: readonly Step[], ids: IdKind): Code {
  const body = joinSteps(steps);
  const typed = /\btype\.\w+/.test(body.text);
  return typed
    ? code`
    const type = ${runtime('columnTypes')}(db${ids === 'uuid' && ", 'uuid'"});
    ${body}
  `
    : body;
}

/**
 * Joins statements. Those of one line follow each other directly; longer ones are separated by an
 * empty line.
 */
function joinSteps(steps: readonly Step[]): Code {
  const statements = steps.map(renderStep);
  const apart = (at: number) =>
    statements[at]!.text.includes('\n') || statements[at - 1]!.text.endsWith('\n  .execute();');
  return join(
    statements.flatMap((step, at) => (at === 0 ? [step] : [raw(apart(at) ? '\n\n' : '\n'), step])),
    '',
  );
}

function renderStep(step: Step): Code {
  switch (step.kind) {
    case 'createTable':
      return renderCreateTable(step.table);
    case 'dropTable':
      return renderDropTable(step.table);
    case 'renameTable':
      return code`await db.schema.alterTable(${str(step.from)}).renameTo(${str(step.to)}).execute();`;
    case 'renameColumn':
      return code`await db.schema.alterTable(${str(step.table)}).renameColumn(${str(step.from)}, ${str(step.to)}).execute();`;
    case 'renameValue':
      return code`await db.updateTable(${str(step.table)}).set(${literal({ [step.column]: step.to })}).where(${str(step.column)}, '=', ${str(step.from)}).execute();`;
    case 'createIndex':
      return renderCreateIndex(step.table, step.index);
    case 'dropIndex':
      if (step.index.search) return renderDropSearch(step.table, step.index);
      return code`await db.schema.dropIndex(${str(step.index.name)}).execute();`;
    case 'alterTable':
      return renderAlterTable(step.table, step.changes.map(renderChange));
    case 'addForeignKey':
      return renderAlterTable(step.table, [renderAddForeignKey(step.key)]);
    case 'dropForeignKey':
      return renderAlterTable(step.table, [
        code`.dropForeignKey(${literal([...step.key.columns])})`,
      ]);
  }
}

/** Under `dev` the whole draft is printed at each save, and most of its tables are the same. */
const renderCreateTable = remembered((table: Table): Code => {
  const composite = table.primaryKey.length > 1;
  const create = code`
    await db.schema
      .createTable(${str(table.name)})
      ${table.columns.map((column) => code`.addColumn(${columnArguments(column, !composite && table.primaryKey[0] === column.name)})`)}
      ${composite && code`.addPrimaryKeyConstraint(${str(`${table.name}_pkey`)}, ${literal([...table.primaryKey])})`}
      ${table.foreignKeys?.map((key) => foreignKeyCall(table.name, key))}
      .execute();
  `;
  return join([create, ...table.indexes.map((index) => renderCreateIndex(table.name, index))]);
});

/** Kysely's own call, which names the constraint as `addForeignKey` of the runtime does. */
function foreignKeyCall(
  table: string,
  { columns, table: other, references, onDelete }: TableForeignKey,
): Code {
  const name = `${table}_${columns.join('_')}_fkey`;
  return code`.addForeignKeyConstraint(${str(name)}, ${literal([...columns])}, ${str(other)}, ${literal([...references])}, (key) => key.onDelete(${str(onDelete)}))`;
}

/**
 * The statements that drop a table. The index of a search has tables of its own, which must be
 * dropped first.
 */
function renderDropTable({ name, indexes }: Table): Code {
  return join(
    [
      ...indexes
        .filter(({ search }) => search)
        .flatMap((index) => [renderDropSearch(name, index), raw('\n')]),
      code`await db.schema.dropTable(${str(name)}).execute();`,
    ],
    '',
  );
}

const renderDropSearch = (table: string, { name }: TableIndex): Code =>
  code`await ${runtime('dropSearchIndex')}(db, ${literal({ name, table })});`;

function renderCreateIndex(
  table: string,
  { name, columns, unique, fold, search }: TableIndex,
): Code {
  if (search)
    return code`await ${runtime('createSearchIndex')}(db, ${literal({ name, table, key: [...search.key], columns: [...columns], language: search.language })});`;
  if (fold)
    return code`await ${runtime('createFoldedIndex')}(db, ${literal({ name, table, column: columns[0]!, fold })});`;
  const on =
    columns.length === 1
      ? `.column(${str(columns[0]!)})`
      : `.columns(${literal([...columns]).text})`;
  return code`await db.schema.createIndex(${str(name)}).on(${str(table)})${on}${unique && '.unique()'}.execute();`;
}

function renderAlterTable(table: string, calls: readonly Code[]): Code {
  return code`
    await ${runtime('alterTable')}(db, ${str(table)})
      ${calls}
      .execute();
  `;
}

function renderAddForeignKey({ columns, ...key }: TableForeignKey): Code {
  return code`.addForeignKey(${literal([...columns])}, ${literal({ ...key, references: [...key.references] })})`;
}

function renderChange(change: ColumnChange): Code {
  if (change.kind === 'add') return code`.addColumn(${columnArguments(change.column, false)})`;
  if (change.kind === 'drop') return code`.dropColumn(${str(change.column.name)})`;
  return code`.alterColumn(${columnArguments(change.after, false, change.before)})`;
}

/** `'email', type.text, (column) => column.notNull().unique()` */
function columnArguments(column: TableColumn, key: boolean, before = column): Code {
  if (key && column.type === 'id') return code`${str(column.name)}, type.key`;
  const calls = join([...describe(column), ...(key ? [code`.primaryKey()`] : [])], '');
  const type =
    before.type === column.type
      ? `type.${column.type}`
      : `{ from: type.${before.type}, to: type.${column.type} }`;
  return code`${str(column.name)}, ${type}${calls.text !== '' && code`, (column) => column${calls}`}`;
}

function describe(column: TableColumn): Code[] {
  const { required, unique, default: value, references } = column;
  const calls: Code[] = [];
  if (required) calls.push(code`.notNull()`);
  if (unique) calls.push(code`.unique()`);
  if (value?.kind === 'value' && value.value !== null)
    calls.push(code`.defaultTo(${literal(value.value)})`);
  const checks = columnChecks(column);
  if (checks.length > 0)
    calls.push(code`.check(${runtime('sql')}\`${inSql(checks.join(' and '))}\`)`);
  if (references) {
    calls.push(
      code`.references(${str(`${references.table}.${references.column}`)}).onDelete(${str(references.onDelete)})`,
    );
  }
  return calls;
}

function inSql(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('`', '\\`').replaceAll('${', '\\${');
}
