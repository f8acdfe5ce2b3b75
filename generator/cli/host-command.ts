import type { CommandSpec, OptionSpec } from './command.ts';

/** Options of `host install` and `host uninstall`. */
const INSTALL: readonly OptionSpec[] = [
  { name: 'domain', value: 'D', about: 'install: apps answer at NAME.D (that of the manifest)' },
  { name: 'url', value: 'URL', about: 'install: the address of the server itself' },
  { name: 'email', value: 'E', about: "install: for the certificates' account" },
  { name: 'user', value: 'NAME', about: 'install: the user of the services (twofold)' },
  { name: 'dir', value: 'DIR', about: 'install: where the server and its data are (/opt/twofold)' },
  { name: 'purge', about: 'uninstall: delete the apps, their volumes, data and settings too' },
  { name: 'yes', about: 'uninstall: do not ask before --purge' },
  { name: 'root', value: 'DIR', about: 'install: write the files below DIR and run nothing' },
];

/** `generator host`. */
export const HOST: CommandSpec = {
  name: 'host',
  usage: 'install | uninstall | doctor | compose FILE | move APP | restore TARGET',
  about:
    'a hosting server: installs and checks it, makes its apps what a compose file says, moves an app, brings a lost server back',
  positionals: 2,
  words: ['install', 'uninstall', 'doctor', 'compose', 'move', 'restore'],
  options: [
    {
      name: 'to',
      value: 'URL',
      about: 'the hosting server (DEPLOY_URL in the environment or .env)',
    },
    { name: 'from', value: 'URL', about: 'move: the hosting server that has the app' },
    {
      name: 'from-token',
      value: 'TOKEN',
      about: 'move: a token or API key of that server (MOVE_FROM_TOKEN, MOVE_FROM_PASSWORD)',
    },
    { name: 'project', value: 'NAME', about: 'the project there' },
    {
      name: 'token',
      value: 'TOKEN',
      about: 'a token or API key (DEPLOY_TOKEN; or DEPLOY_PASSWORD, the password of the server)',
    },
    {
      name: 'key',
      value: 'KEY',
      about: 'restore: what the backups are encrypted with (BACKUP_KEY in the environment or .env)',
    },
    { name: 'dry-run', about: 'say what would change and change nothing' },
    ...INSTALL,
    {
      name: 'prune',
      about: 'delete the apps that an earlier file made and this one does not have',
    },
  ],
  example:
    'npm run generator -- host compose compose.yaml --to https://host.example.com --project shop --dry-run\nnpm run generator -- host move shop --from https://old.example.com --to https://host.example.com',
  load: () => import('../commands/host.ts'),
};
