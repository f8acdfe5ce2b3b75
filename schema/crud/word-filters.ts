import { isEnumType } from 'graphql';
import type { ColumnType } from '../model.ts';
import { block, type CrudItem } from './item.ts';
import type { StoredField } from './stored-fields.ts';

/**
 * Whether there are operators for the values of a field. A list of JSON, of bytes or of objects has
 * none.
 */
export function isCompared({ field: { type, named }, type: stored }: StoredField): boolean {
  const isValue = type.kind === 'scalar' || type.kind === 'enum';
  if (!isValue || stored === 'bytes') return false;
  return !type.list || !IS_JSON.test(named.name);
}

const IS_JSON = /^JSON/;

/** `StringFilter`, `StatusFilter`; `StringListFilter` for a list. */
export const wordFilterName = ({ field: { named, type } }: StoredField): string =>
  `${named.name}${type.list ? 'List' : ''}Filter`;

/**
 * The operators for the values of one scalar or enum, or for lists of them.
 *
 * @example wordFilterItem(title).text // 'input StringFilter {\n  eq: String …'
 */
export function wordFilterItem(stored: StoredField): CrudItem {
  const name = wordFilterName(stored);
  const { field, type } = stored;
  const scalar = field.named.name;
  const lines = field.type.list
    ? listWords(scalar)
    : type === 'json'
      ? jsonWords(scalar)
      : valueWords(scalar, kindOf(stored));
  return { name, keyword: 'input', text: block('input', name, lines) };
}

/** The filter of a scalar, whether a field has its type or not. */
export function wordFilter(scalar: 'Int' | 'Float' | 'BigInt' | 'Boolean' | 'ID'): CrudItem {
  const name = `${scalar}Filter`;
  const lines = valueWords(scalar, /^(?:Boolean|ID)$/.test(scalar) ? 'equal' : 'ordered');
  return { name, keyword: 'input', text: block('input', name, lines) };
}

type Kind = 'text' | 'ordered' | 'equal';

const ORDERED: ReadonlySet<ColumnType> = new Set([
  'integer',
  'bigint',
  'real',
  'decimal',
  'timestamp',
  'date',
  'time',
]);

/** The order of enums and keys means nothing to callers, so they cannot be compared by it. */
function kindOf({ field: { named }, type }: StoredField): Kind {
  if (isEnumType(named) || named.name === 'ID') return 'equal';
  return type === 'text' ? 'text' : ORDERED.has(type) ? 'ordered' : 'equal';
}

const words = (names: string, type: string): string[] =>
  names.split(' ').map((name) => `${name}: ${type}`);

function valueWords(scalar: string, kind: Kind): string[] {
  return [
    ...words('eq ne', scalar),
    ...words('in notIn', `[${scalar}!]`),
    ...(kind === 'equal' ? [] : words('lt lte gt gte', scalar)),
    ...(kind === 'text' ? TEXT_WORDS : []),
    'isNull: Boolean',
  ];
}

const TEXT_WORDS = [...words('contains startsWith endsWith', 'String'), 'mode: CaseMode'];

const listWords = (scalar: string): string[] => [
  `has: ${scalar}`,
  ...words('hasSome hasEvery', `[${scalar}!]`),
  'isEmpty: Boolean',
  `eq: [${scalar}!]`,
  'isNull: Boolean',
];

/**
 * The operators for JSON. Values inside JSON are of any type, so the scalar `JSON` accepts them; a
 * scalar for objects only does not.
 */
const jsonWords = (scalar: string): string[] => [
  'path: [String!]',
  ...(scalar === 'JSON'
    ? [
        ...words('eq ne', scalar),
        ...words('in notIn', '[JSON!]'),
        ...words('lt lte gt gte', scalar),
      ]
    : []),
  ...TEXT_WORDS,
  'isNull: Boolean',
];

export const CASE_MODE: CrudItem = {
  name: 'CaseMode',
  keyword: 'enum',
  text: block('enum', 'CaseMode', ['SENSITIVE', 'INSENSITIVE']),
};
