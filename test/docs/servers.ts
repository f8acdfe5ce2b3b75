import { afterEach } from 'vitest';
import { startServer, type TestOptions, type TestServer } from '../graphql/harness.ts';

/** Gives a suite a way to start servers on one database; each is closed after the test that started it. */
export function serversOn(
  database: NonNullable<TestOptions['database']>,
): (sdl: string, options?: TestOptions) => Promise<TestServer> {
  const servers: TestServer[] = [];
  afterEach(async () => {
    for (const server of servers.splice(0)) await server.close();
  });
  return async (sdl, options = {}) => {
    const server = await startServer(sdl, { ...options, database });
    servers.push(server);
    return server;
  };
}
