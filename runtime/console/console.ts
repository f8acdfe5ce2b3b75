import type { ConsoleModel } from '@twofold/schema';
import { consoleRoutes } from '@twofold/schema';
import { bindRoutes } from '@twofold/runtime/http';
import type { Kernel, ServerModule } from '@twofold/runtime/kernel';
import { describeConsole, operatorCanSignIn } from './routes/describe.ts';
import { explainOperation } from './routes/explain.ts';
import { describeSchema } from './routes/schema.ts';
import { createPages, createPolicy } from './pages.ts';

/**
 * The module that serves the console and the routes that only it needs.
 *
 * @param open whether the pages answer; the routes always do
 */
export function createConsole(kernel: Kernel, model: ConsoleModel, open: boolean): ServerModule {
  if (open && kernel.settings.production) assertEnterable(kernel, model);
  return {
    name: 'console',
    routes: bindRoutes(consoleRoutes, {
      console: describeConsole(kernel, model),
      systemSchema: describeSchema(kernel),
      systemExplain: explainOperation(kernel),
    }),
    ...(open && { before: [createPolicy(model.path)], endpoint: createPages(model.path, kernel) }),
  };
}

/** A console without a user who can sign in to it is a mistake, which production reports at its start. */
function assertEnterable(kernel: Kernel, model: ConsoleModel): void {
  if ((model.host && operatorCanSignIn(kernel)) || Object.keys(model.roles).length > 0) return;
  kernel.settings.problem(
    'the console has no user who can sign in: set HOST_PASSWORD or HOST_PASSWORD_HASH, or name roles of auth.roles in console.roles',
  );
}
