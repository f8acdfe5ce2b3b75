import { useGraphQlJit } from '@envelop/graphql-jit';
import { createYoga, type Plugin } from 'graphql-yoga';
import { peerSchema } from './peer-schema.ts';
import { openPeerSource, peerContext } from './peer-source.ts';
import { listenOn, type Start } from './start.ts';

const serve =
  (plugins: Plugin[]): Start =>
  async (databaseUrl) => {
    const source = openPeerSource(databaseUrl);
    const yoga = createYoga({
      schema: peerSchema(),
      context: () => peerContext(source),
      plugins,
      logging: false,
      graphiql: false,
      landingPage: false,
      cors: false,
      multipart: false,
    });
    return listenOn(yoga as never);
  };

export const plain = serve([]);
export const compiled = serve([useGraphQlJit() as Plugin]);
