import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { databases, startServer, user, type TestServer } from '../graphql/harness.ts';
import { insert } from './project.ts';

const SDL = `
  enum Direction { ASC DESC }
  type User { id: ID! email: String! leads: [Team!]! @relation(inverse: "lead") }
  type Team { id: ID! name: String! lead: User people: [Person!]! peopleCount: Int! @count(relation: "people") }
  type Person {
    id: ID! name: String! team: Team
    salary: Int @auth(allow: [OWNER], owner: "team.lead", on: [READ])
    boss: Person @auth(allow: [OWNER], owner: "team.lead", on: [READ])
    staff: [Person!]! @relation(inverse: "boss") @auth(allow: [OWNER], owner: "team.lead", on: [READ])
    staffCount: Int! @count(relation: "staff") hasStaff: Boolean! @exists(relation: "staff")
  }
  input IntOps { eq: Int gt: Int ne: Int isNull: Boolean }
  input TextOps { eq: String }
  input PersonFilter { salary: IntOps name: TextOps boss: PersonFilter staff: PersonMany not: PersonFilter }
  input PersonMany { some: PersonFilter none: PersonFilter every: PersonFilter }
  input PersonOrder { salary: Direction }
  type PageInfo { hasNextPage: Boolean! endCursor: String }
  type PersonEdge { node: Person! cursor: String! }
  type PersonConnection { edges: [PersonEdge!]! pageInfo: PageInfo! totalCount: Int! }
  type Query {
    people(where: PersonFilter, orderBy: PersonOrder): [Person!]!
    richest: [Person!]! @resolve(as: LIST) @list(orderBy: ["salary DESC"])
    page(first: Int, after: String, last: Int, before: String, orderBy: PersonOrder): PersonConnection! @resolve(as: LIST)
  }
`;

/** Ada and Bo are in the team of user 1, Cy in that of user 2, Di in none. */
const fill = (server: TestServer) =>
  insert(server.store, {
    users: [{ email: 'a@x.org' }, { email: 'b@x.org' }],
    teams: [
      { name: 'one', lead_id: 1 },
      { name: 'two', lead_id: 2 },
    ],
    people: [
      { name: 'Ada', team_id: 1, salary: 10, boss_id: null },
      { name: 'Bo', team_id: 1, salary: 30, boss_id: 1 },
      { name: 'Cy', team_id: 2, salary: 20, boss_id: 1 },
      { name: 'Di', team_id: null, salary: 40, boss_id: 3 },
    ],
  });

describe.each(databases)('graphql-2 §3: rules of fields with paths on %s', (database) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer(SDL, {
      database,
      manifest: 'name: fields\napi: { access: public }\nauth: {}\n',
    });
    await fill(server);
  });
  afterAll(() => server.close());

  const ask = async (text: string, id = 1) => server.query(text, {}, user(id));
  const names = async (args: string, field = 'people') =>
    (await ask(`{ ${field}${args} { name } }`)).data[field].map(({ name }: any) => name);

  it('the field is null with FORBIDDEN in the rows where the rule does not hold', async () => {
    const { data, errors } = await ask('{ people { salary } }');
    expect(data.people.map(({ salary }: any) => salary)).toEqual([10, 30, null, null]);
    expect(errors?.map(({ path, extensions }) => [path.join('.'), extensions.code])).toEqual([
      ['people.2.salary', 'FORBIDDEN'],
      ['people.3.salary', 'FORBIDDEN'],
    ]);
  });

  it('such a row has no value there for filters', async () => {
    expect(await names('(where: { salary: { gt: 15 } })')).toEqual(['Bo']);
    expect(await names('(where: { salary: { eq: 20 } })')).toEqual([]);
    expect(await names('(where: { salary: { ne: 20 } })')).toEqual(['Ada', 'Bo', 'Cy', 'Di']);
    expect(await names('(where: { salary: { isNull: true } })')).toEqual(['Cy', 'Di']);
    expect(await names('(where: { salary: null })')).toEqual(['Cy', 'Di']);
    expect(await names('(where: { not: { salary: { gt: 15 } } })')).toEqual(['Ada', 'Cy', 'Di']);
  });

  it('a relation has no rows there', async () => {
    expect(await names('(where: { boss: { name: { eq: "Ada" } } })')).toEqual(['Bo']);
    expect(await names('(where: { boss: null })')).toEqual(['Ada', 'Cy', 'Di']);
    expect(await names('(where: { staff: { some: {} } })')).toEqual(['Ada']);
    expect(await names('(where: { staff: { none: {} } })')).toEqual(['Bo', 'Cy', 'Di']);
    expect(await names('(where: { staff: { every: { name: { eq: "x" } } } })')).toEqual([
      'Bo',
      'Cy',
      'Di',
    ]);
    expect((await ask('{ people { staffCount hasStaff } }')).data.people).toEqual([
      { staffCount: 2, hasStaff: true },
      { staffCount: 0, hasStaff: false },
      { staffCount: 0, hasStaff: false },
      { staffCount: 0, hasStaff: false },
    ]);
  });

  it('an order, also that of the schema, puts such rows where rows without a value are', async () => {
    expect(await names('(orderBy: { salary: ASC })')).toEqual(['Ada', 'Bo', 'Cy', 'Di']);
    expect(await names('(orderBy: { salary: DESC })')).toEqual(['Cy', 'Di', 'Bo', 'Ada']);
    expect(await names('', 'richest')).toEqual(['Cy', 'Di', 'Bo', 'Ada']);
  });

  it('pages in both directions have each row once, and no cursor holds the value', async () => {
    for (const direction of ['ASC', 'DESC']) {
      const order = `orderBy: { salary: ${direction} }`;
      const expected = await names(`(${order})`);
      expect(await walk(`first: 1, ${order}`, 'after')).toEqual(expected);
      expect(await walk(`last: 1, ${order}`, 'before')).toEqual(expected.toReversed());
    }
  });

  /** The names on all pages of one row. */
  async function walk(args: string, side: 'after' | 'before'): Promise<string[]> {
    const found: string[] = [];
    for (let cursor: string | undefined, pages = 0; pages < 6; pages++) {
      const at = cursor === undefined ? '' : `, ${side}: "${cursor}"`;
      const { data } = await ask(`{ page(${args}${at}) { edges { cursor node { name } } } }`);
      const [edge] = data.page.edges;
      if (!edge) return found;
      cursor = edge.cursor as string;
      expect(Buffer.from(cursor, 'hex').toString()).not.toMatch(/20|40/);
      found.push(edge.node.name);
    }
    return found;
  }
});
