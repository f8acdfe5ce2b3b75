import { buildSchema, parse } from 'graphql';
import { describe, expect, it } from 'vitest';
import { directivesSdl } from '@twofold/schema';
import { columnsOf, entityOf, fieldOf, operationOf, projectOf, QUERY, read } from './reading.ts';

const entity = (sdl: string, manifest: string | null = null) =>
  entityOf(projectOf(QUERY + sdl, manifest), 'A');

describe('the directives', () => {
  it('stand in the file that editors of a project read; `npm run schema` writes it', async () => {
    const text = `# The directives of the generator, for editors; the server does not serve them.\n\n${directivesSdl.trim()}\n`;
    await expect(text).toMatchFileSnapshot('../../schema/directives.graphql');
  });

  it('are each described, and valid SDL', () => {
    const names = parse(directivesSdl).definitions.flatMap((node) =>
      node.kind === 'DirectiveDefinition'
        ? [[node.name.value, node.description?.value.length ?? 0] as const]
        : [],
    );
    expect(names.every(([, length]) => length > 40)).toBe(true);
    expect(() => buildSchema(`${directivesSdl} type Query { a: Int }`)).not.toThrow();
  });

  it('may stand among the sources, as the file for editors', () => {
    const { project, diagnostics } = read(
      `${directivesSdl} ${QUERY} type A @entity(plural: "as") { id: ID! }`,
    );
    expect(diagnostics).toEqual([]);
    expect(project?.sdl).not.toMatch(/directive|Twofold/);
  });
});

describe('@entity', () => {
  it('names the plural and the table', () => {
    expect(entity('type A @entity(plural: "alphas", table: "letters") { id: ID! }')).toMatchObject({
      plural: 'alphas',
      table: 'letters',
    });
    expect(entity('type A @entity(plural: "alphaBetas") { id: ID! }').table).toBe('alpha_betas');
  });

  it('keeps a type out of the database', () => {
    const project = projectOf(`${QUERY} type A @entity(persist: false) { id: ID! b: Int }`);
    expect(project.entities).toEqual([]);
    expect(project.objects.at(-1)).toMatchObject({ name: 'A', role: 'value' });
  });

  it('makes a table of a type whose name would say otherwise', () => {
    expect(
      entityOf(projectOf(`${QUERY} type TaxPayload @entity { id: ID! }`), 'TaxPayload').table,
    ).toBe('tax_payloads');
  });

  it('keeps timestamps that no field shows, or leaves fields of these names alone', () => {
    expect(
      entity('type A @entity(timestamps: true) { id: ID! }').columns.map(({ name, stamp }) => [
        name,
        stamp,
      ]),
    ).toEqual([
      ['id', undefined],
      ['created_at', 'created'],
      ['updated_at', 'updated'],
    ]);
    expect(
      entity('scalar DateTime type A @entity(timestamps: false) { id: ID! createdAt: DateTime! }')
        .columns[1]?.stamp,
    ).toBeUndefined();
  });

  it('marks removed rows', () => {
    expect(entity('type A @entity(softDelete: true) { id: ID! }')).toMatchObject({
      softDelete: 'deleted_at',
      columns: [{}, { name: 'deleted_at', required: false }],
    });
    expect(
      columnsOf(
        projectOf(
          `${QUERY} scalar DateTime type A @entity(softDelete: true) { id: ID! deletedAt: DateTime }`,
        ),
        'A',
      ),
    ).toEqual(['id', 'deleted_at']);
  });

  it('works on an extension', () => {
    expect(entity('type A { id: ID! } extend type A @entity(plural: "alphas")').table).toBe(
      'alphas',
    );
  });
});

describe('@computed', () => {
  it('makes no column and no relation', () => {
    const project = projectOf(
      `${QUERY} type A { id: ID! b: String @computed c: B @computed } type B { id: ID! }`,
    );
    expect(columnsOf(project, 'A')).toEqual(['id']);
    expect(fieldOf(project, 'A.c')).toMatchObject({
      source: { kind: 'custom' },
      decidedBy: '@computed',
    });
  });
});

