/**
 * One of several server processes on one database: serves, and tells its address. `TEST_OPTIONS` is the JSON of a
 * `TestOptions`; `TEST_DIES_AT` names the event that kills it as `kill -9` does, once the event is committed.
 */
import { startServer, type TestOptions } from './server.ts';

const options = JSON.parse(process.env['TEST_OPTIONS']!) as TestOptions;
const deadly = process.env['TEST_DIES_AT'];
const listeners =
  deadly === undefined ? {} : { [deadly]: () => process.kill(process.pid, 'SIGKILL') };

const server = await startServer({ ...options, options: { ...options.options, listeners } });
process.once('disconnect', () => process.exit());
process.once('message', () => void server.close().then(() => process.exit()));
process.send!(server.url);
