import type { ConsoleModel } from '@twofold/schema';
import { consoleRoutes, isConsoleRouteServed } from '@twofold/schema';
import { bindRoutes } from '@twofold/runtime/http';
import type { Kernel, ServerModule } from '@twofold/runtime/kernel';
import { describeConsole, operatorCanSignIn } from './routes/describe.ts';
import { explainOperation } from './routes/explain.ts';
import { describeMigrations } from './routes/migrations.ts';
import { describeSchema } from './routes/schema.ts';
import { describeConfig, describeServer } from './routes/system/describe.ts';
import type { LogStreams } from './routes/system/log-stream.ts';
import { readLogs } from './routes/system/logs.ts';
import { readFigures } from './routes/system/metrics.ts';
import { listSettings } from './routes/system/settings.ts';
import { createPages, createPolicy } from './pages.ts';

/**
 * The module that serves the console and the routes that only it needs.
 *
 * @param open whether the pages answer; the routes always do
 */
export function createConsole(kernel: Kernel, model: ConsoleModel, open: boolean): ServerModule {
  if (open && kernel.settings.production) assertEnterable(kernel, model);
  const streams: LogStreams = new Set();
  const routes = bindRoutes(consoleRoutes, {
    console: describeConsole(kernel, model),
    systemMigrations: describeMigrations(kernel),
    systemSchema: describeSchema(kernel),
    systemExplain: explainOperation(kernel),
    systemInfo: describeServer(kernel),
    systemConfig: describeConfig(kernel),
    systemSettings: listSettings(kernel, model),
    systemLogs: readLogs(kernel, streams),
    systemMetrics: readFigures(kernel),
  });
  return {
    name: 'console',
    routes: routes.filter(({ spec }) => isConsoleRouteServed(spec, kernel.project)),
    leave: () => streams.forEach((end) => end()),
    ...(open && { before: [createPolicy(model.path)], endpoint: createPages(model, kernel) }),
  };
}

/** A console without a user who can sign in to it is a mistake, which production reports at its start. */
function assertEnterable(kernel: Kernel, model: ConsoleModel): void {
  if ((model.host && operatorCanSignIn(kernel)) || Object.keys(model.roles).length > 0) return;
  kernel.settings.problem(
    'the console has no user who can sign in: set HOST_PASSWORD or HOST_PASSWORD_HASH, or name roles of auth.roles in console.roles',
  );
}
