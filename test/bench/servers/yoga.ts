import { useGraphQlJit } from '@envelop/graphql-jit';
import { createYoga, type Plugin } from 'graphql-yoga';
import { HEADER, HEADER_VALUE, ORIGIN } from '../shape.ts';
import { peerSchema } from './peer-schema.ts';
import { openPeerDatabase, peerContext } from './peer-source.ts';
import { createSignIn, type SignIn } from './sign-in.ts';
import { listenOn, REFUSAL, type Start } from './start.ts';

type Callers = WeakMap<Request, number>;

const serve =
  (plugins: Plugin[]): Start =>
  async (databaseUrl, shape) => {
    const { source, lookup } = openPeerDatabase(databaseUrl, shape);
    const asRun = shape === 'asRun';
    const callers: Callers = new WeakMap();
    const yoga = createYoga({
      schema: peerSchema(),
      context: ({ request }) => peerContext(source, callers.get(request)),
      plugins: asRun
        ? [useSignIn(createSignIn(lookup), callers), useHeader(), ...plugins]
        : plugins,
      logging: false,
      graphiql: false,
      landingPage: false,
      cors: asRun && { origin: ORIGIN, credentials: true },
      multipart: false,
    });
    return listenOn(yoga as never);
  };

const useSignIn = (signIn: SignIn, callers: Callers): Plugin => ({
  onRequest: async ({ request, fetchAPI, endResponse }) => {
    const caller = await signIn(request.headers.get('authorization') ?? undefined);
    if (caller === null) endResponse(fetchAPI.Response.json(REFUSAL, { status: 401 }));
    else callers.set(request, caller);
  },
});

const useHeader = (): Plugin => ({
  onResponse: ({ response }) => {
    response.headers.set(HEADER, HEADER_VALUE);
  },
});

export const plain = serve([]);
export const compiled = serve([useGraphQlJit() as never]);
