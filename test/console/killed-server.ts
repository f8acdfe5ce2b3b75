/** A console in a process of its own, which a test kills. `TEST_DATABASE` and `TEST_ADDRESS` say where. */
import { SDL, startConsole } from './server.ts';

const server = await startConsole({
  sdl: `${SDL} type Subscription { postCreated: Post! }`,
  address: process.env['TEST_ADDRESS']!,
  env: { DATABASE_URL: process.env['TEST_DATABASE']! },
});
process.once('disconnect', () => process.exit());
process.send!(server.url);
