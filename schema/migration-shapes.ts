import type { ColumnDefault, ColumnType, Constraint, Fold, OnDelete } from './model.ts';
import type { Table, TableColumn, TableForeignKey, TableIndex } from './tables.ts';
import { isData } from './manifest/shape.ts';

/** What is wrong with the value at a path, `steps[0].table.name must be a text`; null for nothing. */
export type Shape = (value: unknown, path: string) => string | null;

export const text = ofType('string', 'a text');
const flag = ofType('boolean', 'true or false');
const number = ofType('number', 'a number');
const anything: Shape = () => null;

function ofType(type: string, words: string): Shape {
  return (value, path) => (typeof value === type ? null : `${path} must be ${words}`);
}

/** One of these words. */
function oneOf<Word extends string>(words: Readonly<Record<Word, true>>): Shape {
  return (value, path) =>
    typeof value === 'string' && Object.hasOwn(words, value)
      ? null
      : `${path} is ${JSON.stringify(value)}: it is one of ${Object.keys(words).join(', ')}`;
}

export function list(item: Shape): Shape {
  return (value, path) => {
    if (!Array.isArray(value)) return `${path} must be a list`;
    for (const [index, each] of value.entries()) {
      const wrong = item(each, `${path}[${index}]`);
      if (wrong !== null) return wrong;
    }
    return null;
  };
}

/** An object with these members and no others. Those of `optional` may be absent. */
export function object<T>(
  members: { readonly [Name in keyof Required<T>]: Shape },
  optional: readonly (keyof T)[] = [],
): Shape {
  return (value, path) => {
    if (!isData(value)) return `${path} must be an object`;
    const unknown = Object.keys(value).find((name) => !Object.hasOwn(members, name));
    if (unknown !== undefined) return `${path} has no member ${unknown}`;
    for (const [name, shape] of Object.entries<Shape>(members)) {
      if (value[name] === undefined && optional.includes(name as keyof T)) continue;
      const wrong =
        value[name] === undefined
          ? `${path}.${name} is missing`
          : shape(value[name], `${path}.${name}`);
      if (wrong !== null) return wrong;
    }
    return null;
  };
}

/** An object whose member `kind` says which shape it has. */
export function ofKind(shapes: Readonly<Record<string, Shape>>): Shape {
  return (value, path) => {
    if (!isData(value)) return `${path} must be an object`;
    const { kind } = value;
    if (typeof kind === 'string' && Object.hasOwn(shapes, kind)) return shapes[kind]!(value, path);
    const given = kind === undefined ? 'missing' : JSON.stringify(kind);
    return `${path}.kind is ${given}: it is one of ${Object.keys(shapes).join(', ')}`;
  };
}

const columnType = oneOf<ColumnType>({
  id: true,
  text: true,
  integer: true,
  bigint: true,
  real: true,
  decimal: true,
  boolean: true,
  timestamp: true,
  date: true,
  time: true,
  json: true,
  uuid: true,
  bytes: true,
});

const onDelete = oneOf<OnDelete>({ cascade: true, restrict: true, 'set null': true });

const filled = object<{ kind: string }>({ kind: text });

const columnDefault = ofKind({
  value: object<Extract<ColumnDefault, { kind: 'value' }>>({ kind: text, value: anything }),
  now: filled,
  uuid: filled,
  autoincrement: filled,
  caller: filled,
  database: filled,
} satisfies Record<ColumnDefault['kind'], Shape>);

const constraint = object<Constraint>(
  {
    min: number,
    max: number,
    minLength: number,
    maxLength: number,
    pattern: text,
    format: text,
    minItems: number,
    maxItems: number,
  },
  ['min', 'max', 'minLength', 'maxLength', 'pattern', 'format', 'minItems', 'maxItems'],
);

export const column = object<TableColumn>(
  {
    name: text,
    type: columnType,
    databaseType: text,
    required: flag,
    unique: flag,
    default: columnDefault,
    values: list(text),
    constraint,
    check: text,
    references: object<NonNullable<TableColumn['references']>>({
      table: text,
      column: text,
      onDelete,
    }),
    renamedFrom: text,
  },
  ['databaseType', 'default', 'values', 'constraint', 'check', 'references', 'renamedFrom'],
);

export const foreignKey = object<TableForeignKey>({
  columns: list(text),
  table: text,
  references: list(text),
  onDelete,
});

export const index = object<TableIndex>(
  {
    name: text,
    columns: list(text),
    unique: flag,
    fold: oneOf<Fold>({ letters: true, digits: true }),
    search: object<NonNullable<TableIndex['search']>>({ language: text, key: list(text) }),
  },
  ['fold', 'search'],
);

export const table = object<Table>(
  {
    name: text,
    schema: text,
    columns: list(column),
    primaryKey: list(text),
    foreignKeys: list(foreignKey),
    indexes: list(index),
    renamedFrom: text,
  },
  ['schema', 'foreignKeys', 'renamedFrom'],
);