describe('@unique', () => {
  it('is of columns and of keys', () => {
    expect(
      entity('type A { id: ID! b: String @unique c: B @unique } type B { id: ID! }').columns.map(
        ({ unique }) => unique,
      ),
    ).toEqual([false, true, true]);
  });
});

describe('@index', () => {
  it('names fields, relations among them, and may be repeated', () => {
    const { indexes } = entity(
      'type A @index(fields: ["b", "c"], unique: true) @index(fields: "b") { id: ID! b: String c: B } type B { id: ID! }',
    );
    expect(indexes).toEqual([
      { name: 'as_c_id_index', columns: ['c_id'], unique: false },
      { name: 'as_b_c_id_key', columns: ['b', 'c_id'], unique: true },
      { name: 'as_b_index', columns: ['b'], unique: false },
    ]);
  });

  it('that begins with a relation takes the place of the index of its key', () => {
    const { indexes } = entity(
      'type A @index(fields: ["c", "b"], unique: true) { id: ID! b: String c: B } type B { id: ID! }',
    );
    expect(indexes).toEqual([{ name: 'as_c_id_b_key', columns: ['c_id', 'b'], unique: true }]);
  });
});

describe('@default', () => {
  it('has values and expressions', () => {
    const { columns } = entity(`scalar DateTime scalar UUID enum E { X Y }
      type A { id: ID! a: Int @default(value: 3) b: String @default(value: "x") c: Boolean @default(value: false) d: E @default(value: Y) e: DateTime @default(expr: NOW) f: UUID @default(expr: UUID) g: Float @default(value: 1) h: Int @default(value: null) }`);
    expect(columns.slice(1).map((column) => column.default)).toEqual([
      { kind: 'value', value: 3 },
      { kind: 'value', value: 'x' },
      { kind: 'value', value: false },
      { kind: 'value', value: 'Y' },
      { kind: 'now' },
      { kind: 'uuid' },
      { kind: 'value', value: 1 },
      { kind: 'value', value: null },
    ]);
  });

  it('has the form in which rows have the value: moments in UTC, UUIDs in small letters', () => {
    const { columns } = entity(`scalar DateTime scalar Time scalar LocalTime scalar UUID
      type A { id: ID! a: DateTime @default(value: "2026-01-31T12:00:00+01:00") b: Time @default(value: "12:00:00.500Z") c: LocalTime @default(value: "12:00:00") d: UUID @default(value: "00000000-0000-4000-8000-00000000000A") e: String @default(value: "2026-01-31T12:00:00Z") }`);
    expect(columns.slice(1).map((column) => column.default)).toEqual([
      { kind: 'value', value: '2026-01-31T11:00:00.000Z' },
      { kind: 'value', value: '12:00:00.5' },
      { kind: 'value', value: '12:00:00' },
      { kind: 'value', value: '00000000-0000-4000-8000-00000000000a' },
      { kind: 'value', value: '2026-01-31T12:00:00Z' },
    ]);
  });

  it('frees a create from naming the field', () => {
    const project = projectOf(
      'type Query { x: Int } type Mutation { createA(b: Int!): A } type A { id: ID! b: Int! c: Int! @default(value: 0) }',
    );
    expect(operationOf(project, 'createA').action.kind).toBe('create');
  });
});

describe('@updatedAt', () => {
  it('is the time of the last change', () => {
    expect(
      entity('scalar DateTime type A { id: ID! touched: DateTime! @updatedAt }').columns[1]?.stamp,
    ).toBe('updated');
  });
});

describe('@constraint', () => {
  it('is of columns, arguments and inputs', () => {
    const project = projectOf(
      'type Query { as(limit: Int @constraint(max: 10)): [A!]! } type A { id: ID! b: String @constraint(minLength: 1, maxLength: 5, pattern: "^a", format: "slug") c: Float @constraint(min: 0.5) }',
    );
    expect(
      entityOf(project, 'A')
        .columns.slice(1)
        .map(({ constraint }) => constraint),
    ).toEqual([{ minLength: 1, maxLength: 5, pattern: '^a', format: 'slug' }, { min: 0.5 }]);
    expect(operationOf(project, 'as').args[0]?.constraint).toEqual({ max: 10 });
  });
});

