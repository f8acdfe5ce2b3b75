/**
 * One of several server processes on one database: serves, and tells its address. `TEST_OPTIONS` is the JSON of a
 * `TestOptions`; `TEST_DIES_AT` names the event that kills it as `kill -9` does, once the event is committed. The message
 * `{ statements: n }` makes it die before the statement after the next n of its transactions.
 */
import type { KyselyPlugin } from 'kysely';
import type { Store } from '../../runtime/core/store/store.ts';
import { startServer, type TestOptions } from './server.ts';

const options = JSON.parse(process.env['TEST_OPTIONS']!) as TestOptions;
const deadly = process.env['TEST_DIES_AT'];
const listeners =
  deadly === undefined ? {} : { [deadly]: () => process.kill(process.pid, 'SIGKILL') };

const server = await startServer({ ...options, options: { ...options.options, listeners } });
process.once('disconnect', () => process.exit());
process.on('message', (message: 'stop' | { readonly statements: number }) => {
  if (message === 'stop') return void server.close().then(() => process.exit());
  dieAfter(message.statements);
  process.send!('armed');
});

process.send!(server.url);

function dieAfter(statements: number): void {
  let left = statements;
  const count: KyselyPlugin = {
    transformQuery: ({ node }) => {
      if (left === 0) process.kill(process.pid, 'SIGKILL');
      left -= 1;
      return node;
    },
    transformResult: async ({ result }) => result,
  };
  const store = server.kernel.store as { -readonly [Key in keyof Store]: Store[Key] };
  const transaction = store.transaction.bind(store);
  store.transaction = (work) => transaction((trx) => work(trx.withPlugin(count) as typeof trx));
}
