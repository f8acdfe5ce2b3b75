/** `@twofold/console/server`: what the emitted `app.ts` imports. */
import type { Capability, OwnApplication } from '@twofold/runtime/kernel';
import type { ConsoleModel } from '@twofold/schema';
import { createConsole } from './console.ts';
import { consoleFlows } from './flows/index.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/**
 * The console, configured by the manifest's `console` section. It is not called `console`, because
 * that name is Node's.
 *
 * @example defineApp({ project, capabilities: [auth(), webConsole()] });
 */
export function webConsole(): Capability {
  return {
    name: 'console',
    flows: consoleFlows,
    recorder: ({ console: model }) => model !== null,
    application: ({ project: { console: model }, settings: { production } }) =>
      model && applicationOf(model, isOpen(model, production)),
    create: (kernel) => {
      const model = kernel.project.console;
      return model && createConsole(kernel, model, isOpen(model, kernel.settings.production));
    },
  };
}

/** Whether its pages answer and users may sign in to it. */
const isOpen = ({ enabled }: ConsoleModel, production: boolean): boolean =>
  enabled === 'always' || (enabled === 'development' && !production);

const applicationOf = ({ path, host, roles }: ConsoleModel, open: boolean): OwnApplication => ({
  client: 'console',
  title: 'Console',
  path,
  access: 15 * MINUTE,
  idle: 8 * HOUR,
  absolute: 24 * HOUR,
  open,
  host,
  roles,
});

export type { ConsoleModel };
