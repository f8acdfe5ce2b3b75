import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { emptyDatabase, execute, serve, type Adopted } from './start.ts';
import { openStore } from '../../runtime/core/store/open-store.ts';

const NAMES = ['space', 'fraction', 'zoned', 'seconds', 'millis', 'micros', 'julian', 'iso', 'day'];

const SDL = `
  scalar DateTime scalar Date
  enum Direction { ASC DESC }
  type Visit @table(name: "visits") { id: ID! ${NAMES.map((name) => `${name}: DateTime`).join(' ')} born: Date grown: Date made: DateTime @default(expr: NOW) }
  input TimeFilter { eq: DateTime in: [DateTime!] lt: DateTime gte: DateTime isNull: Boolean }
  input DateFilter { eq: Date lt: Date }
  input VisitFilter { ${NAMES.map((name) => `${name}: TimeFilter`).join(' ')} born: DateFilter grown: DateFilter }
  input VisitOrder { ${NAMES.map((name) => `${name}: Direction`).join(' ')} }
  type VisitEdge { node: Visit! cursor: String! }
  type PageInfo { hasNextPage: Boolean! endCursor: String }
  type VisitConnection { edges: [VisitEdge!]! pageInfo: PageInfo! totalCount: Int! }
  type VisitAggregate { min: VisitTimes! max: VisitTimes! }
  type VisitTimes { ${NAMES.map((name) => `${name}: DateTime`).join(' ')} }
  type VisitGroup { key: VisitTimes! count: Int! }
  enum VisitGroupBy { ${NAMES.map((name) => `${name.toUpperCase()}_DAY`).join(' ')} }
  type Query {
    visit(id: ID!): Visit visits(where: VisitFilter, orderBy: [VisitOrder!]): [Visit!]!
    pages(orderBy: [VisitOrder!], first: Int, after: String): VisitConnection! @resolve(as: LIST)
    visitsAggregate: VisitAggregate! visitsGroups(by: [VisitGroupBy!]!): [VisitGroup!]!
  }
  type Mutation { createVisit(${NAMES.map((name) => `${name}: DateTime`).join(' ')} born: Date grown: Date): Visit! updateVisit(id: ID! space: DateTime): Visit }
`;

/** The same moments in every form, as other programs write them. */
const TIMES = ['2025-12-31T23:59:59.000Z', '2026-01-02T03:04:05.000Z', '2026-01-02T15:00:00.000Z'];

function row(iso: string, id: number): string {
  const ms = Date.parse(iso);
  const [day, clock] = [iso.slice(0, 10), iso.slice(11, 19)];
  const values = [
    `'${day} ${clock}'`,
    `'${day} ${clock}.000'`,
    `'${day}T${clock}.000+00:00'`,
    ms / 1000,
    ms,
    ms * 1000,
    `julianday('${day} ${clock}')`,
    `'${iso}'`,
    `'${day}'`,
    `'${day} 00:00:00'`,
    `'${day}'`,
  ];
  return `insert into visits values (${id}, ${values.join(', ')}, '${day} ${clock}')`;
}

