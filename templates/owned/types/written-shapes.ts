import { namedType, refOf, type Definition, type Definitions, type Member } from './definitions.ts';

/** The references of the members of a type, by name. */
type Refs = ReadonlyMap<string, string>;

/** A type that `api.crud` writes, with the type of the runtime that says the same of its entity. */
interface Shape {
  readonly suffix: string;
  readonly type: string;
  /** What it has for an entity. */
  refs(entity: string, fields: readonly Field[]): readonly (readonly [string, string])[];
  /** Whether it is made from the fields of the entity, of which some may be left out. */
  readonly ofFields?: true;
}

/** A field of an entity, as the filters and orders of `api.crud` see it. */
interface Field {
  readonly name: string;
  readonly target: string;
  readonly kind: Definition['kind'];
  readonly list: boolean;
}

/** The types of an exact sum and of an average, by the type of the values. */
const SUMS = { BigInt: 'BigInt', Decimal: 'Decimal', Float: 'Float', Int: 'BigInt' };
const AVERAGES = { BigInt: 'Float', Decimal: 'Decimal', Float: 'Float', Int: 'Float' };

const SHAPES: readonly Shape[] = [
  {
    suffix: 'Connection',
    type: 'ConnectionOf',
    refs: (of) => [
      ['aggregate', `${of}Aggregate!`],
      ['edges', `[${of}Edge!]!`],
      ['nodes', `[${of}!]!`],
      ['pageInfo', 'PageInfo!'],
      ['totalCount', 'Int!'],
    ],
  },
  {
    suffix: 'Edge',
    type: 'EdgeOf',
    refs: (of) => [
      ['cursor', 'String!'],
      ['node', `${of}!`],
    ],
  },
  {
    suffix: 'Aggregate',
    type: 'AggregateOf',
    refs: (of) => [
      ['avg', `${of}Averages!`],
      ['count', 'Int!'],
      ['countDistinct', `${of}Counts!`],
      ['max', `${of}Values!`],
      ['min', `${of}Values!`],
      ['sum', `${of}Sums!`],
    ],
  },
  {
    suffix: 'Counts',
    type: 'CountsOf',
    ofFields: true,
    refs: (_of, fields) => fields.filter(isFigured).map(({ name }) => [name, 'Int!'] as const),
  },
  {
    suffix: 'Values',
    type: 'ValuesOf',
    ofFields: true,
    refs: (_of, fields) =>
      fields
        .filter((field) => isFigured(field) && field.kind === 'scalar')
        .filter(({ target }) => target !== 'Boolean' && target !== 'ID')
        .map(({ name, target }) => [name, target] as const),
  },
  { suffix: 'Sums', type: 'SumsOf', ofFields: true, refs: figuresWith(SUMS) },
  { suffix: 'Averages', type: 'AveragesOf', ofFields: true, refs: figuresWith(AVERAGES) },
  {
    suffix: 'ListFilter',
    type: 'ListFilterOf',
    refs: (of) => [
      ['count', 'IntFilter'],
      ...['every', 'none', 'some'].map((word) => [word, `${of}Filter`] as const),
    ],
  },
  {
    suffix: 'Filter',
    type: 'FilterOf',
    ofFields: true,
    refs: (of, fields) => [
      ...fields.map(
        ({ name, target, list }) => [name, `${target}${list ? 'List' : ''}Filter`] as const,
      ),
      ['and', `[${of}Filter!]`],
      ['not', `${of}Filter`],
      ['or', `[${of}Filter!]`],
    ],
  },
  {
    suffix: 'Order',
    type: 'OrderOf',
    ofFields: true,
    refs: (_of, fields) =>
      fields.map(({ name, target, kind, list }) => [
        name,
        isObject(kind) ? `${target}${list ? 'List' : ''}Order` : 'Direction',
      ]),
  },
];

function figuresWith(types: Readonly<Record<string, string>>): Shape['refs'] {
  return (_of, fields) =>
    fields.flatMap(({ name, target, list }) => {
      const type = list || !Object.hasOwn(types, target) ? undefined : types[target];
      return type === undefined ? [] : [[name, type] as const];
    });
}

const isFigured = ({ name, list }: Field): boolean => !list && name !== 'id';

const isObject = (kind: Definition['kind']): boolean => kind === 'object' || kind === 'interface';

/** More fields than these are not worth a list of what is left out. */
const MOST_LEFT_OUT = 6;

/**
 * The type of the runtime that stands for the members of a type which `api.crud` wrote, or which
 * looks as if: `$.FilterOf<$Schema, 'Post'>`. Undefined if they have to be listed.
 */
export function writtenShape(definition: Definition, known: Definitions): string | undefined {
  const { name, fields } = definition;
  if (fields.some(({ comment, args }) => comment !== '' || args.length > 0)) return undefined;
  const byName = definitionsByName(known);
  for (const shape of SHAPES) {
    if (!name.endsWith(shape.suffix)) continue;
    const entity = byName.get(name.slice(0, -shape.suffix.length));
    if (entity?.kind !== 'object') continue;
    const written = typeOf(shape, { entity, fields, known });
    if (written !== undefined) return written;
  }
  return createOf(definition, known) ?? patchOf(definition, known);
}

function typeOf(
  { type, refs, ofFields }: Shape,
  { entity, fields, known }: { entity: Definition; fields: readonly Member[]; known: Definitions },
): string | undefined {
  const expected = new Map(refs(entity.name, fieldsOf(entity, known)));
  const given = refsOf(fields, known);
  for (const [name, ref] of given) if (expected.get(name) !== ref) return undefined;
  const without = [...expected.keys()].filter((name) => !given.has(name));
  if (!ofFields) {
    const whole = `$.${type}<'${entity.name}'>`;
    if (without.length === 0) return whole;
    return given.size > without.length ? `Omit<${whole}, ${union(without)}>` : undefined;
  }
  if (without.length > MOST_LEFT_OUT || without.some((name) => /^(?:and|or|not)$/.test(name)))
    return undefined;
  return `$.${type}<${ofSchema(entity.name, without)}>`;
}

