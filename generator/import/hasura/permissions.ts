import type { TypeInProgress } from '../database/types.ts';
import type { ReportItem } from '../imported.ts';
import {
  ALWAYS,
  conditionOf,
  Inexpressible,
  isNever,
  type Place,
  printWhere,
} from './condition.ts';
import { type MetadataTable, PERMISSIONS, permissionsOf, type Verb } from './metadata.ts';

/** The role of those who are not signed in. */
export const ANONYMOUS = 'anonymous';

/** What a role may do with the rows of a type. */
export interface Grant {
  readonly role: string;
  readonly verb: Verb;
  /** The value of `where:`; undefined for all rows. */
  readonly where: string | undefined;
  /** The columns that the role may see or set. */
  readonly columns: ReadonlySet<string>;
  /** Columns that get the caller's id by themselves. */
  readonly presets: readonly string[];
}

/** The grants of a type, and the report items of its permissions. */
export interface Granted {
  readonly grants: readonly Grant[];
  readonly items: readonly ReportItem[];
}

/**
 * The keys of a permission that the import understands. With any other key the permission is not
 * granted.
 */
const KNOWN: Readonly<Record<Verb, readonly string[]>> = {
  READ: ['columns', 'filter', 'allow_aggregations', 'computed_fields'],
  CREATE: ['columns', 'check', 'set'],
  UPDATE: ['columns', 'filter', 'check', 'set'],
  DELETE: ['filter'],
};

/** Reads the permissions of a table. What cannot be said here closes the action for the role. */
export function grantsOf(entry: MetadataTable, type: TypeInProgress, place: Place): Granted {
  const keys = Object.keys(PERMISSIONS) as (keyof typeof PERMISSIONS)[];
  const read = keys.flatMap((key) =>
    permissionsOf(entry, key).map(({ role, permission }) =>
      readPermission({ role, verb: PERMISSIONS[key], permission }, type, place),
    ),
  );
  return {
    grants: read.flatMap(({ grant }) => (grant ? [grant] : [])),
    items: read.map(({ item }) => item),
  };
}

interface Given {
  readonly role: string;
  readonly verb: Verb;
  readonly permission: Readonly<Record<string, unknown>>;
}

const ACTIONS: Readonly<Record<Verb, string>> = {
  READ: 'select',
  CREATE: 'insert',
  UPDATE: 'update',
  DELETE: 'delete',
};

function readPermission(
  given: Given,
  type: TypeInProgress,
  place: Place,
): { readonly grant?: Grant; readonly item: ReportItem } {
  const { schema, name } = type.table;
  const object = `${schema}.${name}.${given.role}.${ACTIONS[given.verb]}`;
  const item = { object, kind: 'permission' };
  try {
    const { grant, why } = grantOf(given, type, place);
    const as = `${type.name} @auth(on: [${given.verb}])`;
    return {
      grant,
      item: why ? { ...item, status: 'approximated', as, why } : { ...item, status: 'kept', as },
    };
  } catch (error) {
    if (!(error instanceof Inexpressible)) throw error;
    const why = `closed for ${given.role}: ${error.message}`;
    return { item: { ...item, status: 'closed', why } };
  }
}

function grantOf(
  { role, verb, permission }: Given,
  type: TypeInProgress,
  place: Place,
): { readonly grant: Grant; readonly why: string | undefined } {
  const unknown = Object.entries(permission).find(
    ([key, value]) => !KNOWN[verb].includes(key) && !saysNothing(value),
  );
  if (unknown) throw new Inexpressible(`${unknown[0]}: ${JSON.stringify(unknown[1])}`);
  const presets = presetsOf(permission['set'], { role, verb }, type, place);
  const before = new Set(place.claims);
  const { where, why } = rowsOf(verb, permission, type, place);
  const claims = [...place.claims].filter((each) => !before.has(each));
  return {
    grant: { role, verb, where, columns: columnsOf(permission['columns'], presets, type), presets },
    why: why ?? (claims.length > 0 ? `it asks for ${claims.join(', ')}` : undefined),
  };
}

const saysNothing = (value: unknown): boolean =>
  value === null ||
  value === undefined ||
  value === false ||
  (typeof value === 'object' && Object.keys(value).length === 0);

/**
 * The rows of a permission: `filter` chooses them before a change, and `check` tests them after it.
 */
