import { ApolloServer } from '@apollo/server';
import { startStandaloneServer } from '@apollo/server/standalone';
import { peerSchema } from './peer-schema.ts';
import { openPeerSource, peerContext, type PeerContext } from './peer-source.ts';
import type { Start } from './start.ts';

export const start: Start = async (databaseUrl) => {
  const source = openPeerSource(databaseUrl);
  const server = new ApolloServer<PeerContext>({
    schema: peerSchema(),
    introspection: false,
    persistedQueries: false,
  });
  const { url } = await startStandaloneServer(server, {
    listen: { port: 0, host: '127.0.0.1' },
    context: async () => peerContext(source),
  });
  return Number(new URL(url).port);
};
