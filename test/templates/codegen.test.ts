import * as resolverPlugin from '@graphql-codegen/typescript-resolvers';
import * as typePlugin from '@graphql-codegen/typescript';
import { buildASTSchema, lexicographicSortSchema, parse } from 'graphql';
import { describe, expect, test } from 'vitest';
import { readDefinitions } from '../../templates/owned/types/definitions.ts';
import { printResolverTypes } from '../../templates/owned/types/resolver-types.ts';
import { printValueTypes } from '../../templates/owned/types/value-types.ts';
import { createRandom, type Random } from '../generator/random.ts';

/**
 * People know the types of graphql-codegen: ours have the same names and the same layout. The helpers that they are
 * written with are our own and only those that are used. Not compared, because ours differ on purpose: descriptions of
 * arguments, which it leaves out, and values that hold values, for which its answer depends on the order of the fields.
 */
const SCALARS = {
  DateTime: 'string',
  ID: { input: 'string', output: 'string | number' },
  Odd: 'any',
};

describe('the types of a schema', () => {
  test('are those of graphql-codegen for 150 random schemas', async () => {
    for (let seed = 1; seed <= 150; seed++) {
      const { sdl, entities } = randomSchema(createRandom(seed));
      expect([seed, ours(sdl, entities)]).toEqual([seed, await theirs(sdl, entities)]);
    }
  }, 120_000);

  test('are those of graphql-codegen for roots with other names, nested lists, defaults and deprecations', async () => {
    expect(ours(EVERYTHING, ['User', 'Post'])).toEqual(await theirs(EVERYTHING, ['User', 'Post']));
  });
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

function ours(sdl: string, entities: readonly string[]): string[] {
  const definitions = readDefinitions(parse(sdl), (name) => name);
  const named = /schema \{ query: (\w+) mutation: (\w+) subscription: (\w+) \}/.exec(sdl) ?? [
    '',
    'Query',
    'Mutation',
    'Subscription',
  ];
  const roots = { query: named[1]!, mutation: named[2]!, subscription: named[3]! };
  const rows = new Map(entities.map((name) => [name, `${name}Row`]));
  return declarations(
    [
      ...printValueTypes(definitions, SCALARS),
      ...printResolverTypes({ definitions, roots, rows }),
    ].join('\n\n'),
  );
}

async function theirs(sdl: string, entities: readonly string[]): Promise<string[]> {
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
  const [types, resolvers] = [
    await typePlugin.plugin(schema, [], config),
    await resolverPlugin.plugin(schema, [], config),
  ] as { prepend?: string[]; content: string }[];
  const text = [
    ...(types!.prepend ?? []),
    types!.content,
    resolvers!.content.slice(resolvers!.content.indexOf('/** Mapping')),
  ].join('\n');
  return declarations(
    text
      .replace(/\bScalars(?=\[')/g, 'ScalarTypes')
      .replace('export type Scalars = ', 'export type ScalarTypes = ')
      .replace(
        /^( {2}\| )? ?( {2})?(\/\*\* .* \*\/\n {2})?\{ (?=\w+\??: .*; \})/gm,
        (_, _bar, _space, comment: string | undefined) =>
          `${comment ? `  ${comment.trimEnd()}\n` : ''}  | { `,
      ),
  );
}

/** One text for each declaration. */
function declarations(text: string): string[] {
  return text
    .replace(/[ \t]+$/gm, '')
    .trim()
    .split(/\n\n+(?=export |\/\*\*)/)
    .map((each) => each.trim());
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
      `type Query {\n${fields(all)}\n}`,
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
