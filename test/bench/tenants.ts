import { DEFAULT_AUTH } from '../../runtime/auth/base/defaults.ts';
import { authMigrations } from '../../runtime/auth/migrations.ts';
import type { Principal } from '../../runtime/core/context/request-context.ts';
import { migrate } from '../../runtime/database/migrations/migrate.ts';
import { startServer, type TestServer } from '../graphql/harness.ts';

/**
 * What the rule word TENANT costs, as ratios to the same list under OWNER, and to a list that anyone
 * reads with a condition written by hand: the two sides take turns in one run, so that a busy machine
 * slows both.
 *
 * npm run bench:tenants -- [--rounds 15]
 */
const at = process.argv.indexOf('--rounds');
const ROUNDS = at < 0 ? 15 : Number(process.argv[at + 1]);
const REQUESTS = 200;
const OWN_ROWS = 50;
const ROWS = 5000;

const SDL = `
  type Company { id: ID! name: String! }
  type User { id: ID! name: String! email: String! }
  type Owned @auth(allow: [OWNER], owner: "owner") { id: ID! title: String! owner: User! }
  type Shared @auth(allow: [TENANT]) { id: ID! title: String! company: Company! }
  type Below @auth(allow: [TENANT], tenant: "shared.company") { id: ID! title: String! shared: Shared! }
  type Open @auth(allow: [PUBLIC]) @index(fields: ["place"]) { id: ID! title: String! place: Int! }
  type Query {
    owneds(limit: Int): [Owned!]! shareds(limit: Int): [Shared!]! belows(limit: Int): [Below!]!
    opens(place: Int!, limit: Int): [Open!]!
  }
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
  await migrate(store, authMigrations(DEFAULT_AUTH.user, 'integer', true));
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
      await trx.insertInto('opens').values({ title, place: side }).execute();
      await trx
        .insertInto('belows')
        .values({ title, shared_id: index + 1 })
        .execute();
    }
  });
}

/** The condition that is written by hand. */
const CONDITIONS: Readonly<Record<string, string>> = { opens: 'place: 1, ' };

/** Milliseconds of one block of requests. */
async function block(server: TestServer, list: string): Promise<number> {
  const condition = CONDITIONS[list] ?? '';
  const since = performance.now();
  for (let left = REQUESTS; left > 0; left -= 1) {
    const { data } = await server.query(
      `{ ${list}(${condition}limit: ${OWN_ROWS}) { id title } }`,
      {},
      MEMBER,
    );
    if (data?.[list].length !== OWN_ROWS) throw new Error(`${list}: ${JSON.stringify(data)}`);
  }
  return performance.now() - since;
}

/** The median of the ratios of neighbouring blocks. */
async function ratio(server: TestServer, list: string, base: string): Promise<number> {
  const ratios: number[] = [];
  for (let round = -2; round < ROUNDS; round += 1) {
    const before = await block(server, base);
    const measured = await block(server, list);
    const after = await block(server, base);
    if (round >= 0) ratios.push(measured / ((before + after) / 2));
  }
  return ratios.sort((a, b) => a - b)[Math.floor(ratios.length / 2)]!;
}

const server = await startServer(SDL, {
  manifest: 'name: bench\nauth: { organizations: { type: Company } }\n',
});
try {
  await fill(server);
  for (const [list, what, base, of, most] of [
    ['shareds', 'a key of the row', 'owneds', 'the same under OWNER', 1.15],
    ['belows', 'a path over another row', 'owneds', 'the same under OWNER', 1.15],
    ['shareds', 'a key of the row', 'opens', 'the same with a condition written by hand', 1.1],
  ] as const) {
    const measured = await ratio(server, list, base);
    console.log(
      `${measured.toFixed(3)}  (at most ${most})  a list under TENANT by ${what} / ${of}`,
    );
  }
} finally {
  await server.close();
}
