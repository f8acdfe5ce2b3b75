import { startModels } from './server.ts';

/** A server of its own, for tests that kill it. Says where it is when it listens. */
const server = await startModels(JSON.parse(process.argv[2] as string));
process.send?.({ url: server.url, token: server.token });
process.once('disconnect', () => process.exit(0));
