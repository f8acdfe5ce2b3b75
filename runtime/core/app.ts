import { type Project, withLaterSettings } from '@twofold/schema';
import type { Capability } from './capability.ts';
import type { RequestContext } from './context/request-context.ts';
import type { Credential } from './context/credential.ts';
import type { EntityHooks } from './context/entity-hooks.ts';
import type { Plugin, Resolvers, ScalarMapping } from './plugin.ts';
import type { JobOf } from './jobs/types.ts';
import type { OwnRouter } from './routes/types.ts';
import { VERSION } from './version.ts';

/**
 * Everything a server is made of. An emitted project passes it in as generated data and the user's
 * own functions.
 */
export interface App {
  readonly project: Project;
  /** The version of the generator that wrote the code: another release warns when it runs it. */
  readonly generatedBy?: string;
  /** The user's resolvers: each replaces an inferred one, or adds one that cannot be inferred. */
  readonly resolvers?: Resolvers;
  readonly scalars?: Readonly<Record<string, ScalarMapping>>;
  /**
   * Capabilities that the manifest configures besides GraphQL and REST, each from a package of its
   * own.
   */
  readonly capabilities?: readonly Capability[];
  readonly plugins?: readonly Plugin[];
  /** Lifecycle hooks by the name of the entity: `src/hooks/<Entity>.ts`. */
  readonly entityHooks?: Readonly<Record<string, EntityHooks>>;
  /** Jobs by their names: `src/jobs/<name>.ts`. */
  readonly jobs?: Readonly<Record<string, JobOf<any>>>;
  /** HTTP routes of the user's own, after authentication and before all that is generated. */
  routes?(router: OwnRouter<RequestContext, any>): void;
  /** Ways to sign in a request, asked before Bearer and X-API-Key. */
  readonly credentials?: readonly Credential<any>[];
  /** Koa middleware before authentication, for GraphQL, REST and routes. */
  readonly middleware?: readonly ((ctx: any, next: () => Promise<any>) => unknown)[];
  /** The documents of front ends that are tools of language models, by `api.mcp`. */
  readonly tools?: readonly { readonly hash: string; readonly description?: string }[];
  /** Folder of the migrations. Without one, the server makes missing tables when it starts. */
  readonly migrations?: URL;
  /**
   * The folder of the project, which contains `.env`, `data/` and `templates/`. Without it the
   * current folder is used.
   */
  readonly root?: URL;
}

/**
 * Lets TypeScript check the parts of an app where they are written. Code of another version gets
 * the defaults of the settings that it does not know.
 *
 * @example export const app = defineApp({ project, resolvers, root: new URL('../../', import.meta.url) });
 */
export function defineApp(app: App): App {
  if (app.generatedBy === undefined || app.generatedBy === VERSION) return app;
  return { ...app, project: withLaterSettings(app.project) };
}
