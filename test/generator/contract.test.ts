import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { GLOBAL_OPTIONS } from '../../generator/cli/command.ts';
import { commands } from '../../generator/cli/commands.ts';
import { EXIT } from '../../generator/failure.ts';
import { repo } from './project.ts';

/** What is promised of regeneration, and the tests that hold it: `file: a part of the title`. */
const REGENERATION: Readonly<Record<string, readonly string[]>> = {
  'no edit is ever lost': [
    'regeneration: loses no edit in',
    'merge: keeps every line that only one side changed',
    'eject: leaves every old character where it was',
  ],
  'a crash loses nothing': [
    'regeneration: leaves the old tree or the new one after the next run, at every point',
    'regeneration: followed by an edit keeps the edit',
    'processes: killed at any moment leave no file empty or half',
    'trouble: says so, leaves no file half or empty',
    'trouble: in a later run keeps every file as it was',
  ],
  'a second run writes nothing': [
    'commands: writes a project that type-checks, and nothing the second time',
    'regeneration: loses no edit in',
  ],
  'the same inputs give the same bytes': [
    'processes: give the same bytes under another time zone, locale, umask and folder',
    'regeneration: writes the same bytes in whatever order the disk lists files',
    'regeneration: keeps the line ends of a checkout with CRLF',
  ],
  'history does not matter': ['regeneration: writes the same bytes whatever came before'],
  'an edited generated file is never silently overwritten': [
    'commands: an edited generated file stops the run with exit 3; --force keeps the edit aside',
  ],
  'files that nothing generates any more are removed if unchanged': [
    'regeneration: removes its own files that nothing generates any more, and keeps those that were edited',
    'regeneration: removes what older projects have more of, and merges with the texts of their folder',
  ],
  'two branches merge': [
    'branches: pairs that change the schema at random',
    'merge: starts from what the last run wrote, whatever a merge of branches made of that file',
    'branches: whose merge needs a person are put right by the next run',
  ],
  'every emitted project type-checks under strict': [
    'commands: writes a project that type-checks',
    'init: is a project that type-checks and is up to date',
    '../templates/types: an emitted project type-checks under strict',
    '../examples: type-checks under strict, with nothing suppressed',
  ],
  'the running server serves the schema of the input': [
    'served: serves the very schema of the input',
  ],
  'removing a field keeps the code and says where it is': [
    'trouble: keeps the function of the user, and every run says where it is',
  ],
  'removing a column needs --allow-drop': [
    'migrations/evolution: keeps a column that the schema drops until --allow-drop names it',
  ],
  'two runs at once': ['processes: eight at once end as one alone'],
  'an editor that saves in the middle of a run': [
    'regeneration: stops the run with 75, and nothing is written',
    'trouble: is 75 when an editor saves',
  ],
  'a schema split over many files': [
    'commands: a schema split over files is one schema',
    'regeneration: and from one file or many',
  ],
  'odd names and texts': [
    'trouble: with backticks, */ and ${ in their texts are generated, migrated and served',
  ],
  'a user file with a syntax error': [
    'eject: leaves a file that it cannot read alone, and says what to paste',
    'regeneration: loses no edit in',
  ],
  'a disk that fills': [
    'trouble: says so, leaves no file half or empty',
    'trouble: by a limit of the system says so',
  ],
  'every mistake is a finding': [
    'mutants: gives findings with place, code, a text and a fix, never a stack trace',
    'mutants: is one JSON document with --json',
  ],
  'no socket is opened': ['processes: open no socket'],
  migrations: [
    'migrations/random-walk: ends as a fresh database, with every row kept',
    'migrations/two-servers: migrate once',
  ],
};

