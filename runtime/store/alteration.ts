import {
  type ColumnDataType,
  type ColumnDefinitionBuilder,
  type Expression,
  type Kysely,
  type OnModifyForeignAction,
  type RawBuilder,
  sql,
} from 'kysely';
import { AppError } from '../errors.ts';

export type DataType = ColumnDataType | RawBuilder<unknown>;

export type Alteration =
  | { readonly kind: 'add' | 'alter'; readonly column: ColumnDescription }
  | { readonly kind: 'drop'; readonly name: string };

/** A column as a migration describes it: the SQL of its definition, and its parts one by one. */
export interface ColumnDescription {
  readonly name: string;
  readonly type: DataType;
  /** `"title" text not null` */
  readonly definition: string;
  readonly required: boolean;
  readonly unique: boolean;
  readonly default?: unknown;
  readonly check?: Expression<any>;
  /** `users.id` */
  readonly references?: string;
  readonly onDelete?: OnModifyForeignAction;
}

interface Description {
  readonly table: string;
  readonly name: string;
  readonly type: DataType;
  readonly build: (column: ColumnDefinitionBuilder) => ColumnDefinitionBuilder;
}

/** Runs a column's builder, and notes what is called on it. */
export function describeColumn(
  db: Kysely<any>,
  { table, name, type, build }: Description,
): ColumnDescription {
  const called = new Map<string, readonly unknown[]>();
  const noted = (builder: ColumnDefinitionBuilder): ColumnDefinitionBuilder =>
    new Proxy(builder, {
      get: (target, property) => {
        const member: unknown = Reflect.get(target, property, target);
        if (typeof member !== 'function') return member;
        if (property === 'toOperationNode') return member.bind(target);
        return (...args: unknown[]) => {
          called.set(String(property), args);
          return noted(member.apply(target, args) as ColumnDefinitionBuilder);
        };
      },
    });
  const statement = db.schema
    .alterTable(table)
    .addColumn(name, type, (column) => build(noted(column)))
    .compile().sql;
  const argument = <T>(method: string) => called.get(method)?.[0] as T;
  return {
    name,
    type,
    definition: statement.slice(statement.indexOf(' add column ') + ' add column '.length),
    required: called.has('notNull'),
    unique: called.has('unique'),
    ...(called.has('defaultTo') && { default: argument<unknown>('defaultTo') }),
    ...(called.has('check') && { check: argument<Expression<any>>('check') }),
    ...(called.has('references') && { references: argument<string>('references') }),
    ...(called.has('onDelete') && { onDelete: argument<OnModifyForeignAction>('onDelete') }),
  };
}

/** Refuses a required column without a default while there are rows that have no value for it. */
export async function assertValues(
  db: Kysely<any>,
  table: string,
  { kind, column }: { kind: 'add' | 'alter'; column: ColumnDescription },
): Promise<void> {
  if (!column.required || 'default' in column) return;
  const empty = kind === 'add' ? sql`1 = 1` : sql`${sql.ref(column.name)} is null`;
  const { rows } = await sql<{
    found: number;
  }>`select 1 as found from ${sql.table(table)} where ${empty} limit 1`.execute(db);
  if (rows.length === 0) return;
  throw new AppError(
    500,
    'MIGRATION_NEEDS_VALUE',
    `${table} has rows without a value for ${column.name}, which is required: give it a default, or add it without notNull(), fill it, and alter it then`,
  );
}
