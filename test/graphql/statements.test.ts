import { describe, expect, it } from 'vitest';
import { databases, startServer, user, type TestServer } from './harness.ts';

const SDL = `
  union Owned = Diary | Letter
  type Member { id: ID! name: String! phone: String @auth(allow: [OWNER], owner: "self") self: Member diaries: [Diary!]! letters(first: Int, after: String): LetterConnection! }
  type Diary @auth(allow: [OWNER], owner: "member") { id: ID! text: String! member: Member! }
  type Letter { id: ID! text: String! diary: Diary! about: Owned member: Member! }
  type LetterConnection { edges: [LetterEdge!]! nodes: [Letter!]! pageInfo: PageInfo! totalCount: Int! }
  type LetterEdge { node: Letter! cursor: String! }
  type PageInfo { hasNextPage: Boolean! endCursor: String }
  type LetterPayload { letter: Letter ok: Boolean! }
  input LetterInput { text: String! diaryId: ID! memberId: ID! }
  type Query { members: [Member!]! member(id: ID!): Member diaries: [Diary!] letters(first: Int): LetterConnection letter(id: ID!): Letter needed(id: ID!): Letter! @resolve(as: GET) owned: [Owned!]! }
  type Mutation { createLetter(input: LetterInput!): LetterPayload! }
`;

describe.each(databases)(
  'a query whose rows hold something that this caller is not shown, on %s',
  (database) => {
    const within = async (test: (server: TestServer) => Promise<void>) => {
      const server = await startServer(SDL, {
        database,
        manifest: 'name: test\napi: { access: public }\nauth: {}\n',
      });
      try {
        const { db } = server.store;
        for (const name of ['Ada', 'Bob'])
          await db
            .insertInto('members')
            .values({ name, phone: `+${name}` })
            .execute();
        for (const id of [1, 2])
          await db.updateTable('members').set({ self_id: id }).where('id', '=', id).execute();
        await db
          .insertInto('diaries')
          .values([
            { text: 'of Ada', member_id: 1 },
            { text: 'of Bob', member_id: 2 },
          ])
          .execute();
        await db
          .insertInto('letters')
          .values([
            { text: 'a', diary_id: 1, member_id: 1, about_type: 'Diary', about_id: 1 },
            { text: 'b', diary_id: 2, member_id: 1, about_type: 'Letter', about_id: 1 },
          ])
          .execute();
        server.statements();
        await test(server);
      } finally {
        await server.close();
      }
    };
    const paths = ({ errors = [] }: { errors?: any[] }) =>
      errors.map(({ path, extensions }) => [path.join('.'), extensions.code]);

    it.each<[string, number, string[][], unknown]>([
      [
        '{ members { name phone } }',
        1,
        [['members.1.phone', 'FORBIDDEN']],
        {
          members: [
            { name: 'Ada', phone: '+Ada' },
            { name: 'Bob', phone: null },
          ],
        },
      ],
      [
        '{ member(id: 2) { __typename p: phone q: phone diaries { text } } again: member(id: 1) { name } }',
        2,
        [
          ['member.p', 'FORBIDDEN'],
          ['member.q', 'FORBIDDEN'],
        ],
        { member: { __typename: 'Member', p: null, q: null, diaries: [] }, again: { name: 'Ada' } },
      ],
      [
        '{ again: member(id: 1) { name } letters { totalCount pageInfo { hasNextPage __typename } nodes { text member { phone } } edges { cursor node { text diary { text } } } } diaries { text member { name } } }',
        3,
        [['letters.edges.1.node.diary', 'FORBIDDEN']],
        {
          again: { name: 'Ada' },
          letters: null,
          diaries: [{ text: 'of Ada', member: { name: 'Ada' } }],
        },
      ],
      [
        '{ member(id: 1) { letters(first: 1) { pageInfo { hasNextPage } edges { node { diary { text member { phone } } } } } } }',
        1,
        [],
        {
          member: {
            letters: {
              pageInfo: { hasNextPage: true },
              edges: [{ node: { diary: { text: 'of Ada', member: { phone: '+Ada' } } } }],
            },
          },
        },
      ],
      [
        '{ letter(id: 2) { text diary { text } } members { name } }',
        2,
        [['letter.diary', 'FORBIDDEN']],
        { letter: null, members: [{ name: 'Ada' }, { name: 'Bob' }] },
      ],
      [
        '{ letter(id: 1) { about { __typename ... on Diary { text member { phone } } ... on Letter { diary { text } } } } }',
        1,
        [],
        { letter: { about: { __typename: 'Diary', text: 'of Ada', member: { phone: '+Ada' } } } },
      ],
      [
        '{ letter(id: 2) { about { __typename ... on Letter { diary { text } member { phone } } } } }',
        1,
        [],
        {
          letter: {
            about: { __typename: 'Letter', diary: { text: 'of Ada' }, member: { phone: '+Ada' } },
          },
        },
      ],
      [
        '{ owned { ... on Diary { text } ... on Letter { text member { name } } } member(id: 2) { phone } }',
        2,
        [['member.phone', 'FORBIDDEN']],
        {
          owned: [
            { text: 'of Ada' },
            { text: 'a', member: { name: 'Ada' } },
            { text: 'b', member: { name: 'Ada' } },
          ],
          member: { phone: null },
        },
      ],
      [
        '{ members { name } needed(id: 9) { text } }',
        2,
        [['needed', 'INTERNAL_SERVER_ERROR']],
        null,
      ],
    ])('is one statement for each root field: %s', (query, roots, refused, data) =>
      within(async (server) => {
        const answer = await server.query(query, {}, user(1));
        const statements = server.statements();
        expect({ paths: paths(answer), data: answer.data }).toEqual({ paths: refused, data });
        expect(statements, statements.join('\n')).toHaveLength(roots);
      }),
    );

    it('is written by a mutation that reads once what it answers with', () =>
      within(async (server) => {
        const answer = await server.query(
          'mutation { createLetter(input: { text: "c", diaryId: 1, memberId: 2 }) { ok letter { text diary { text } member { name phone } } } }',
          {},
          user(1),
        );
        expect({ paths: paths(answer), data: answer.data }).toEqual({
          paths: [['createLetter.letter.member.phone', 'FORBIDDEN']],
          data: {
            createLetter: {
              ok: true,
              letter: {
                text: 'c',
                diary: { text: 'of Ada' },
                member: { name: 'Bob', phone: null },
              },
            },
          },
        });
        const reading = server.statements().filter((text) => /"phone"/.test(text));
        expect(reading).toHaveLength(1);
      }));
  },
);
