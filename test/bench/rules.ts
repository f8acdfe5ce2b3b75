import type { Principal } from '../../runtime/core/context/request-context.ts';
import { startServer, type TestServer } from '../graphql/harness.ts';
import { type Aside, printAsides } from './report.ts';

/**
 * What the conditions of rules cost: the statement that the server makes for a list under a rule, as
 * a ratio to the same statement with its WHERE written by hand. The two take turns in one run, so
 * that a busy machine slows both.
 *
 * npm run bench:rules -- [--rounds 15]
 */
const at = import.meta.main ? process.argv.indexOf('--rounds') : -1;
const ROUNDS = at < 0 ? 15 : Number(process.argv[at + 1]);
const STATEMENTS = 20;
const ROWS = 5000;
const PROJECTS = 100;
const MOST = 1.1;

const CALLER: Principal = {
  kind: 'user',
  id: 1,
  role: null,
  permissions: [],
  sessionId: 's',
  extend: { project: 7 },
};
const SDL = `
  type User { id: ID! email: String! }
  type Project @auth(allow: [PUBLIC]) { id: ID! owner: User members: [Member!]! }
  type Member @auth(allow: [PUBLIC]) { id: ID! project: Project! user: User! role: String! }
  type Owned @auth(allow: [OWNER], owner: "project.owner") { id: ID! title: String! project: Project! }
  type Joined @auth(allow: [USER], where: { project: { members: { some: { user: CALLER, role: "EDITOR" } } } }) { id: ID! title: String! project: Project! }
  type Claimed @auth(allow: [USER], where: { project: { id: { claim: "project" } } }) { id: ID! title: String! project: Project! }
  type Query { owneds(limit: Int): [Owned!]! joineds(limit: Int): [Joined!]! claimeds(limit: Int): [Claimed!]! }
`;

/** Each list with its values, and the WHERE that one would write by hand. */
const LISTS = [
  ['owneds', [1], 't2.project_id in (select id from projects where owner_id = ?)'],
  [
    'joineds',
    [1, 'EDITOR'],
    't2.project_id in (select project_id from members where user_id = ? and role = ?)',
  ],
  ['claimeds', [7], 't2.project_id = ?'],
] as const;

async function fill({ store }: TestServer): Promise<void> {
  await store.transaction(async (trx) => {
    for (const id of [1, 2])
      await trx
        .insertInto('users')
        .values({ email: `${id}@x.test` })
        .execute();
    for (let id = 1; id <= PROJECTS; id += 1) {
      const user_id = id % 10 === 7 ? 1 : 2;
      await trx.insertInto('projects').values({ owner_id: user_id }).execute();
      const member = { project_id: id, user_id, role: 'EDITOR' };
      await trx.insertInto('members').values(member).execute();
    }
    for (const [table] of LISTS)
      for (let index = 0; index < ROWS; index += 1)
        await trx
          .insertInto(table)
          .values({ title: `title ${index}`, project_id: 1 + (index % PROJECTS) })
          .execute();
  });
  if (store.dialect === 'postgres')
    for (const table of ['projects', 'members', ...LISTS.map(([name]) => name)])
      await store.query(`analyze ${table}`, []);
}

/** The statement of the server with another WHERE. */
function byHand(text: string, dialect: string, where: string): string {
  if (dialect === 'sqlite') return text.replace(/ and \(.*\) order by/, ` and (${where}) order by`);
  let number = 1;
  const numbered = where.replace(/\?/g, () => `$${(number += 1)}`);
  return text.replace(/ where t2\..* order by/, ` where ${numbered} order by`);
}

/** Milliseconds of one block of statements. */
async function block(run: () => Promise<unknown>): Promise<number> {
  const since = performance.now();
  for (let left = STATEMENTS; left > 0; left -= 1) await run();
  return performance.now() - since;
}

/** The median of the ratios of neighbouring blocks. */
async function ratio(measured: () => Promise<unknown>, base: () => Promise<unknown>) {
  const ratios: number[] = [];
  for (let round = -2; round < ROUNDS; round += 1) {
    const before = await block(base);
    const middle = await block(measured);
    const after = await block(base);
    if (round >= 0) ratios.push(middle / ((before + after) / 2));
  }
  return ratios.sort((a, b) => a - b)[Math.floor(ratios.length / 2)]!;
}

/** The statement of a list under its rule, and the one that is written by hand. */
async function statementsOf(server: TestServer, [list, given, where]: (typeof LISTS)[number]) {
  const { store } = server;
  server.statements();
  const { data } = await server.query(`{ ${list}(limit: 50) { id title } }`, {}, CALLER);
  const [text = ''] = server.statements();
  const hand = byHand(text, store.dialect, where);
  const bytes = store.dialect === 'postgres' ? [10_485_760] : [];
  const values = [...bytes, ...given, 50];
  const [rule, own] = [() => store.query(text, values), () => store.query(hand, values)];
  if (JSON.stringify(await rule()) !== JSON.stringify(await own()) || data[list].length !== 50)
    throw new Error(`the two statements differ: ${text}\n${hand}`);
  return { list, rule, own };
}

/** The ratio of each list under its rule, on both databases. */
export async function rules(): Promise<Aside[]> {
  const figures: Aside[] = [];
  for (const database of process.env['TEST_POSTGRES_URL'] ? ['sqlite', 'postgres'] : ['sqlite']) {
    const server = await startServer(SDL, {
      database: database as 'sqlite' | 'postgres',
      manifest: 'name: bench\nauth: {}\n',
    });
    try {
      await fill(server);
      // All are asked for before anything is measured: an idle connection is closed in between.
      const all = [];
      for (const list of LISTS) all.push(await statementsOf(server, list));
      for (const { list, rule, own } of all) {
        const seen = await ratio(rule, own);
        figures.push({
          what: `${database}: ${list} under its rule / the same with its WHERE by hand`,
          seen: seen.toFixed(3),
          goal: `≤ ${MOST}`,
          met: seen <= MOST,
        });
      }
    } finally {
      await server.close();
    }
  }
  return figures;
}

if (import.meta.main) printAsides(await rules());
