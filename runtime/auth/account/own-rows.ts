import { sql } from 'kysely';
import type { AuthRule, Column, Entity, Field, Project } from '@twofold/schema';
import type { Store } from '@twofold/runtime/kernel';
import { rowsIn } from '../users/adopted-table.ts';
import type { Account } from '../users/user-directory.ts';
import { batches } from './own-logs.ts';

/** A type of which some rows belong to users, and the column that names the user. */
export interface OwnType {
  readonly name: string;
  readonly entity: Entity;
  readonly owner: string;
}

/**
 * The types whose rules name an owner who may read. A type that only others may read, such as notes
 * of the staff about a user, is not among them.
 */
export function ownTypes({ entities }: Project): OwnType[] {
  return entities.flatMap((entity) => {
    const owner = entity.rules.find(({ allow }) => allow.includes('OWNER'))?.owner;
    const readable = isReadable(entity.rules, owner);
    return owner !== undefined && readable ? [{ name: entity.name, entity, owner }] : [];
  });
}

/**
 * Whether the owner may read: by a rule for owners or for everybody, or because there is no rule.
 */
function isReadable(rules: readonly AuthRule[], owner: string | undefined): boolean {
  const reading = rules.filter(({ on }) => on.includes('READ'));
  return (
    reading.length === 0 ||
    reading.some(
      (rule) =>
        rule.allow.includes('PUBLIC') ||
        rule.allow.includes('USER') ||
        (rule.allow.includes('OWNER') && rule.owner === owner),
    )
  );
}

/** The rows of a type that belong to a user, with the fields that they may read. */
export function rowsOf(
  { db, dialect }: Store,
  { entity, owner }: OwnType,
  { id }: Account,
): AsyncGenerator<object[]> {
  const shown = entity.fields.flatMap((field) =>
    isReadable(field.rules, owner) ? view(entity, field) : [],
  );
  const names = [...new Set(['id', ...shown.map(({ column }) => column)])];
  const columns = [...names, owner, ...(entity.softDelete ? [entity.softDelete] : [])];
  const rows = rowsIn(dialect, { ...entity, stored: storedNames(entity) }, columns);
  let query = db
    .selectFrom(sql<Record<string, any>>`${sql.raw(rows)}`.as('o'))
    .select(names)
    .where(owner, '=', id);
  if (entity.softDelete) query = query.where(entity.softDelete, 'is', null);
  return batches(query, (row) =>
    Object.fromEntries(shown.map(({ name, column, show }) => [name, show(row[column])])),
  );
}

/** The names in the database of columns that differ, by their names in the model. */
function storedNames({ columns }: Entity): Readonly<Record<string, string>> | undefined {
  const renamed = columns.flatMap(({ name, stored }) => (stored ? [[name, stored] as const] : []));
  return renamed.length > 0 ? Object.fromEntries(renamed) : undefined;
}

interface ShownField {
  readonly name: string;
  readonly column: string;
  /** The value as the API shows it: `{ id }` for the row that a key names. */
  readonly show: (value: unknown) => unknown;
}

function view({ columns }: Entity, { name, source }: Field): ShownField[] {
  if (source.kind === 'column') {
    const column = columns.find((each) => each.name === source.column);
    return [{ name, column: source.column, show: (value) => valueOf(column, value) }];
  }
  if (source.kind !== 'one' || source.key !== 'own') return [];
  return [
    {
      name,
      column: source.column,
      show: (value) => (value === null ? null : { id: value }),
    },
  ];
}

function valueOf(column: Column | undefined, value: unknown): unknown {
  if (column?.type === 'bytes' && value instanceof Uint8Array)
    return Buffer.from(value).toString('base64');
  return typeof value === 'bigint' ? String(value) : value;
}