function rowsOf(
  verb: Verb,
  { filter, check }: Readonly<Record<string, unknown>>,
  type: TypeInProgress,
  place: Place,
): { readonly where: string | undefined; readonly why?: string } {
  const read = (given: unknown) => conditionOf(given, type, place);
  const decides = verb === 'CREATE' ? check : filter;
  if (decides === undefined || decides === null)
    throw new Inexpressible(`it has no ${verb === 'CREATE' ? 'check' : 'filter'}`);
  if (verb === 'CREATE') return { where: shown(read(check)) };
  const before = read(filter);
  if (verb !== 'UPDATE') return { where: shown(before) };
  const where = shown(before);
  if (saysNothing(check))
    return where === undefined
      ? { where }
      : { where, why: 'the filter holds after a change, too: no row is moved out of it' };
  const after = read(check);
  if (shown(after) === where) return { where };
  return {
    where: shown({ kind: 'and', of: [before, after] }),
    why: 'filter and check hold both before and after a change',
  };
}

function shown(where: ReturnType<typeof conditionOf>): string | undefined {
  if (isNever(where)) throw new Inexpressible('it holds for no row');
  const text = printWhere(where);
  return text === printWhere(ALWAYS) ? undefined : text;
}

/** The columns that the server fills. Only the caller's id is possible, and only in new rows. */
function presetsOf(
  set: unknown,
  { role, verb }: Pick<Given, 'role' | 'verb'>,
  type: TypeInProgress,
  place: Place,
): readonly string[] {
  return Object.entries((set ?? {}) as Readonly<Record<string, unknown>>).map(([column, value]) => {
    const isCaller = typeof value === 'string' && /^x-hasura-user-id$/i.test(value);
    if (verb !== 'CREATE' || role === ANONYMOUS || !isCaller || !leadsToUser(column, type, place))
      throw new Inexpressible(`set ${column}: ${JSON.stringify(value)}`);
    return column;
  });
}

function leadsToUser(column: string, type: TypeInProgress, { user }: Place): boolean {
  const field = type.columns.get(column);
  return [...type.relations].some(
    ([key, name]) =>
      name === field &&
      user !== undefined &&
      key.table.name === user.table.name &&
      key.table.schema === user.table.schema &&
      user.columns.get(key.references[0] ?? '') === 'id',
  );
}

/** The columns that may be set. A permission that names none allows none. */
function columnsOf(
  columns: unknown,
  presets: readonly string[],
  { table }: TypeInProgress,
): ReadonlySet<string> {
  const named = columns === '*' ? table.columns.map(({ name }) => name) : (columns ?? []);
  return new Set((named as readonly string[]).filter((each) => !presets.includes(each)));
}

/**
 * The permissions that can stand beside each other. Here the rules of those who are signed in and
 * of everyone add up, and a column has one default for all: where that would let somebody write
 * what they could not, the permission is closed.
 */
export function reconcile({ grants, items }: Granted, { table }: TypeInProgress): Granted {
  const closed = grants.flatMap((grant) => {
    const why = conflictOf(grant, grants);
    return why === undefined ? [] : [{ grant, why }];
  });
  const object = ({ role, verb }: Grant) =>
    `${table.schema}.${table.name}.${role}.${ACTIONS[verb]}`;
  return {
    grants: grants.filter((grant) => !closed.some((each) => each.grant === grant)),
    items: items.map((item) => {
      const found = closed.find((each) => object(each.grant) === item.object);
      if (!found) return item;
      const why = `closed for ${found.grant.role}: ${found.why}`;
      return { object: item.object, kind: item.kind, status: 'closed', why };
    }),
  };
}

function conflictOf(grant: Grant, grants: readonly Grant[]): string | undefined {
  const { role, verb, columns, presets } = grant;
  const others = grants.filter((each) => each.verb === verb && each.role !== role);
  const isWrite = verb === 'CREATE' || verb === 'UPDATE';
  if (role === ANONYMOUS && isWrite && others.some((each) => !sameSet(each.columns, columns)))
    return 'other roles have other columns, and everyone would have them together with these';
  const unset = presets.find((column) =>
    others.some(
      (each) =>
        each.role !== ANONYMOUS && !each.presets.includes(column) && !each.columns.has(column),
    ),
  );
  return unset === undefined
    ? undefined
    : `set ${unset}: another role leaves it out, and would get the same default`;
}

const sameSet = (a: ReadonlySet<string>, b: ReadonlySet<string>): boolean =>
  a.size === b.size && [...a].every((each) => b.has(each));
