import {
  remembered,
  type IdKind,
  type Table,
  type TableColumn,
  type TableIndex,
} from '@twofold/schema';

/** The tables of a project at one point of its history. */
export interface Snapshot {
  readonly ids: IdKind;
  readonly tables: readonly Table[];
}

const HEADER =
  '# The tables as the last migration leaves them. Written by the generator, which makes the next migration from the difference.';

/**
 * Prints a snapshot with one line for each table, column and index, sorted: two branches that each add something merge.
 *
 * @example
 * column posts.title {"type":"text","required":true,"unique":false}
 */
export function printSnapshot({ ids, tables }: Snapshot): string {
  return `${[HEADER, `ids ${ids}`, ...tables.flatMap(tableLines).sort()].join('\n')}\n`;
}

const tableLines = remembered((table: Table): readonly string[] => {
  const { name: _name, columns, indexes, renamedFrom: _renamed, ...rest } = table;
  return [
    `table ${table.name} ${JSON.stringify(rest)}`,
    ...columns.map(
      ({ name, renamedFrom: _from, ...column }) =>
        `column ${table.name}.${name} ${JSON.stringify(column)}`,
    ),
    ...indexes.map(({ name, ...index }) => `index ${table.name}.${name} ${JSON.stringify(index)}`),
  ];
});

/** Reads a snapshot. Null when a line is none of ours: a merge conflict, or an edit. The key is the first column again. */
export function parseSnapshot(text: string): Snapshot | null {
  let ids: IdKind = 'integer';
  const tables = new Map<
    string,
    { primaryKey: readonly string[]; columns: TableColumn[]; indexes: TableIndex[] }
  >();
  const tableOf = (name: string) =>
    tables.get(name) ?? tables.set(name, { primaryKey: [], columns: [], indexes: [] }).get(name)!;
  for (const line of text.split(/\r?\n/)) {
    if (line === '' || line.startsWith('#')) continue;
    const [, kind = '', subject = '', json = ''] = /^(\w+) (\S+)(?: (.*))?$/.exec(line) ?? [];
    const [table = '', name = ''] = subject.split('.');
    try {
      if (kind === 'ids') ids = subject as IdKind;
      else if (kind === 'table') tableOf(table).primaryKey = (JSON.parse(json) as Table).primaryKey;
      else if (kind === 'column')
        tableOf(table).columns.push({ name, ...(JSON.parse(json) as Omit<TableColumn, 'name'>) });
      else if (kind === 'index')
        tableOf(table).indexes.push({ name, ...(JSON.parse(json) as Omit<TableIndex, 'name'>) });
      else return null;
    } catch {
      return null;
    }
  }
  return {
    ids,
    tables: [...tables].map(([name, table]) => ({
      name,
      ...table,
      columns: keyFirst(table.columns, table.primaryKey),
    })),
  };
}

function keyFirst(columns: readonly TableColumn[], key: readonly string[]): TableColumn[] {
  return [
    ...columns.filter(({ name }) => key.includes(name)),
    ...columns.filter(({ name }) => !key.includes(name)),
  ];
}
