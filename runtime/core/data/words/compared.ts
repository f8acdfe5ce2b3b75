import type { ColumnType } from '@twofold/schema';
import { literal, sql, type Sql } from '../sql/fragment.ts';
import { found, type EntityModel, type Model } from '../model.ts';
import type { Scope } from '../sql/scope.ts';
import { stored } from '../sql/stored-as.ts';
import type { Stored } from '../sql/values.ts';

/** A value that the operators of a filter, such as `eq` or `contains`, compare. */
export interface Compared {
  /** `object`: a JSON object whose members are compared, and not the object itself. */
  readonly form: 'scalar' | 'list' | 'json' | 'object';
  /** A scalar as its column holds it; everything else as the JSON of the database. */
  readonly value: Sql;
  readonly as: Stored;
  /** Whether there is no value. */
  nothing(): Sql;
}

/** The value of a column for comparisons: its SQL, and the SQL that tests whether it is missing. */
export function columnCompared(
  { model, dialect }: Scope,
  entity: EntityModel,
  column: string,
  { value, nothing }: Pick<Compared, 'value' | 'nothing'>,
): Compared {
  const { form, as } = formOf(model, entity, column);
  const isOther = as.databaseType !== undefined && !as.databaseType.endsWith('[]');
  // PostgreSQL has its operators for JSON only for jsonb, so a column of type json is cast.
  const cast = dialect === 'postgres' && form !== 'scalar' && isOther;
  return { form, as, nothing, value: cast ? sql`(${value})::jsonb` : value };
}

/** The form of the values in a column, and how they are stored. */
function formOf(model: Model, entity: EntityModel, column: string): Pick<Compared, 'form' | 'as'> {
  const as = stored(model, entity, column);
  const { list, scalar } = entity.columns.get(column) ?? {};
  if (list) return { form: 'list', as };
  if (as.type !== 'json') return { form: 'scalar', as };
  return { form: isObject(model, scalar) ? 'object' : 'json', as };
}

const isObject = ({ project }: Model, name: string | undefined) =>
  project.objects.some((object) => object.name === name);

/** The type of a field of an object without a table. */
export interface MemberType {
  readonly type: ColumnType;
  readonly list?: boolean;
  /** The name of the member's type, when the member is an object itself. */
  readonly object?: string;
}

/** @throws InternalError when the object has no such field. */
export function memberType({ project }: Model, object: string, field: string): MemberType {
  const { fields } = found(
    project.objects.find(({ name }) => name === object),
    `object ${object}`,
  );
  const { type } = found(
    fields.find(({ name }) => name === field),
    `field ${object}.${field}`,
  );
  if (type.kind === 'object') return { type: 'json', list: type.list, object: type.name };
  const scalar = project.scalars.find(({ name }) => name === type.name);
  return { type: scalar?.column ?? 'text', list: type.list };
}

/** A member of a JSON object. @param keys the way to it, through the objects that hold it. */
export function memberCompared(
  { dialect }: Scope,
  holder: Sql,
  keys: readonly string[],
  { type, list = false, object }: MemberType,
): Compared {
  const path =
    dialect === 'sqlite'
      ? literal(`$${keys.map((key) => `."${key}"`).join('')}`)
      : `array[${keys.map(literal).join(', ')}]`;
  const json =
    dialect === 'sqlite'
      ? sql`nullif(${holder} -> ${path}, 'null')`
      : sql`nullif(${holder} #> ${path}, 'null'::jsonb)`;
  const nothing = () => sql`${json} is null`;
  const form = list ? 'list' : object ? 'object' : type === 'json' ? 'json' : 'scalar';
  if (form !== 'scalar') return { form, value: json, as: { type: 'json' }, nothing };
  const text = dialect === 'sqlite' ? sql`(${holder} ->> ${path})` : sql`(${holder} #>> ${path})`;
  const value = dialect === 'sqlite' ? fromText(text, type) : typed(json, text, type);
  return { form, value, as: { type: KEPT[type] ?? 'text' }, nothing };
}

/** Types whose values JSON can hold as they are. Values of all other types are texts in JSON. */
const KEPT: Partial<Record<ColumnType, ColumnType>> = {
  integer: 'integer',
  real: 'real',
  boolean: 'boolean',
  bigint: 'bigint',
  decimal: 'decimal',
};

const fromText = (text: Sql, type: ColumnType): Sql =>
  type === 'bigint' ? sql`cast(${text} as integer)` : text;

/** JSON that another program wrote may hold a value of another type. It counts as no value. */
function typed(json: Sql, text: Sql, type: ColumnType): Sql {
  const when = (kind: string, as: string) =>
    sql`(case when jsonb_typeof(${json}) = '${kind}' then ${text}::${as} end)`;
  if (type === 'boolean') return when('boolean', 'boolean');
  if (type === 'integer' || type === 'real') return when('number', 'numeric');
  if (type === 'bigint' || type === 'decimal')
    return sql`(case when ${text} ~ '^[+-]?[0-9]+([.][0-9]+)?$' then ${text}::numeric end)`;
  return text;
}
