import type { CoreValues } from '../manifest/values.ts';

export type { RateLimit } from '../manifest/quantities.ts';

/** Settings of GraphQL and REST, with sizes in bytes and times in milliseconds. */
export interface Api extends Omit<CoreValues['api'], 'access'> {
  readonly access: 'user' | 'public';
}

export type When = Api['introspection'];

export type ApiLimits = Api['limits'];

/** `jobs:` of the manifest, with times in milliseconds. */
export type JobSettings = CoreValues['jobs'];

/** Settings of the HTTP server, with sizes in bytes. */
export type ServerOptions = CoreValues['server'];

/** How migrations run on PostgreSQL. */
export interface MigrationSettings {
  /** Milliseconds that a step may wait for a lock. */
  readonly lockTimeout: number;
  /** Tables with more rows are changed without blocking reads or writes. */
  readonly onlineFrom: number;
}
