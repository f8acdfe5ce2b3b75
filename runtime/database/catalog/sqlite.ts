import { quotedText } from '@twofold/runtime/store';
import type {
  Catalog,
  CatalogColumn,
  CatalogForeignKey,
  CatalogIndex,
  CatalogSource,
  CatalogTable,
  CatalogTrigger,
  ForeignKeyAction,
} from './catalog.ts';
import { readDefinition, type SqliteDefinition } from './sqlite-definition.ts';

type Row = Record<string, any>;

/** SQLite's name of the schema that a file is. */
const MAIN = 'main';

const OBJECTS = `select type, name, tbl_name as owner, sql from sqlite_master order by name`;

/** `shadow` tables are the parts of a virtual one. */
const TABLES = `select name, type from pragma_table_list where schema = 'main' and type <> 'shadow' and name not like 'sqlite\\_%' escape '\\' order by name`;

const columns = (of: string) =>
  `select l.name as owner, c.* from pragma_table_list l, pragma_table_xinfo(l.name) c where l.schema = 'main' and l.type ${of} order by l.name, c.cid`;

const FOREIGN_KEYS = `select l.name as owner, f.id, f.seq, f."table" as other, f."from" as own, f."to" as target, f.on_update, f.on_delete from pragma_table_list l, pragma_foreign_key_list(l.name) f where l.schema = 'main' and l.type = 'table' order by l.name, f.id, f.seq`;

const INDEXES = `select l.name as owner, i.name, i."unique" as is_unique, i.origin, i.partial, x.name as part, x.cid from pragma_table_list l, pragma_index_list(l.name) i, pragma_index_xinfo(i.name) x where l.schema = 'main' and l.type = 'table' and x.key = 1 order by l.name, i.name, x.seqno`;

/**
 * Reads the catalog of a SQLite file. It has no comments, enums, domains, policies and functions.
 */
export async function readSqlite({ rows }: CatalogSource): Promise<Catalog> {
  const ask = (sql: string): Promise<readonly Row[]> => rows(sql, []);
  const listed = await ask(TABLES);
  const parts: Parts = {
    objects: await ask(OBJECTS),
    columns: byOwner([...(await ask(columns(`<> 'view'`))), ...(await viewColumns(ask, listed))]),
    foreignKeys: byOwner(await ask(FOREIGN_KEYS)),
    indexes: byOwner(await ask(INDEXES)),
  };
  return {
    dialect: 'sqlite',
    schemas: [MAIN],
    tables: listed.map((row) => tableOf(row, parts)),
    enums: [],
    domains: [],
    sequences: [],
    functions: [],
    role: null,
  };
}

type Ask = (sql: string) => Promise<readonly Row[]>;

/**
 * The columns of views. SQLite reads all views or none: a view that refers to a missing table makes
 * the statement fail. Only then each view is read alone, and broken views get no columns.
 */
async function viewColumns(ask: Ask, listed: readonly Row[]): Promise<readonly Row[]> {
  try {
    return await ask(columns(`= 'view'`));
  } catch {
    const found: Row[] = [];
    for (const { name } of listed.filter(({ type }) => type === 'view')) {
      const one = columns(`= 'view' and l.name = ${quotedText(String(name))}`);
      found.push(...(await ask(one).catch(() => [])));
    }
    return found;
  }
}

interface Parts {
  readonly objects: readonly Row[];
  readonly columns: Grouped;
  readonly foreignKeys: Grouped;
  readonly indexes: Grouped;
}

type Grouped = ReadonlyMap<string, readonly Row[]>;

const byOwner = (rows: readonly Row[]): Grouped =>
  Map.groupBy(rows, ({ owner }) => owner as string);

const KINDS: Readonly<Record<string, CatalogTable['kind']>> = {
  table: 'table',
  view: 'view',
  virtual: 'virtual table',
};

const NO_DEFINITION: SqliteDefinition = { checks: [], generated: new Map() };

function tableOf({ name, type }: Row, parts: Parts): CatalogTable {
  const own = (of: Grouped) => of.get(name) ?? [];
  const text = sqlOf(parts, type === 'view' ? 'view' : 'table', name);
  const { checks, generated } =
    type === 'table' && text !== null ? readDefinition(text) : NO_DEFINITION;
  const key = primaryKeyOf(own(parts.columns));
  return {
    schema: MAIN,
    name,
    kind: KINDS[type] ?? 'table',
    comment: null,
    partitionOf: null,
    partitioned: false,
    partitionKey: null,
    bound: null,
    extension: null,
    rowSecurity: false,
    definition: text,
    columns: own(parts.columns)
      .filter(({ hidden }) => hidden !== 1)
      .map((row) => columnOf(row, { key, generated, virtual: type !== 'table' })),
    primaryKey: key.length > 0 ? { name: `${name}_pkey`, columns: key } : null,
    ...indexesOf(own(parts.indexes), parts),
    foreignKeys: foreignKeysOf(own(parts.foreignKeys), parts),
    checks,
    exclusions: [],
    triggers: triggersOf(name, parts),
    policies: [],
  };
}

