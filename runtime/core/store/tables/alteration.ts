import {
  type ColumnDataType,
  type ColumnDefinitionBuilder,
  type Expression,
  type Kysely,
  type OnModifyForeignAction,
  type RawBuilder,
} from 'kysely';

export type DataType = ColumnDataType | RawBuilder<unknown>;

export type Alteration =
  | { readonly kind: 'add' | 'alter'; readonly column: ColumnDescription }
  | { readonly kind: 'drop'; readonly name: string }
  | { readonly kind: 'addForeignKey'; readonly key: ForeignKeyDescription }
  | { readonly kind: 'dropForeignKey'; readonly columns: readonly string[] };

/** The table and columns that a foreign key of several columns refers to. */
export interface ForeignKeyTarget {
  readonly table: string;
  /** The referenced columns, in the order of the key's own columns. */
  readonly references: readonly string[];
  readonly onDelete: OnModifyForeignAction;
}

export interface ForeignKeyDescription extends ForeignKeyTarget {
  readonly columns: readonly string[];
}

/** A column as a migration describes it: the SQL of its definition, and its parts one by one. */
export interface ColumnDescription {
  readonly name: string;
  readonly type: DataType;
  /** The former type, when the migration names it. */
  readonly from?: DataType;
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
  readonly from?: DataType | undefined;
  readonly build: (column: ColumnDefinitionBuilder) => ColumnDefinitionBuilder;
}

/** Runs a column's builder and records its calls. */
export function describeColumn(
  db: Kysely<any>,
  { table, name, type, from, build }: Description,
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
  // Without plugins: this statement is only read, and the plugin that counts statements must not
  // see it.
  const statement = db
    .withoutPlugins()
    .schema.alterTable(table)
    .addColumn(name, type, (column) => build(noted(column)))
    .compile().sql;
  const argument = <T>(method: string) => called.get(method)?.[0] as T;
  return {
    name,
    type,
    ...(from !== undefined && { from }),
    definition: statement.slice(statement.indexOf(' add column ') + ' add column '.length),
    required: called.has('notNull'),
    unique: called.has('unique'),
    ...(called.has('defaultTo') && { default: argument<unknown>('defaultTo') }),
    ...(called.has('check') && { check: argument<Expression<any>>('check') }),
    ...(called.has('references') && { references: argument<string>('references') }),
    ...(called.has('onDelete') && { onDelete: argument<OnModifyForeignAction>('onDelete') }),
  };
}
