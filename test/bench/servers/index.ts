import type { Start } from './start.ts';

export interface Contender {
  readonly name: string;
  readonly title: string;
  /** It trusts the signature of a token and looks up no session, so it is no peer to compare with; only as users run it. */
  readonly tokenOnly?: true;
  /** Path on which it takes GraphQL. */
  readonly path: string;
  /** Loaded only in the process that runs it. */
  load(): Promise<Start>;
}

/** Ours first, then the limit, then the peers. */
export const contenders: readonly Contender[] = [
  {
    name: 'twofold',
    title: 'Twofold',
    path: '/graphql',
    load: async () => (await import('./twofold.ts')).start,
  },
  {
    name: 'hand',
    title: 'node:http, SQL by hand',
    path: '/graphql',
    load: async () => (await import('./hand.ts')).start,
  },
  {
    name: 'mercurius',
    title: 'mercurius, jit',
    path: '/graphql',
    load: async () => (await import('./mercurius.ts')).start,
  },
  {
    name: 'koa-jit',
    title: 'Koa, graphql-jit',
    path: '/graphql',
    load: async () => (await import('./koa.ts')).compiled,
  },
  {
    name: 'koa-jit-token',
    title: 'Koa, graphql-jit, signature alone',
    tokenOnly: true,
    path: '/graphql',
    load: async () => (await import('./koa.ts')).compiledTokenOnly,
  },
  {
    name: 'koa-cache',
    title: 'Koa, graphql-js, document cache',
    path: '/graphql',
    load: async () => (await import('./koa.ts')).cached,
  },
  {
    name: 'koa',
    title: 'Koa, graphql-js',
    path: '/graphql',
    load: async () => (await import('./koa.ts')).uncached,
  },
  {
    name: 'yoga-jit',
    title: 'graphql-yoga, jit plugin',
    path: '/graphql',
    load: async () => (await import('./yoga.ts')).compiled,
  },
  {
    name: 'yoga',
    title: 'graphql-yoga',
    path: '/graphql',
    load: async () => (await import('./yoga.ts')).plain,
  },
  {
    name: 'apollo',
    title: 'Apollo Server',
    path: '/',
    load: async () => (await import('./apollo.ts')).start,
  },
];
