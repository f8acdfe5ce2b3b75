import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type RunOptions, type RunPlan, run } from '../../generator/pipeline.ts';
import { type Disk, disk } from '../../generator/write/disk.ts';
import { faultyDisk, Stopped } from '../generator/faulty-disk.ts';

const SDL = 'type Query { posts: [Post!]! }\ntype Post { id: ID! title: String! body: String! }\n';
const MANIFEST =
  'name: shop\nclient: { documents: ["../web/src/**/*.{graphql,tsx}"], out: ../web/api/ }\n';

let top: string;
let root: string;
const at = (path: string) => join(root, path);
const read = (path: string) => readFileSync(at(path), 'utf8');
const write = (path: string, text: string) => {
  mkdirSync(dirname(at(path)), { recursive: true });
  writeFileSync(at(path), text);
};
const git = (...words: string[]) =>
  execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...words], { cwd: top });
const commit = () => (git('add', '-A'), git('commit', '-qm', 'x'));
const generate = (options: RunOptions = {}, on: Disk = disk): Promise<RunPlan> =>
  run(root, options, on);
const posts = (fields: string) =>
  write('../web/src/posts.graphql', `query Posts { posts { ${fields} } }\n`);
const texts = () => Object.values(JSON.parse(read('documents.json')) as Record<string, string>);
const errors = ({ findings }: RunPlan) =>
  findings
    .filter(({ severity }) => severity === 'error')
    .map(({ code, at: { file } }) => `${code} ${file}`);

beforeEach(() => {
  top = mkdtempSync(join(tmpdir(), 'client-list-'));
  root = join(top, 'server');
  git('init', '-q');
  write('schema.graphql', SDL);
  write('manifest.yaml', MANIFEST);
  posts('id');
});
afterEach(() => rmSync(top, { recursive: true, force: true }));

describe('the list of trusted documents', () => {
  it('keeps what was committed, and drops what was only typed', async () => {
    expect((await generate()).documents?.counts).toEqual({
      live: 1,
      retired: 0,
      added: 1,
      removed: 0,
    });
    commit();
    posts('title');
    expect((await generate()).documents?.counts).toEqual({
      live: 1,
      retired: 1,
      added: 1,
      removed: 0,
    });
    posts('body');
    expect((await generate()).documents?.counts).toEqual({
      live: 1,
      retired: 1,
      added: 1,
      removed: 1,
    });
    expect(
      texts()
        .map((text) => /id|title|body/.exec(text)![0])
        .sort(),
    ).toEqual(['body', 'id']);
    const [first] = Object.entries(JSON.parse(read('documents.json')) as Record<string, string>);
    expect(createHash('sha256').update(first![1]).digest('hex')).toBe(first![0]);
  });

  it('goes into the image', async () => {
    await generate();
    expect(read('Dockerfile')).toContain('COPY documents.json ./documents.json\n');
  });

  it('keeps what no run wrote, and says when it no longer runs', async () => {
    await generate();
    const text = '{ gone { id } }';
    const hash = createHash('sha256').update(text).digest('hex');
    write(
      'documents.json',
      JSON.stringify({ ...JSON.parse(read('documents.json')), [hash]: text }),
    );
    const { findings, documents } = await generate();
    expect(documents?.counts).toMatchObject({ retired: 1, removed: 0 });
    expect(findings.map(({ code }) => code)).toContain('DOCUMENT_BROKEN');
    expect(texts()).toContain(text);
  });

  it('is byte-equal after a glob that matches nothing, and left alone with --no-client', async () => {
    await generate();
    const before = read('documents.json');
    rmSync(at('../web/src'), { recursive: true });
    expect(errors(await generate())).toEqual(['CLIENT_NO_DOCUMENTS manifest.yaml']);
    const { changes, findings } = await generate({ client: false });
    expect(findings.filter(({ severity }) => severity === 'error')).toEqual([]);
    expect(changes.filter(({ kind }) => kind !== 'same').map(({ path }) => path)).toEqual([]);
    expect(read('documents.json')).toBe(before);
    expect(read('generator.lock')).toContain('../web/api/index.ts');
  });

  it.each([
    ['a text of another hash', JSON.stringify({ ['0'.repeat(64)]: '{ posts { id } }' })],
    ['no JSON', '{ "a": '],
    ['no map of texts', '{ "a": 1 }'],
  ])('with %s stops the run', async (_, text) => {
    write('documents.json', text);
    expect(errors(await generate())).toEqual(['DOCUMENTS_CORRUPT documents.json']);
    expect(read('documents.json')).toBe(text);
  });

  it('is mended after a merge that left the lines of both sides', async () => {
    await generate();
    const [, line] = read('documents.json').split('\n');
    const both = `{\n<<<<<<< HEAD\n${line},\n=======\n${line}\n>>>>>>> other\n}\n`;
    write('documents.json', both);
    expect(errors(await generate())).toEqual([]);
    expect(texts()).toHaveLength(1);
  });

  it('is old or new, together with the client, when a run is killed at any operation', async () => {
    await generate();
    commit();
    for (let stop = 0; ; stop++) {
      const field = stop % 2 ? 'title' : 'body';
      posts(`id ${field}`);
      const faulty = faultyDisk(disk, stop);
      const ended = await generate({}, faulty).then(
        () => true,
        (error: unknown) => {
          if (!(error instanceof Stopped)) throw error;
          return false;
        },
      );
      await generate();
      expect(read('../web/api/documents.ts')).toContain(`    ${field}\n`);
      expect(texts().filter((text) => text.includes(field))).toHaveLength(1);
      expect(texts()).toHaveLength(2);
      if (ended) break;
    }
  });
});

