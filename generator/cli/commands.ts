import { PACKAGE_MANAGERS } from '../commands/package-manager.ts';
import type { CommandSpec, OptionSpec } from './command.ts';
import { SHELLS } from './completion.ts';

/** Option of the commands that make or apply migrations. */
const ALLOW_LOSS: OptionSpec = {
  name: 'allow-loss',
  value: 'COORDINATE',
  many: true,
  about: 'a column whose values may lose a part when its type changes: Post.rating',
};

const CONFIRM: OptionSpec = {
  name: 'confirm',
  value: 'NAME',
  about: 'the name of a guarded database that may lose values',
};

const HINTS = {
  name: 'hints',
  about: 'show every hint in full, those of the last run too',
} as const;

/** Option of the commands that write the files of front ends. */
const NO_CLIENT: OptionSpec = {
  name: 'no-client',
  about: 'leave the files and documents of client: alone, on a machine without the front end',
};

/** Every command: a new one is a new row. */
export const commands: readonly CommandSpec[] = [
  {
    name: 'init',
    usage: '[DIR]',
    about: 'writes a new project: the two inputs and everything they mean',
    positionals: 1,
    options: [
      {
        name: 'template',
        value: 'NAME',
        choices: ['starter', 'blog', 'company', 'hosting'],
        about: 'what to start with (starter)',
      },
      { name: 'name', value: 'NAME', about: "the project's name (the folder's)" },
      {
        name: 'database',
        value: 'KIND',
        choices: ['sqlite', 'postgres'],
        about: 'where rows are kept (sqlite)',
      },
      {
        name: 'manager',
        value: 'NAME',
        choices: PACKAGE_MANAGERS,
        about: 'what installs its packages (the one that runs this, else npm)',
      },
      { name: 'no-install', about: 'do not install packages' },
      { name: 'start', about: 'run the server when done' },
      { name: 'force', about: 'also in a folder that is not empty; no file is overwritten' },
      {
        name: 'packages',
        value: 'FORM',
        choices: ['vendor', 'registry'],
        about: 'where our packages come from',
        hidden: true,
      },
    ],
    example: 'npx generator init shop --template blog',
    load: () => import('../commands/init.ts'),
  },
  {
    name: 'generate',
    usage: '',
    about: 'writes what the schema and the manifest mean',
    positionals: 0,
    options: [
      { name: 'dry-run', about: 'list what would be written' },
      { name: 'diff', about: 'show what would be written' },
      { name: 'watch', about: 'run again whenever an input is saved' },
      { name: 'print-model', about: 'print the model as JSON and write nothing' },
      {
        name: 'allow-drop',
        value: 'COORDINATE',
        many: true,
        about: 'a column or table that may be dropped: Post.body',
      },
      ALLOW_LOSS,
      {
        name: 'force',
        about: 'replace generated files that were edited; they are kept under .generator/rescued/',
      },
      NO_CLIENT,
      HINTS,
    ],
    example: 'npm run generate -- --dry-run',
    load: () => import('../commands/generate.ts'),
  },
  {
    name: 'check',
    usage: '',
    about: 'the same with nothing written; exit 1 when anything would be',
    positionals: 0,
    options: [
      { name: 'database', about: 'compare the schema with the database too; it only reads' },
      NO_CLIENT,
      HINTS,
    ],
    example: 'npm run generator -- check --json',
    load: () => import('../commands/check.ts'),
  },
  {
    name: 'dev',
    usage: '',
    about: 'generates, migrates and restarts the server as you save',
    positionals: 0,
    options: [
      {
        name: 'allow-drop',
        value: 'COORDINATE',
        many: true,
        about: 'a column or table that may be dropped: Post.body',
      },
      NO_CLIENT,
      HINTS,
      ALLOW_LOSS,
    ],
    example: 'npm run dev',
    load: () => import('../commands/dev.ts'),
  },
  {
    name: 'explain',
    usage: '[TYPE[.FIELD]]',
    about: 'what each thing is, which rule decided, which file holds it, what serves it',
    positionals: 1,
    options: [],
    example: 'npm run generator -- explain User.posts',
    load: () => import('../commands/explain.ts'),
  },
  {
    name: 'eject',
    usage: 'NAME',
    about:
      'copies an inferred resolver into your file as a start; moves what api.crud wrote into your schema',
    positionals: 1,
    options: [],
    example: 'npm run generator -- eject Query.users\nnpm run generator -- eject PostFilter',
    load: () => import('../commands/eject.ts'),
  },
  {
    name: 'rename',
    usage: 'FROM TO',
    about:
      'renames a type or field in the schema, your code and the database, shown as a diff first',
    positionals: 2,
    options: [{ name: 'yes', about: 'rename without asking' }],
    example: 'npm run generator -- rename User.name User.fullName',
    load: () => import('../commands/rename.ts'),
  },
  {
    name: 'prune',
    usage: '',
    about: 'removes files that nothing refers to any more, after showing them',
    positionals: 0,
    options: [{ name: 'yes', about: 'remove without asking' }],
    example: 'npm run generator -- prune',
    load: () => import('../commands/prune.ts'),
  },
  {
    name: 'migrate',
    usage: '[up|plan|sql|status|save [NAME]|new NAME|down [NAME]|squash|baseline|reset]',
    about: 'applies, foresees, lists, saves, starts or undoes migrations',
    positionals: 2,
    words: ['up', 'plan', 'sql', 'status', 'save', 'new', 'down', 'squash', 'baseline', 'reset'],
    options: [
      ALLOW_LOSS,
      { name: 'values', about: 'plan: show the values at risk, not only their keys' },
      {
        name: 'zero-downtime',
        about:
          'plan: refuse what servers of the release before fail on, and what blocks for longer',
      },
      CONFIRM,
      { name: 'seed', about: 'reset: load the seed file afterwards' },
      { name: 'drift', about: 'status: where the database is not what the migrations make' },
      { name: 'from', value: 'NNNN', about: 'squash: the first migration to replace (all)' },
      { name: 'name', value: 'NAME', about: 'squash: the name of the new migration (squashed)' },
      {
        name: 'without',
        value: 'NAME',
        many: true,
        about: 'squash: a migration written by hand that the new one leaves out',
      },
    ],
    example:
      'npm run migrate -- status\nnpm run migrate -- new fill_summaries\nnpm run migrate -- down 0003_add_posts_rating',
    load: () => import('../commands/migrate.ts'),
  },
  {
    name: 'db',
    usage: 'backup [FILE] | restore FILE | copy',
    about: 'moves all rows of a database: into a file, out of it, or to another database',
    positionals: 2,
    words: ['backup', 'restore', 'copy'],
    options: [
      {
        name: 'database',
        value: 'URL',
        about: 'the database to back up, or to restore into (DATABASE_URL)',
      },
      { name: 'from', value: 'URL', about: 'the database to copy' },
      { name: 'to', value: 'URL', about: 'the database that gets the rows' },
      { name: 'replace', about: 'remove the rows that are there' },
      { ...CONFIRM, about: 'with --replace, the name of a guarded database' },
    ],
    example:
      'npm run generator -- db backup\nnpm run generator -- db restore shop-20261123T101500Z.twofold.tgz\nnpm run generator -- db copy --from file:data/app.db --to postgres://app:secret@localhost/shop',
    load: () => import('../commands/db.ts'),
  },
  {
    name: 'breaking',
    usage: '',
    about:
      'what a change means for callers, rows and code, compared with git; exit 1 when it breaks',
    positionals: 0,
    options: [
      {
        name: 'against',
        value: 'REF|FILE',
        about: 'a git revision, or an SDL file (where this branch left origin/HEAD, else HEAD)',
      },
      {
        name: 'fail-on',
        value: 'LEVEL',
        choices: ['breaking', 'dangerous'],
        about: 'the level that makes it exit with 1 (breaking)',
      },
      { name: 'today', value: 'DATE', about: 'the day to compare announced removals with (today)' },
      { name: 'no-code', about: 'do not compare the errors of functions and of tsc' },
      { name: 'markdown', about: 'print a comment for a pull request' },
    ],
    example: 'npm run generator -- breaking --against main',
    load: () => import('../commands/breaking.ts'),
  },
  {
    name: 'openapi',
    usage: '',
    about: 'prints the OpenAPI document that the server serves',
    positionals: 0,
    options: [{ name: 'out', value: 'FILE', about: 'write it to a file, which is then yours' }],
    example: 'npm run -s generator -- openapi --out openapi.json',
    load: () => import('../commands/openapi.ts'),
  },
  {
    name: 'mcp',
    usage: '',
    about: 'tools for the agent of an editor, on standard input and output; they only read',
    positionals: 0,
    options: [],
    example: 'npm run -s generator -- mcp',
    load: () => import('../commands/mcp.ts'),
  },
  {
    name: 'seed',
    usage: '[FILE]',
    about: 'loads rows (YAML or JSON by type) through the same checks as mutations; all or none',
    positionals: 1,
    options: [],
    example: 'npm run generator -- seed seed.yaml',
    load: () => import('../commands/seed.ts'),
  },
  {
    name: 'import',
    usage: 'db [URL] | prisma [FILE] | hasura [METADATA]',
    about: 'writes a schema that serves the tables which others made, and a report of what differs',
    positionals: 2,
    words: ['db', 'prisma', 'hasura'],
    options: [
      {
        name: 'database',
        value: 'URL',
        about: 'hasura: the database that the metadata is about (DATABASE_URL)',
      },
      { name: 'user', value: 'TABLE', about: 'hasura: the table whose rows sign in (users)' },
      { name: 'schema', value: 'NAME', many: true, about: 'a schema of PostgreSQL (public)' },
      { name: 'only', value: 'GLOB', many: true, about: 'only these tables of the database' },
      { name: 'skip', value: 'GLOB', many: true, about: 'not these tables of the database' },
      { name: 'crud', about: 'serve creating, updating and deleting too' },
      { name: 'managed', about: 'keep the tables by migrations from now on' },
      { name: 'dry-run', about: 'list what would be written' },
    ],
    example:
      'npx generator import db postgres://app:secret@localhost/shop\nnpx generator import prisma prisma/schema.prisma\nnpx generator import hasura hasura/metadata --user users',
    load: () => import('../commands/import.ts'),
  },
  {
    name: 'admin',
    usage: 'create|grant|link',
    about: 'the first administrator of a project with sign-in: an account, a role, or a setup link',
    positionals: 1,
    words: ['create', 'grant', 'link'],
    options: [
      { name: 'email', value: 'ADDRESS', about: 'whose account it is' },
      { name: 'role', value: 'ROLE', about: 'what they become (create: auth.roles.first)' },
    ],
    example:
      'npm run generator -- admin create --email ada@example.com\nnpm run generator -- admin grant --email ada@example.com --role Owner\nnpm run generator -- admin link',
    load: () => import('../commands/admin.ts'),
  },
  {
    name: 'console',
    usage: '',
    about: 'a link that signs you in to the console as the operator, once, within 10 minutes',
    positionals: 0,
    options: [{ name: 'open', about: 'open it in a browser, too' }],
    example: 'npx generator console --open',
    load: () => import('../commands/console.ts'),
  },
  {
    name: 'jobs',
    usage: '[stats|list|show|run|retry|cancel] [ID|NAME]',
    about: 'the queue of the jobs in src/jobs: counts, one of them, dead letters, a run by hand',
    positionals: 2,
    words: ['stats', 'list', 'show', 'run', 'retry', 'cancel'],
    options: [
      {
        name: 'state',
        value: 'STATE',
        choices: ['waiting', 'running', 'done', 'failed', 'cancelled'],
        about: 'list: those in this state',
      },
      { name: 'name', value: 'NAME', about: 'list: those of this job' },
      { name: 'limit', value: 'NUMBER', about: 'list: how many (50)' },
      { name: 'data', value: 'JSON', about: 'run: what the job gets' },
      { name: 'wait', about: 'run: end with it; exit 0 when it is done, 2 when it failed' },
      { name: 'failed', about: 'retry: all that have failed, or those of NAME' },
    ],
    example:
      'npm run generator -- jobs\nnpm run generator -- jobs list --state failed\nnpm run generator -- jobs run mail-receipt --data \'{"orderId":"1"}\' --wait\nnpm run generator -- jobs retry --failed mail-receipt',
    load: () => import('../commands/jobs.ts'),
  },
  {
    name: 'mails',
    usage: '[preview|eject KIND]',
    about: 'the kinds of mails, one of them with sample data, or its text as a file of yours',
    positionals: 2,
    words: ['list', 'preview', 'eject'],
    options: [
      { name: 'locale', value: 'LANGUAGE', about: 'the language of a preview: de' },
      { name: 'html', about: 'preview the HTML part' },
    ],
    example:
      'npm run generator -- mails\nnpm run generator -- mails preview reset-password --locale de\nnpm run generator -- mails eject reset-password',
    load: () => import('../commands/mails.ts'),
  },
  {
    name: 'doctor',
    usage: '',
    about: 'what is wrong with this machine and project, and the command that mends it',
    positionals: 0,
    options: [],
    example: 'npm run generator -- doctor',
    load: () => import('../commands/doctor.ts'),
  },
  {
    name: 'deploy',
    usage: '',
    about: 'builds the project on a hosting server and ends when it answers there',
    positionals: 0,
    options: [
      {
        name: 'to',
        value: 'URL',
        about: 'the hosting server (DEPLOY_URL in the environment or .env)',
      },
      { name: 'name', value: 'APP', about: "the app's name there (the project's)" },
      {
        name: 'token',
        value: 'TOKEN',
        about:
          'a token or API key (DEPLOY_TOKEN; or DEPLOY_PASSWORD, the password of the server, which is asked for on a terminal)',
      },
      {
        name: 'env',
        value: 'NAME[=VALUE]',
        many: true,
        about:
          'a setting of the app; without a value, the one that .env has. Sealed if its name says secret',
      },
    ],
    example: 'npm run generator -- deploy --to https://host.example.com --env DATABASE_URL',
    load: () => import('../commands/deploy.ts'),
  },
  {
    name: 'completion',
    usage: 'bash|zsh|fish',
    about: 'a script with which the shell completes commands, options and their values',
    positionals: 1,
    words: SHELLS,
    options: [],
    example: 'eval "$(generator completion bash)"',
    load: () => import('../commands/completion.ts'),
  },
];