const ofSchema = (entity: string, without: readonly string[]): string =>
  [`$Schema, '${entity}'`, ...(without.length > 0 ? [union(without)] : [])].join(', ');

const union = (names: readonly string[]) => names.map((name) => `'${name}'`).join(' | ');

const refsOf = (fields: readonly Member[], { names }: Definitions): Refs =>
  new Map(fields.map((field) => [field.name, refOf(field, names)]));

/** The fields of an entity without its connections. */
function fieldsOf({ fields }: Definition, known: Definitions): Field[] {
  return fields.flatMap((field) => {
    const ref = refOf(field, known.names);
    if (ref.endsWith('Connection!')) return [];
    const target = known.names(namedType(field.type));
    return [{ name: field.name, target, kind: kindOf(field, known), list: ref.startsWith('[') }];
  });
}

const kindOf = ({ type }: Member, known: Definitions): Definition['kind'] =>
  definitionsByName(known).get(known.names(namedType(type)))?.kind ?? 'scalar';

/** `CreatePostInput`, if it has the columns of `Post`. */
function createOf({ kind, name, fields }: Definition, known: Definitions): string | undefined {
  const [, of = ''] = /^Create(\w+)Input$/.exec(name) ?? [];
  const entity = definitionsByName(known).get(of);
  if (kind !== 'input' || entity?.kind !== 'object') return undefined;
  if (fields.some((field) => field.default !== undefined)) return undefined;
  const expected = new Map(
    entity.fields.flatMap((field) => {
      const ref = refOf(field, known.names);
      if (field.name === 'id' || ref.startsWith('[') || ref.endsWith('Connection!')) return [];
      const isRow = isObject(kindOf(field, known));
      return [isRow ? [`${field.name}Id`, ref.endsWith('!') ? 'ID!' : 'ID'] : [field.name, ref]];
    }),
  );
  const given = refsOf(fields, known);
  for (const [field, ref] of given) if (expected.get(field) !== ref) return undefined;
  const without = [...expected.keys()].filter((field) => !given.has(field));
  return 2 * without.length > given.size ? undefined : `$.CreateOf<${ofSchema(of, without)}>`;
}

/** `UpdatePostInput`, if it has the fields of `CreatePostInput`. */
function patchOf({ kind, name, fields }: Definition, known: Definitions): string | undefined {
  const create = definitionsByName(known).get(name.replace(/^Update/, 'Create'));
  if (kind !== 'input' || !name.startsWith('Update') || create?.kind !== 'input') return undefined;
  const [given, all] = [refsOf(fields, known), refsOf(create.fields, known)];
  const isPatch = [...all].every(([field, ref]) => given.get(field) === ref.replace(/!$/, ''));
  return isPatch && given.size === all.size
    ? `$.PatchOf<$Schema['inputs']['${create.name}']>`
    : undefined;
}

/** The enum of the fields of an entity: `$.FieldNamesOf<$Schema, 'Post'>`. */
export function writtenEnum(definition: Definition, known: Definitions): string | undefined {
  const { name, values } = definition;
  const entity = definitionsByName(known).get(name.replace(/Field$/, ''));
  if (entity?.kind !== 'object' || values.some(({ comment }) => comment !== '')) return undefined;
  const given = new Set(values.map((value) => value.name));
  const fields = fieldsOf(entity, known).filter(({ list }) => !list);
  const without = fields.filter((field) => !given.has(enumName(field.name)));
  const isAll = given.size === fields.length - without.length;
  return isAll && without.length <= MOST_LEFT_OUT
    ? `$.FieldNamesOf<${ofSchema(
        entity.name,
        without.map((field) => field.name),
      )}>`
    : undefined;
}

const enumName = (field: string) => field.replace(/(?<=.)(?=[A-Z])/g, '_').toUpperCase();

/** The arguments of a list or a connection of `api.crud`. */
export function writtenArguments({ args, type }: Member, known: Definitions): string | undefined {
  if (args.some(({ comment }) => comment !== '')) return undefined;
  const of = known.names(namedType(type)).replace(/Connection$/, '');
  const page: readonly (readonly [string, string])[] = [
    ['orderBy', `[${of}Order!]`],
    ['where', `${of}Filter`],
  ];
  const ints = (...names: string[]) => names.map((name) => [name, 'Int'] as const);
  const list = [...page, ...ints('limit', 'offset'), ['distinct', `[${of}Field!]`] as const];
  const cursors = [
    ['after', 'String'],
    ['before', 'String'],
  ] as const;
  const given = refsOf(args, known);
  const is = (expected: readonly (readonly [string, string])[]) =>
    given.size === expected.length && expected.every(([name, ref]) => given.get(name) === ref);
  if (is(list)) return `$.ListArgs<'${of}'>`;
  return is([...page, ...ints('first', 'last'), ...cursors])
    ? `$.ConnectionArgs<'${of}'>`
    : undefined;
}

const byNames = new WeakMap<Definitions, ReadonlyMap<string, Definition>>();

function definitionsByName(known: Definitions): ReadonlyMap<string, Definition> {
  const made =
    byNames.get(known) ?? new Map(known.types.map((definition) => [definition.name, definition]));
  byNames.set(known, made);
  return made;
}
