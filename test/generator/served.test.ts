import {
  type GraphQLField,
  type GraphQLSchema,
  buildASTSchema,
  buildClientSchema,
  getIntrospectionQuery,
  lexicographicSortSchema,
  parse,
  printSchema,
  visit,
} from 'graphql';
import { describe, expect, test } from 'vitest';
import { directivesSdl } from '../../schema/index.ts';
import { starters } from '../../templates/starter/index.ts';
import { HOSTILE, KITCHEN_SINK } from '../templates/schemas.ts';
import { query, run } from '../server/program.ts';
import { generator, linkPackages, makeProject } from './project.ts';

const INPUTS: readonly (readonly [name: string, schema: string, manifest: string])[] = [
  ...Object.entries(starters).map(
    ([name, starter]) => [name, starter.schema, starter.manifest('shop')] as const,
  ),
  ['every kind of field', KITCHEN_SINK, 'name: shop\n'],
  ['names that clash with everything', HOSTILE, 'name: shop\n'],
];

const OURS = new Set(
  parse(directivesSdl).definitions.flatMap((each) =>
    each.kind === 'DirectiveDefinition' ? [each.name.value] : [],
  ),
);

/** The input without what is said to the generator alone. */
const withoutOurs = (sdl: string) =>
  buildASTSchema(
    visit(parse(sdl), { Directive: (node) => (OURS.has(node.name.value) ? null : undefined) }),
  );

/** What is served without the arguments that page a list, where the input has none of its own. */
function withoutPages(served: GraphQLSchema, input: GraphQLSchema): GraphQLSchema {
  for (const type of Object.values(served.getTypeMap())) {
    const given = input.getType(type.name);
    if (!('getFields' in type) || !given || !('getFields' in given)) continue;
    for (const field of Object.values<object>(type.getFields())) {
      if (!('args' in field)) continue;
      const own = given.getFields()[(field as GraphQLField<unknown, unknown>).name];
      const named = own && 'args' in own ? own.args.map(({ name }) => name) : [];
      const args = (field as GraphQLField<unknown, unknown>).args;
      const kept = args.filter(
        ({ name }) => named.includes(name) || !/^(limit|offset)$/.test(name),
      );
      Object.assign(field, { args: kept });
    }
  }
  return served;
}

describe('a running server', () => {
  test.each(INPUTS)('serves the very schema of the input: %s', async (_name, schema, manifest) => {
    const shop = makeProject({ 'schema.graphql': schema, 'manifest.yaml': manifest });
    linkPackages(shop);
    expect(await generator(['generate'], shop.root)).toMatchObject({ code: 0 });
    const env = {
      DATABASE_URL: ':memory:',
      PORT: '0',
      HOST: '127.0.0.1',
      NODE_ENV: 'development',
      JWT_SECRET: 'j'.repeat(43),
      API_KEY: 'k'.repeat(43),
      HOST_PASSWORD: 'correct horse battery',
    };
    const program = run("await import('./src/server.ts');\nexport {};\n", env, shop.root);
    try {
      const { data, errors } = await query(
        await program.listening,
        getIntrospectionQuery({
          specifiedByUrl: true,
          inputValueDeprecation: true,
          oneOf: true,
          schemaDescription: true,
        }),
        undefined,
        { 'x-api-key': env.API_KEY },
      );
      expect(errors).toBeUndefined();
      const input = withoutOurs(schema);
      const served = withoutPages(buildClientSchema(data), input);
      expect(printSchema(lexicographicSortSchema(served))).toEqual(
        printSchema(lexicographicSortSchema(input)),
      );
    } finally {
      program.process.kill('SIGKILL');
      await program.ended;
      shop.remove();
    }
  });
});
