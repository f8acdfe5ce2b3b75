import { createOrganizations } from '../../runtime/auth/organizations/tables.ts';
import type { Principal } from '../../runtime/core/context/request-context.ts';
import { startServer, type TestServer } from '../graphql/harness.ts';

/**
 * What the rule word TENANT costs, as ratios to the same list under OWNER: the two sides take turns
 * in one run, so that a busy machine slows both.
 *
 * npm run bench:tenants -- [--rounds 15]
 */
const at = process.argv.indexOf('--rounds');
const ROUNDS = at < 0 ? 15 : Number(process.argv[at + 1]);
const REQUESTS = 200;
const OWN_ROWS = 50;
const ROWS = 5000;
const MOST = 1.15;

const SDL = `
  type Company { id: ID! name: String! }
  type User { id: ID! name: String! email: String! }
  type Owned @auth(allow: [OWNER], owner: "owner") { id: ID! title: String! owner: User! }
  type Shared @auth(allow: [TENANT]) { id: ID! title: String! company: Company! }
  type Below @auth(allow: [TENANT], tenant: "shared.company") { id: ID! title: String! shared: Shared! }
  type Query { owneds(limit: Int): [Owned!]! shareds(limit: Int): [Shared!]! belows(limit: Int): [Below!]! }
`;
const MEMBER: Principal = {
  kind: 'user',
  id: 1,
  role: null,
  permissions: [],
  sessionId: 's',
  extend: {},
  organizations: [{ id: 1, role: 'Owner' }],
};

/** Fills each table with the same number of rows, of which the caller may see as many. */
async function fill({ store }: TestServer): Promise<void> {
  const { db } = store;
  await db.schema.createTable('auth_api_keys').addColumn('id', 'text').execute();
  await createOrganizations(db, 'integer');
  for (const id of [1, 2]) {
    await db
      .insertInto('companies')
      .values({ name: `${id}` })
      .execute();
    await db
      .insertInto('users')
      .values({ name: `${id}`, email: `${id}@x.test` })
      .execute();
  }
  await store.transaction(async (trx) => {
    for (let index = 0; index < ROWS; index += 1) {
      const side = index % (ROWS / OWN_ROWS) === 0 ? 1 : 2;
      const title = `title ${index}`;
      await trx.insertInto('owneds').values({ title, owner_id: side }).execute();
      await trx.insertInto('shareds').values({ title, company_id: side }).execute();
      await trx
        .insertInto('belows')
        .values({ title, shared_id: index + 1 })
        .execute();
    }
  });
}

/** Milliseconds of one block of requests. */
async function block(server: TestServer, list: string): Promise<number> {
  const since = performance.now();
  for (let left = REQUESTS; left > 0; left -= 1) {
    const { data } = await server.query(`{ ${list}(limit: ${OWN_ROWS}) { id title } }`, {}, MEMBER);
    if (data?.[list].length !== OWN_ROWS) throw new Error(`${list}: ${JSON.stringify(data)}`);
  }
  return performance.now() - since;
}

/** The median of the ratios of neighbouring blocks. */
async function ratio(server: TestServer, list: string): Promise<number> {
  const ratios: number[] = [];
  for (let round = -2; round < ROUNDS; round += 1) {
    const before = await block(server, 'owneds');
    const measured = await block(server, list);
    const after = await block(server, 'owneds');
    if (round >= 0) ratios.push(measured / ((before + after) / 2));
  }
  return ratios.sort((a, b) => a - b)[Math.floor(ratios.length / 2)]!;
}

const server = await startServer(SDL, {
  manifest: 'name: bench\nauth: { organizations: { type: Company } }\n',
});
try {
  await fill(server);
  for (const [list, what] of [
    ['shareds', 'a key of the row'],
    ['belows', 'a path over another row'],
  ] as const) {
    const measured = await ratio(server, list);
    console.log(
      `${measured.toFixed(3)}  (at most ${MOST})  a list under TENANT by ${what} / the same under OWNER`,
    );
  }
} finally {
  await server.close();
}
