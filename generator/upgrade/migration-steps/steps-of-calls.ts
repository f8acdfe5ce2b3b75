import {
  columnChecks,
  type ColumnType,
  inverseSteps,
  type MigrationStep,
  objectsOf,
  type OnDelete,
  type Table,
  type TableChange,
  type TableColumn,
  type TableForeignKey,
  type TableIndex,
} from '@twofold/schema';
import { type Call, type Calls, callsIn } from './record-calls.ts';

/** A file has something that 0.1.0 did not write. */
export class NotGenerated extends Error {}

/** What a statement that drops something names. The definition is in the opposite function. */
const columnNamed = (name: string): TableColumn => ({
  name,
  type: 'text',
  required: false,
  unique: false,
});
const indexNamed = (name: string): TableIndex => ({ name, columns: [], unique: false });

/**
 * The steps of the statements of `up`, with the definitions that only `down` has.
 *
 * @throws NotGenerated when one does not undo the other.
 */
export function stepsOfCalls(up: readonly Calls[], down: readonly Calls[]): MigrationStep[] {
  const made = withWholeTables(up.map(stepOf));
  const undone = withWholeTables(down.map(stepOf)).toReversed();
  if (made.length !== undone.length) throw new NotGenerated();
  return made.map((step, at) => completed(step, undone[at]!));
}

/** Indexes that are made and dropped with their table are part of it. */
function withWholeTables(steps: readonly MigrationStep[]): MigrationStep[] {
  const whole: MigrationStep[] = [];
  for (const step of steps) {
    const last = whole.at(-1);
    if (
      step.kind === 'createIndex' &&
      last?.kind === 'createTable' &&
      last.table.name === step.table
    )
      whole[whole.length - 1] = {
        ...last,
        table: { ...last.table, indexes: [...last.table.indexes, step.index] },
      };
    else {
      const isOfTable = (each: MigrationStep | undefined) =>
        step.kind === 'dropTable' && each?.kind === 'dropIndex' && each.table === step.table.name;
      while (isOfTable(whole.at(-1))) whole.pop();
      whole.push(step);
    }
  }
  return whole;
}

function completed(step: MigrationStep, undo: MigrationStep): MigrationStep {
  const undone = inverseSteps([undo])[0]!;
  let whole = /^drop/.test(step.kind) ? undone : step;
  if (step.kind === 'alterTable' && undone.kind === 'alterTable') {
    const changes = step.changes.map((each, at) => wholeChange(each, undone.changes[at]));
    whole = { ...step, changes };
  }
  const isUndone = whole.kind === undone.kind && sameObjects(whole, step);
  if (!isUndone || !sameObjects(whole, undone)) throw new NotGenerated();
  return whole;
}

const sameObjects = (one: MigrationStep, other: MigrationStep): boolean =>
  objectsOf(one).join() === objectsOf(other).join();

/** What a change drops, or what there was before it, is in the change that undoes it. */
function wholeChange(change: TableChange, undone: TableChange | undefined): TableChange {
  if (change.kind !== undone?.kind) throw new NotGenerated();
  if (change.kind === 'alter' && undone.kind === 'alter')
    return { ...change, before: undone.before };
  return /^drop/.test(change.kind) ? undone : change;
}

/** A call that 0.1.0 did not write is that of a person, and is not to be lost. */
function assertOnly(calls: Calls, names: string): void {
  if (!calls.every(({ name }) => names.split(' ').includes(name))) throw new NotGenerated();
}

const TYPES: ReadonlySet<string> = new Set(
  'id text integer bigint real decimal boolean timestamp date time json uuid bytes'.split(' '),
);

function stepOf([first, ...calls]: Calls): MigrationStep {
  const read = first && READERS[first.name];
  if (!read) throw new NotGenerated();
  return read(first.args, calls);
}

type Reader = (args: readonly any[], calls: Calls) => MigrationStep;

const READERS: Readonly<Record<string, Reader>> = {
  createTable: ([name], calls) => ({ kind: 'createTable', table: tableOf(name, calls) }),
  dropTable: ([name]) => ({
    kind: 'dropTable',
    table: { name, columns: [], primaryKey: [], indexes: [] },
  }),
  alterTable: ([table], calls) => {
    const [call, ...others] = calls;
    if (others.length > 0 || !call) throw new NotGenerated();
    const [from, to] = call.args as readonly string[];
    if (call.name === 'renameTo') return { kind: 'renameTable', from: table, to: from! };
    if (call.name !== 'renameColumn') throw new NotGenerated();
    return { kind: 'renameColumn', table, from: from!, to: to! };
  },
  alter: ([table], calls) => ({ kind: 'alterTable', table, changes: calls.map(changeOf) }),
  updateTable: ([table], [set, where, ...others]) => {
    const [[column, to] = [], ...more] = Object.entries((set?.args[0] ?? {}) as object);
    const [name, operator, from] = where?.args ?? [];
    const isRename = set?.name === 'set' && where?.name === 'where' && operator === '=';
    if (!isRename || more.length + others.length > 0 || name !== column) throw new NotGenerated();
    return { kind: 'renameValue', table, column: column!, from: from as string, to: to as string };
  },
  createIndex: ([name], calls) => {
    assertOnly(calls, 'on column columns unique');
    const argument = (method: string) => calls.find((each) => each.name === method)?.args[0] as any;
    const columns = argument('columns') ?? [argument('column')];
    const unique = calls.some((each) => each.name === 'unique');
    return { kind: 'createIndex', table: argument('on'), index: { name, columns, unique } };
  },
  dropIndex: ([name]) => ({ kind: 'dropIndex', table: '', index: indexNamed(name) }),
  createFoldedIndex: ([{ name, table, column, fold }]) => ({
    kind: 'createIndex',
    table,
    index: { name, columns: [column], unique: true, fold },
  }),
  createSearchIndex: ([{ name, table, key, columns, language }]) => ({
    kind: 'createIndex',
    table,
    index: { name, columns, unique: false, search: { language, key } },
  }),
  dropSearchIndex: ([{ name, table }]) => ({ kind: 'dropIndex', table, index: indexNamed(name) }),
};

