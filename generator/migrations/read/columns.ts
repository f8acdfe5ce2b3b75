import type { ColumnType, Constraint, OnDelete, TableColumn } from '@twofold/schema';
import type { Expression, ChainLink } from './expression.ts';

/** A column as a migration defines it, and whether it is the key. */
export interface ReadColumn {
  readonly column: TableColumn;
  readonly key: boolean;
}

/** Database names of the stored types, for migrations that do not use `columnTypes`. */
const DATABASE_TYPES: Readonly<Record<string, ColumnType>> = {
  text: 'text',
  varchar: 'text',
  integer: 'integer',
  int4: 'integer',
  bigint: 'bigint',
  int8: 'bigint',
  real: 'real',
  'double precision': 'real',
  float8: 'real',
  numeric: 'decimal',
  decimal: 'decimal',
  boolean: 'boolean',
  timestamp: 'timestamp',
  timestamptz: 'timestamp',
  'timestamptz(3)': 'timestamp',
  date: 'date',
  time: 'time',
  json: 'json',
  jsonb: 'json',
  json_text: 'json',
  uuid: 'uuid',
  bytea: 'bytes',
  blob: 'bytes',
};

/**
 * `'title', type.text, (column) => column.notNull()`. Null when the name or the type cannot be
 * read.
 */
export function readColumn([name, type, build]: readonly Expression[]): ReadColumn | null {
  const text = textOf(name);
  const stored = type && readType(type);
  if (text === null || !stored) return null;
  const links =
    build?.kind === 'function' && build.body.root === build.parameter ? build.body.links : [];
  const plain: TableColumn = { name: text, type: stored.type, required: stored.key, unique: false };
  const column = links.reduce(describe, plain);
  const key = stored.key || links.some((link) => link.name === 'primaryKey');
  return { column: key ? { ...column, required: true } : column, key };
}

/** `type.text`, `'text'`, or `{ from: type.text, to: type.date }`. */
export function readType(type: Expression): { type: ColumnType; key: boolean } | null {
  if (type.kind === 'object')
    return type.members.has('to') ? readType(type.members.get('to')!) : null;
  const name = type.kind === 'value' ? String(type.value) : rawText(type);
  if (name !== null) {
    const known = DATABASE_TYPES[name.toLowerCase().replace(/^varchar\(\d+\)$/, 'varchar')];
    return known ? { type: known, key: false } : null;
  }
  const member = type.kind === 'chain' && type.links.length === 1 ? type.links[0]! : null;
  if (!member || member.args !== null) return null;
  if (member.name === 'key') return { type: 'id', key: true };
  return { type: member.name as ColumnType, key: false };
}

/** The text of `` sql`…` `` without interpolated values. */
function rawText(expression: Expression): string | null {
  const [link] = expression.kind === 'chain' ? expression.links : [];
  const [template] = link?.name === '`' ? (link.args ?? []) : [];
  return template?.kind === 'template' && !template.hasValues ? template.text : null;
}

/** The column after one more call in its definition. */
export function describe(column: TableColumn, { name, args }: ChainLink): TableColumn {
  const [first] = args ?? [];
  switch (name) {
    case 'notNull':
      return { ...column, required: true };
    case 'unique':
      return { ...column, unique: true };
    case 'defaultTo':
      return { ...column, ...readDefault(first) };
    case 'check':
      return { ...column, ...readCheck(column, first) };
    case 'references':
      return withReference(column, textOf(first));
    case 'onDelete':
      return column.references
        ? {
            ...column,
            references: {
              ...column.references,
              onDelete: (textOf(first) ?? 'restrict') as OnDelete,
            },
          }
        : column;
    default:
      return column;
  }
}

export function readDefault(value: Expression | undefined): Pick<TableColumn, 'default'> {
  return value?.kind === 'value' ? { default: { kind: 'value', value: value.value } } : {};
}

function withReference(column: TableColumn, target: string | null): TableColumn {
  if (target === null) return column;
  const at = target.lastIndexOf('.');
  const references = {
    table: target.slice(0, at),
    column: target.slice(at + 1),
    onDelete: column.references?.onDelete ?? 'restrict',
  } as const;
  return { ...column, references };
}

/**
 * The inverse of `columnChecks`: reads allowed values and bounds, or keeps the condition as
 * written.
 */
function readCheck(column: TableColumn, condition: Expression | undefined): Partial<TableColumn> {
  const text = condition && rawText(condition);
  if (text === null || text === undefined) return {};
  const quoted = `"${column.name}"`;
  const read = splitAnd(text).map((part) => readPart(part, quoted));
  if (read.some((part) => part === null)) return { check: text };
  const constraint: Constraint = Object.assign({}, ...read.map((part) => part!.constraint));
  const values = read.find((part) => part!.values)?.values;
  return {
    ...(values && { values }),
    ...(Object.keys(constraint).length > 0 && { constraint }),
  };
}

interface CheckPart {
  readonly values?: readonly string[];
  readonly constraint?: Constraint;
}

function readPart(part: string, quoted: string): CheckPart | null {
  if (part.startsWith(`${quoted} in (`) && part.endsWith(')')) {
    const list = part.slice(quoted.length + 5, -1);
    const values = Array.from(list.matchAll(/'((?:[^']|'')*)'/g), ([, text]) =>
      text!.replaceAll("''", "'"),
    );
    return { values };
  }
  const length = part.startsWith(`length(${quoted})`);
  const subject = length ? `length(${quoted})` : quoted;
  const [, operator, limit] =
    /^ (>=|<=) (-?[\d.e+-]+)$/i.exec(part.startsWith(subject) ? part.slice(subject.length) : '') ??
    [];
  if (operator === undefined) return null;
  const least = operator === '>=';
  const name = length ? (least ? 'minLength' : 'maxLength') : least ? 'min' : 'max';
  return { constraint: { [name]: Number(limit) } };
}

/** Splits at ` and `, but not inside quotes. */
function splitAnd(text: string): string[] {
  const parts: string[] = [];
  let [from, quote] = [0, ''];
  for (let at = 0; at < text.length; at++) {
    const character = text[at]!;
    if (quote !== '') quote = character === quote ? '' : quote;
    else if (character === "'" || character === '"') quote = character;
    else if (text.startsWith(' and ', at)) {
      parts.push(text.slice(from, at).trim());
      from = at + ' and '.length;
    }
  }
  return [...parts, text.slice(from).trim()];
}

export function textOf(expression: Expression | undefined): string | null {
  return expression?.kind === 'value' && typeof expression.value === 'string'
    ? expression.value
    : null;
}
