import { isEnumType } from 'graphql';
import type { Built } from '../build/built.ts';
import type { EntityFact, FieldFact } from '../build/facts.ts';
import type { ColumnType } from '../model.ts';
import { block, type CrudItem } from './item.ts';
import { enumName } from '../implied-lists.ts';
import { typeName } from './names.ts';
import { directionItem } from './orders.ts';
import { relationFields, valueFields, type StoredField } from './stored-fields.ts';

/** A field over whose values figures are computed, with the type of these values. */
interface Figured {
  readonly name: string;
  readonly type: string;
}

/** A figure of aggregates and groups, with the name of its type: `sum: PostSums!`. */
interface Figure {
  readonly word: string;
  readonly suffix: 'Counts' | 'Sums' | 'Averages' | 'Values';
  readonly fields: readonly Figured[];
}

/**
 * `PostAggregate` and `PostGroup`, with the types and inputs of their parts.
 *
 * @example aggregateItems(built, post).map(({ name }) => name) // ['PostAggregate', 'PostCounts', 'PostSums', …]
 */
export function aggregateItems(built: Built, of: EntityFact): CrudItem[] {
  const figures = figuresOf(built, of);
  const named = (suffix: string) => typeName(built, of, suffix);
  const type = (
    keyword: CrudItem['keyword'],
    name: string,
    lines: readonly string[],
  ): CrudItem[] =>
    lines.length === 0 ? [] : [{ name, keyword, of, text: block(keyword, name, lines) }];
  const parts = new Map(figures.map((figure) => [figure.suffix, figure]));
  return [
    ...type('type', named('Aggregate'), ['count: Int!', ...membersOf(named, figures)]),
    ...[...parts.values()].flatMap(({ suffix, fields }) =>
      type('type', named(suffix), fields.map(lineOf)),
    ),
    ...groupItems(built, of, { figures, type, named }),
  ];
}

type MakeType = (
  keyword: CrudItem['keyword'],
  name: string,
  lines: readonly string[],
) => CrudItem[];

type NameType = (suffix: string) => string;

interface GroupParts {
  readonly figures: readonly Figure[];
  readonly type: MakeType;
  readonly named: NameType;
}

function groupItems(
  built: Built,
  of: EntityFact,
  { figures, type, named }: GroupParts,
): CrudItem[] {
  const parts = new Map(figures.map((figure) => [figure.suffix, figure]));
  const compared = [...parts.values()].map((figure) => ({
    ...figure,
    fields: figure.fields.filter((field) => isNumeric(built, of, figure, field)),
  }));
  const filtered = new Set(
    compared.filter(({ fields }) => fields.length > 0).map(({ suffix }) => suffix),
  );
  const filter = named('GroupFilter');
  const direction = directionItem(built).name;
  const words = (suffix: string) =>
    figures
      .filter((figure) => suffix === 'Order' || filtered.has(figure.suffix))
      .map((figure) => `${figure.word}: ${named(figure.suffix + suffix)}`);
  return [
    ...type('type', named('Group'), [
      `key: ${named('Key')}!`,
      'count: Int!',
      ...membersOf(named, figures),
    ]),
    ...type('type', named('Key'), keyLines(built, of)),
    ...type('enum', named('GroupBy'), groupValues(built, of)),
    ...type('input', filter, [
      'count: IntFilter',
      ...words('Filter'),
      ...[`and: [${filter}!]`, `or: [${filter}!]`, `not: ${filter}`],
    ]),
    ...compared.flatMap(({ suffix, fields }) =>
      type(
        'input',
        named(`${suffix}Filter`),
        fields.map((field) => `${field.name}: ${field.type.replace('!', '')}Filter`),
      ),
    ),
    ...type('input', named('GroupOrder'), [
      `key: ${named('Order')}`,
      `count: ${direction}`,
      ...words('Order'),
    ]),
    ...[...parts.values()].flatMap(({ suffix, fields }) =>
      type(
        'input',
        named(`${suffix}Order`),
        fields.map((field) => `${field.name}: ${direction}`),
      ),
    ),
  ];
}

const membersOf = (named: NameType, figures: readonly Figure[]): string[] =>
  figures.map(({ word, suffix }) => `${word}: ${named(suffix)}!`);

const lineOf = ({ name, type }: Figured): string => `${name}: ${type}`;

