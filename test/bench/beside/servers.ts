/** One server in a process of its own: `node servers.ts <name> <database url> <role>`. It tells its port. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import pg from 'pg';
import { startServer } from '../../graphql/harness.ts';
import { readJson } from '../servers/start.ts';
import { MANIFEST, SDL } from './database.ts';
import { COMPARED, type ServerName } from './workloads.ts';

/** Who asks travels in a header that each of the servers believes, so that no sign-in is measured. */
const CALLER_HEADER = 'x-test-principal';

/** @returns the port. */
type Start = (url: string, role: string) => Promise<number>;

const startTwofold: Start = async (url) => {
  const server = await startServer(SDL, { database: 'postgres', manifest: MANIFEST, url });
  return Number(new URL(server.url).port);
};

/** `node:http` and one prepared statement for each query, whose JSON is sent as it is. */
const startHand: Start = async (connectionString) => {
  const pool = new pg.Pool({ connectionString });
  const server = createServer(async (request, response) => {
    const { query } = await readJson(request);
    const { name, hand } = COMPARED.find((each) => each.twofold === query)!;
    const { rows } = await pool.query({ name, text: hand.sql, values: [...hand.values] });
    const text = `{"data":${rows[0].j}}`;
    response.writeHead(200, { 'Content-Type': 'application/json' }).end(text);
  });
  return listen(server);
};

/**
 * As its documentation says: the caller in a setting of the transaction and a role that row level
 * security holds for, its plugin for aggregates, `node:http`, no page and no explanations.
 */
const startPostGraphile: Start = async (connectionString, role) => {
  const { postgraphile } = await import('postgraphile');
  const { grafserv } = await import('postgraphile/grafserv/node');
  const { makePgService } = await import('postgraphile/adaptors/pg');
  const { PostGraphileAmberPreset } = await import('postgraphile/presets/amber');
  const { PgAggregatesPreset } = await import('@graphile/pg-aggregates');
  const served = postgraphile({
    extends: [PostGraphileAmberPreset, PgAggregatesPreset],
    pgServices: [makePgService({ connectionString, schemas: ['public'] })],
    grafserv: { watch: false, graphiql: false },
    grafast: {
      explain: false,
      context: ({ node }) => {
        const caller = JSON.parse(String(node?.req.headers[CALLER_HEADER]));
        return { pgSettings: { role, 'jwt.claims.user_id': String(caller.id) } };
      },
    },
  }).createServ(grafserv);
  const server = createServer();
  await served.addTo(server);
  return listen(server);
};

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

const STARTS: Readonly<Record<ServerName, Start>> = {
  twofold: startTwofold,
  hand: startHand,
  postgraphile: startPostGraphile,
};

const [name = '', url = '', role = ''] = process.argv.slice(2);
const port = await STARTS[name as ServerName](url, role);
process.on('message', () => {
  const { user, system } = process.cpuUsage();
  process.send?.({ cpu: user + system });
});
process.on('disconnect', () => process.exit(0));
process.send?.({ port });
