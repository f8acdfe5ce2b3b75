import type { CoreValues } from '../manifest/core.ts';

export type { ClientSettings } from '../manifest/client.ts';
export type { RateLimit } from '../manifest/quantities.ts';

/** Settings of GraphQL and REST, with sizes in bytes and times in milliseconds. */
export interface Api extends Omit<CoreValues['api'], 'access' | 'mcp'> {
  readonly access: 'user' | 'public';
  /** Absent when the API does not offer tools to language models. */
  readonly mcp?: McpSettings;
}

/** `api.mcp` of the manifest, with sizes in bytes. */
export type McpSettings = NonNullable<CoreValues['api']['mcp']>;

export type When = Api['introspection'];

export type ApiLimits = Api['limits'];

/** `observability:` of the manifest, without the parts that are off. */
export interface Observability {
  readonly traces?: true;
  readonly metrics?: MetricsSettings;
}

/** The page of figures. `port` is null where it is on the port of the server. */
export interface MetricsSettings {
  readonly path: string;
  readonly port: number | null;
}

/** `jobs:` of the manifest, with times in milliseconds. */
export type JobSettings = CoreValues['jobs'];

/** Settings of the HTTP server, with sizes in bytes. */
export type ServerOptions = CoreValues['server'] & { readonly host: string };

/** How migrations run on PostgreSQL. */
export interface MigrationSettings {
  /** Milliseconds that a step may wait for a lock. */
  readonly lockTimeout: number;
  /** Tables with more rows are changed without blocking reads or writes. */
  readonly onlineFrom: number;
}
