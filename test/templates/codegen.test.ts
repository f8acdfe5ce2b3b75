import * as resolverPlugin from '@graphql-codegen/typescript-resolvers';
import * as typePlugin from '@graphql-codegen/typescript';
import { buildASTSchema, lexicographicSortSchema, parse } from 'graphql';
import { afterAll, expect, test } from 'vitest';
import { readProject } from '../../schema/index.ts';
import { readDefinitions } from '../../templates/owned/types/definitions.ts';
import { printNamedTypes } from '../../templates/owned/types/named-types.ts';
import { printScalars } from '../../templates/owned/types/scalars.ts';
import { printSchemaTable } from '../../templates/owned/types/schema-table.ts';
import { MANIFEST, SCHEMAS, sdlOf } from '../crud/schemas.ts';
import { linkPackages, makeProject, type TestProject, typecheck } from '../generator/project.ts';
import { createRandom, type Random } from '../generator/random.ts';

/** People know the types of graphql-codegen: ours have the same names and the same meaning. */
const SCALARS = {
  DateTime: 'string',
  ID: { input: 'string', output: 'string | number' },
  Odd: 'any',
};

interface Schema {
  readonly sdl: string;
  readonly entities: readonly string[];
}

/** A schema for which `api.crud` writes. */
function written(name: (typeof SCHEMAS)[number]): Schema {
  const { project: read } = readProject({
    schema: [{ file: 'schema.graphql', text: sdlOf(name) }],
    manifest: { file: 'manifest.yaml', text: MANIFEST },
  });
  return { sdl: read!.sdl, entities: read!.entities.map((entity) => entity.name) };
}

const TSCONFIG = JSON.stringify({
  compilerOptions: {
    ...{ target: 'esnext', lib: ['esnext'], module: 'nodenext', types: ['node'] },
    ...{ noEmit: true, strict: true, exactOptionalPropertyTypes: true, skipLibCheck: true },
    ...{ allowImportingTsExtensions: true, verbatimModuleSyntax: true },
  },
  include: ['src'],
});

let project: TestProject | undefined;
afterAll(() => project?.remove());

test('types of a schema are those of graphql-codegen', async () => {
  const schemas = [
    { sdl: EVERYTHING, entities: ['User', 'Post'] },
    ...SCHEMAS.map(written),
    ...Array.from({ length: 25 }, (_, at) => randomSchema(createRandom(at + 1))),
  ];
  project = makeProject({
    'package.json': '{ "type": "module" }',
    'tsconfig.json': TSCONFIG,
    ...(await modules(schemas)),
  });
  linkPackages(project);
  expect(await typecheck(project.root)).toEqual([]);
}, 120_000);

test.each(SCHEMAS)('types of what api.crud writes take fewer lines than its SDL: %s', (name) => {
  const { sdl, entities } = written(name);
  const lines = ours({ sdl, entities }).split('\n').length;
  expect([lines, lines < sdl.split('\n').length]).toEqual([lines, true]);
});

const EVERYTHING = `
schema { query: Root mutation: Changes subscription: Events }
scalar DateTime
"""odd one */ here""" scalar Odd @specifiedBy(url: "https://example.com")
interface Node { id: ID! }
interface Named implements Node { id: ID! "the name" name(upper: Boolean = true): String }
"""
Several lines
 with */ and \`tick\` \${x}

last
"""
type User implements Node & Named { id: ID! name(upper: Boolean = true, n: Int!): String posts(first: Int! = 3, where: Where): [Post!]! matrix: [[Int!]]! old: Int @deprecated(reason: "use new */") older: Int @deprecated thing: Thing }
type Post implements Node { id: ID! author: User! color: Color! colors: [Color!] when: DateTime odd: Odd! line10: Int line9: Int line01: Int line1: Int line: Int }
type Plain { a: Int } extend type Plain { z: Int b(x: Int): Float }
union Thing = User | Post | Plain
"a color" enum Color { "is red" RED GREEN @deprecated(reason: "no") """
many
lines
""" BLUE }
input Where { a: Int = 3 b: Int! = 4 c: Color "doc" d: [Where!]! e: Odd @deprecated(reason: "x") }
input One @oneOf { a: Int b: String "docs" c: Where }
type Root { node(id: ID!): Node thing: Thing listy(a: [Int!]! = [1]): Int one(by: One): Plain }
type Changes { make(input: Where!): User! }
type Events { changed(id: ID!): User! tick: Int }
`;

