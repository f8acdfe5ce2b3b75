import type { CoreValues } from '../manifest/values.ts';

export type { RateLimit } from '../manifest/quantities.ts';

/** What the GraphQL and REST surface does, with sizes in bytes and times in milliseconds. */
export interface Api extends Omit<CoreValues['api'], 'access'> {
  readonly access: 'user' | 'public';
}

export type When = Api['introspection'];

export type ApiLimits = Api['limits'];

/** Where and how the server listens, with sizes in bytes. */
export type ServerOptions = CoreValues['server'];
