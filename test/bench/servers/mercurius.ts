import { fastify } from 'fastify';
import mercurius from 'mercurius';
import { peerSchema } from './peer-schema.ts';
import { openPeerSource, peerContext } from './peer-source.ts';
import type { Start } from './start.ts';

/** With its compiler, from the first request. */
export const start: Start = async (databaseUrl) => {
  const source = openPeerSource(databaseUrl);
  const app = fastify();
  app.register(mercurius.default ?? mercurius, {
    schema: peerSchema(),
    context: () => peerContext(source) as never,
    jit: 1,
  });
  return Number(new URL(await app.listen({ port: 0, host: '127.0.0.1' })).port);
};
