import { ApolloServer } from '@apollo/server';
import { startStandaloneServer } from '@apollo/server/standalone';
import { expressMiddleware } from '@as-integrations/express5';
import cors from 'cors';
import express, { type RequestHandler } from 'express';
import { HEADER, HEADER_VALUE, ORIGIN } from '../shape.ts';
import { peerSchema } from './peer-schema.ts';
import { openPeerDatabase, peerContext, type PeerContext, type PeerSource } from './peer-source.ts';
import { createSignIn, type SignIn } from './sign-in.ts';
import { listenOn, REFUSAL, type Start } from './start.ts';

/** Alone as its standalone server; with middleware in Express, as its documentation says. */
export const start: Start = async (databaseUrl, shape) => {
  const { source, lookup } = openPeerDatabase(databaseUrl, shape);
  const server = new ApolloServer<PeerContext>({
    schema: peerSchema(),
    introspection: false,
    persistedQueries: false,
  });
  if (shape === 'asRun') return startInExpress(server, source, createSignIn(lookup));
  const { url } = await startStandaloneServer(server, {
    listen: { port: 0, host: '127.0.0.1' },
    context: async () => peerContext(source),
  });
  return Number(new URL(url).port);
};

async function startInExpress(
  server: ApolloServer<PeerContext>,
  source: PeerSource,
  signIn: SignIn,
): Promise<number> {
  await server.start();
  const app = express();
  app.use(
    cors({ origin: ORIGIN, credentials: true }),
    requireCaller(signIn),
    setHeader,
    express.json(),
    expressMiddleware(server, {
      context: async ({ res }) => peerContext(source, res.locals['caller']),
    }),
  );
  return listenOn(app);
}

const requireCaller =
  (signIn: SignIn): RequestHandler =>
  async (request, response, next) => {
    response.locals['caller'] = await signIn(request.headers.authorization);
    if (response.locals['caller'] === null) response.status(401).json(REFUSAL);
    else next();
  };

const setHeader: RequestHandler = (_, response, next) => {
  response.setHeader(HEADER, HEADER_VALUE);
  next();
};
