import type { ColumnType, Table, TableColumn } from '../../../schema/index.ts';
import type { Random } from '../random.ts';
import {
  addForeignKey,
  addPairTable,
  changeForeignKey,
  isOfKey,
  renamedKeys,
  withForeignKeys,
} from './random-keys.ts';

const TYPES: readonly ColumnType[] = [
  'text',
  'integer',
  'real',
  'boolean',
  'timestamp',
  'date',
  'json',
  'decimal',
  'bigint',
  'uuid',
];
const DEFAULTS: Partial<Record<ColumnType, string | number | boolean>> = {
  text: "it's",
  integer: 7,
  real: 1.5,
  boolean: true,
  bigint: 9,
  decimal: '2.5',
};

/** A table of the walk: `made` counts names, so that none is used twice. */
export interface Walk {
  readonly tables: readonly Table[];
  readonly made: number;
}

export const START: Walk = { tables: [], made: 0 };

/** One random change of the model. */
export function changeTables(walk: Walk, random: Random): Walk {
  if (walk.tables.length === 0) return addTable(walk, random);
  return random.pick([
    addTable,
    addPairTable,
    addForeignKey,
    changeForeignKey,
    dropTable,
    renameTable,
    addColumn,
    addColumn,
    dropColumn,
    renameColumn,
    changeColumn,
    changeColumn,
    toggleIndex,
  ])(walk, random);
}

function addTable({ tables, made }: Walk, random: Random): Walk {
  const key: TableColumn = {
    name: 'id',
    type: 'id',
    required: true,
    unique: false,
    default: { kind: 'autoincrement' },
  };
  const table: Table = {
    name: random.chance(0.1) ? `Order${made}` : `table_${made}`,
    columns: [key, column(made + 1, random), column(made + 2, random)],
    primaryKey: ['id'],
    indexes: [],
  };
  return { tables: [...tables, table], made: made + 3 };
}

function dropTable(walk: Walk, random: Random): Walk {
  const { name } = random.pick(walk.tables);
  const left = walk.tables.filter((table) => table.name !== name);
  const referring = (each: TableColumn) => each.references?.table === name;
  const leading = (table: Table) => (table.foreignKeys ?? []).filter((key) => key.table !== name);
  return {
    ...walk,
    tables: left.map((table) => withForeignKeys(without(table, referring), leading(table))),
  };
}

function renameTable(walk: Walk, random: Random): Walk {
  const old = random.pick(walk.tables);
  const name = `table_${walk.made}`;
  const pointed = (each: TableColumn): TableColumn =>
    each.references?.table === old.name
      ? { ...each, references: { ...each.references, table: name } }
      : each;
  const renamed = walk.tables.map((table) => ({
    ...renamedKeys(table, { of: old.name, to: name }),
    columns: table.columns.map(pointed),
    ...(table === old && { name, renamedFrom: old.name, indexes: [] }),
  }));
  return { tables: renamed, made: walk.made + 1 };
}

function addColumn(walk: Walk, random: Random): Walk {
  const target = random.pick(walk.tables);
  const other = random.pick(walk.tables.filter((each) => each.primaryKey.length === 1));
  const added =
    other && random.chance(0.3)
      ? reference(walk.made, other.name, random)
      : column(walk.made, random);
  return change(walk, target, (table) => ({ ...table, columns: [...table.columns, added] }), 1);
}

function dropColumn(walk: Walk, random: Random): Walk {
  const table = random.pick(walk.tables);
  const victim = random.pick(table.columns.filter(({ name }) => !table.primaryKey.includes(name)));
  return victim
    ? change(walk, table, (each) => without(each, ({ name }) => name === victim.name))
    : walk;
}

function renameColumn(walk: Walk, random: Random): Walk {
  const table = random.pick(walk.tables);
  const victim = random.pick(
    table.columns.filter(({ type }) => type !== 'id' || table.primaryKey.length > 1),
  );
  if (!victim) return walk;
  const name = `column_${walk.made}`;
  const renamed = { ...victim, name, renamedFrom: victim.name };
  const changed = change(
    walk,
    table,
    (each) => ({
      ...each,
      columns: each.columns.map((one) => (one === victim ? renamed : one)),
      primaryKey: each.primaryKey.map((one) => (one === victim.name ? name : one)),
      indexes: each.indexes.filter(({ columns }) => !columns.includes(victim.name)),
    }),
    1,
  );
  const rename = { of: table.name, column: victim.name, to: name };
  return { ...changed, tables: changed.tables.map((each) => renamedKeys(each, rename)) };
}

