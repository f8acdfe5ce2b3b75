import type { CommandSpec } from './command.ts';

/** `generator upgrade`. */
export const UPGRADE: CommandSpec = {
  name: 'upgrade',
  usage: '',
  about: 'brings the project to another version of the packages, and says what is left to do',
  positionals: 0,
  options: [
    {
      name: 'to',
      value: 'VERSION|FOLDER',
      about: 'a version of the registry, or a folder with packs (the newest version)',
    },
    { name: 'dry-run', about: 'say what would change and write nothing' },
    { name: 'force', about: 'also with changes that are not committed' },
    { name: 'no-install', about: 'leave the packages and their lockfile to you' },
  ],
  example: 'npm run generator -- upgrade --dry-run\nnpm run generator -- upgrade --to 0.2.0',
  load: () => import('../commands/upgrade.ts'),
};