describe('times of a SQLite file that others wrote, in any form', () => {
  let url = '';
  let server: Adopted;
  beforeAll(async () => {
    ({ url } = await emptyDatabase('sqlite'));
    const columns = NAMES.map((name) => `${name} datetime`).join(', ');
    await execute(url, [
      `create table visits (id integer primary key, ${columns}, born date, grown date, made datetime default current_timestamp)`,
      ...TIMES.map((iso, index) => row(iso, index + 1)),
      'insert into visits (id, made) values (4, null)',
    ]);
    server = await serve(url, SDL);
  });
  afterAll(() => server.close());

  const ask = async (text: string, variables = {}) => {
    const { data, errors } = await server.query(text, variables);
    expect([text, errors]).toEqual([text, undefined]);
    return data;
  };

  it('are answered as DateTime and Date', async () => {
    const { visit } = await ask(`{ visit(id: 2) { ${NAMES.join(' ')} born grown made } }`);
    const time = TIMES[1];
    expect(visit).toEqual({
      ...Object.fromEntries(NAMES.map((name) => [name, time])),
      day: '2026-01-02T00:00:00.000Z',
      born: '2026-01-02',
      grown: '2026-01-02',
      made: time,
    });
    expect((await server.rest('GET', '/api/visits/1')).body).toMatchObject({ millis: TIMES[0] });
  });

  it.each(NAMES.filter((name) => name !== 'day'))('are found and sorted, form %s', async (name) => {
    const found = async (where: object) =>
      (
        await ask('query ($w: VisitFilter) { visits(where: $w) { id } }', { w: { [name]: where } })
      ).visits.map(({ id }: any) => Number(id));
    // The Julian day of a time is no exact number.
    if (name !== 'julian') expect(await found({ eq: TIMES[1] })).toEqual([2]);
    if (name !== 'julian') expect(await found({ in: [TIMES[0], TIMES[2]] })).toEqual([1, 3]);
    expect(await found({ lt: '2026-01-02T04:00:00+01:00' })).toEqual([1]);
    expect(await found({ gte: '2026-01-02T03:04:04Z' })).toEqual([2, 3]);
    expect(await found({ isNull: true })).toEqual([4]);
    const order = [{ [name]: 'DESC' }];
    const { visits } = await ask('query ($o: [VisitOrder!]) { visits(orderBy: $o) { id } }', {
      o: order,
    });
    expect(visits.map(({ id }: any) => id)).toEqual(['4', '3', '2', '1']);
    const met: string[] = [];
    for (let after: string | null = null, more = true; more && met.length < 9;) {
      const { pages }: any = await ask(
        'query ($o: [VisitOrder!], $a: String) { pages(orderBy: $o, first: 1, after: $a) { edges { node { id } } pageInfo { hasNextPage endCursor } } }',
        { o: order, a: after },
      );
      met.push(...pages.edges.map(({ node }: any) => node.id));
      ({ hasNextPage: more, endCursor: after } = pages.pageInfo);
    }
    expect(met).toEqual(['4', '3', '2', '1']);
    const { visitsAggregate, visitsGroups } = await ask(
      `{ visitsAggregate { min { ${name} } max { ${name} } } visitsGroups(by: [${name.toUpperCase()}_DAY]) { key { ${name} } count } }`,
    );
    expect(visitsAggregate).toEqual({ min: { [name]: TIMES[0] }, max: { [name]: TIMES[2] } });
    expect(visitsGroups.map((group: any) => [group.key[name], group.count])).toEqual([
      ['2025-12-31T00:00:00.000Z', 1],
      ['2026-01-02T00:00:00.000Z', 2],
      [null, 1],
    ]);
  });

  it('are written in the form of the column', async () => {
    const values = NAMES.map((name) => `${name}: "2026-03-04T05:06:07.891Z"`).join(' ');
    const { createVisit } = await ask(
      `mutation { createVisit(${values} born: "2026-03-04" grown: "2026-03-04") { id space millis born made } }`,
    );
    expect(createVisit).toMatchObject({
      space: '2026-03-04T05:06:07.000Z',
      millis: '2026-03-04T05:06:07.891Z',
      born: '2026-03-04',
    });
    await ask(`mutation { updateVisit(id: 1, space: "2026-01-01T00:00:00Z") { id } }`);
    const store = openStore(url, '/', { foreign: true });
    const [made] = await store.query('select * from visits where id = 5', []);
    const [changed] = await store.query('select space from visits where id = 1', []);
    await store.close();
    const ms = Date.parse('2026-03-04T05:06:07.891Z');
    expect(made).toMatchObject({
      space: '2026-03-04 05:06:07',
      fraction: '2026-03-04 05:06:07.891',
      zoned: '2026-03-04T05:06:07.891+00:00',
      seconds: Math.floor(ms / 1000),
      millis: ms,
      micros: ms * 1000,
      iso: '2026-03-04T05:06:07.891Z',
      day: '2026-03-04 05:06:07',
      born: '2026-03-04 00:00:00',
      grown: '2026-03-04',
      made: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/),
    });
    expect(changed).toEqual({ space: '2026-01-01 00:00:00' });
  });

  it('are null where they are no time', async () => {
    await execute(url, [`update visits set space = 'soon' where id = 3`]);
    expect(await ask('{ visit(id: 3) { space } }')).toEqual({ visit: { space: null } });
  });
});