/**
 * The fields of figures. Each row has a different `id`, so it is neither counted nor a key of
 * groups.
 */
const figuredFields = (built: Built, entity: EntityFact): StoredField[] =>
  valueFields(built, entity).filter(({ field }) => field.name !== 'id');

function figuresOf(built: Built, entity: EntityFact): Figure[] {
  const values = figuredFields(built, entity);
  const keys = relationFields(built, entity).filter(({ link }) => link.kind === 'own');
  const named = (field: FieldFact, type: string) => ({ name: field.name, type });
  const counts = [...values, ...keys].map(({ field }) => named(field, 'Int!'));
  const numbers = values.filter(({ type, field }) => SUMS[type] !== undefined && isValue(field));
  const ordered = values.filter(({ type, field }) => ORDERED.has(type) && isValue(field));
  const extremes = ordered.map(({ field }) => named(field, field.named.name));
  const figures: Figure[] = [
    { word: 'countDistinct', suffix: 'Counts', fields: inOrder(entity, counts) },
    {
      word: 'sum',
      suffix: 'Sums',
      fields: numbers.map(({ field, type }) => named(field, sumOf(field, type))),
    },
    {
      word: 'avg',
      suffix: 'Averages',
      fields: numbers.map(({ field, type }) =>
        named(field, type === 'decimal' ? field.named.name : 'Float'),
      ),
    },
    { word: 'min', suffix: 'Values', fields: extremes },
    { word: 'max', suffix: 'Values', fields: extremes },
  ];
  return figures.filter(({ fields }) => fields.length > 0);
}

/** Sorts fields in the order of the type. */
function inOrder({ fields }: EntityFact, figured: readonly Figured[]): Figured[] {
  const names = [...fields.keys()];
  return figured.toSorted((a, b) => names.indexOf(a.name) - names.indexOf(b.name));
}

/** Whether a field has values to order or add up. Those of keys and enums have no meaning. */
const isValue = ({ named }: FieldFact): boolean => !isEnumType(named) && named.name !== 'ID';

/** The type of an exact sum; that of a Float is a Float. */
const SUMS: Partial<Record<ColumnType, string>> = {
  integer: 'BigInt',
  bigint: 'BigInt',
  decimal: 'Decimal',
  real: 'Float',
};

const sumOf = ({ named }: FieldFact, type: ColumnType): string =>
  type === 'decimal' || type === 'bigint' ? named.name : (SUMS[type] ?? 'Float');

const ORDERED: ReadonlySet<ColumnType> = new Set([
  ...(['text', 'integer', 'bigint', 'real', 'decimal'] as const),
  ...(['timestamp', 'date', 'time'] as const),
]);

/**
 * Whether groups can be compared by a field: by numbers and times. A filter of text has operators
 * that groups do not have.
 */
function isNumeric(
  built: Built,
  entity: EntityFact,
  { suffix }: Figure,
  { name }: Figured,
): boolean {
  const value = valueFields(built, entity).find(({ field }) => field.name === name);
  return suffix === 'Counts' || (value !== undefined && value.type !== 'text');
}

/** The fields of a group's key. */
function keyLines(built: Built, entity: EntityFact): string[] {
  return groupedFields(built, entity).map((field) => `${field.name}: ${field.named.name}`);
}

function groupedFields(built: Built, entity: EntityFact): FieldFact[] {
  const values = figuredFields(built, entity).map(({ field }) => field);
  const keys = relationFields(built, entity).flatMap(({ field, link }) =>
    link.kind === 'own' ? field : [],
  );
  return [...entity.fields.values()].filter(
    (field) => values.includes(field) || keys.includes(field),
  );
}

const UNITS = ['HOUR', 'DAY', 'WEEK', 'MONTH', 'YEAR'];

/** The values of the key's enum: fields, and times rounded down: `CREATED_AT_DAY`. */
function groupValues(built: Built, entity: EntityFact): string[] {
  const types = new Map(valueFields(built, entity).map(({ field, type }) => [field, type]));
  const values = groupedFields(built, entity).flatMap((field) => {
    const type = types.get(field);
    const units = type === 'timestamp' ? UNITS : type === 'date' ? UNITS.slice(1) : [];
    const name = enumName(field.name);
    return [name, ...units.map((unit) => `${name}_${unit}`)];
  });
  return [...new Set(values)];
}
