import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { afterEach, describe, expect, it } from 'vitest';
import { generator, type TestProject } from '../project.ts';
import { commit, committed, git, listOf, sha256 } from './repository.ts';

const SCHEMA = `type Post { id: ID! title: String! body: String }
type Query { posts: [Post!]! post(id: ID!): Post }
`;
const MANIFEST = 'name: shop\n';

const made: TestProject[] = [];
afterEach(() => made.splice(0).forEach((each) => each.remove()));

function shop(files: Record<string, string> = {}): TestProject {
  const project = committed({ 'schema.graphql': SCHEMA, 'manifest.yaml': MANIFEST, ...files });
  made.push(project);
  return project;
}

const breaking = async (project: TestProject, ...args: readonly string[]) => {
  const { code, stdout, stderr } = await generator(['breaking', ...args], project.root);
  return { code, stdout, stderr };
};
const asked = async (project: TestProject, ...args: readonly string[]) => {
  const { code, stdout } = await breaking(project, '--json', ...args);
  return { code, ...JSON.parse(stdout) };
};

describe('generator breaking', () => {
  it('names what is gone, where it stood and who asks for it', async () => {
    const text = 'query Posts { posts { body } }';
    const project = shop({
      'manifest.yaml': `${MANIFEST}api: { trusted_documents: { file: documents.json, required: false } }\n`,
      'documents.json': listOf(text),
    });
    project.write('schema.graphql', SCHEMA.replace(' body: String', ''));
    const commitHash = git(project, 'rev-parse', 'HEAD').trim();
    expect(await asked(project, '--no-code')).toMatchObject({
      code: 1,
      ok: false,
      against: { ref: 'HEAD', commit: commitHash },
      summary: { breaking: 3, dangerous: 0, safe: 0 },
      changes: [
        {
          class: 'api',
          level: 'breaking',
          code: 'FIELD_REMOVED',
          coordinate: 'Post.body',
          fix: expect.stringContaining('deprecate it first'),
          at: { file: 'schema.graphql', line: 1, column: 36 },
          usedBy: [{ operation: 'Posts', hash: sha256(text), retired: false }],
        },
        { class: 'documents', code: 'DOCUMENT_BROKEN', coordinate: 'Posts' },
        { class: 'data', code: 'COLUMN_DROPPED', coordinate: 'posts.body' },
      ],
    });
  });

  it('shows a document of the front end at its source, although the change breaks it', async () => {
    const project = shop({
      'manifest.yaml': `${MANIFEST}client: { documents: ['web/*.graphql'], out: web/api }\n`,
      'web/posts.graphql': '\nquery Posts { posts { body } }\n',
    });
    expect(await generator(['generate'], project.root)).toMatchObject({ code: 0 });
    commit(project);
    project.write('schema.graphql', SCHEMA.replace(' body: String', ''));
    const { changes } = await asked(project, '--no-code');
    expect(changes[0]).toMatchObject({
      code: 'FIELD_REMOVED',
      usedBy: [{ operation: 'Posts', retired: false, at: { file: 'web/posts.graphql', line: 2 } }],
    });
  });

  it('names a document that a lower limit refuses from now on', async () => {
    const manifest = (limits: string) =>
      `${MANIFEST}api: { trusted_documents: {}, limits: { ${limits} } }\n`;
    const texts = ['query Posts { posts { id title } }', 'query Ids { posts { id } }'];
    const project = shop({
      'manifest.yaml': manifest('list: 50'),
      'documents.json': listOf(...texts),
    });
    project.write('manifest.yaml', manifest('list: 50, tokens: 8'));
    const { code, changes } = await asked(project, '--no-code');
    expect(code).toBe(1);
    expect(changes.filter((change: { class: string }) => change.class === 'documents')).toEqual([
      expect.objectContaining({
        level: 'breaking',
        code: 'DOCUMENT_OVER_LIMIT',
        coordinate: 'Posts',
        message: expect.stringMatching(/the document has 9 tokens, 8 are allowed/),
        usedBy: [expect.objectContaining({ operation: 'Posts', hash: sha256(texts[0]!) })],
      }),
    ]);
  });

  it('ends with 0 and says with what it compared, where nothing changed', async () => {
    const project = shop();
    const { code, stdout } = await breaking(project, '--no-code');
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(/^Compared with HEAD \([0-9a-f]{12}\): nothing changed\.\n$/),
    ]);
  });

  it('compares with the commit where the branch began', async () => {
    const project = shop();
    const fork = git(project, 'rev-parse', 'HEAD').trim();
    git(project, 'update-ref', 'refs/remotes/origin/main', 'HEAD');
    git(project, 'symbolic-ref', 'refs/remotes/origin/HEAD', 'refs/remotes/origin/main');
    project.write('schema.graphql', SCHEMA.replace(' post(id: ID!): Post', ''));
    commit(project);
    expect(await asked(project, '--no-code')).toMatchObject({
      code: 1,
      against: { ref: 'origin/HEAD', commit: fork },
    });
    expect(await asked(project, '--no-code', '--against', 'HEAD')).toMatchObject({ code: 0 });
  });

  it('leaves work tree and index as they are, and runs nothing of the repository', async () => {
    const project = shop({ '.gitattributes': '*.graphql filter=spy\n' });
    const spy = project.path('spied');
    for (const key of ['filter.spy.smudge', 'filter.spy.clean', 'core.fsmonitor'])
      git(project, 'config', key, `touch ${spy}; cat`);
    project.write('schema.graphql', SCHEMA.replace('String!', 'Int!'));
    project.write(
      'src/resolvers/Query.ts',
      `import { writeFileSync } from 'node:fs';\nwriteFileSync(${JSON.stringify(spy)}, '');\nexport const resolvers = {};\n`,
    );
    const state = () => [project.files(), statSync(project.path('.git/index')).mtimeMs];
    const before = state();
    const copies = () =>
      readdirSync(tmpdir()).filter((name) => name.startsWith('twofold-breaking-'));
    const others = copies();
    expect(await breaking(project)).toMatchObject({ code: 1 });
    expect(state()).toEqual(before);
    expect(existsSync(spy)).toBe(false);
    expect(copies().filter((name) => !others.includes(name))).toEqual([]);
  });

  it.each([
    [['--against', 'nowhere'], /nowhere is no revision of this repository and no file/],
    [['--against', '--help'], /is no revision|needs a value/],
    [['--today', '2027-02-31x'], /is no day/],
  ])('ends with 2 for %j', async (args, message) => {
    const { code, stderr } = await breaking(shop(), '--no-code', ...args);
    expect([code, stderr]).toEqual([2, expect.stringMatching(message)]);
  });

  it('ends with 2 outside of git and where the revision has no project', async () => {
    const project = shop();
    rmSync(project.path('schema.graphql'));
    commit(project);
    project.write('schema.graphql', SCHEMA);
    expect((await breaking(project, '--no-code')).stderr).toContain(
      'there is no schema.graphql at',
    );
    rmSync(project.path('.git'), { recursive: true });
    const { code, stderr } = await breaking(project, '--no-code');
    expect([code, stderr]).toEqual([2, expect.stringContaining('is in no git work tree')]);
  });

  it.each(['base', 'folder'])('ends with 3 where the %s has errors', async (side) => {
    const project = shop(side === 'base' ? { 'schema.graphql': 'type Query { a: Nope }' } : {});
    project.write('schema.graphql', side === 'base' ? SCHEMA : 'type Query { a: Nope }');
    const { code, stderr } = await breaking(project, '--no-code');
    expect([code, stderr]).toEqual([
      3,
      expect.stringMatching(side === 'base' ? /HEAD has errors/ : /this folder has errors/),
    ]);
  });

  it('compares with an SDL file, and ends with 3 where that is no schema', async () => {
    const project = shop({
      'old.graphql': `${SCHEMA}type Old { a: Int }\n`,
      'bad.graphql': 'type {',
    });
    expect(await asked(project, '--against', 'old.graphql')).toMatchObject({
      code: 1,
      against: { file: 'old.graphql' },
      // A file is taken as what was served: the list has got the arguments that page it.
      changes: [
        { code: 'TYPE_REMOVED', coordinate: 'Old' },
        { code: 'OPTIONAL_ARG_ADDED', coordinate: 'Query.posts(limit:)' },
        { code: 'OPTIONAL_ARG_ADDED', coordinate: 'Query.posts(offset:)' },
      ],
    });
    expect(await breaking(project, '--against', 'bad.graphql')).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('bad.graphql is no schema'),
    });
  });

  it('fails for what is dangerous only when it is asked to', async () => {
    const project = shop({
      'schema.graphql': `${SCHEMA}enum Mood { CALM }\nextend type Post { mood: Mood }\n`,
    });
    project.write('schema.graphql', project.read('schema.graphql').replace('CALM', 'CALM WILD'));
    expect(await asked(project, '--no-code')).toMatchObject({
      code: 0,
      ok: true,
      summary: { dangerous: 1 },
    });
    expect(await asked(project, '--no-code', '--fail-on', 'dangerous')).toMatchObject({
      code: 1,
      ok: false,
    });
  });

  it('prints a comment for a pull request, in which no text of the schema is markup', async () => {
    const project = shop();
    project.write('schema.graphql', SCHEMA.replace('body: String', 'body: Int'));
    const { stdout } = await breaking(project, '--no-code', '--markdown');
    expect(stdout).toMatch(/^### This breaks callers\n[^]*\| api \| `Post\.body` \|/);
  });
});
