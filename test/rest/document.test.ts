import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { Validator } from '@seriousme/openapi-schema-validator';
import {
  openapiDocument,
  projectRoutes,
  readProject,
  restRoutes,
  type Project,
} from '@twofold/schema';
import { capabilitiesFor, flowsFor } from '../capabilities.ts';
import { boot } from '../../runtime/core/boot.ts';
import { BLOG } from './blog.ts';
import { projectOf } from './harness.ts';

const rest = 'api: { rest: true }\n';
const auth = 'auth:\n  roles: { list: [admin, member], default: member }\n';
const hosting = 'hosting:\n  domain: apps.test\n';
const USERS =
  'type User { id: ID! name: String! email: String @unique } type Query { users: [User!]! } type Mutation { createUser(name: String!): User! }';

const CONNECTION = `
  type Author { id: ID! name: String! best(first: Int): PostConnection @computed }
  type Post { id: ID! title: String! }
  type PostConnection { edges: [PostEdge!]! pageInfo: PageInfo! totalCount: Int! }
  type PostEdge { cursor: String! node: Post! }
  type PageInfo { hasNextPage: Boolean! hasPreviousPage: Boolean! startCursor: String endCursor: String }
  type Query { authors: [Author!]! posts(first: Int, after: String): PostConnection! }`;

const projects: Readonly<Record<string, Project>> = {
  'REST alone': projectOf(BLOG, `name: blog\n${rest}`),
  'REST and auth': projectOf(USERS, `name: users\n${rest}${auth}`),
  'a connection with @computed': projectOf(CONNECTION, `name: blog\n${rest}`),
  'REST and hosting': projectOf(BLOG, `name: host\n${rest}${hosting}`),
  'all of it': projectOf(USERS, `name: all\n${rest}${auth}${hosting}`),
};

/** The document of a server, with the flows of its capabilities. */
const documentOf = (project: Project) =>
  openapiDocument(project, undefined, { flows: flowsFor(project) });

const EVERY = Object.entries(projects);

/** The routes that a server really has: those of its modules, and the fixed ones. */
async function served(project: Project): Promise<string[]> {
  const booted = await boot(
    { project, capabilities: capabilitiesFor(project) },
    {
      env: {
        DATABASE_URL: ':memory:',
        LOG_LEVEL: 'silent',
        JWT_SECRET: 'a test secret that is long enough to be one',
        API_KEY: 'root-key-of-the-tests-0123456789',
        HOST_PASSWORD: 'a password for the operator',
      },
    },
  );
  try {
    return booted.modules
      .flatMap((module) => module.routes ?? [])
      .map(({ spec }) => `${spec.method} ${spec.path}`);
  } finally {
    for (const module of booted.modules) await module.stop?.();
    await booted.kernel.store.close();
  }
}

