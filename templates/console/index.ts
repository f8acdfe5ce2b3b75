import type { CapabilityTemplate } from '../capability.ts';
import { code, packaged } from '../code.ts';

/** The web application for the people who run the server. */
export const consoleTemplate: CapabilityTemplate = {
  name: 'console',
  call: () => code`${packaged('@twofold/console/server', 'webConsole')}()`,
  settings: {
    about: 'Where the console answers, and whom it lets in',
    as: 'consoleSettings',
    type: 'ConsoleModel',
    from: '@twofold/console/server',
  },
  env: ({ hosting }) =>
    hosting
      ? []
      : [{ name: 'HOST_PASSWORD', why: 'Signs you in to the console', value: '', secret: true }],
  secrets: [{ name: 'HOST_PASSWORD', or: 'HOST_PASSWORD_HASH' }],
  readme: ({ console: model }) => ({
    endpoints: [
      `| \`${model?.path ?? '/console'}\` | the console: rows, schema, and who may see them |`,
    ],
    pages: [['the console', 'console/docs/console.md']],
  }),
};