describe('the folder of a front end', () => {
  const taken = 'export const mine = 1;\n';

  it('never overwrites a file that is not ours, also with force', async () => {
    write('../web/api/index.ts', taken);
    expect(errors(await generate({ force: true }))).toEqual(['CLIENT_OUT_TAKEN manifest.yaml']);
    expect(read('../web/api/index.ts')).toBe(taken);
    expect(existsSync(at('documents.json'))).toBe(false);
  });

  it('stops a run whose file was edited, and goes with its section', async () => {
    await generate();
    write('../web/api/index.ts', taken);
    const { changes } = await generate();
    expect(changes.filter(({ kind }) => kind === 'edited').map(({ path }) => path)).toEqual([
      '../web/api/index.ts',
    ]);
    await generate({ force: true });
    write('manifest.yaml', 'name: shop\n');
    await generate();
    expect(existsSync(at('../web/api/index.ts'))).toBe(false);
    expect(existsSync(at('documents.json'))).toBe(true);
  });

  it('lies in the work tree, with links resolved', async () => {
    const beyond = mkdtempSync(join(tmpdir(), 'beyond-'));
    write('manifest.yaml', MANIFEST.replace('../web/api/', '../../elsewhere/'));
    expect(errors(await generate())).toEqual(['CLIENT_OUT_OUTSIDE manifest.yaml']);
    symlinkSync(beyond, at('../web/link'));
    write('manifest.yaml', MANIFEST.replace('../web/api/', '../web/link/api/'));
    expect(errors(await generate())).toEqual(['CLIENT_OUT_OUTSIDE manifest.yaml']);
    writeFileSync(join(beyond, 'a.graphql'), 'query Beyond { posts { id } }');
    write('manifest.yaml', MANIFEST.replace('../web/src/', '../web/link/'));
    expect(errors(await generate())).toEqual(['CLIENT_OUT_OUTSIDE manifest.yaml']);
    write('manifest.yaml', MANIFEST.replace('../web/src/', '../web/'));
    expect((await generate()).documents?.counts?.live).toBe(1);
    rmSync(beyond, { recursive: true });
  });

  it('is not left by a line of the lockfile that names another file', async () => {
    await generate();
    const victim = join(tmpdir(), `victim-${process.pid}`);
    writeFileSync(victim, 'mine');
    const path = `../../${victim.slice(tmpdir().length + 1)}`;
    const hash = createHash('sha256').update('mine').digest('hex').slice(0, 32);
    write('generator.lock', `${read('generator.lock')}generated ${path} ${hash}\n`);
    await generate();
    expect(readFileSync(victim, 'utf8')).toBe('mine');
    rmSync(victim);
  });
});

describe('documents', () => {
  it('are wrong at their place, all at once', async () => {
    write('../web/src/a.graphql', 'query Posts { posts { id } }\nquery { posts { id } }\n');
    write(
      '../web/src/b.tsx',
      'graphql(`\n  query B { posts { titel } }`);\n/* GraphQL */ `query C { ${x} }`;\n// graphql(`nothing`)\n',
    );
    const { findings } = await generate();
    expect(
      findings
        .filter(({ severity }) => severity === 'error')
        .map(
          ({ code, at: { file, line, column } }) => `${code} ${file.slice(11)}:${line}:${column}`,
        )
        .sort(),
    ).toEqual([
      'DOCUMENT_INVALID b.tsx:2:21',
      'DOCUMENT_NAME_TAKEN a.graphql:1:7',
      'DOCUMENT_NAME_TAKEN posts.graphql:1:7',
      'DOCUMENT_NOT_STATIC b.tsx:3:16',
      'DOCUMENT_UNNAMED a.graphql:2:1',
    ]);
    expect(existsSync(at('documents.json'))).toBe(false);
  });

  it('are checked again when a fragment that they use, or the schema, has changed', async () => {
    const card = (text: string) =>
      write('../web/src/card.graphql', `fragment Card on Post { ${text} }`);
    posts('...Card');
    card('title');
    expect(errors(await generate())).toEqual([]);
    card('title @include(if: $shown)');
    expect(errors(await generate())).toEqual(['DOCUMENT_INVALID ../web/src/card.graphql']);
    card('title');
    expect(errors(await generate())).toEqual([]);
    write('schema.graphql', SDL.replace('title: String!', ''));
    expect(errors(await generate())).toEqual(['DOCUMENT_INVALID ../web/src/card.graphql']);
  });

  it('may have the name of a member that every object has', async () => {
    write('../web/src/posts.graphql', 'query __proto__ { posts { id } }');
    await generate();
    const out = await import(/* @vite-ignore */ pathToFileURL(at('../web/api/index.ts')).href);
    expect([out.hashOf({ name: '__proto__' })]).toEqual(
      Object.keys(JSON.parse(read('documents.json'))),
    );
  });

  it('over a limit are refused with both figures', async () => {
    write('manifest.yaml', `${MANIFEST}api: { limits: { depth: 1, tokens: 40 } }\n`);
    const { findings } = await generate();
    expect(findings.find(({ code }) => code === 'DOCUMENT_OVER_LIMIT')?.summary).toContain(
      '2 depth, 1 are allowed',
    );
    write('manifest.yaml', `${MANIFEST}api: { limits: { tokens: 5 } }\n`);
    expect((await generate()).findings.map(({ summary }) => summary).join()).toContain(
      '8 tokens, 5 are allowed',
    );
    write('manifest.yaml', `${MANIFEST}api: { limits: { cost: 50 } }\n`);
    expect((await generate()).findings.map(({ summary }) => summary).join()).toContain(
      '100 objects, 50',
    );
  });
});