/** The schemas as modules of one project: ours, theirs, and the two assigned to each other. */
function modules(schemas: readonly Schema[]): Promise<Record<string, string>> {
  return schemas.reduce<Promise<Record<string, string>>>(async (done, schema, at) => {
    const their = await theirs(schema);
    return {
      ...(await done),
      [`src/ours${at}.ts`]: ours(schema),
      [`src/theirs${at}.ts`]: their,
      [`src/compared${at}.ts`]: comparison(their, at),
    };
  }, Promise.resolve({}));
}

/**
 * Assigns each of their types to ours, and ours to theirs. What our resolvers return may have
 * promises in places where theirs has none, so that is only assigned one way.
 */
function comparison(text: string, at: number): string {
  const names = Array.from(
    text.matchAll(/^export (?:type|interface) (\w+)(<\w+[,>])?/gm),
    ([, name = '', unset]) => (unset === undefined && !THEIRS_ALONE.has(name) ? [name] : []),
  ).flat();
  return [
    `import type * as ours from './ours${at}.ts';`,
    `import type * as theirs from './theirs${at}.ts';`,
    ...names.flatMap((name) => [
      `export const from${name} = (value: theirs.${name}): ours.${name} => value;`,
      ...(/^Resolvers(?:Types)?$|Resolvers$/.test(name)
        ? []
        : [`export const to${name} = (value: ours.${name}): theirs.${name} => value;`]),
    ]),
  ].join('\n');
}

/** Parts that theirs are written with, and subscriptions, which may be functions there. */
const THEIRS_ALONE = new Set([
  'DirectiveResolverFn',
  'EventsResolvers',
  'Resolvers',
  'SubscriptionResolvers',
  'IsTypeOfResolverFn',
  'NextResolverFn',
  'ResolversInterfaceTypes',
  'ResolversUnionTypes',
]);

const rowsIn = (entities: readonly string[]) =>
  [
    'export type Context = { user: string };',
    ...entities.map((name) => `export interface ${name}Row { id: string; row: '${name}' }`),
  ].join('\n');

function ours({ sdl, entities }: Schema): string {
  const definitions = readDefinitions(parse(sdl), (name) => name);
  const named = /schema \{ query: (\w+) mutation: (\w+) subscription: (\w+) \}/.exec(sdl) ?? [
    '',
    'Query',
    'Mutation',
    'Subscription',
  ];
  const roots = { query: named[1]!, mutation: named[2]!, subscription: named[3]! };
  const parts = { definitions, roots, rows: new Map(entities.map((name) => [name, `${name}Row`])) };
  return [
    "import type { GraphQLScalarTypeConfig } from '@twofold/runtime';",
    "import type { schemaTypes as $ } from '@twofold/schema';",
    rowsIn(entities),
    printScalars(definitions, SCALARS),
    printSchemaTable(parts),
    ...printNamedTypes(parts),
  ].join('\n\n');
}

