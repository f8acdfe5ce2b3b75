import { execFileSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commands } from '../../generator/cli/commands.ts';
import { generator, linkPackages, makeProject, type TestProject } from './project.ts';

/** `dev --json` prints a document a line, and `mcp` speaks its own protocol. */
const STREAMS = ['dev', 'mcp'];

/** What each command is called with, and how it ends. A row may need the rows above it. */
const CALLS: readonly (readonly [words: string, code: number])[] = [
  ['generate --dry-run', 0],
  ['check', 1],
  ['generate --force', 0],
  ['generate', 0],
  ['generate --print-model', 0],
  ['generate --bogus', 2],
  ['check', 0],
  ['check extra', 2],
  ['init .', 2],
  ['explain', 0],
  ['explain User.name', 0],
  ['explain Nope.name', 2],
  ['eject Query.users', 0],
  ['eject Query.nope', 2],
  ['rename User.name User.fullName', 5],
  ['rename User.name User.fullName --yes', 0],
  ['rename User.nope User.none --yes', 2],
  ['prune', 0],
  ['prune --documents', 0],
  ['migrate status', 0],
  ['migrate plan', 0],
  ['migrate sql', 0],
  ['migrate save', 0],
  ['migrate up', 0],
  ['migrate new fill', 0],
  ['migrate down nope', 2],
  ['migrate bogus', 2],
  ['db backup rows.tgz', 0],
  ['db restore nope.tgz', 2],
  ['db copy', 2],
  ['seed', 2],
  ['breaking --no-code', 1],
  ['breaking --against nowhere', 2],
  ['openapi', 0],
  ['openapi --out', 2],
  ['import db file:nope.db', 2],
  ['import prisma nope.prisma', 2],
  ['admin', 2],
  ['admin link', 3],
  ['console', 2],
  ['jobs list', 2],
  ['mails', 3],
  ['host uninstall', 2],
  ['host doctor', 1],
  ['doctor', 0],
  ['deploy --to http://127.0.0.1:1', 2],
  ['host compose nope.yaml --project shop', 2],
  ['host restore', 2],
  ['host install --root nowhere', 2],
  ['host move shop --from http://127.0.0.1:1 --to http://127.0.0.1:2', 2],
  ['upgrade --to nope', 2],
  ['completion bash', 0],
  ['completion nope', 2],
  ['nope', 2],
];

describe('--json', () => {
  let project: TestProject;
  beforeAll(() => {
    project = makeProject();
    linkPackages(project);
    const git = (...words: string[]) => execFileSync('git', words, { cwd: project.root });
    git('init', '--quiet');
    git('add', '--all');
    git('-c', 'user.name=t', '-c', 'user.email=t@x.test', 'commit', '--quiet', '-m', 'first');
  });
  afterAll(() => project.remove());

  it('is tried with every command that ends by itself', () => {
    const tried = new Set(CALLS.map(([words]) => words.split(' ')[0]));
    const left = commands.filter(({ name }) => !tried.has(name) && !STREAMS.includes(name));
    expect(left.map(({ name }) => name)).toEqual([]);
  });

  it.each(CALLS)('%s prints one document and ends with %i', async (words, code) => {
    const ended = await generator([...words.split(' '), '--json'], project.root, {
      NODE_ENV: 'development',
    });
    const document = JSON.parse(ended.stdout);
    expect({ code: ended.code, document }).toMatchObject({ code, document: { ok: code === 0 } });
    if (code === 2)
      expect(document).toMatchObject({
        error: { code: expect.stringMatching(/^[A-Z_]+$/), message: expect.any(String) },
      });
  });

  it.each([
    'generate',
    'generate --print-model',
    'check',
    'explain',
    'eject Query.users',
    'rename User.name User.title --yes',
    'prune',
    'prune --documents',
    'deploy --to http://127.0.0.1:1',
  ])(
    '%s prints one document of findings where the schema is broken, and ends with 3',
    async (words) => {
      const broken = makeProject({ 'schema.graphql': 'type {', 'manifest.yaml': 'name: shop\n' });
      execFileSync('git', ['init', '--quiet'], { cwd: broken.root });
      const { code, stdout } = await generator([...words.split(' '), '--json'], broken.root);
      const { ok, findings, error } = JSON.parse(stdout);
      expect([code, ok, (findings ?? error.findings)[0].code]).toEqual([3, false, 'SDL_SYNTAX']);
      broken.remove();
    },
  );

  it('says that the packages are missing, in place of a trace', async () => {
    const bare = makeProject();
    await generator(['generate'], bare.root);
    const { code, stdout } = await generator(['migrate', 'status', '--json'], bare.root);
    expect([code, JSON.parse(stdout)]).toEqual([
      2,
      {
        ok: false,
        error: {
          code: 'PACKAGES_MISSING',
          message: 'the package @twofold/database is not installed',
          fix: 'npm install',
        },
      },
    ]);
    bare.remove();
  });
});
