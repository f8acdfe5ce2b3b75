import type { App } from './app.ts';
import { type BootOptions, reachingDatabase, rootOf, settingsIn, withBooted } from './boot.ts';
import { guardOfDatabase } from './database-at-start.ts';
import type { RequestContext } from './context/request-context.ts';
import { AppError, failure } from './errors.ts';
import type { GraphqlModule } from './graphql/index.ts';
import { readParameters } from './graphql/parameters.ts';
import { findOperation, leaveRefused, respond, type Service } from './graphql/service.ts';
import { DerivedContext } from './own-context/derived-context.ts';
import { systemContext } from './own-context/system-context.ts';
import { commandUrl } from './store/database-settings.ts';
import { type Guard, guardOf } from './store/migrations/guard.ts';

/** A query, and the caller whose rights apply. */
export interface AppQuery {
  readonly document: string;
  readonly variables?: Readonly<Record<string, unknown>>;
  /** The id of a user; that of a caller without a sign-in when absent. */
  readonly user?: number | string;
}

/**
 * Runs one query on the development database of a project, for `generator mcp`. The database is
 * opened read-only, and nothing is migrated.
 *
 * @returns the answer of `/graphql`.
 * @throws AppError `DATABASE_GUARDED`; `USER_UNKNOWN`; `BAD_REQUEST` for a mutation or a
 * subscription.
 * @example (await queryOfApp(app, { document: '{ posts { title } }' })).data
 */
export async function queryOfApp(
  app: App,
  query: AppQuery,
  options: BootOptions = {},
): Promise<{ readonly data?: unknown; readonly errors?: readonly unknown[] }> {
  assertNearby(app, options);
  return withBooted(app, { ...options, readOnly: true }, ({ kernel, modules }) =>
    reachingDatabase(kernel, async () => {
      assertDevelopment(await guardOfDatabase(kernel));
      const { service } = modules.find(({ name }) => name === 'graphql') as GraphqlModule;
      const system = systemContext(kernel);
      const caller =
        query.user === undefined
          ? new DerivedContext(kernel, system, {
              principal: { kind: 'anonymous' },
              sameRequest: true,
            })
          : await callerOf(system, query.user);
      return JSON.parse(await answer(service, query, caller));
    }),
  );
}

async function callerOf(system: RequestContext, user: number | string): Promise<RequestContext> {
  try {
    return await system.as(user);
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'UNAUTHENTICATED') throw error;
    throw new AppError(
      404,
      'USER_UNKNOWN',
      `no user who may sign in has the id ${JSON.stringify(user)}: "user" is the id of a row, no address`,
    );
  }
}

/** Refuses a guarded database by its path or URL, before it is opened. */
function assertNearby(app: App, { env }: BootOptions): void {
  const root = rootOf(app);
  const settings = settingsIn(root, env);
  const guarding = { url: commandUrl(settings), root, production: settings.production };
  assertDevelopment(guardOf({ ...guarding, ledger: { production: false } }));
}

function assertDevelopment({ name, address, reason }: Guard): void {
  if (reason === null) return;
  throw new AppError(
    409,
    'DATABASE_GUARDED',
    `the database ${name} (${address}) is guarded, because ${reason}: only a development database is queried here`,
    { extensions: { database: name } },
  );
}

/**
 * Runs the query. The list of trusted documents does not apply, because it is for clients and not
 * for developers of the server.
 */
async function answer(service: Service, query: AppQuery, caller: RequestContext): Promise<string> {
  const { document, variables = {} } = query;
  const source = { ...service.source, textOf: () => document };
  try {
    const parameters = readParameters({ query: document, variables });
    const operation = await findOperation({ ...service, source }, parameters, caller);
    if (operation.node.operation !== 'query')
      throw failure.badRequest(`only queries run here, and this is a ${operation.node.operation}`);
    return String((await respond(service, { operation, parameters, context: caller })).text);
  } catch (error) {
    return String((await leaveRefused(service, error, caller)).text);
  }
}