describe('@auth', () => {
  const manifest = 'name: x\nauth: { roles: { list: [Admin, Member] } }';

  it('has rules for types, fields and operations, with the owner as a column', () => {
    const project = projectOf(
      `type Query { as: [A!]! @auth(allow: [PUBLIC]) } type User @auth(allow: [OWNER]) { id: ID! email: String! @auth(allow: OWNER, on: [READ]) }
      type A @auth(allow: [OWNER], owner: "author") @auth(allow: [ROLE], roles: ["Admin"], on: [READ, DELETE]) { id: ID! author: User! }`,
      manifest,
    );
    const all = ['READ', 'CREATE', 'UPDATE', 'DELETE'];
    expect(entityOf(project, 'A').rules).toEqual([
      { allow: ['OWNER'], roles: [], owner: 'author_id', on: all },
      { allow: ['ROLE'], roles: ['Admin'], on: ['READ', 'DELETE'] },
    ]);
    expect(entityOf(project, 'User').rules).toEqual([
      { allow: ['OWNER'], roles: [], owner: 'id', on: all },
    ]);
    expect(fieldOf(project, 'User.email').rules).toEqual([
      { allow: ['OWNER'], roles: [], owner: 'id', on: ['READ'] },
    ]);
    expect(operationOf(project, 'as').rules).toEqual([{ allow: ['PUBLIC'], roles: [], on: all }]);
  });

  it('finds the only owner that there can be', () => {
    const project = projectOf(
      `${QUERY} type User { id: ID! email: String! } type A @auth(allow: [OWNER]) { id: ID! writer: User! }`,
      manifest,
    );
    expect(entityOf(project, 'A').rules[0]?.owner).toBe('writer_id');
  });
});

describe('@list', () => {
  it('has the order, the page and the filters of a list', () => {
    const project = projectOf(
      `type Query { as: [A!]! @list(orderBy: ["b DESC", "c"], default: 5, max: 20, filter: ["b"]) } type A { id: ID! b: Int c: Int }`,
    );
    expect(operationOf(project, 'as').action).toMatchObject({
      list: {
        order: [
          { column: 'b', descending: true },
          { column: 'c', descending: false },
          { column: 'id', descending: false },
        ],
        paging: { default: 5, max: 20 },
        filterable: ['b'],
      },
    });
  });
});

describe('@resolve', () => {
  it('wins over the signature', () => {
    const project =
      projectOf(`type Query { feed: [A!]! @resolve(as: LIST) as: [A!]! @resolve(as: CUSTOM) byName(called: String!): A @resolve(as: GET, by: ["b"]) }
      type Mutation { publish(b: String): A @resolve(as: CREATE) retract(id: ID!): A @resolve(as: DELETE) } type A { id: ID! b: String @unique }`);
    expect(project.operations.map(({ action, decidedBy }) => [action.kind, decidedBy])).toEqual([
      ['list', '@resolve'],
      ['custom', '@resolve'],
      ['get', '@resolve'],
      ['create', '@resolve'],
      ['remove', '@resolve'],
    ]);
    expect(operationOf(project, 'byName').action).toMatchObject({
      by: [{ arg: 'called', column: 'b' }],
      unique: true,
    });
  });
});

describe('@renamed', () => {
  it('remembers tables, columns, keys and values', () => {
    const project = projectOf(
      `${QUERY} type Article @renamed(from: "BlogPost") { id: ID! heading: String @renamed(from: "oldTitle") writer: User @renamed(from: "author") state: State } type User { id: ID! } enum State { NEW @renamed(from: "FRESH") OLD }`,
    );
    const article = entityOf(project, 'Article');
    expect(article.renamedFrom).toBe('blog_posts');
    expect(article.columns.map(({ renamedFrom }) => renamedFrom)).toEqual([
      undefined,
      'old_title',
      'author_id',
      undefined,
    ]);
    expect(project.enums[0]?.renames).toEqual([{ from: 'FRESH', to: 'NEW' }]);
  });
});