const COMMANDS: Readonly<Record<string, readonly string[]>> = {
  init: [
    'init: prints the next commands',
    'init: --start runs the server when all is written',
    'init: writes settings for the database that is asked for',
    '../journey/journey: starts, answers, keeps what it is told',
  ],
  generate: ['commands: writes a project that type-checks'],
  check: ['commands: is 0 when all is up to date, 1 when something would be written'],
  dev: [
    'project-commands: answers for a saved schema, and keeps the last good server while there are errors',
  ],
  explain: [
    'explain: is what the running server issues for that field',
    'explain: names the file and line where each stands',
    'explain: names every type and field of the schema, by a rule that the docs have',
  ],
  eject: [
    'eject-behaviour: answers what it answered before',
    'eject: writes every field of the blog out so that it type-checks',
  ],
  rename: [
    'rename: of a field renames it in inputs, arguments, code and database',
    'rename: of a type renames its table',
  ],
  prune: ['project-commands: shows resolvers of types that are gone'],
  migrate: ['project-commands: lists, applies and undoes, and starts one of the user'],
  db: [
    'db: backs up accounts, join tables, seeds and the ledger, and restores them on the other database',
    'db: writes to standard output, copies back, and leaves no file of a run that fails',
    'db: refuses rows of migrations that the project does not have, and leaves newer ones pending',
  ],
  breaking: [
    'breaking/command: names what is gone, where it stood and who asks for it',
    'breaking/command: leaves work tree and index as they are, and runs nothing of the repository',
  ],
  openapi: [
    'openapi: prints the bytes that %s serves',
    'openapi: knows the functions of the project, and opens no database',
  ],
  mcp: [
    'agents: has five tools that only read',
    'agents: refuses a guarded database',
    'agents: a query writes nothing: it is no mutation, no subscription, and its database is read-only',
  ],
  seed: ['seed: writes rows that refer to each other by key'],
  import: [
    'import/prisma-database: answers every table, relation and kind of value',
    'import-db: writes a project that generates, and nothing the second time',
    'import-db: brings what is new in the database, and keeps what was renamed here',
  ],
  admin: [
    'admin: create makes an owner and a link that sets the password',
    'admin: wrong words are 2, what cannot be is 3, each with the reason',
  ],
  console: [
    'console: gives a link before the first start and while the server runs; each works once',
    'console: --open gives the link to the program that opens links, and says when there is none',
  ],
  jobs: ['jobs: runs, shows, retries and cancels jobs, with its exit codes'],
  mails: ['../auth/pages-project: lists the mails, previews one, writes one into the project'],
  doctor: ['project-commands: says what is wrong and the command that mends it'],
  upgrade: [
    '../upgrade/command: says with --dry-run what it would do and what is left, and writes nothing',
  ],
  deploy: ['../hosting/deploy-command: builds a new project from its source'],
  host: ['../hosting/compose-command: sends the file with what it names'],
  completion: ['completion: completion of commands, options and their choices'],
};

const EXITS: Readonly<Record<keyof typeof EXIT, readonly string[]>> = {
  done: ['commands: is 0 when all is up to date'],
  differs: ['commands: 1 when something would be written'],
  usage: ['commands: no command is a usage error with the overview'],
  invalid: ['commands: a broken schema is findings, exit 3 and nothing written'],
  conflict: ['merge: that both sides changed waits in a .new file with exit 4'],
  ambiguous: ['trouble: is 5 for what may be a rename'],
  bug: ['trouble: is 70 for a bug of ours, with where to report it'],
  again: ['trouble: is 75 when an editor saves'],
};

/** Each word with which a command says that it did something, and the test that looks whether it did. */
const SAID: Readonly<Record<string, string | readonly string[]>> = {
  'db.ts backed up': 'db: backs up accounts, join tables, seeds and the ledger, and restores them',
  'db.ts written': 'db: writes to standard output, copies back',
  'deploy.ts created': '../hosting/deploy-command: builds a new project from its source',
  'deploy.ts deployed': '../hosting/deploy-command: builds a new project from its source',
  'dev.ts stopped': 'dev-ends: when SIGTERM ends the npm that runs it',
  'eject.ts added': 'eject: writes every field of the blog out so that it type-checks',
  'eject.ts moved': '../crud/eject: makes the same API after eject crud',
  'host/install.ts written': '../hosting/host-install: makes services that answer',
  'host/restore.ts restored': '../hosting/host-restore: a host is lost, and comes back',
  'host/uninstall.ts removed':
    '../hosting/host-install: is removed, with data and apps only by --purge',
  'import.ts imported': 'import-db: writes a project that generates, and nothing the second time',
  'init.ts created': 'init: takes the name from the folder, as the manifest wants it',
  'install.ts installed': '../journey/managers: installs, is right and answers',
  'jobs.ts done': 'jobs: runs, shows, retries and cancels jobs',
  'jobs.ts retried': 'jobs: runs, shows, retries and cancels jobs',
  'migrate/ask.ts applied': 'migrations/options: reset makes all tables anew',
  'migrate/ask.ts recorded': 'import/baseline: writes the baseline, which migrate up records',
  'migrate/ask.ts rescued': [
    '../store/undo: needs no file: the ledger has its statements',
    '../store/undo: of everything makes the tables anew',
  ],
  'migrate/ask.ts reverted': 'project-commands: lists, applies and undoes',
  'migrate/new.ts saved': 'drafts: are saved by "migrate save" and by "generate"',
  'migrate/save.ts saved': 'drafts: are saved by "migrate save" and by "generate"',
  'migrate/squash.ts removed': 'offers: works as it stands',
  'migrate/status.ts applied': 'project-commands: lists, applies and undoes',
  'migrate/up.ts applied': 'project-commands: lists, applies and undoes',
  'migrate/up.ts rescued': 'migrations/options: up names the file with the values that it dropped',
  'openapi.ts written': 'openapi: writes a file of the user with --out',
  'plan-report.ts added': 'settings: get the secret that the manifest has come to need',
  'prune-documents.ts removed':
    '../client/list: keeps what was committed, and drops what was only typed',
  'prune.ts removed': 'project-commands: removes them only when told, and keeps their text',
  'prune.ts rescued': 'project-commands: removes them only when told, and keeps their text',
  'rename.ts renamed': 'rename: of a field renames it in inputs, arguments, code and database',
  'seed.ts seeded': 'seed: writes rows that refer to each other by key',
};

