import type { Random } from './random.ts';

interface FieldOf {
  readonly name: string;
  readonly type: string;
}

interface TypeOf {
  readonly name: string;
  readonly fields: readonly FieldOf[];
  readonly description: string;
}

/** A model that changes at random and can be printed as SDL in one file or in many. */
export interface RandomSchema {
  readonly types: readonly TypeOf[];
  /** How many names were given, so that none comes twice. */
  readonly made: number;
}

const SCALARS = ['String', 'Int', 'Float', 'Boolean', 'DateTime', 'Color', '[String!]'];
const NAMES = ['Error', 'Object', 'Promise', 'select', 'constructor', 'Record', 'Order', 'Group'];
const DESCRIPTIONS = [
  '',
  'plain words',
  'ends */ here',
  'a `tick` and ${brace}',
  '<b>&amp;</b> "quoted" \\ back',
];

export function startSchema(random: Random, types = 3): RandomSchema {
  let schema: RandomSchema = { types: [], made: 0 };
  for (let at = 0; at < types; at++) schema = addType(schema, random);
  return schema;
}

/** One random change. */
export function changeSchema(schema: RandomSchema, random: Random): RandomSchema {
  if (schema.types.length < 2) return addType(schema, random);
  return random.pick([addType, removeType, addField, addField, addField, removeField, describe])(
    schema,
    random,
  );
}

export function addType({ types, made }: RandomSchema, random: Random): RandomSchema {
  const odd = NAMES[made % NAMES.length]!;
  const name =
    random.chance(0.2) && !types.some((type) => type.name === odd) ? odd : `${word(random)}${made}`;
  const fields = [field(made + 1, types, random), field(made + 2, types, random)];
  return {
    types: [...types, { name, fields, description: random.pick(DESCRIPTIONS) }],
    made: made + 3,
  };
}

/** A name that may stand anywhere in the order of names. */
function word(random: Random): string {
  const letters = Array.from({ length: 5 }, () => String.fromCharCode(97 + random.whole(26))).join(
    '',
  );
  return `T${letters}`;
}

function removeType({ types, made }: RandomSchema, random: Random): RandomSchema {
  const gone = random.pick(types).name;
  const left = types.filter(({ name }) => name !== gone);
  return {
    types: left.map((type) => ({
      ...type,
      fields: type.fields.filter(({ type: of }) => of !== gone),
    })),
    made,
  };
}

function addField({ types, made }: RandomSchema, random: Random): RandomSchema {
  const target = random.pick(types);
  const added = field(made, types.slice(0, types.indexOf(target)), random);
  return {
    types: types.map((type) =>
      type === target ? { ...type, fields: [...type.fields, added] } : type,
    ),
    made: made + 1,
  };
}

function removeField({ types, made }: RandomSchema, random: Random): RandomSchema {
  const target = random.pick(types);
  const gone = random.pick(target.fields);
  return {
    types: types.map((type) =>
      type === target ? { ...type, fields: type.fields.filter((each) => each !== gone) } : type,
    ),
    made,
  };
}

function describe({ types, made }: RandomSchema, random: Random): RandomSchema {
  const target = random.pick(types);
  const description = random.pick(DESCRIPTIONS);
  return { types: types.map((type) => (type === target ? { ...type, description } : type)), made };
}

/** Everything but keys is nullable, so that any change can be migrated over any rows. */
function field(number: number, types: readonly TypeOf[], random: Random): FieldOf {
  const name = `${random.pick(['name', 'size', 'where', 'default', 'note'])}${number}`;
  const related = types.length > 0 && random.chance(0.25);
  return { name, type: related ? random.pick(types).name : random.pick(SCALARS) };
}

/** The SDL in files by name: one for each type, with the root fields that belong to it. */
export function printFiles({ types }: RandomSchema): Record<string, string> {
  const shared =
    'scalar DateTime\n\nenum Color {\n  RED\n  GREEN\n}\n\ntype Query {\n  hello: String\n}\n\ntype Mutation {\n  touch: Boolean\n}\n';
  return {
    'schema/_shared.graphql': shared,
    ...Object.fromEntries(types.map((type) => [`schema/${type.name}.graphql`, printType(type)])),
  };
}

/** The same in one file. */
export function printSdl(schema: RandomSchema): string {
  return Object.values(printFiles(schema)).join('\n');
}

function printType({ name, fields, description }: TypeOf): string {
  const own = fields.filter(({ type }) => !type.startsWith('[') && SCALARS.includes(type));
  const inputs = own.map((each) => `  ${each.name}: ${each.type}`).join('\n') || '  nothing: Int';
  const doc = description === '' ? '' : `"""\n${description}\n"""\n`;
  return `${doc}type ${name} {
  id: ID!
  label: String
${fields.map((each) => `  ${each.name}: ${each.type}`).join('\n')}
}

input Create${name}Input {
  label: String
${own.length > 0 ? inputs : ''}
}

extend type Query {
  find${name}(id: ID!): ${name}
  all${name}(limit: Int): [${name}!]!
}

extend type Mutation {
  create${name}(input: Create${name}Input!): ${name}!
}
`;
}
