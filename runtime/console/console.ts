import { type ConsoleModel, isConsoleRouteServed } from '@twofold/schema';
import { bindFlows } from '@twofold/runtime/http';
import { createServerInfo, type Kernel, type ServerModule } from '@twofold/runtime/kernel';
import type { ConsoleState } from './flows/flow.ts';
import { consoleFlows } from './flows/index.ts';
import { createEntrance, createPolicy } from './policy.ts';

/**
 * The module that serves the console and the routes that only it needs.
 *
 * @param open whether the pages answer; the routes always do
 */
export function createConsole(kernel: Kernel, model: ConsoleModel, open: boolean): ServerModule {
  if (open && kernel.settings.production) assertEnterable(kernel, model);
  const operator = operatorCanSignIn(kernel);
  const streams: ConsoleState['streams'] = new Set();
  const state = { kernel, model, operator, streams, info: createServerInfo(kernel) };
  return {
    name: 'console',
    routes: bindFlows(
      consoleFlows.filter((flow) => isConsoleRouteServed(flow, kernel.project)),
      state,
    ),
    leave: () => streams.forEach((end) => end()),
    ...(open && {
      before: [createPolicy(model.path)],
      endpoint: createEntrance(model.path, async () =>
        (await import('./pages.ts')).createPages(model, kernel),
      ),
    }),
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

/** Whether the operator has a password. */
const operatorCanSignIn = ({ settings }: Kernel): boolean =>
  settings.text('HOST_PASSWORD') !== undefined || settings.text('HOST_PASSWORD_HASH') !== undefined;
