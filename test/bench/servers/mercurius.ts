import cors from '@fastify/cors';
import { fastify, type FastifyInstance } from 'fastify';
import mercurius from 'mercurius';
import { HEADER, HEADER_VALUE, ORIGIN } from '../shape.ts';
import { peerSchema } from './peer-schema.ts';
import { openPeerDatabase, peerContext } from './peer-source.ts';
import { createSignIn, type SignIn } from './sign-in.ts';
import { REFUSAL, type Start } from './start.ts';

declare module 'fastify' {
  interface FastifyRequest {
    caller: number | null;
  }
}

/** With its compiler, from the first request. */
export const start: Start = async (databaseUrl, shape) => {
  const { source, lookup } = openPeerDatabase(databaseUrl, shape);
  const app = fastify();
  app.decorateRequest('caller', null);
  if (shape === 'asRun') await addHooksAsRun(app, createSignIn(lookup));
  app.register(mercurius.default ?? mercurius, {
    schema: peerSchema(),
    context: ({ caller }) => peerContext(source, caller) as never,
    jit: 1,
  });
  return Number(new URL(await app.listen({ port: 0, host: '127.0.0.1' })).port);
};

async function addHooksAsRun(app: FastifyInstance, signIn: SignIn): Promise<void> {
  await app.register(cors, { origin: ORIGIN, credentials: true });
  app.addHook('onRequest', async (request, reply) => {
    request.caller = await signIn(request.headers.authorization);
    if (request.caller === null) return reply.code(401).send(REFUSAL);
  });
  app.addHook('onRequest', async (_, reply) => {
    reply.header(HEADER, HEADER_VALUE);
  });
}