describe('the OpenAPI document', () => {
  it.each(EVERY)('of %s is valid OpenAPI 3.1', async (_name, project) => {
    const result = await new Validator().validate(JSON.parse(JSON.stringify(documentOf(project))));
    expect(result.errors ?? []).toEqual([]);
    expect(result.valid).toBe(true);
  });

  it.each(EVERY)(
    'of %s has every route that the router has, and no other',
    async (_name, project) => {
      const document = documentOf(project) as { paths: Record<string, object> };
      const told = Object.entries(document.paths).flatMap(([path, item]) =>
        Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
      );
      const rest = restRoutes(project).map(({ method, path }) => `${method} ${path}`);
      const template = (route: string) => route.replace(/[:*](\w+)/g, '{$1}');
      expect(told.sort()).toEqual(
        [...(await served(project)), ...(project.api.rest ? rest : []), 'GET /api/health']
          .map(template)
          .sort(),
      );
    },
  );

  it.each(EVERY)(
    'of %s refers to nothing that is not in it, and names each call once',
    (_name, project) => {
      const document = documentOf(project) as any;
      const refers = [
        ...JSON.stringify(document).matchAll(/"#\/components\/schemas\/([^"]+)"/g),
      ].map((match) => match[1] as string);
      for (const name of refers) expect(Object.keys(document.components.schemas)).toContain(name);
      for (const name of Object.keys(document.components.schemas))
        expect([...refers, 'Error', 'Pagination']).toContain(name);
      const ids = Object.values(document.paths).flatMap((item: any) =>
        Object.values(item).map(({ operationId }: any) => operationId),
      );
      expect(new Set(ids).size).toBe(ids.length);
    },
  );

  it('says what a module takes and answers', () => {
    const { paths, components } = openapiDocument(projects['REST alone'] as Project) as any;
    expect(Object.keys(paths['/api/posts'])).toEqual(['get', 'post']);
    expect(Object.keys(paths['/api/posts/{id}'])).toEqual(['get', 'patch', 'put', 'delete']);
    const parameters = Object.fromEntries(
      paths['/api/posts'].get.parameters.map((parameter: any) => [parameter.name, parameter]),
    );
    expect(parameters.limit.schema).toEqual({
      type: 'integer',
      minimum: 1,
      maximum: 100,
      default: 20,
    });
    expect(parameters.views_in).toEqual({
      name: 'views_in',
      in: 'query',
      schema: { type: 'array', items: { type: 'integer' } },
      style: 'form',
      explode: false,
    });
    expect(parameters.sort.schema.enum).toContain('createdAt');
    expect(parameters).not.toHaveProperty('words');
    expect(paths['/api/posts'].post.requestBody.content['application/json'].schema).toEqual({
      $ref: '#/components/schemas/CreatePostInput',
    });
    expect(components.schemas.CreatePostInput).toMatchObject({
      required: ['title', 'authorId'],
      properties: {
        title: { type: 'string' },
        status: { anyOf: [{ $ref: '#/components/schemas/Status' }, { type: 'null' }] },
      },
      additionalProperties: false,
    });
    expect(paths['/api/authors'].post.requestBody.content['application/json'].schema).toMatchObject(
      { required: ['name', 'email'], properties: { age: { type: ['integer', 'null'] } } },
    );
    expect(components.schemas.Post.properties).toMatchObject({
      id: { type: 'string' },
      authorId: { type: 'string' },
      createdAt: { type: 'string', format: 'date-time' },
      comments: { type: 'array' },
    });
    expect(Object.keys(paths['/api/posts'].get.responses)).toEqual(['200', '400', '429']);
    expect(paths['/api/posts'].get.security).toEqual([]);
  });

  it.each(['blog', 'company', 'hosting'])(
    'is the same from the emitted project %s as from its two files',
    async (name) => {
      const folder = new URL(`../../examples/${name}/`, import.meta.url);
      const { app } = (await import(new URL('src/generated/app.ts', folder).href)) as {
        app: { project: Project };
      };
      const text = (file: string) => readFileSync(new URL(file, folder), 'utf8');
      // Byte by byte: descriptions and the order of the schema, which the emitted model does not have, are in its SDL.
      const printed = (project: Project) => JSON.stringify(documentOf(project));
      expect(printed(app.project)).toBe(
        printed(projectOf(text('schema.graphql'), text('manifest.yaml'))),
      );
    },
  );

  it('says who is allowed', () => {
    const sdl = `type User { id: ID! name: String! email: String! }
      type Note @auth(allow: [OWNER, ROLE], roles: ["admin"], owner: "owner") { id: ID! text: String! owner: User! }
      type Page @auth(allow: [PUBLIC], on: [READ]) @auth(allow: [USER], on: [CREATE]) { id: ID! title: String! }
      type Plan @auth(allow: [USER], on: [READ]) @auth(allow: [ROLE], roles: ["admin"], on: [CREATE]) { id: ID! text: String! }
      type Tag { id: ID! text: String! }
      type Query { notes: [Note!]! pages: [Page!]! plans: [Plan!]! tags: [Tag!]! }
      type Mutation { createPage(title: String!): Page! createPlan(text: String!): Plan! createTag(text: String!): Tag! @auth(allow: [ROLE], roles: ["admin"]) }`;
    const { paths } = openapiDocument(projectOf(sdl, `name: x\n${rest}${auth}`)) as any;
    expect(paths['/api/notes'].get).toMatchObject({
      security: [{ bearer: [] }, { api_key: [] }],
      description: 'Allowed for: the owner, the role admin.',
    });
    expect(paths['/api/pages'].get).toMatchObject({
      security: [],
      description: 'Allowed for: everybody.',
    });
    expect(paths['/api/pages'].post.security).toHaveLength(2);
    expect(Object.keys(paths['/api/notes'].get.responses)).toContain('401');
    const callers = ['notes', 'pages', 'plans', 'tags'].map((each) => {
      const { get, post } = paths[`/api/${each}`];
      return [each, get?.['x-callers'], post?.['x-callers']];
    });
    expect(callers).toEqual([
      ['notes', { keys: false }, undefined],
      ['pages', undefined, { keys: false }],
      ['plans', { keys: false }, { roles: ['admin'], keys: false }],
      ['tags', undefined, { roles: ['admin'], keys: false }],
    ]);
  });

  it('has no fixed path that a module could stand before', () => {
    const all = projects['all of it'] as Project;
    const fixed = projectRoutes(all, undefined, flowsFor(all)).filter(
      ({ security, path }) => security === undefined && path.startsWith('/api/'),
    );
    const segments = [...new Set(fixed.map(({ path }) => path.split('/')[2] as string))].filter(
      (segment) => /^[a-z]+$/.test(segment),
    );
    expect(segments.length).toBeGreaterThan(8);
    for (const segment of segments) {
      const { diagnostics } = readProject({
        schema: [
          {
            file: 's',
            text: `type Thing @entity(plural: "${segment}") { id: ID! } type Query { ${segment}: [Thing!]! }`,
          },
        ],
        manifest: {
          file: 'm',
          text: `name: x\nauth: {}\nhosting: { domain: apps.example.com }\n${rest}`,
        },
      });
      expect([segment, diagnostics.map(({ code }) => code)]).toEqual([
        segment,
        expect.arrayContaining(['REST_PATH_RESERVED']),
      ]);
    }
  });

  it('says from which day on something deprecated may be gone', () => {
    const until = '@deprecated(reason: "Use title, since 2026-01-31. Removal on 2027-03-01.")';
    const sdl = `type Post { id: ID! title: String! name: String ${until} old: Int @deprecated(reason: "by 2027-02-30") }
      input PostInput { title: String! name: String ${until} }
      type Query { posts: [Post!]! ${until} post(id: ID!): Post } type Mutation { createPost(input: PostInput!): Post! }`;
    const { paths, components } = openapiDocument(projectOf(sdl, `name: x\n${rest}`)) as any;
    const mark = { deprecated: true, 'x-sunset': '2027-03-01' };
    const { Post, PostInput } = components.schemas;
    expect(Post.properties.name).toMatchObject(mark);
    expect(Post.properties.old).toEqual({ type: ['integer', 'null'], deprecated: true });
    expect(PostInput.properties.name).toMatchObject(mark);
    expect(paths['/api/posts'].get).toMatchObject(mark);
    expect(paths['/api/posts'].post).not.toHaveProperty('deprecated');
    expect(paths['/api/posts/{id}'].get).not.toHaveProperty('deprecated');
  });

  it('keeps its own names apart from the types of the schema', () => {
    const sdl =
      'type Error { id: ID! text: String! } type Pagination { id: ID! text: String! } type Query { errors: [Error!]! paginations: [Pagination!]! }';
    const { components } = openapiDocument(projectOf(sdl, `name: x\n${rest}`)) as any;
    expect(Object.keys(components.schemas).sort()).toEqual([
      'Error',
      'Pagination',
      'RestError',
      'RestPagination',
    ]);
    expect(components.schemas.Error.properties).toHaveProperty('text');
  });

  it("tells of lists that the user's own function pages that nobody counts them", () => {
    const total = (own: boolean) =>
      (
        openapiDocument(
          projects['REST alone'] as Project,
          (coordinate) => own && coordinate === 'Query.posts',
        ) as any
      ).paths['/api/posts'].get;
    expect(
      total(false).responses[200].content['application/json'].schema.properties.pagination,
    ).toEqual({ $ref: '#/components/schemas/Pagination' });
    expect(
      total(true).responses[200].content['application/json'].schema.properties.pagination.properties
        .total.type,
    ).toEqual(['integer', 'null']);
    expect(total(true).parameters.map(({ name }: { name: string }) => name)).toEqual([
      'page',
      'limit',
      'fields',
      'include',
      'status',
    ]);
  });
});
