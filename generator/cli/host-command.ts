import type { CommandSpec } from './command.ts';

/** `generator host`. */
export const HOST: CommandSpec = {
  name: 'host',
  usage: 'compose FILE',
  about: 'the apps of a hosting server: makes those of a project what a compose file says',
  positionals: 2,
  words: ['compose'],
  options: [
    {
      name: 'to',
      value: 'URL',
      about: 'the hosting server (DEPLOY_URL in the environment or .env)',
    },
    { name: 'project', value: 'NAME', about: 'the project there' },
    {
      name: 'token',
      value: 'TOKEN',
      about: 'a token or API key (DEPLOY_TOKEN; or DEPLOY_PASSWORD, the password of the server)',
    },
    { name: 'dry-run', about: 'say what would change and change nothing' },
    {
      name: 'prune',
      about: 'delete the apps that an earlier file made and this one does not have',
    },
  ],
  example:
    'npm run generator -- host compose compose.yaml --to https://host.example.com --project shop --dry-run',
  load: () => import('../commands/host.ts'),
};
