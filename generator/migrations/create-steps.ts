import type { MigrationStep, Table, TableChange, TableColumn } from '@twofold/schema';

/**
 * The steps that create tables. PostgreSQL needs the referenced table first, so in a circle of
 * tables one foreign key is added after all tables exist.
 */
export function createSteps(tables: readonly Table[]): MigrationStep[] {
  const inOrder = sortByReference(tables);
  const places = new Map(inOrder.map(({ name }, place) => [name, place]));
  const split = inOrder.map((table, place) => {
    const waiting = table.columns.filter(
      ({ references }) => references !== undefined && (places.get(references.table) ?? -1) > place,
    );
    const { foreignKeys = [], ...plain } = table;
    const later = foreignKeys.filter((key) => (places.get(key.table) ?? -1) > place);
    // The same object in every run, so that what was printed of it stays valid.
    if (waiting.length === 0 && later.length === 0) return { table, waiting: [] };
    const columns = table.columns.map((column) =>
      waiting.includes(column) ? withoutReference(column) : column,
    );
    const changes = waiting.map((column): TableChange => ({
      kind: 'alter',
      before: withoutReference(column),
      after: column,
    }));
    const now = foreignKeys.filter((key) => !later.includes(key));
    return {
      table: { ...plain, columns, ...(now.length > 0 && { foreignKeys: now }) },
      waiting: [
        ...(changes.length > 0 ? [changes] : []),
        ...later.map((key): TableChange[] => [{ kind: 'addForeignKey', key }]),
      ].map((made): MigrationStep => ({ kind: 'alterTable', table: table.name, changes: made })),
    };
  });
  return [
    ...split.map(({ table }): MigrationStep => ({ kind: 'createTable', table })),
    ...split.flatMap(({ waiting }) => waiting),
  ];
}

function withoutReference({ references: _references, ...column }: TableColumn): TableColumn {
  return column;
}

const referredTables = ({ columns, foreignKeys = [] }: Table): string[] => [
  ...columns.flatMap(({ references }) => (references ? [references.table] : [])),
  ...foreignKeys.map(({ table }) => table),
];

/** Sorts tables after the tables that they reference. */
function sortByReference(tables: readonly Table[]): Table[] {
  const named = new Map(tables.map((table) => [table.name, table]));
  const done = new Set<string>();
  const result: Table[] = [];
  const visit = (table: Table) => {
    if (done.has(table.name)) return;
    done.add(table.name);
    for (const name of referredTables(table)) {
      const target = named.get(name);
      if (target) visit(target);
    }
    result.push(table);
  };
  tables.forEach(visit);
  return result;
}
