import type { ConsoleModel } from '@twofold/schema';
import { consoleRoutes, isConsoleRouteServed } from '@twofold/schema';
import { bindRoutes, type Handler, reply } from '@twofold/runtime/http';
import { createServerInfo, type Kernel, type ServerModule } from '@twofold/runtime/kernel';
import { describeConsole, operatorCanSignIn } from './routes/describe.ts';
import type { LogStreams } from './routes/system/log-stream.ts';
import { createPages, createPolicy } from './pages.ts';

/**
 * The module that serves the console and the routes that only it needs.
 *
 * @param open whether the pages answer; the routes always do
 */
export function createConsole(kernel: Kernel, model: ConsoleModel, open: boolean): ServerModule {
  if (open && kernel.settings.production) assertEnterable(kernel, model);
  const streams: LogStreams = new Set();
  const info = createServerInfo(kernel);
  const routes = bindRoutes(consoleRoutes, {
    console: describeConsole(kernel, model),
    systemMigrations: loaded(async () =>
      (await import('./routes/migrations.ts')).describeMigrations(kernel),
    ),
    systemSchema: loaded(async () => (await import('./routes/schema.ts')).describeSchema(kernel)),
    systemExplain: loaded(async () =>
      (await import('./routes/explain.ts')).explainOperation(kernel),
    ),
    systemInfo: async () => reply(200, await info()),
    systemConfig: loaded(async () =>
      (await import('./routes/system/describe.ts')).describeConfig(kernel),
    ),
    systemSettings: loaded(async () =>
      (await import('./routes/system/settings.ts')).listSettings(kernel, model),
    ),
    systemLogs: loaded(async () =>
      (await import('./routes/system/logs.ts')).readLogs(kernel, streams),
    ),
    systemMetrics: loaded(async () =>
      (await import('./routes/system/metrics.ts')).readFigures(kernel),
    ),
  });
  return {
    name: 'console',
    routes: routes.filter(({ spec }) => isConsoleRouteServed(spec, kernel.project)),
    leave: () => streams.forEach((end) => end()),
    ...(open && { before: [createPolicy(model.path)], endpoint: createPages(model, kernel) }),
  };
}

/**
 * Throws in production at the start if no user can sign in to the console, because that is a
 * mistake.
 */
function assertEnterable(kernel: Kernel, model: ConsoleModel): void {
  if ((model.host && operatorCanSignIn(kernel)) || Object.keys(model.roles).length > 0) return;
  kernel.settings.problem(
    'the console has no user who can sign in: set HOST_PASSWORD or HOST_PASSWORD_HASH, ' +
      'or name roles of auth.roles in console.roles',
  );
}

/**
 * A handler whose code is loaded with its first request: a server that is not looked at starts
 * sooner.
 */
function loaded(load: () => Promise<Handler>): Handler {
  let made: Promise<Handler> | undefined;
  return async (call) => (await (made ??= load()))(call);
}