function sqlOf({ objects }: Parts, type: string, name: string): string | null {
  return objects.find((each) => each['type'] === type && each['name'] === name)?.['sql'] ?? null;
}

function primaryKeyOf(rows: readonly Row[]): string[] {
  return rows
    .filter(({ pk }) => pk > 0)
    .sort((a, b) => a['pk'] - b['pk'])
    .map(({ name }) => name as string);
}

interface ColumnFacts {
  readonly key: readonly string[];
  readonly generated: ReadonlyMap<string, string>;
  /** A view or virtual table, whose key is not the rowid. */
  readonly virtual: boolean;
}

function columnOf(row: Row, { key, generated, virtual }: ColumnFacts): CatalogColumn {
  const { name, type, notnull, dflt_value: value } = row;
  // Such a column is the rowid: SQLite counts it up, and it is never null.
  const rowid = !virtual && key.length === 1 && key[0] === name && /^integer$/i.test(type);
  return {
    name,
    type,
    typeKind: 'base',
    typeName: {
      schema: MAIN,
      name: String(type)
        .replace(/\s*\(.*$/s, '')
        .toLowerCase(),
    },
    nullable: notnull === 0 && !rowid,
    default: value,
    generated: row['hidden'] > 1 ? (generated.get(name) ?? '') : null,
    identity: rowid ? 'by default' : null,
    comment: null,
  };
}

function indexesOf(rows: readonly Row[], parts: Parts) {
  const named = [...Map.groupBy(rows, ({ name }) => name as string)].map(([name, of]) => ({
    name,
    first: of[0]!,
    columns: of.map(({ part, cid }) => (cid < 0 ? null : (part as string))),
  }));
  return {
    uniques: named
      .filter(({ first }) => first['origin'] === 'u')
      .map(({ name, columns: of }) => ({ name, columns: of as string[] })),
    indexes: named
      .filter(({ first }) => first['origin'] === 'c')
      .map(({ name, first, columns: of }): CatalogIndex => {
        const definition = sqlOf(parts, 'index', name) ?? '';
        return {
          name,
          unique: first['is_unique'] === 1,
          columns: of,
          where: first['partial'] === 1 ? conditionOf(definition) : null,
          onExpressions: of.includes(null),
          method: 'btree',
          valid: true,
          definition,
        };
      }),
  };
}

const conditionOf = (definition: string) => /\)\s*where\s+(.*)$/is.exec(definition)?.[1] ?? '';

function foreignKeysOf(rows: readonly Row[], parts: Parts): CatalogForeignKey[] {
  return [...Map.groupBy(rows, ({ id }) => id as number).values()].map((of) => {
    const { other, on_delete: onDelete, on_update: onUpdate } = of[0]!;
    return {
      name: null,
      columns: of.map(({ own }) => own as string),
      table: { schema: MAIN, name: knownName(other, parts) },
      references:
        of[0]!['target'] === null ? keyNamed(other, parts) : of.map(({ target }) => target),
      onDelete: String(onDelete).toLowerCase() as ForeignKeyAction,
      onUpdate: String(onUpdate).toLowerCase() as ForeignKeyAction,
      deferrable: false,
      validated: true,
    };
  });
}

/**
 * The name of the referenced table as the table itself has it. A foreign key may have other letter
 * case: `references Artist`.
 */
function knownName(name: string, { columns: of }: Parts): string {
  if (of.has(name)) return name;
  return [...of.keys()].find((each) => sameName(each, name)) ?? name;
}

/** The primary key of the table, to which a foreign key without columns refers. */
const keyNamed = (table: string, parts: Parts) =>
  primaryKeyOf(parts.columns.get(knownName(table, parts)) ?? []);

function triggersOf(table: string, { objects }: Parts): CatalogTrigger[] {
  return objects
    .filter(({ type, owner }) => type === 'trigger' && sameName(owner, table))
    .map(({ name, sql }) => ({ name, definition: sql }));
}

const sameName = (a: string, b: string) => a.toLowerCase() === b.toLowerCase();