const WORDS =
  'added|applied|backed up|cancelled|copied|created|deployed|done|granted|imported|installed|moved|recorded|removed|renamed|rescued|restored|retried|reverted|saved|seeded|squashed|stopped|updated|upgraded|written';

/** `file word` of each text of a command that begins with such a word. */
function said(): string[] {
  const folder = join(repo, 'generator/commands');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return files
    .filter((name) => name.endsWith('.ts'))
    .flatMap((name) =>
      [
        ...readFileSync(join(folder, name), 'utf8').matchAll(
          new RegExp(`['\`] *(${WORDS})\\b`, 'g'),
        ),
      ].map(([, word]) => `${name} ${word}`),
    );
}

/** A title that the formatter put on a line of its own stands beside its call again. */
const text = (path: string) =>
  readFileSync(join(repo, 'test/generator', `${path}.test.ts`), 'utf8').replaceAll(/\(\n\s+/g, '(');

/** Tests of the list that are not there. A title counts when it begins a test or a group, not when a comment has it. */
function missing(tests: readonly string[]): string[] {
  return tests.filter((each) => {
    const [, file = '', part = ''] = /^([^:]+): ([^]+)$/.exec(each)!;
    const titles = [
      ...text(file).matchAll(
        /\b(?:test|it|describe)(?:\.\w+)?(?:\([^\n]*?\))?\(\s*(['"`])(.*?)\1,/g,
      ),
    ].map(([, , title]) => title!);
    const loose = text(file)
      .split('\n')
      .filter((line) => /\b(test|it|describe)\b.*[('"`]/.test(line) && !/^\s*(\/\/|\*)/.test(line));
    return ![...titles, ...loose].some(
      (title) => title.includes(part) || title.includes(part.replaceAll('$', '\\$')),
    );
  });
}

describe('what is promised of the command line', () => {
  test.each(Object.entries(REGENERATION))('is held by tests: %s', (_promise, tests) =>
    expect(missing(tests)).toEqual([]),
  );

  test('has a test for each command', () => {
    expect(Object.keys(COMMANDS)).toEqual(commands.map(({ name }) => name));
    expect(missing(Object.values(COMMANDS).flat())).toEqual([]);
  });

  test('has a test that looks for each word that says that something was done', () => {
    expect([...new Set(said())].sort()).toEqual(Object.keys(SAID).sort());
    expect(missing(Object.values(SAID).flat())).toEqual([]);
  });

  test('has a test for each exit code', () => {
    expect(Object.keys(EXITS)).toEqual(Object.keys(EXIT));
    expect(missing(Object.values(EXITS).flat())).toEqual([]);
  });

  test('has a test that uses each option', () => {
    const folders = [
      'generator',
      'generator/breaking',
      'generator/import',
      'generator/migrations',
      'hosting',
      'client',
      'journey',
      'auth',
    ].map((folder) => join(repo, 'test', folder));
    const texts = folders.flatMap((folder) =>
      readdirSync(folder)
        .filter((name) => name.endsWith('.test.ts') && name !== 'contract.test.ts')
        .map((name) => readFileSync(join(folder, name), 'utf8')),
    );
    const options = new Set(
      [...GLOBAL_OPTIONS, ...commands.flatMap((command) => command.options)].map(
        ({ name }) => name,
      ),
    );
    const unused = [...options].filter(
      (name) => !texts.some((each) => new RegExp(`['"]--${name}(=[^'"]*)?['"]`).test(each)),
    );
    expect(unused).toEqual([]);
  });
});