/** Type, null or not, unique, default, allowed values: whatever rows that exist can take. */
function changeColumn(walk: Walk, random: Random): Walk {
  const table = random.pick(walk.tables);
  const victim = random.pick(table.columns.filter((each) => !isOfKey(table, each)));
  if (!victim) return walk;
  const changed = random.pick([
    loosen,
    require,
    uniqueOrNot,
    toText,
    otherDefault,
    moreValues,
    otherDelete,
  ])(victim, random);
  return change(walk, table, (each) => ({
    ...each,
    columns: each.columns.map((one) => (one === victim ? changed : one)),
  }));
}

const loosen = (each: TableColumn): TableColumn => ({ ...each, required: false });
const require = (each: TableColumn): TableColumn =>
  each.default && !each.unique ? { ...each, required: true } : each;
const uniqueOrNot = (each: TableColumn): TableColumn =>
  each.unique
    ? { ...each, unique: false }
    : !each.required && !each.default && each.type === 'text' && !each.values
      ? { ...each, unique: true }
      : each;
const toText = (each: TableColumn): TableColumn =>
  ['integer', 'real', 'date'].includes(each.type) ? { ...plain(each), type: 'text' } : each;
const otherDefault = (each: TableColumn): TableColumn =>
  each.type === 'integer' && each.default
    ? { ...each, default: { kind: 'value', value: 8 } }
    : each;
const moreValues = (each: TableColumn): TableColumn =>
  each.values ? { ...each, values: [...each.values, `V${each.values.length}`] } : each;
const otherDelete = (each: TableColumn, random: Random): TableColumn =>
  each.references
    ? {
        ...each,
        references: {
          ...each.references,
          onDelete: random.pick(['cascade', 'set null', 'restrict'] as const),
        },
      }
    : each;

function plain({ name, type }: TableColumn): TableColumn {
  return { name, type, required: false, unique: false };
}

function toggleIndex(walk: Walk, random: Random): Walk {
  const table = random.pick(walk.tables);
  const [, first, second] = table.columns;
  if (!first || first.type === 'json' || second?.type === 'json') return walk;
  const name = `index_${walk.made}`;
  const columns = second && random.chance(0.5) ? [first.name, second.name] : [first.name];
  return change(
    walk,
    table,
    (each) => ({
      ...each,
      indexes: each.indexes.length > 0 ? each.indexes.slice(1) : [{ name, columns, unique: false }],
    }),
    1,
  );
}

function column(number: number, random: Random): TableColumn {
  const name = random.chance(0.1) ? `Order${number}` : `column_${number}`;
  if (random.chance(0.15))
    return {
      name,
      type: 'text',
      required: true,
      unique: false,
      values: ['A', 'B'],
      default: { kind: 'value', value: 'A' },
    };
  const type = random.pick(TYPES);
  const value = DEFAULTS[type];
  const given = value !== undefined && random.chance(0.5);
  return {
    name,
    type,
    required: given && random.chance(0.6),
    unique: false,
    ...(given && { default: { kind: 'value', value } as const }),
  };
}

function reference(number: number, table: string, random: Random): TableColumn {
  return {
    name: `column_${number}`,
    type: 'id',
    required: false,
    unique: random.chance(0.2),
    references: {
      table,
      column: 'id',
      onDelete: random.pick(['cascade', 'set null', 'restrict'] as const),
    },
  };
}

function without(table: Table, gone: (column: TableColumn) => boolean): Table {
  const names = table.columns.filter(gone).map(({ name }) => name);
  const keys = (table.foreignKeys ?? []).filter(
    ({ columns }) => !columns.some((each) => names.includes(each)),
  );
  return {
    ...withForeignKeys(table, keys),
    columns: table.columns.filter((each) => !gone(each)),
    indexes: table.indexes.filter(({ columns }) => !columns.some((each) => names.includes(each))),
  };
}

export function change(walk: Walk, target: Table, edit: (table: Table) => Table, more = 0): Walk {
  return {
    tables: walk.tables.map((table) => (table === target ? edit(table) : table)),
    made: walk.made + more,
  };
}

/** What the model says once a migration has made it so: old names are history. */
export function settled(walk: Walk): Walk {
  const tables = walk.tables.map(({ renamedFrom: _table, ...table }) => ({
    ...table,
    columns: table.columns.map(({ renamedFrom: _column, ...each }) => each),
  }));
  return { ...walk, tables };
}