function tableOf(name: string, calls: Calls): Table {
  assertOnly(calls, 'addColumn addPrimaryKeyConstraint addForeignKeyConstraint');
  const called = (method: string) => calls.filter((each) => each.name === method);
  const columns = called('addColumn').map(({ args }) => columnOf(args));
  const [composite] = called('addPrimaryKeyConstraint');
  const foreignKeys = called('addForeignKeyConstraint').map(
    ({ args: [, own, table, references, build] }): TableForeignKey => ({
      columns: own as readonly string[],
      table: table as string,
      references: references as readonly string[],
      onDelete: actionIn(callsIn(build)),
    }),
  );
  return {
    name,
    columns: columns.map(({ column }) => column),
    primaryKey: composite
      ? (composite.args[1] as readonly string[])
      : columns.flatMap(({ column, key }) => (key ? [column.name] : [])),
    ...(foreignKeys.length > 0 && { foreignKeys }),
    indexes: [],
  };
}

function changeOf({ name, args }: Call): TableChange {
  const [first, second] = args as [any, any];
  switch (name) {
    case 'addColumn':
      return { kind: 'add', column: columnOf(args).column };
    case 'alterColumn':
      return { kind: 'alter', before: columnNamed(first), after: columnOf(args).column };
    case 'dropColumn':
      return { kind: 'drop', column: columnNamed(first) };
    case 'addForeignKey':
      return { kind: 'addForeignKey', key: { columns: first, ...second } };
    case 'dropForeignKey':
      return {
        kind: 'dropForeignKey',
        key: { columns: first, table: '', references: [], onDelete: 'restrict' },
      };
    default:
      throw new NotGenerated();
  }
}

const actionIn = (calls: Calls): OnDelete =>
  (calls.find(({ name }) => name === 'onDelete')?.args[0] ?? 'restrict') as OnDelete;

/** `'title', type.text, (column) => column.notNull()` */
function columnOf([name, type, build]: readonly unknown[]): { column: TableColumn; key: boolean } {
  const calls = callsIn(build);
  assertOnly(calls, 'notNull unique defaultTo check references onDelete primaryKey');
  const argument = (method: string) => calls.find((each) => each.name === method)?.args[0];
  const isCounted = type === 'key';
  const given = (typeof type === 'string' ? type : (type as { to: string }).to) as ColumnType;
  if (!TYPES.has(isCounted ? 'id' : given)) throw new NotGenerated();
  const [value, target] = [argument('defaultTo'), argument('references') as string | undefined];
  const column: TableColumn = {
    name: name as string,
    type: isCounted ? 'id' : given,
    required: isCounted || calls.some((each) => each.name === 'notNull'),
    unique: calls.some((each) => each.name === 'unique'),
    ...(value !== undefined && { default: { kind: 'value', value: value as string } }),
    ...(target !== undefined && {
      references: {
        table: target.slice(0, target.lastIndexOf('.')),
        column: target.slice(target.lastIndexOf('.') + 1),
        onDelete: actionIn(calls),
      },
    }),
  };
  const key = isCounted || calls.some((each) => each.name === 'primaryKey');
  return { column: withCheck(column, argument('check') as string | undefined), key };
}

/** The values and bounds that a condition states; the condition itself when it states others. */
function withCheck(column: TableColumn, check: string | undefined): TableColumn {
  if (check === undefined) return column;
  const [, list] = /" in \(('.*')\)/.exec(check) ?? [];
  const values =
    list &&
    Array.from(list.matchAll(/'((?:[^']|'')*)'/g), ([, text]) => text!.replaceAll("''", "'"));
  const limit = (name: string, pattern: RegExp) => {
    const [, found] = pattern.exec(check) ?? [];
    return found === undefined ? {} : { [name]: Number(found) };
  };
  const constraint = {
    ...limit('min', /" >= (-?[\d.e+-]+)/),
    ...limit('max', /" <= (-?[\d.e+-]+)/),
    ...limit('minLength', /"\) >= (\d+)/),
    ...limit('maxLength', /"\) <= (\d+)/),
  };
  const read: TableColumn = {
    ...column,
    ...(values && { values }),
    ...(Object.keys(constraint).length > 0 && { constraint }),
  };
  return columnChecks(read).join(' and ') === check ? read : { ...column, check };
}
