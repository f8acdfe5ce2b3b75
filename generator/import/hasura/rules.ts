import { first } from '@twofold/schema';
import type { CatalogForeignKey } from '@twofold/database';
import type { TypeInProgress } from '../database/types.ts';
import { directive, type ImportedField } from '../imported.ts';
import type { Verb } from './metadata.ts';
import { ANONYMOUS, type Grant } from './permissions.ts';

/**
 * Admin secrets of Hasura may do everything. In our rules, the operator's key takes their place.
 */
const KEY = 'API_KEY';

/** The `@auth` of a type. What no grant allows is open to the operator's key only. */
export function typeRules(grants: readonly Grant[]): readonly string[] {
  const byRows = Map.groupBy(grants, ({ role, where = '' }) => JSON.stringify([role, where]));
  const combined = [...byRows.values()].map((each) => ({
    role: first(each).role,
    where: first(each).where,
    on: each.map(({ verb }) => verb),
  }));
  const isPublic = ({ role }: { readonly role: string }) => role === ANONYMOUS;
  const byVerbs = Map.groupBy(combined, (each) =>
    JSON.stringify([isPublic(each), each.on, each.where ?? '']),
  );
  return [
    directive('auth', { allow: words([KEY]) }),
    ...[...byVerbs.values()].map((each) => {
      const { on, where } = first(each);
      return rule({ roles: each.map(({ role }) => role), on, where });
    }),
  ];
}

const words = (names: readonly string[]) => ({ raw: `[${names.join(', ')}]` });

interface Rule {
  readonly roles: readonly string[];
  readonly on: readonly Verb[];
  readonly where: string | undefined;
  /** Whether the operator's key may use it, too. */
  readonly key?: boolean;
}

function rule({ roles, on, where, key }: Rule): string {
  const named = roles.filter((role) => role !== ANONYMOUS);
  return directive('auth', {
    allow: words([
      ...(key ? [KEY] : []),
      ...(named.length < roles.length ? ['PUBLIC'] : []),
      ...(named.length > 0 ? ['ROLE'] : []),
    ]),
    roles: named.length > 0 ? named : undefined,
    on: words(on),
    where: where === undefined ? undefined : { raw: where },
  });
}

/** A field, and what is known of its permissions. */
export interface Guarded {
  readonly field: ImportedField;
  readonly type: TypeInProgress;
  readonly grants: readonly Grant[];
  /**
   * Whether the field is a relationship of Hasura. The rules of its rows then decide who may read
   * it.
   */
  readonly followed: boolean;
  /** Whether the server hides the field when it has no rule. */
  readonly hidden: boolean;
}

/** The `@auth` of a field: the roles with its column, when not all roles have it. */
export function fieldRules(guarded: Guarded): readonly string[] {
  const columns = columnsOf(guarded);
  if (columns.length === 0) return [];
  const rules = [
    ...(guarded.followed ? [] : readRules(guarded, columns)),
    ...writeRules(guarded, columns),
  ];
  const same = Map.groupBy(rules, ({ roles, where }) => JSON.stringify([roles, where ?? '']));
  return [...same.values()].map((each) =>
    rule({ ...first(each), on: each.flatMap(({ on }) => on) }),
  );
}

/** The columns of a field; none for a list or a composite key. */
function columnsOf({ field, type }: Guarded): readonly string[] {
  const key = relationOf(type, field.name);
  if (key) return key.columns;
  return [...type.columns].flatMap(([column, name]) => (name === field.name ? [column] : []));
}

const relationOf = (type: TypeInProgress, field: string): CatalogForeignKey | undefined =>
  [...type.relations].find(([, name]) => name === field)?.[0];

const having = (grants: readonly Grant[], columns: readonly string[]) =>
  grants.filter((grant) => columns.every((column) => grant.columns.has(column)));

function readRules({ grants, hidden }: Guarded, columns: readonly string[]): Rule[] {
  const readers = grants.filter(({ verb }) => verb === 'READ');
  const holders = having(readers, columns);
  if (holders.length === readers.length && !(hidden && readers.length > 0)) return [];
  // A signed-in caller also sees the rows that everyone sees. Only in the rows of their role they
  // may read the column.
  const isApart = readers.some(({ role }) => role === ANONYMOUS) && readers.length > 1;
  const byRows = Map.groupBy(holders, ({ where }) => (isApart ? where : undefined));
  const groups = [...byRows].map(([where, each]) => ({
    roles: each.map(({ role }) => role),
    on: ['READ'] as const,
    where,
    key: where === undefined,
  }));
  return byRows.has(undefined) ? groups : [closed('READ'), ...groups];
}

const closed = (verb: Verb): Rule => ({ roles: [], on: [verb], where: undefined, key: true });

function writeRules({ grants, field, type }: Guarded, columns: readonly string[]): Rule[] {
  if (isFilled({ field, type }, columns)) return [];
  return (['CREATE', 'UPDATE'] as const).flatMap((verb) => {
    const writers = grants.filter((grant) => grant.verb === verb);
    const holders = having(writers, columns);
    if (holders.length === writers.length) return [];
    return [{ ...closed(verb), roles: holders.map(({ role }) => role) }];
  });
}

/** Whether the database fills the columns, so that no caller sets them. */
const isFilled = (
  { field, type: { table } }: Pick<Guarded, 'field' | 'type'>,
  columns: readonly string[],
): boolean =>
  columns.every((name) => {
    const column = table.columns.find((each) => each.name === name);
    if (!column || column.generated !== null || column.identity === 'always') return true;
    return field.name === 'id' && (column.default !== null || column.identity !== null);
  });
