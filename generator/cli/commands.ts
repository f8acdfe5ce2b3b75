import type { CommandSpec } from './command.ts';

/** Every command: a new one is a new row. */
export const commands: readonly CommandSpec[] = [
  {
    name: 'init',
    usage: '[DIR]',
    about: 'writes a new project: the two inputs and everything they mean',
    positionals: 1,
    options: [
      { name: 'template', value: 'NAME', choices: ['starter', 'blog', 'company', 'hosting'], about: 'what to start with (starter)' },
      { name: 'name', value: 'NAME', about: "the project's name (the folder's)" },
      { name: 'database', value: 'KIND', choices: ['sqlite', 'postgres'], about: 'where rows are kept (sqlite)' },
      { name: 'no-install', about: 'do not run npm install' },
      { name: 'start', about: 'run the server when done' },
      { name: 'force', about: 'also in a folder that is not empty; no file is overwritten' },
      { name: 'packages', value: 'FORM', choices: ['vendor', 'registry'], about: 'where our packages come from', hidden: true },
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
      { name: 'allow-drop', value: 'COORDINATE', many: true, about: 'a column or table that may be dropped: Post.body' },
      { name: 'force', about: 'replace generated files that were edited; they are kept under .generator/rescued/' },
    ],
    example: 'npx generator generate --dry-run',
    load: () => import('../commands/generate.ts'),
  },
  {
    name: 'check',
    usage: '',
    about: 'the same with nothing written; exit 1 when anything would be',
    positionals: 0,
    options: [],
    example: 'npx generator check --json',
    load: () => import('../commands/check.ts'),
  },
];
