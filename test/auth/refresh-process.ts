/** One of several processes that share a database: redeems the tokens it is sent and answers with their successors. */
import { startServer } from './server.ts';

process.once('message', (tokens) => void redeem(tokens as string[]));

async function redeem(tokens: readonly string[]): Promise<void> {
  const database = process.env['TEST_DATABASE']!.startsWith('postgres') ? 'PostgreSQL' : 'SQLite';
  const server = await startServer({ database, url: process.env['TEST_DATABASE']!, env: { JWT_SECRET: process.env['TEST_SECRET']! } });
  const successors: string[] = [];
  for (const refreshToken of tokens) successors.push((await server.call('POST', '/api/auth/refresh', { refreshToken })).body.refreshToken);
  process.send!(successors);
  await server.close();
  process.disconnect();
}