async function theirs({ sdl, entities }: Schema): Promise<string> {
  const config = {
    enumsAsTypes: true,
    useTypeImports: true,
    skipTypename: true,
    makeResolverTypeCallable: true,
    contextType: 'Context',
    maybeValue: 'T | null',
    inputMaybeValue: 'T | null | undefined',
    defaultScalarType: 'unknown',
    namingConvention: 'keep',
    scalars: SCALARS,
    mappers: Object.fromEntries(entities.map((name) => [name, `${name}Row`])),
  };
  const schema = lexicographicSortSchema(
    buildASTSchema(parse(sdl, { noLocation: true }), { assumeValidSDL: true }),
  );
  const printed = [
    await typePlugin.plugin(schema, [], config),
    await resolverPlugin.plugin(schema, [], config),
  ] as { prepend?: string[]; content: string }[];
  const text = [
    ...printed.flatMap(({ prepend }) => prepend ?? []),
    rowsIn(entities),
    ...printed.map(({ content }) => content),
  ].join('\n');
  return text
    .replace(/\bScalars(?=\[')/g, 'ScalarTypes')
    .replace('export type Scalars = ', 'export type ScalarTypes = ')
    .replace("from 'graphql'", "from '@twofold/runtime'");
}

const NAMES = ['Apple', 'Bear', 'Car10', 'Car9', 'car', 'Dog_1', 'Error', 'Fish'];
const COMMENTS = [
  '',
  '"words" ',
  '"""\nends */ here\n  and `there` ${x}\n\nlast\n"""\n',
  '"a \\"quote\\"" ',
];

function randomSchema(random: Random): { sdl: string; entities: string[] } {
  const count = 2 + random.whole(5);
  const entities = NAMES.slice(0, count);
  const values = ['Value1', 'Value2'].slice(0, random.whole(3));
  const faces = random.chance(0.6) ? ['Face'] : [];
  const unions = random.chance(0.6) ? ['Either'] : [];
  const outputs = [
    'String',
    'Int',
    'Float',
    'Boolean',
    'ID',
    'DateTime',
    'Odd',
    'Kind',
    ...entities,
    ...faces,
    ...unions,
  ];
  const field = (name: string, types: readonly string[]) =>
    `  ${random.pick(COMMENTS)}${name}${random.chance(0.3) ? `(${inputs(random, ['']).join(' ')})` : ''}: ${wrapped(random.pick(types), random)}${deprecated(random)}`;
  const fields = (types: readonly string[]) =>
    Array.from({ length: 1 + random.whole(5) }, (_, at) =>
      field(`${random.pick(['name', 'size', 'where', 'default'])}${at * 7}`, types),
    ).join('\n');
  const face = (of: string) =>
    faces.length > 0 && random.chance(0.5)
      ? `type ${of} implements Face {\n  id: ID!\n`
      : `type ${of} {\n  id: ID!\n`;
  const all = [...outputs, ...values];
  return {
    entities,
    sdl: [
      'scalar DateTime scalar Odd',
      `${random.pick(COMMENTS)}enum Kind { B A "c" C }`,
      ...faces.map(() => 'interface Face { id: ID! }'),
      ...unions.map(() => `union Either = ${entities.toReversed().join(' | ')}`),
      ...entities.map((name) => `${random.pick(COMMENTS)}${face(name)}${fields(all)}\n}`),
      ...values.map((name) => `type ${name} {\n${fields(outputs)}\n}`),
      `${random.pick(COMMENTS)}input Given {\n${inputs(random).join('\n')}\n}`,
      `type Query {\n${fields(all)}\n  all(id: ID float: Float int: Int): Boolean\n}`,
      ...(random.chance(0.5)
        ? [`type Mutation {\n${fields(all)}\n}`, `type Subscription {\n${fields(all)}\n}`]
        : []),
      ...(random.chance(0.3) ? [`extend type Query {\n  more: ${random.pick(all)}\n}`] : []),
    ].join('\n'),
  };
}

function inputs(random: Random, comments: readonly string[] = COMMENTS): string[] {
  return Array.from({ length: 1 + random.whole(3) }, (_, at) => {
    const type = random.pick(['String', 'Int', 'Kind', 'Given', 'DateTime', 'ID']);
    const whole =
      type === 'Int' && random.chance(0.4)
        ? `Int${random.pick(['', '!'])} = 3`
        : wrapped(type, random);
    return `  ${random.pick(comments)}in${at}: ${whole}`;
  });
}

function wrapped(type: string, random: Random): string {
  return random.pick([type, `${type}!`, `[${type}]`, `[${type}!]!`, `[[${type}!]]`]);
}

function deprecated(random: Random): string {
  return random.chance(0.15) ? random.pick([' @deprecated', ' @deprecated(reason: "old */")']) : '';
}
