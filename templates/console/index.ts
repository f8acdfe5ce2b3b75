import { whenInstalled, type CapabilityTemplate } from '../capability.ts';

/** The web application for the people who run the server. */
export const consoleTemplate: CapabilityTemplate = {
  name: 'console',
  call: () =>
    whenInstalled('@twofold/console', "(await import('@twofold/console/server')).webConsole()"),
  settings: {
    about: 'Where the console answers, and whom it lets in',
    as: 'consoleSettings',
    type: 'ConsoleModel',
    from: '@twofold/console/server',
    without: ['manifest'],
  },
  env: ({ hosting }) =>
    hosting
      ? []
      : [{ name: 'HOST_PASSWORD', why: 'Signs you in to the console', value: '', secret: true }],
  secrets: [{ name: 'HOST_PASSWORD', or: 'HOST_PASSWORD_HASH' }],
  readme: ({ console: model, server: { port } }) => ({
    start: startText(model?.path ?? '/console', port),
    endpoints: [
      `| \`${model?.path ?? '/console'}\` | the console: rows, queries, users, logs, settings |`,
    ],
    pages: [['the console', 'console/docs/console.md']],
  }),
};

const startText = (path: string, port: number) =>
  `The console shows and changes rows in the browser: open the link \`Console: …\` that \`npm start\` prints, which signs you in once. \`npx generator console --open\`
gives another one; at http://localhost:${port}${path} you sign in with the HOST_PASSWORD of \`.env\`.`;
