import type {
  Catalog,
  CatalogCheck,
  CatalogColumn,
  CatalogForeignKey,
  CatalogFunction,
  CatalogIndex,
  CatalogKey,
  CatalogName,
  CatalogPolicy,
  CatalogSource,
  CatalogTable,
  ForeignKeyAction,
} from './catalog.ts';
import * as statements from './postgres-statements.ts';

type Row = Record<string, any>;

/** Reads the catalog of the schemas, or of those in the search path. */
export async function readPostgres(
  { rows }: CatalogSource,
  asked: readonly string[] | undefined,
): Promise<Catalog> {
  const schemas = (await rows(statements.SCHEMAS, [asked ?? null])).map(({ name }) => String(name));
  const ask = (sql: string): Promise<readonly Row[]> => rows(sql, [schemas]);
  const [role] = (await rows(statements.ROLE, [])) as readonly Row[];
  return {
    dialect: 'postgres',
    schemas,
    tables: await readTables(ask),
    enums: (await ask(statements.ENUMS)).map(({ schema, name, values, comment }) => ({
      schema,
      name,
      values: values ?? [],
      comment,
    })),
    domains: (await ask(statements.DOMAINS)).map(domainOf),
    sequences: (await ask(statements.SEQUENCES)).map(({ schema, name, owner }) => ({
      schema,
      name,
      ownedBy: owner,
    })),
    functions: (await ask(statements.FUNCTIONS)).map(functionOf),
    role: role ? { name: role['name'], bypassesRowSecurity: role['bypasses'] } : null,
  };
}

type Ask = (sql: string) => Promise<readonly Row[]>;

async function readTables(ask: Ask): Promise<CatalogTable[]> {
  const tables = await ask(statements.TABLES);
  const columns = byTable(await ask(statements.COLUMNS));
  const constraints = byTable(await ask(statements.CONSTRAINTS));
  const indexes = byTable(await ask(statements.INDEXES));
  const triggers = byTable(await ask(statements.TRIGGERS));
  const policies = byTable(await ask(statements.POLICIES));
  return tables.map((row): CatalogTable => {
    const own = (of: Grouped) => of.get(row['id']) ?? [];
    return {
      ...describe(row),
      columns: own(columns).map(columnOf),
      ...constraintsOf(own(constraints)),
      indexes: own(indexes).map(indexOf),
      triggers: own(triggers).map(({ name, definition }) => ({ name, definition })),
      policies: own(policies).map(policyOf),
    };
  });
}

type Grouped = ReadonlyMap<string, readonly Row[]>;

/** Groups rows by the id of their table. */
function byTable(rows: readonly Row[]): Grouped {
  return Map.groupBy(rows, ({ id }) => id as string);
}

const KINDS: Readonly<Record<string, CatalogTable['kind']>> = {
  r: 'table',
  p: 'table',
  v: 'view',
  m: 'materialized view',
  f: 'foreign table',
};

function describe(row: Row) {
  return {
    schema: row['schema'] as string,
    name: row['name'] as string,
    kind: KINDS[row['kind']]!,
    comment: row['comment'] as string | null,
    partitionOf: row['parent'] as CatalogName | null,
    partitioned: row['kind'] === 'p',
    partitionKey: row['partition_key'] as string | null,
    bound: row['bound'] as string | null,
    extension: row['extension'] as string | null,
    rowSecurity: row['secured'] as boolean,
    definition: row['definition'] as string | null,
  };
}

const TYPE_KINDS: Readonly<Record<string, CatalogColumn['typeKind']>> = {
  a: 'array',
  b: 'base',
  c: 'composite',
  d: 'domain',
  e: 'enum',
  m: 'range',
  p: 'pseudo',
  r: 'range',
};

function columnOf(row: Row): CatalogColumn {
  const generated = row['generated'] !== '';
  return {
    name: row['name'],
    type: row['type'],
    typeKind: TYPE_KINDS[row['kind']] ?? 'base',
    typeName: { schema: row['type_schema'], name: row['type_name'] },
    nullable: row['nullable'],
    default: generated ? null : row['expression'],
    generated: generated ? row['expression'] : null,
    identity: row['identity'] === 'a' ? 'always' : row['identity'] === 'd' ? 'by default' : null,
    comment: row['comment'],
  };
}

function constraintsOf(rows: readonly Row[]) {
  const of = (kind: string) => rows.filter((row) => row['kind'] === kind);
  const [primaryKey = null] = of('p').map(keyOf);
  return {
    primaryKey,
    uniques: of('u').map(keyOf),
    foreignKeys: of('f').map(foreignKeyOf),
    checks: of('c').map(checkOf),
    exclusions: of('x').map(checkOf),
  };
}

const keyOf = ({ name, columns }: Row): CatalogKey => ({ name, columns });

const ACTIONS: Readonly<Record<string, ForeignKeyAction>> = {
  a: 'no action',
  r: 'restrict',
  c: 'cascade',
  n: 'set null',
  d: 'set default',
};

function foreignKeyOf(row: Row): CatalogForeignKey {
  return {
    name: row['name'],
    columns: row['columns'],
    table: { schema: row['other_schema'], name: row['other_name'] },
    references: row['other_columns'],
    onDelete: ACTIONS[row['on_delete']]!,
    onUpdate: ACTIONS[row['on_update']]!,
    deferrable: row['deferrable'],
    validated: row['validated'],
  };
}

function checkOf({ name, expression, columns, validated }: Row): CatalogCheck {
  return { name, expression: withoutParentheses(expression), columns: columns ?? [], validated };
}

/** Removes one pair of parentheses, which PostgreSQL adds around an expression. */
function withoutParentheses(text: string): string {
  if (!text.startsWith('(') || !text.endsWith(')')) return text;
  let depth = 0;
  let quoted = false;
  for (let at = 0; at < text.length - 1; at++) {
    if (text[at] === "'") quoted = !quoted;
    if (quoted) continue;
    if (text[at] === '(') depth++;
    if (text[at] === ')' && --depth === 0) return text;
  }
  return text.slice(1, -1);
}

function indexOf(row: Row): CatalogIndex {
  const columns = row['columns'] as (string | null)[];
  return {
    name: row['name'],
    unique: row['unique'],
    columns,
    where: row['condition'],
    onExpressions: columns.includes(null),
    method: row['method'],
    valid: row['valid'],
    definition: row['definition'],
  };
}

const COMMANDS: Readonly<Record<string, CatalogPolicy['command']>> = {
  '*': 'all',
  r: 'select',
  a: 'insert',
  w: 'update',
  d: 'delete',
};

function policyOf({ name, command, roles, using, check }: Row): CatalogPolicy {
  return { name, command: COMMANDS[command] ?? 'all', roles, using, check };
}

function domainOf(row: Row) {
  return {
    schema: row['schema'] as string,
    name: row['name'] as string,
    type: row['type'] as string,
    typeName: { schema: row['type_schema'] as string, name: row['type_name'] as string },
    nullable: row['nullable'] as boolean,
    default: row['expression'] as string | null,
    checks: (row['checks'] as Row[]).map(checkOf),
    comment: row['comment'] as string | null,
  };
}

const FUNCTION_KINDS: Readonly<Record<string, CatalogFunction['kind']>> = {
  f: 'function',
  p: 'procedure',
  a: 'aggregate',
  w: 'window',
};

function functionOf({ kind, ...row }: Row): CatalogFunction {
  const { schema, name, parameters, definition, extension } = row;
  const of = FUNCTION_KINDS[kind] ?? 'function';
  return { schema, name, kind: of, parameters, definition, extension };
}
